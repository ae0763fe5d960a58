"""From labels to `Solutions`."""

from __future__ import annotations

import numpy as np
import pytest

from rote.errors import InfeasibleSpace
from rote.inference.answers import answered
from rote.inference.base import Source, Status, as_objective, clamp
from rote.space import SpaceBuilder


def test_answers_get_their_value_and_are_infeasible_without_labels(space):
    scores = np.arange(22.0).reshape(2, 11)
    labels = np.array([[1, 2], [-1, -1]])
    solutions = answered(space, clamp(space, scores, {}), labels, Source.TREE)
    assert solutions.value.tolist() == [1 + 4 + 10, -np.inf]
    assert solutions.bound.tolist() == solutions.value.tolist()
    assert solutions.status.tolist() == [Status.OPTIMAL, Status.INFEASIBLE]
    assert solutions.source.tolist() == [Source.TREE] * 2
    assert solutions.optimal.tolist() == [True, False]
    assert solutions.gap.tolist() == [0.0, 0.0]


def test_a_bound_is_never_below_the_value_and_is_the_value_where_proved(space):
    objective = as_objective(space, np.zeros((3, 11)))
    labels = np.array([[0, 0], [0, 0], [-1, -1]])
    status = np.array([Status.OPTIMAL, Status.FEASIBLE, Status.TIMED_OUT])
    bound = np.array([5.0, -1.0, 4.0])
    solutions = answered(
        space, objective, labels, Source.BRANCH, bound=bound, status=status.astype(np.int64)
    )
    assert solutions.bound.tolist() == [0.0, 0.0, 4.0]
    assert solutions.gap.tolist() == [0.0, 0.0, np.inf]


def test_without_any_output_the_conflicting_rules_are_named():
    builder = SpaceBuilder()
    x = builder.variable("x", "ab")
    builder.require(x["a"], "it is a")
    builder.require(x["b"], "it is b")
    space = builder.build()
    nothing = np.array([[-1]])
    with pytest.raises(InfeasibleSpace, match=r"(?s)it is a.*it is b"):
        answered(space, as_objective(space, np.zeros(2)), nothing, Source.ARGMAX)
    closed = clamp(space, np.zeros(2), {"x": "a"})
    assert answered(space, closed, nothing, Source.ARGMAX).status.tolist() == [Status.INFEASIBLE]
