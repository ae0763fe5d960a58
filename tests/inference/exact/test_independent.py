"""`Separable` against a plain search, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from rote.errors import InfeasibleSpace, UnsupportedSpace
from rote.inference.exact.independent import Separable
from rote.inference.problem import Problem, clamp
from rote.inference.solutions import Source, Status
from rote.space import SpaceBuilder, any_of, at_most
from tests.inference.outputs import check_answers, check_nothing_is_answered


def random_space(rng):
    builder = SpaceBuilder()
    for j in range(rng.integers(1, 6)):
        variable = builder.variable(f"x{j}", "abcd"[: rng.integers(1, 5)])
        if len(variable.labels) > 1 and rng.random() < 0.3:
            builder.require(~variable["a"])
    return builder.build()


def test_it_agrees_with_a_plain_search_on_random_spaces():
    rng = np.random.default_rng(2)
    statuses = set()
    for trial in range(200):
        space = random_space(rng)
        shape = (3, space.parts)
        scores = rng.normal(size=shape) if trial % 2 else rng.integers(-1, 2, size=shape) * 1.0
        if trial % 4 == 0:
            scores += 0.3e-10 * rng.integers(0, 3, size=shape)
        allowed = rng.random((3, space.labels)) < (1.0 if trial % 3 else 0.8)
        problem = Problem(space, scores, closed=~allowed)
        found = Separable().solve(space, problem)
        statuses |= set(found.status.tolist())
        check_answers(space, problem, found, Source.ARGMAX)
    assert statuses == {Status.OPTIMAL, Status.INFEASIBLE}


def test_the_tie_is_spent_once_not_once_per_variable():
    builder = SpaceBuilder()
    for name in "xyz":
        builder.variable(name, "ab")
    space = builder.build()
    assert Separable().solve(space, np.array([0, 0.6e-10] * 3)).labels.tolist() == [[0, 1, 1]]


def test_a_factor_in_the_way_is_named():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.factor(x, y, name="together")
    space = builder.build()
    assert not Separable().accepts(space)
    with pytest.raises(UnsupportedSpace, match="the factor 'together'"):
        Separable().solve(space, np.zeros(8))


def test_a_rule_in_the_way_is_named():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(x["a"] >> y["b"], name="apart")
    with pytest.raises(UnsupportedSpace, match="the rule 'apart'"):
        Separable().solve(builder.build(), np.zeros(4))


def test_a_rule_over_many_variables_is_named():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(12)]
    builder.require(variables[0]["a"])
    builder.require(at_most(3, [v["a"] for v in variables]), name="few")
    space = builder.build()
    assert not Separable().accepts(space)
    with pytest.raises(UnsupportedSpace, match="the rule 'few'"):
        Separable().solve(space, np.zeros(24))


def test_a_rule_that_forbids_nothing_is_not_in_the_way():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(any_of(x["a"], x["b"], y["a"]))
    assert Separable().accepts(builder.build())


def test_rules_that_cannot_be_obeyed_together_are_named():
    builder = SpaceBuilder()
    x = builder.variable("x", "ab")
    builder.require(x["a"], name="one")
    builder.require(x["b"], name="other")
    with pytest.raises(InfeasibleSpace) as caught:
        Separable().solve(builder.build(), np.zeros(2))
    assert set(caught.value.conflicting_rules) == {"one", "other"}


def test_given_labels_are_kept():
    builder = SpaceBuilder()
    for name in "xy":
        builder.variable(name, "ab")
    space = builder.build()
    scores = np.array([1.0, 0.0, 1.0, 0.0])
    found = Separable().solve(space, clamp(space, scores, {"x": "b"}))
    assert found.labels.tolist() == [[1, 0]]


def test_no_inputs_and_no_variables_are_answered():
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    check_nothing_is_answered(Separable(), builder.build())
