"""Inputs of many spaces in one call, judged by one call for each."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote import (
    Exact,
    Exhaustive,
    InfeasibleSpace,
    NoSolution,
    ScoreError,
    SettingError,
    Status,
    count,
    solve_many,
    template,
)
from rote.errors import RoteError
from tests.strategies import Judge, problems


@template
def rows_of(builder, length, ones=None):
    row = [builder.variable(f"x{t}", "ab") for t in range(length)]
    if ones is not None:
        builder.require(count(x["b"] for x in row) == ones, "as many b")


@settings(max_examples=60)
@given(st.lists(problems(inputs=1), max_size=5), st.integers(0, 2**32 - 1), st.booleans())
def test_each_answer_is_that_of_a_call_of_its_own(drawn, seed, few):
    rng = np.random.default_rng(seed)
    pairs = [(space, problem.scores[0]) for space, problem in drawn if Judge(space).feasible] * 3
    pairs = [pairs[k] for k in rng.permutation(len(pairs))]
    pairs = [(space, rng.permutation(scores.copy())) for space, scores in pairs]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rote.inference.many.NUMBERS_AT_ONCE", 16 if few else 1 << 22)
        found = solve_many(iter(pairs), n_jobs=1 + few)
    assert len(found) == len(pairs)
    for (space, scores), answer in zip(pairs, found, strict=True):
        alone = Exhaustive().solve(space, scores)
        assert answer.labels.tolist() == alone.labels.tolist()
        assert answer.value.tolist() == alone.value.tolist()
        assert answer.status.tolist() == [Status.OPTIMAL]


FREE, IMPOSSIBLE = rows_of(2), rows_of(2, ones=5)
CLOSED = np.array([0.0, 1.0, -np.inf, -np.inf])  # the second variable has no label left
LOW = np.array([0.0, 1.0, 3.0, 1.0])


@pytest.mark.parametrize(
    ("space", "scores", "error", "unruled"),
    [(IMPOSSIBLE, LOW, InfeasibleSpace, [1, 0]), (FREE, CLOSED, NoSolution, [-1, -1])],
)
def test_an_input_without_an_output_gets_what_was_chosen_and_the_others_their_answers(
    space, scores, error, unruled
):
    pairs = [(FREE, LOW), (rows_of(2, ones=1), LOW), (space, scores), (FREE, -LOW)]
    with pytest.raises(error, match=r"^input 2: "):
        solve_many(pairs)
    for chosen, labels in (("skip", [-1, -1]), ("without_rules", unruled)):
        found = solve_many(pairs, on_infeasible=chosen)
        said = [answer.labels[0].tolist() for answer in found]
        assert said == [[1, 0], [1, 0], labels, [0, 1]]
        assert [answer.status[0] for answer in found] == [0, 0, Status.INFEASIBLE, 0]


def test_one_of_a_batch_may_be_without_an_output():
    space = rows_of(2, ones=1)
    mask = np.array([-np.inf, 0.0, -np.inf, 0.5])  # both are b, and the rule says one
    found = solve_many([(space, LOW), (space, mask), (space, -LOW)], on_infeasible="without_rules")
    assert [answer.labels[0].tolist() for answer in found] == [[1, 0], [1, 1], [0, 1]]
    assert [answer.value[0] for answer in found] == [4.0, 0.5, -1.0]
    with pytest.raises(NoSolution, match=r"input 1: infeasible: .*; relax a rule"):
        solve_many([(space, LOW), (space, mask)])


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (partial(solve_many, [(FREE, LOW), (FREE, LOW[:3])]), ScoreError, r"input 1: .*\(4,\)"),
        (partial(solve_many, [(FREE, LOW), (FREE, LOW * np.nan)]), ScoreError, "input 1: .*nan"),
        (partial(solve_many, [], on_infeasible="stop"), SettingError, "error, without_rules, skip"),
        (partial(solve_many, [], engine=Exact), SettingError, "engine is"),
    ],
)
def test_what_is_wrong_is_said_with_the_number_of_the_input(call, error, match):
    with pytest.raises(error, match=match) as raised:
        call()
    assert isinstance(raised.value, RoteError)


def test_no_input_at_all():
    assert solve_many([]) == []
