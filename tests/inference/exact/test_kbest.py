"""The k best outputs against a sorted list of all, on every kind of space."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.engines import BranchAndBound, Exact, Exhaustive, Milp, Problem, Solutions, Status, k_best
from rote.errors import InfeasibleSpace, RoteError, ScoreError, SettingError
from rote.inference.approximate import RGS
from rote.space import SpaceBuilder
from rote.tasks.entity_relation import entity_relation_space
from tests.strategies import FAMILIES, Judge, problems, row_of, rules_as_rows, spaces


def check(space, problem, k, engine=None):
    judge = Judge(space)
    if not judge.feasible and problem.closed is None:
        with pytest.raises(InfeasibleSpace):
            k_best(space, problem, k, engine)
        return
    ranks = k_best(space, problem, k, engine)
    assert len(ranks) == k
    assert all(type(rank) is Solutions and len(rank) == len(problem) for rank in ranks)
    for i in range(len(problem)):
        ranked = judge.ranked(*row_of(problem, i))
        scale = max(1.0, np.abs(problem.scores[i]).max(initial=0.0))
        for r, rank in enumerate(ranks):
            if r >= len(ranked):
                assert rank.status[i] == Status.INFEASIBLE
                assert (rank.labels[i] == -1).all()
                assert rank.value[i] == rank.bound[i] == -np.inf
                continue
            assert rank.status[i] == Status.OPTIMAL
            assert rank.value[i] == pytest.approx(ranked[r].value, abs=2e-10 * scale)
            assert rank.value[i] == rank.bound[i]
            assert rank.value[i] == space.value(problem.scores[i], rank.labels[i])[0]
        found = [tuple(rank.labels[i].tolist()) for rank in ranks[: len(ranked)]]
        assert len(set(found)) == len(found)
        assert set(found) <= set(judge.outputs)
        values = np.array([one.value for one in ranked])
        if (np.abs(np.diff(values)) % 1 == 0).all():  # far apart or equal: the order is known
            assert found == [one.labels for one in ranked[: len(found)]]


@pytest.mark.parametrize("family", FAMILIES)
def test_the_k_best_are_the_first_of_the_sorted_list(family):
    @settings(max_examples=70)
    @given(problems(FAMILIES[family]), st.sampled_from([1, 2, 5]))
    def agrees(problem, k):
        check(*problem, k)

    agrees()


def test_the_k_best_when_rules_stay_rows():
    @settings(max_examples=50)
    @given(problems(spaces(least=2)))
    def agrees(problem):
        check(*problem, 4)

    with rules_as_rows():
        agrees()


@pytest.mark.parametrize("engine", [Exhaustive(), BranchAndBound(), Milp(), Exact()])
def test_any_exact_engine_may_be_asked(engine):
    rng = np.random.default_rng(0)
    space = entity_relation_space(2)
    for scores in (rng.normal(size=(3, space.parts)), rng.integers(0, 2, (3, space.parts)) * 1.0):
        check(space, Problem(space, scores), 6, engine)


def test_an_empty_batch_and_a_space_without_variables():
    space = entity_relation_space(2)
    assert [len(rank) for rank in k_best(space, np.empty((0, space.parts)), 3)] == [0, 0, 0]
    ranks = k_best(SpaceBuilder().build(), np.empty((2, 0)), 2)
    assert ranks[0].status.tolist() == [Status.OPTIMAL] * 2
    assert ranks[1].status.tolist() == [Status.INFEASIBLE] * 2


def test_arrays_of_every_rank_have_their_types_and_cannot_be_written():
    space = entity_relation_space(2)
    for scores in (np.zeros((2, space.parts)), np.empty((0, space.parts))):
        for rank in k_best(space, scores, 3):
            assert rank.labels.dtype == np.int64
            assert rank.labels.shape == (len(scores), len(space.variables))
            assert rank.status.dtype == rank.source.dtype == np.int64
            assert rank.value.dtype == rank.bound.dtype == np.float64
            assert not rank.labels.flags.writeable
            assert not rank.value.flags.writeable


def test_ranks_beyond_the_last_output_cost_nothing():
    space = entity_relation_space(1)
    ranks = k_best(space, np.zeros((2, space.parts)), 10**5)
    assert len(ranks) == 10**5
    there = [rank for rank in ranks if rank.optimal.all()]
    assert len(there) == space.outputs
    assert all((rank.status == Status.INFEASIBLE).all() for rank in ranks[len(there) :])


@pytest.mark.parametrize("k", [0, -1, 1.5, "2", None, True, 10**9])
def test_a_k_that_makes_no_sense_is_refused(k):
    with pytest.raises(RoteError, match="k is a whole number from 1 to 1048576"):
        k_best(entity_relation_space(2), np.zeros(20), k)


def test_an_engine_that_proves_nothing_is_refused():
    space = entity_relation_space(2)
    with pytest.raises(SettingError, match=r"without one; use an exact engine such as Exact\(\)"):
        k_best(space, np.zeros(space.parts), 2, RGS())


def test_bad_scores_and_rules_that_conflict_are_answered_as_by_any_engine():
    builder = SpaceBuilder()
    x = builder.variable("x", "ab")
    with pytest.raises(ScoreError):
        k_best(builder.build(), np.array([np.nan, 0.0]), 2)
    builder.require(x["a"] & x["b"], "both")
    with pytest.raises(InfeasibleSpace) as raised:
        k_best(builder.build(), np.zeros(2), 2)
    assert raised.value.conflicting_rules == ("both",)
