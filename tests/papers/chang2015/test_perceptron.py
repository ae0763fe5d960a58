"""The perceptron with amortized inference: exact where it says so, and counted."""

from papers.base import Settings
from papers.chang2015.perceptron import FIXED, METHODS, Plan, learner_of
from papers.chang2015.shared import AUTO
from tests.papers.studies import TINY as PLANS

STUDY = "chang2015-perceptron"
TINY = PLANS[STUDY]
TIMED = ("inference_seconds", "training_seconds", "speedup")


def rows_of(outcome):
    return {(row.metrics["solver"], row.method): row.metrics for row in outcome.rows}


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
