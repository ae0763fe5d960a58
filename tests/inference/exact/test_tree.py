"""`Tree` against a plain search: forests in any order, rules, ties, and what it refuses."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest

from rote.errors import InfeasibleSpace, UnsupportedSpace
from rote.inference.exact.tree import Tree, _program
from rote.inference.problem import Problem, clamp
from rote.inference.solutions import Source, Status
from rote.space import SpaceBuilder, at_most, one_of
from tests.inference.outputs import (
    check_answers,
    check_max_marginals,
    check_nothing_is_answered,
    feasible,
    random_scores,
)


def random_space(rng, natural):
    """A forest; some edges are factors, some rules, some both, in either direction."""
    builder = SpaceBuilder()
    n = int(rng.integers(1, 8))
    most = 4 if n < 6 else 3
    variables = [builder.variable(f"x{j}", "abcd"[: rng.integers(1, most + 1)]) for j in range(n)]
    order = np.arange(n) if natural else rng.permutation(n)
    for k in range(1, n):
        if rng.random() < 0.2:
            continue
        u, v = variables[order[rng.integers(k)]], variables[order[k]]
        if rng.random() < 0.5:
            u, v = v, u
        kind = rng.integers(4)
        if kind < 3:
            builder.factor(u, v)
        if kind == 1:
            builder.factor(v, u)
        if kind >= 2:
            pairs = list(product(u.labels, v.labels))
            builder.require(one_of([u, v], [p for p in pairs if rng.random() < 0.8]))
    if rng.random() < 0.2:
        builder.require(~variables[0]["a"])
    return builder.build()


@pytest.mark.parametrize("natural", [True, False])
def test_it_agrees_with_a_plain_search_on_random_forests(natural):
    rng = np.random.default_rng(8 + natural)
    seen = Counter()
    for _ in range(500):
        space = random_space(rng, natural)
        m = 2
        scores = random_scores(rng, (m, space.parts))
        allowed = rng.random((m, space.labels)) < (0.8 if rng.random() < 0.4 else 1.0)
        seen["not natural"] += not _program(space).natural
        if not feasible(space):
            with pytest.raises(InfeasibleSpace):
                Tree().solve(space, scores)
            continue
        problem = Problem(space, scores, closed=~allowed)
        found = Tree().solve(space, problem)
        seen.update(found.status.tolist())
        check_answers(space, problem, found, Source.TREE)
        check_max_marginals(space, problem, Tree().max_marginals(space, problem))
    assert seen[Status.OPTIMAL] > 100
    assert seen[Status.INFEASIBLE] > 0
    assert (seen["not natural"] == 0) == natural


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
    assert not _program(space).natural
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
    assert not _program(space).natural
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
    with pytest.raises(UnsupportedSpace, match="the factor 'last' closes a cycle"):
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
    check_nothing_is_answered(Tree(), space)
    assert Tree().max_marginals(SpaceBuilder().build(), np.zeros((2, 0))).shape == (2, 0)
    assert Tree().max_marginals(space, np.zeros((0, 11))).shape == (0, 5)
