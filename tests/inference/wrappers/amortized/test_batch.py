"""Answers to a batch: what certificates and engines say of it ends up in the right places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from rote.inference import Exact, FoundBy, Status
from rote.inference.problem import Problem
from rote.inference.wrappers.amortized import (
    EqualScores,
    LagrangianCertificate,
    Margin,
    ScoreCondition,
)
from rote.inference.wrappers.amortized.answers import Answers
from rote.inference.wrappers.amortized.certificates import CertificateResult, Query
from rote.inference.wrappers.amortized.solution_cache import SolutionCache
from rote.space import SpaceBuilder
from rote.types import readonly


@pytest.fixture
def shelf(space):
    return SolutionCache(space)


def asking(shelf, scores, epsilon=0.0, starts=None):
    m = len(scores)
    starts = np.full(m, -1) if starts is None else starts
    return Query(shelf, Problem.of(shelf.space, scores), np.full(m, epsilon), starts)


def put(shelf, scores, margins):
    """Solved problems on a shelf."""
    labels = Exact().solve(shelf.space, scores).labels
    m = len(scores)
    return shelf.put(
        np.full(m, -1),
        shelf.numbers(labels)[0],
        scores,
        np.zeros((m, shelf.wide[0])),
        np.zeros((m, shelf.wide[1])),
        np.array(margins),
        by_engine=np.ones(m, dtype=np.bool_),
    )


SCORES = np.random.default_rng(0).normal(size=(4, 11))


@dataclass(frozen=True)
class Says:
    """A certificate of a user's own, which says what it was told."""

    taken: tuple[bool, ...]
    bound: float
    margin: float
    name: str = "mine"

    def test(self, asked):
        m = len(asked)
        return CertificateResult(
            np.array(self.taken),
            readonly(np.zeros((m, 2), dtype=np.int64)),
            np.full(m, self.bound),
            np.full(m, self.margin),
            np.full(m, -1),
        )


def test_nothing_is_known_at_first(shelf):
    answers = Answers(shelf, 3)
    assert not answers.taken.any()
    assert not answers.new.any()
    found = answers.solutions()
    assert found.labels.tolist() == [[-1, -1]] * 3
    assert found.value.tolist() == [-np.inf] * 3
    assert found.bound.tolist() == [np.inf] * 3
    assert found.status.tolist() == [Status.TIMED_OUT] * 3


def test_only_what_is_taken_is_entered_at_its_place(shelf):
    answers = Answers(shelf, 4)
    rows = np.array([1, 3])
    asked = asking(shelf, SCORES).rows(rows)
    assert answers.test(rows, Says((False, True), 100.0, 1.0), asked) == 1
    assert answers.taken.tolist() == [False, False, False, True]
    assert answers.labels[3].tolist() == [0, 0]
    assert answers.value[3] == shelf.space.value(SCORES[3], np.array([[0, 0]]))[0]
    assert (answers.labels[:3] == -1).all()
    assert answers.test(rows, Says((False, False), 0.0, 0.0), asked) == 0


@pytest.mark.parametrize(
    ("epsilon", "margin", "status", "proved"),
    [
        (0.0, -np.inf, Status.OPTIMAL, True),
        (0.5, 1.0, Status.OPTIMAL, True),
        (0.5, 0.0, Status.FEASIBLE, False),
        (0.5, -np.inf, Status.FEASIBLE, False),
    ],
)
def test_an_answer_is_optimal_without_epsilon_or_with_a_margin(
    shelf, epsilon, margin, status, proved
):
    answers = Answers(shelf, 1)
    answers.test(np.array([0]), Says((True,), 9.0, margin), asking(shelf, SCORES[:1], epsilon))
    found = answers.solutions()
    assert found.status[0] == status
    assert found.bound[0] == (found.value[0] if proved else 9.0)


def test_a_bound_is_never_below_the_value(shelf):
    answers = Answers(shelf, 1)
    answers.test(np.array([0]), Says((True,), -50.0, -1.0), asking(shelf, SCORES[:1], 0.5))
    assert answers.bound[0] == answers.value[0]


@pytest.mark.parametrize(
    ("certificate", "source", "new"),
    [
        (EqualScores(), FoundBy.CACHE, False),
        (Margin(), FoundBy.CACHE, False),
        (ScoreCondition(), FoundBy.CACHE, True),
        (ScoreCondition(relative=True), FoundBy.CACHE, True),
        (LagrangianCertificate(), FoundBy.CERTIFICATE, True),
    ],
    ids=str,
)
def test_each_certificate_says_where_an_answer_is_from_and_whether_it_is_worth_an_entry(
    shelf, certificate, source, new
):
    rows = put(shelf, SCORES, [1e-3] * 4)
    before = shelf.used[rows].copy()
    answers = Answers(shelf, 4)
    assert answers.test(np.arange(4), certificate, asking(shelf, SCORES, starts=rows)) == 4
    expected = Exact().solve(shelf.space, SCORES)
    found = answers.solutions()
    for name in ("labels", "value", "bound", "status"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    assert found.source.tolist() == [source] * 4
    assert answers.new.tolist() == [new] * 4
    assert (shelf.used[rows] > before).any()


def test_equal_scores_are_a_proof_with_epsilon_and_without_a_margin_too(shelf):
    put(shelf, SCORES, [-np.inf] * 4)
    answers = Answers(shelf, 4)
    answers.test(np.arange(4), EqualScores(), asking(shelf, SCORES, 3.0))
    assert answers.status.tolist() == [Status.OPTIMAL] * 4
    assert answers.bound.tolist() == answers.value.tolist()


def test_duals_are_kept_also_of_inputs_that_are_not_answered():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(10)]
    for j, x in enumerate(variables):
        for y in variables[:j]:
            builder.factor(x, y)
    shelf = SolutionCache(builder.build())
    assert shelf.wide[0] > 0  # too dense to be eliminated
    scores = np.random.default_rng(1).normal(size=(3, shelf.space.parts))
    answers = Answers(shelf, 3)
    answers.test(np.arange(3), LagrangianCertificate(sweeps=1, failures=0), asking(shelf, scores))
    assert not answers.taken.all()
    assert answers.messages.any(axis=1).all()


def test_the_largest_m_is_that_of_the_worst_output_taken(shelf):
    scores = np.abs(SCORES) + 1.0
    put(shelf, scores, [0.0] * 4)
    answers = Answers(shelf, 4)
    taken = answers.test(np.arange(4), ScoreCondition(), asking(shelf, scores * 1.01, 0.5))
    assert taken == 4
    found = answers.solutions()
    theirs = (found.bound - found.value) / (0.5 * found.value)
    assert answers.largest_m == pytest.approx(theirs.max())
    # Σ (|c(y)| + max |c|) over the slots is at least twice the value.
    assert answers.largest_m >= 2.0


def test_no_value_above_zero_means_no_m(shelf):
    scores = -np.abs(SCORES) - 1.0
    put(shelf, scores, [0.0] * 4)
    answers = Answers(shelf, 4)
    assert answers.test(np.arange(4), ScoreCondition(), asking(shelf, scores, 0.5)) == 4
    assert answers.largest_m == 0.0


def test_the_answers_of_an_engine_are_entered_as_they_are(shelf):
    answers = Answers(shelf, 4)
    solved = Exact().solve(shelf.space, SCORES[[1, 2]])
    answers.solved(np.array([2, 0]), solved)
    found = answers.solutions()
    for name in ("labels", "value", "bound", "status", "source"):
        assert getattr(found, name)[[2, 0]].tolist() == getattr(solved, name).tolist()
        assert not getattr(found, name).flags.writeable
    assert found.status[[1, 3]].tolist() == [Status.TIMED_OUT] * 2
