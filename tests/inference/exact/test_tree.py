"""`Tree`: ties in any order of the variables, and what it refuses."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from rote.errors import UnsupportedSpace
from rote.inference.exact.tree import Tree, _plan
from rote.inference.problem import clamp
from rote.space import SpaceBuilder, at_most


def test_a_long_chain_in_shuffled_order_breaks_all_ties_towards_small_labels():
    """Neighbours want to agree and nothing else counts, so everything takes the first label."""
    rng = np.random.default_rng(10)
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(40)]
    order = rng.permutation(40)
    for left, right in pairwise(order):
        builder.factor(variables[left], variables[right])
    space = builder.build()
    scores = np.concatenate([np.zeros(120), np.tile(np.eye(3).ravel(), 39)])
    found = Tree().solve(space, scores)
    assert not _plan(space).natural
    assert found.value.tolist() == [39.0]
    assert (found.labels == 0).all()
    held = Tree().solve(space, clamp(space, scores, {f"x{order[20]}": "c"}))
    assert held.value.tolist() == [39.0]
    assert (held.labels == 2).all()


def test_the_tie_is_spent_once_in_a_star_that_is_not_in_order():
    builder = SpaceBuilder()
    x, y, z, center = (builder.variable(name, "ab") for name in "xyzc")
    for leaf in (x, y, z):
        builder.factor(leaf, center)
    space = builder.build()
    scores = np.zeros(space.parts)
    scores[:6] = [0, 0.6e-10] * 3
    assert not _plan(space).natural
    assert Tree().solve(space, scores).labels.tolist() == [[0, 1, 1, 0]]


def test_a_cycle_is_refused_and_what_closes_it_is_named():
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    for left, right in ((x, y), (y, z)):
        builder.factor(left, right)
    assert Tree().accepts(builder.build())
    builder.factor(z, x, name="last")
    space = builder.build()
    assert not Tree().accepts(space)
    with pytest.raises(UnsupportedSpace, match="the factor 'y-z' closes a cycle"):
        Tree().solve(space, np.zeros(space.parts))


def test_three_variables_at_once_are_refused_and_named():
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    builder.require(at_most(1, x["a"], y["a"], z["a"]), name="one of three")
    with pytest.raises(UnsupportedSpace, match="the rule 'one of three' is over 3"):
        Tree().max_marginals(builder.build(), np.zeros(6))


def test_a_rule_over_many_variables_is_named():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(12)]
    builder.require(at_most(3, [v["a"] for v in variables]), name="few")
    with pytest.raises(UnsupportedSpace, match="the rule 'few'"):
        Tree().solve(builder.build(), np.zeros(24))


def test_one_infeasible_component_makes_every_label_infeasible():
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    builder.require(x["a"] >> y["b"])
    space = builder.build()
    problem = clamp(space, np.zeros((2, 6)), [{"x": "a", "y": "a"}, {"z": "b"}])
    found = Tree().solve(space, problem)
    assert found.labels.tolist() == [[-1, -1, -1], [0, 1, 1]]
    marginals = Tree().max_marginals(space, problem)
    assert (marginals[0] == -np.inf).all()
    assert marginals[1].tolist() == [0, 0, 0, 0, -np.inf, 0]
    assert z.index == 2


def test_no_inputs_and_no_variables_are_answered(space):
    assert Tree().max_marginals(SpaceBuilder().build(), np.zeros((2, 0))).shape == (2, 0)
    assert Tree().max_marginals(space, np.zeros((0, 11))).shape == (0, 5)
