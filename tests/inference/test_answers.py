"""From labels to `Solutions`."""

from __future__ import annotations

import numpy as np
import pytest
from rote.inference.answers import answered, found
from rote.inference.base import Solutions, Source, Status, as_objective, clamp

from rote.errors import InfeasibleSpace, NoOutput
from rote.inference.approximate import Beam
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


def solutions_of(*answers):
    status, source = (np.array(codes, dtype=np.int64) for codes in zip(*answers, strict=True))
    labels = np.where(status > Status.FEASIBLE, -1, 0)[:, None]
    return Solutions(labels, np.zeros(len(labels)), np.zeros(len(labels)), status, source)


def test_answers_that_all_have_an_output_have_labels():
    some = solutions_of((Status.OPTIMAL, Source.CHAIN), (Status.FEASIBLE, Source.BEAM))
    assert found(some) is some.labels
    none = some.rows(np.arange(0))
    assert found(none).shape == (0, 1)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((Status.TIMED_OUT, Source.BEAM), "no output was found, by beam; widen the beam"),
        ((Status.TIMED_OUT, Source.GREEDY), "no output was found, by greedy; raise restarts"),
        ((Status.TIMED_OUT, Source.BRANCH), "no output was found, by branch; raise the limit"),
        ((Status.INFEASIBLE, Source.BEAM), "infeasible: no output obeys .*; relax a rule"),
    ],
)
def test_an_answer_without_output_says_whose_it_is_and_what_to_do(answer, said):
    some = solutions_of((Status.OPTIMAL, Source.BEAM), answer, answer)
    with pytest.raises(NoOutput, match=rf"^input 1: .*{said}"):
        found(some)
    with pytest.raises(NoOutput, match=rf"^example 7: .*{said}"):
        found(some, "example", np.array([6, 7, 8]))


def test_a_beam_that_finds_nothing_is_not_taken_for_a_limit():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(x["a"] >> y["b"])
    space = builder.build()
    scores = np.array([[0, 1.0, 1.0, 0], [1.0, 0, 1.0, 0]])
    with pytest.raises(NoOutput, match=r"^input 1: .* by beam; widen the beam"):
        found(Beam(width=1).solve(space, scores))
