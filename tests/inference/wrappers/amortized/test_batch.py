"""A batch: what certificates and engines say of it ends up in the right places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from rote.engines import Exact, FoundBy, Status
from rote.inference.problem import Context, Problem
from rote.inference.wrappers.amortized import (
    EqualScores,
    LagrangianCertificate,
    Margin,
    ScoreCondition,
)
from rote.inference.wrappers.amortized.batch import Batch
from rote.inference.wrappers.amortized.certificates import CertificateResult, Query
from rote.inference.wrappers.amortized.solution_cache import SolutionCache
from rote.space import SpaceBuilder
from rote.types import readonly
from tests.inference.wrappers.amortized.caches import put

SCORES = np.random.default_rng(0).normal(size=(4, 11))


@pytest.fixture
def cache(space):
    return SolutionCache(space)


def batch_of(cache, scores, *certificates, epsilon=0.0, starts=None):
    m = len(scores)
    starts = np.full(m, -1) if starts is None else starts
    query = Query(cache, Problem.of(cache.space, scores), np.full(m, epsilon), starts)
    return Batch(query, Context(), certificates)


def put_solved(cache, scores, margin):
    return put(cache, Exact().solve(cache.space, scores).labels, scores, margin)


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


def test_nothing_is_known_at_first(cache):
    batch = batch_of(cache, SCORES)
    assert batch.test() == {}
    assert not (batch.taken | batch.new).any()
    found = batch.solutions
    assert found.labels.tolist() == [[-1, -1]] * 4
    assert found.value.tolist() == [-np.inf] * 4
    assert found.bound.tolist() == [np.inf] * 4
    assert found.status.tolist() == [Status.TIMED_OUT] * 4


def test_what_one_certificate_leaves_goes_to_the_next_and_the_rest_to_the_engine(cache):
    first, second = Says((False, True, False, True), 100.0, 1.0), Says((True, False), 9.0, 1.0)
    batch = batch_of(cache, SCORES, first, second)
    assert batch.test() == {"mine": 3}
    assert batch.taken.tolist() == [True, True, False, True]
    batch.solve(Exact())
    assert batch.solved.tolist() == [2]
    found, solved = batch.solutions, Exact().solve(cache.space, SCORES)
    zeros = np.zeros((4, 2), dtype=np.int64)
    for name in ("labels", "value", "bound", "status", "source"):
        assert getattr(found, name)[2].tolist() == getattr(solved, name)[2].tolist()
        assert not getattr(found, name).flags.writeable
    assert found.labels[[0, 1, 3]].tolist() == zeros[:3].tolist()
    assert found.value[[0, 1, 3]].tolist() == cache.space.value(SCORES, zeros)[[0, 1, 3]].tolist()


@pytest.mark.parametrize(
    ("epsilon", "margin", "bound", "status"),
    [
        (0.0, -np.inf, 9.0, Status.OPTIMAL),
        (0.5, 1.0, 9.0, Status.OPTIMAL),
        (0.5, 0.0, 9.0, Status.FEASIBLE),
        (0.5, -np.inf, 9.0, Status.FEASIBLE),
        (0.5, -1.0, -50.0, Status.FEASIBLE),
    ],
)
def test_an_answer_is_optimal_without_epsilon_or_with_a_margin(
    cache, epsilon, margin, bound, status
):
    batch = batch_of(cache, SCORES[:1], Says((True,), bound, margin), epsilon=epsilon)
    batch.test()
    assert batch.status[0] == status
    value = batch.value[0]
    assert batch.bound[0] == (value if status == Status.OPTIMAL else max(bound, value))


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
    cache, certificate, source, new
):
    rows = put_solved(cache, SCORES, 1e-3)
    before = cache.used[rows].copy()
    batch = batch_of(cache, SCORES, certificate, starts=rows)
    assert batch.test() == {certificate.name: 4}
    expected = Exact().solve(cache.space, SCORES)
    for name in ("labels", "value", "bound", "status"):
        assert getattr(batch.solutions, name).tolist() == getattr(expected, name).tolist()
    assert batch.source.tolist() == [source] * 4
    assert batch.new.tolist() == [new] * 4
    assert (cache.used[rows] > before).any()


def test_equal_scores_are_a_proof_with_epsilon_and_without_a_margin_too(cache):
    put_solved(cache, SCORES, -np.inf)
    batch = batch_of(cache, SCORES, EqualScores(), epsilon=3.0)
    batch.test()
    assert batch.status.tolist() == [Status.OPTIMAL] * 4
    assert batch.bound.tolist() == batch.value.tolist()


def test_duals_are_kept_also_of_inputs_that_are_not_answered():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(10)]
    for j, x in enumerate(variables):
        for y in variables[:j]:
            builder.factor(x, y)
    cache = SolutionCache(builder.build())
    assert cache.dual_sizes[0] > 0  # too dense to be eliminated
    scores = np.random.default_rng(1).normal(size=(3, cache.space.parts))
    batch = batch_of(cache, scores, LagrangianCertificate(sweeps=1, failures=0))
    batch.test()
    assert not batch.taken.all()
    assert batch.duals.messages.any(axis=1).all()


@pytest.mark.parametrize("sign", [1, -1])
def test_the_largest_m_is_that_of_the_worst_output_taken_and_values_below_zero_have_none(
    cache, sign
):
    scores = sign * (np.abs(SCORES) + 1.0)
    put_solved(cache, scores, 0.0)
    batch = batch_of(cache, scores * 1.01, ScoreCondition(), epsilon=0.5)
    assert batch.test() == {"condition": 4}
    if sign < 0:
        assert batch.largest_m == 0.0
        return
    theirs = (batch.bound - batch.value) / (0.5 * batch.value)
    assert batch.largest_m == pytest.approx(theirs.max())
    # Σ (|c(y)| + max |c|) over the slots is at least twice the value.
    assert batch.largest_m >= 2.0
