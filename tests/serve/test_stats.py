"""Counts, and a curve that stays small."""

import pytest

from rote.serve.predictor import Answer
from rote.serve.stats import Curve, ServiceStats


def test_a_point_is_a_batch_until_there_are_too_many():
    curve = Curve(most=4)
    for seconds in (4.0, 3.0, 2.0, 1.0):
        curve.add(1, seconds)
    assert curve.record() == [[1, 4.0], [1, 3.0], [1, 2.0], [1, 1.0]]
    curve.add(1, 0.5)
    assert curve.record() == [[2, 3.5], [2, 1.5], [1, 0.5]]
    curve.add(1, 1.5)  # a point stands for two answers now
    assert curve.record() == [[2, 3.5], [2, 1.5], [2, 1.0]]


def test_however_long_it_runs_nothing_is_lost_and_the_curve_is_short():
    curve = Curve(most=10)
    for k in range(1000):
        curve.add(1 + k % 3, 0.5)
    assert 5 <= len(curve.points) <= 10
    assert sum(answers for answers, _ in curve.points) == sum(1 + k % 3 for k in range(1000))
    assert sum(seconds for _, seconds in curve.points) == pytest.approx(500)


def test_counts_are_kept_by_source_status_and_reason():
    stats = ServiceStats()
    assert stats.seconds_per_answer == 0
    best = Answer("a", 1.0, 1.0, "optimal", "cache")
    stats.enter(2, [best, best._replace(source="beam", status="feasible"), best], 0.6)
    stats.enter(1, [], 0.1)
    stats.refuse("too large")
    record = stats.record()
    assert stats.seconds_per_answer == pytest.approx(0.7 / 3)
    assert (record["asked"], record["requests"], record["batches"]) == (3, 3, 2)
    assert record["largest_batch"] == 2
    assert record["by_source"] == {"cache": 2, "beam": 1}
    assert record["by_status"] == {"optimal": 2, "feasible": 1}
    assert record["refused"] == {"too large": 1}
    assert record["curve"] == [[3, pytest.approx(0.2)]]
    assert record["seconds_up"] >= 0
