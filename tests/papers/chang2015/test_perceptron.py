"""The perceptron with amortized inference: exact where it says so, and counted."""

from __future__ import annotations

import pytest

from papers.base import Settings
from papers.chang2015.perceptron import FIXED, METHODS, Plan, learner_of
from papers.chang2015.shared import AUTO
from tests.papers.studies import TINY as PLANS

STUDY = "chang2015-perceptron"
TINY = PLANS[STUDY]
TIMED = ("inference_seconds", "training_seconds", "speedup")


def rows_of(outcome):
    return {(row.metrics["solver"], row.method): row.metrics for row in outcome.rows}


def test_there_is_a_row_per_solver_and_method(outcome):
    names = [method.name for method in METHODS]
    assert list(rows_of(outcome)) == [(s, name) for s in ("Exact", "Milp") for name in names]
    assert all(row.paper == {} for row in outcome.rows)


@pytest.mark.parametrize("solver", ["Exact", "Milp"])
def test_auto_learns_the_same_weights_with_fewer_calls(outcome, solver):
    rows = rows_of(outcome)
    baseline, auto = rows[solver, "baseline"], rows[solver, "auto"]
    assert baseline["solver_calls"] == baseline["inferences"]
    assert baseline["speedup"] == 1
    assert auto["same_weights"] == "yes"
    assert auto["solver_calls"] < auto["inferences"] == baseline["inferences"]
    assert auto["entity_f1"] == baseline["entity_f1"]
    assert outcome.claims[0].held


def test_counts_do_not_hang_on_the_solver(outcome):
    rows = rows_of(outcome)
    for method in METHODS:
        one, two = rows["Exact", method.name], rows["Milp", method.name]
        untimed = [name for name in one if name not in (*TIMED, "solver")]
        assert [one[name] for name in untimed] == [two[name] for name in untimed]


def test_violations_are_fixed_by_the_largest_one():
    assert learner_of(FIXED, TINY, Settings(seed=4)).update == "largest"
    assert learner_of(AUTO, TINY, Settings(seed=4)).update == "full"
    assert learner_of(AUTO, TINY, Settings(seed=4)).seed == 4
    assert learner_of(AUTO, Plan(), Settings(), "Milp").iterations < Plan().iterations
