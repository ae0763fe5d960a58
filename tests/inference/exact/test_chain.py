"""`Chain`: orders, ties, and what it refuses."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from rote.errors import UnsupportedSpace
from rote.inference.exact import chain
from rote.inference.exact.chain import Chain
from rote.inference.problem import clamp
from rote.inference.solutions import Status
from rote.space import SpaceBuilder, at_most


def test_a_hand_worked_chain_of_second_order():
    """Only the trigram b-a-b scores, and it overlaps itself once in five places."""
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{t}", "ab") for t in range(5)]
    for t in range(3):
        builder.factor(*variables[t : t + 3])
    space = builder.build()
    scores = np.zeros(space.parts)
    for t in range(3):
        scores[space.part([f"x{t}", f"x{t + 1}", f"x{t + 2}"], "bab")] = 1.0
    found = Chain().solve(space, scores)
    assert found.labels.tolist() == [[1, 0, 1, 0, 1]]
    assert found.value.tolist() == [2.0]


def test_the_tie_is_spent_once_along_the_chain():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{t}", "ab") for t in range(3)]
    for left, right in pairwise(variables):
        builder.factor(left, right)
    space = builder.build()
    scores = np.zeros(space.parts)
    scores[:6] = [0, 0.6e-10] * 3
    assert Chain().solve(space, scores).labels.tolist() == [[0, 1, 1]]


def test_the_order_limits_what_is_taken():
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    builder.factor(x, z, name="far")
    builder.factor(x, y)
    space = builder.build()
    assert not Chain(1).accepts(space)
    assert Chain(2).accepts(space)
    assert Chain().accepts(space)
    with pytest.raises(UnsupportedSpace, match=r"at most 2 .* the factor 'far' spans 3"):
        Chain(1).solve(space, np.zeros(space.parts))
    with pytest.raises(UnsupportedSpace, match="'far'"):
        Chain(1).max_marginals(space, np.zeros(space.parts))


def test_a_rule_in_the_way_is_named():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{t}", "ab") for t in range(12)]
    builder.require(variables[0]["a"] >> variables[9]["b"], name="far")
    with pytest.raises(UnsupportedSpace, match="the rule 'far' spans 10"):
        Chain().solve(builder.build(), np.zeros(24))
    builder.require(at_most(3, [v["a"] for v in variables]), name="few")
    with pytest.raises(UnsupportedSpace, match="the rule 'few'"):
        Chain().solve(builder.build(), np.zeros(24))


def test_states_out_of_proportion_are_refused(monkeypatch):
    monkeypatch.setattr(chain, "MAX_NUMBERS", 100)
    builder = SpaceBuilder()
    labels = [str(a) for a in range(7)]
    variables = [builder.variable(f"x{t}", labels) for t in range(4)]
    builder.factor(variables[0], variables[3], name="far")
    with pytest.raises(UnsupportedSpace, match="the factor 'far' leads to"):
        Chain().solve(builder.build(), np.zeros(77))


def test_given_labels_that_break_a_rule_make_one_input_infeasible():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.factor(x, y)
    builder.require(x["a"] >> y["b"])
    space = builder.build()
    problem = clamp(space, np.zeros((2, 8)), [{"x": "a", "y": "a"}, {"y": "a"}])
    found = Chain().solve(space, problem)
    assert found.labels.tolist() == [[-1, -1], [1, 0]]
    assert found.status.tolist() == [Status.INFEASIBLE, Status.OPTIMAL]
    assert (Chain().max_marginals(space, problem)[0] == -np.inf).all()


def test_no_inputs_and_no_variables_are_answered(space):
    assert Chain().max_marginals(SpaceBuilder().build(), np.zeros((2, 0))).shape == (2, 0)
    assert Chain().max_marginals(space, np.zeros((0, 11))).shape == (0, 5)
