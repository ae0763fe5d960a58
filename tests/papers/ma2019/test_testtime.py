"""Amortized search at test time: rows, curves, required restarts, and what is claimed of them."""

from dataclasses import replace

import numpy as np
import pytest

from papers.ma2019 import testtime as ma_testtime
from papers.ma2019.hard import DOCUMENTS, HANDWRITING, IMAGES, NAMES, YEAST, Share, ready
from papers.ma2019.testtime import (
    CONTROL,
    FULL,
    LONG,
    OURS,
    THEIRS,
    Found,
    Plan,
    Reached,
    Ways,
    _claims,
    _rows,
    as_good,
    chosen,
    histogram,
)
from rote import SettingError
from tests.papers.studies import TINY as PLANS

STUDY = "ma2019-testtime"
TINY = PLANS[STUDY]


def reached(accuracy=80.0, values=(1.0, 2.0), needed=(1, 2), seconds=1.0, climbs=1.0):
    return Reached(accuracy, np.array(values), np.array(needed), seconds, climbs)


def found_on(case, *, ours, theirs, led, drawn):
    searches = {THEIRS: theirs, OURS: ours, LONG: ours, CONTROL: theirs}
    return Found(case, searches, {20: drawn}, {20: led}, Ways(1, True), 0.5, 90.0)


def rows_of(outcome, name):
    return {row.method: row.metrics for row in outcome.rows if row.metrics["case"] == name}


@pytest.mark.parametrize("name", NAMES)
def test_there_is_a_row_for_each_search(outcome, name):
    rows = rows_of(outcome, name)
    assert [*rows][:6] == [THEIRS, OURS, LONG, CONTROL, "RGS (4)", "A-RGS (4)"]
    assert rows[THEIRS]["value_percent"] == rows[THEIRS]["as_good_percent"] == 100
    assert rows[THEIRS]["speed_up"] == 1
    assert rows[LONG]["climbs"] == rows[THEIRS]["climbs"] == 6
    assert rows[CONTROL]["climbs"] == max(1, round(rows[OURS]["climbs"]))
    assert rows[OURS]["learning_seconds"] > 0
    assert rows[OURS]["patience"] in TINY.patiences
    assert rows[OURS]["first_start"] in ("led", "drawn")
    assert 0 <= rows[OURS]["led_by_e_percent"] <= 100


@pytest.mark.parametrize("name", NAMES)
def test_required_restarts_are_a_mean_and_a_histogram(outcome, name):
    for search in ("RGS (4)", "A-RGS (4)"):
        row = rows_of(outcome, name)[search]
        shares = {key: value for key, value in row.items() if key.startswith("needed_")}
        assert sum(shares.values()) == pytest.approx(100)
        mean = sum(k * shares[f"needed_{k}_percent"] for k in range(1, 5)) / 100
        assert row["required_restarts"] == pytest.approx(mean)


def test_curves_go_through_the_climbs_of_the_plan_and_time_passes(outcome):
    for name in NAMES:
        points = [
            row.metrics
            for row in outcome.rows
            if row.method == "curve of A-RGS" and row.metrics["case"] == name
        ]
        assert [point["climbs"] for point in points] == list(TINY.after)
        times = [point["milliseconds"] for point in points]
        assert times == sorted(times)
        assert times[0] > 0
        # The curve ends where the search with as many climbs does.
        assert points[-1]["accuracy"] == rows_of(outcome, name)[LONG]["accuracy"]


def test_the_papers_numbers_stand_beside_whole_data():
    case = replace(ready(IMAGES, Share(2, 2, iterations=1)), source=IMAGES)
    same = reached()
    found = found_on(case, ours=same, theirs=same, led=same, drawn=same)
    rows = {row.method: row for row in _rows(found, FULL, whole=True)}
    assert rows[OURS].paper == {"milliseconds": 2294, "speed_up": 9451 / 2294}
    assert rows["RGS (20)"].paper == {"required_restarts": 9.343}
    assert rows["A-RGS (20)"].paper == {"required_restarts": 5.175}


@pytest.mark.parametrize(
    ("seconds", "accuracy", "held"), [(1.0, 79.5, True), (1.1, 80, False), (1.0, 79.4, False)]
)
def test_the_claim_wants_speed_and_accuracy(seconds, accuracy, held):
    case = ready(DOCUMENTS, Share(2, 2, iterations=1))
    ours, theirs = reached(accuracy, seconds=seconds), reached(seconds=3.0)
    (claim, *_) = _claims([found_on(case, ours=ours, theirs=theirs, led=ours, drawn=theirs)], 20)
    assert claim.held is held
    assert "against 3.00 s" in claim.evidence


@pytest.mark.parametrize(
    ("led", "drawn", "expected"),
    [
        # By patience, accuracy and climbs: of two that are as good, the one with fewer climbs.
        ({1: (80.0, 2.0)}, {1: (80.0, 2.5)}, Ways(1, True)),
        ({1: (80.0, 3.0)}, {1: (79.9, 2.5)}, Ways(1, False)),
        ({1: (79.0, 2.0), 2: (79.85, 3.0)}, {1: (79.9, 4.0)}, Ways(2, True)),
        (dict.fromkeys((1, 2, 3), (79.0, 2.0)), {1: (79.0, 2.0), 2: (80.0, 9.0)}, Ways(2, False)),
        (
            dict.fromkeys((1, 2, 3), (70.0, 2.0)),
            dict.fromkeys((1, 2, 3), (79.7, 1.0)),
            Ways(3, True),
        ),
    ],
)
def test_of_all_that_is_as_good_on_held_out_inputs_the_cheapest_is_chosen(
    monkeypatch, led, drawn, expected
):
    share = Share(10, 2, iterations=1, restarts=1)
    case, plan = ready(YEAST, share), replace(TINY, patiences=(1, 2, 3))
    judged = []

    def told(engine, trial, model, prepared):
        judged.append((len(trial.learned.ys), len(trial.judged.ys), len(prepared)))
        if not hasattr(engine, "patience"):
            return reached(80.0)
        accuracy, climbs = (led if engine.predict_first_start else drawn)[engine.patience]
        return reached(accuracy)._replace(climbs=climbs)

    monkeypatch.setattr(ma_testtime, "reached_by", told)
    assert chosen(case, share, plan, 0) == expected
    assert set(judged) == {(8, 2, 2)}  # no test input is looked at


def test_few_restarts_are_not_enough_if_what_they_find_is_worse():
    case = ready(HANDWRITING, Share(2, 2, iterations=1))
    led, drawn = reached(values=(1.0, 1.0), needed=(1, 1)), reached(values=(1.0, 2.0))
    found = found_on(case, ours=led, theirs=drawn, led=led, drawn=drawn)
    fewer, better = _claims([found], 20)
    assert (fewer.held, better.held) == (True, False)
    (row,) = (row for row in _rows(found, FULL, whole=False) if row.method == "A-RGS (20)")
    assert row.metrics["best_of_both_percent"] == 50
    assert row.metrics["restarts_to_best"] == (1 + 21) / 2


def test_as_good_is_a_share_of_inputs():
    assert as_good(np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 2.5, 3.0, 3.0])) == 75


def test_a_histogram_has_single_numbers_and_ranges():
    shares = histogram(np.array([1, 1, 2, 5, 6, 10, 11, 20]))
    assert shares == {
        "1": 25.0,
        "2": 12.5,
        "3": 0.0,
        "4": 0.0,
        "5": 12.5,
        "6_to_10": 25.0,
        "11_to_20": 25.0,
    }


def test_a_plan_needs_the_climbs_that_are_told_of():
    with pytest.raises(SettingError, match="no point after 20 or 50"):
        Plan({}, after=(1, 50))


def test_a_plan_compares_searches_on_two_inputs_at_least():
    with pytest.raises(SettingError, match="two inputs at least; yeast has fewer"):
        replace(TINY, shares={YEAST: Share(3, 1, iterations=1, restarts=1)})
