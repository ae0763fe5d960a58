"""`CpSat`: the program as it is sent, and rules that it alone sees as clauses."""

import numpy as np
import pytest

from rote.inference.exact.exhaustive import Exhaustive
from rote.inference.problem import Problem
from rote.inference.solvers.child import FREE
from rote.inference.solvers.cp_sat import CpSat, whole_ends
from rote.space import at_least, at_most, count
from tests.inference.outputs import built


def test_ends_of_rows_are_whole_numbers_and_open_ends_are_marked():
    assert whole_ends(np.array([-np.inf, 3.0, np.inf]), FREE).tolist() == [FREE, 3, FREE]


def test_scores_of_labels_and_entries_are_costs_of_columns():
    space = built(2, [(0, 1)])
    scores = np.array([[1.0, 0.0, 0.0, 2.0, 0.0, 0.0, 4.0, 3.0]])
    question = CpSat().question(Problem(space, scores))
    assert question.whole.costs.tolist() == [0, 1, 2, 0, 4, 4, 0, 1]
    assert question.whole.constant == 7.0


@pytest.mark.skipif(not CpSat.installed(), reason="ortools is not installed")
@pytest.mark.parametrize(
    "rule",
    [
        lambda v: at_most(1, [x["a"] for x in v]),
        lambda v: at_least(3, [x["b"] for x in v]),
        lambda v: count([x["a"] for x in v]) == 1,
        lambda v: v[0]["a"] | ~v[1]["b"] | v[2]["c"],
        lambda v: 3 * count([x["a"] for x in v[:2]]) - count([x["b"] for x in v]) >= 1,
    ],
)
def test_rows_of_every_kind_are_understood(rule):
    space = built(5, [(0, 4)], [rule], labels="abc")
    scores = np.random.default_rng(3).normal(size=(6, space.parts))
    found = CpSat().solve(space, scores)
    assert found.labels.tolist() == Exhaustive().solve(space, scores).labels.tolist()
