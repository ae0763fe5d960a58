"""Citations and announcements under rules: what is learned, timed and counted."""

from dataclasses import replace

import pytest

from papers.base import Settings
from papers.samdani2012.corpora import CITATIONS, SEMINARS, Trial, trials_of
from papers.samdani2012.extraction import (
    FULL,
    ROWS,
    TABLE,
    Bench,
    Measured,
    _claims,
    _rows,
    plan_of,
    speedup,
)
from rote import SettingError
from tests.papers.studies import TINY as PLANS

STUDY = "samdani2012-extraction"
TINY = PLANS[STUDY]
SOLVERS = {CITATIONS: ("Exact", "Milp", ROWS, "Blocks"), SEMINARS: ("Exact", "Milp")}


def test_there_is_a_row_for_each_method_and_solver(outcome):
    for corpus in (CITATIONS, SEMINARS):
        rows = [row for row in outcome.rows if row.metrics["corpus"] == corpus]
        assert [row.method for row in rows[:2]] == ["HMM", "LL+C"]
        methods = [(solver, method) for solver in SOLVERS[corpus] for method in ("GL", "DecL")]
        assert [(row.metrics["solver"], row.method) for row in rows[2:]] == methods
        assert all(0 < row.metrics["accuracy"] <= 100 for row in rows)


def test_whatever_knows_the_rules_breaks_none(outcome):
    broken = {row.method: row.metrics["broken_outputs"] for row in outcome.rows}
    assert broken["LL+C"] == broken["GL"] == broken["DecL"] == 0
    assert outcome.claims[-1].held


def test_times_stand_beside_those_of_global_learning_with_the_same_solver(outcome):
    rows = [row.metrics for row in outcome.rows if row.method in ("GL", "DecL")]
    for whole, near in zip(rows[::2], rows[1::2], strict=True):
        assert whole["speedup"] == 1
        each = [row["inference_seconds"] / row["iterations"] for row in (whole, near)]
        times = each[0] / each[1]
        assert near["speedup"] == pytest.approx(times)


def test_more_trials_than_there_are_samples_are_refused():
    with pytest.raises(SettingError, match="5 samples"):
        plan_of(Settings(trials=6))


def test_gl_and_decl_do_not_learn_from_what_breaks_a_rule():
    trial = next(trials_of(replace(TINY, sizes=(3,)), 0))
    x, y = trial.train[0]
    torn = x, (*y[:-1], "author")  # authors at both ends
    bench = Bench(trial._replace(train=[*trial.train, torn]), 0)
    assert bench.kept == trial.train


def test_slots_are_counted_apart_from_nothing():
    x = (("Time",), (":",), ("5",), ("pm",))
    example = (x, ("O", "O", "stime", "stime"))
    bench = Bench(Trial(SEMINARS, 1, [example], [example], [example]), 0)
    found = bench._compared([("O", "O", "stime", "O")], [example])
    assert found.accuracy == 75
    assert found.slot_f1 == pytest.approx(100 * 2 * 1 / (2 + 1))
    assert found.broken == 0


def results(accuracy, seconds, broken=0):
    """One trial of each method, with 300 citations and one solver."""
    return {
        (CITATIONS, 300, "Exact", method): [
            Measured(
                accuracy[method], 0.0, broken * (method == "GL"), 7.0, seconds.get(method, 0), 4, 2
            )
        ]
        for method in ("HMM", "LL+C", "GL", "DecL")
    }


GOOD = {"HMM": 80.0, "LL+C": 82.0, "GL": 90.0, "DecL": 89.6}
FAST = {"GL": 6.0, "DecL": 2.0}


def test_all_claims_hold_where_the_numbers_are_as_in_the_paper():
    claims = list(_claims(results(GOOD, FAST)))
    assert [claim.held for claim in claims] == [True] * 5
    assert claims[0].evidence == "It takes 3.0 times less."


def test_times_are_compared_by_iteration():
    found = dict(results(GOOD, FAST))
    early = found[CITATIONS, 300, "Exact", "DecL"][0]._replace(iterations=2)
    found[CITATIONS, 300, "Exact", "DecL"] = [early]  # as long for half of the iterations
    assert speedup(found, CITATIONS, 300, "Exact") == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("given", "which"),
    [
        ((GOOD, {**FAST, "DecL": 2.1}), 0),
        (({**GOOD, "DecL": 89.4}, FAST), 1),
        (({**GOOD, "LL+C": 89.6}, FAST), 2),
        (({**GOOD, "HMM": 82.0}, FAST), 3),
        ((GOOD, FAST, 1), 4),
    ],
    ids=str,
)
def test_a_claim_fails_alone_where_its_numbers_are_not(given, which):
    assert [claim.held for claim in _claims(results(*given))] == [k != which for k in range(5)]


def test_whole_runs_have_the_papers_accuracies_hours_and_speedups_beside_them():
    rows = {row.method: row for row in _rows(results(GOOD, FAST), whole=True)}
    table = TABLE[CITATIONS, 300]
    assert {method: row.paper["accuracy"] for method, row in rows.items()} == {
        method: known[0] for method, known in table.items()
    }
    assert rows["DecL"].paper["speedup"] == pytest.approx(40.59 / 10.69)
    assert rows["DecL"].metrics["speedup"] == 3
    assert rows["GL"].metrics["training_hours"] == pytest.approx(7 / 3600)
    assert set(FULL.sizes) == {size for _, size in TABLE}
