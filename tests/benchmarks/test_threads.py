"""What threads are measured by: answers to the bit, wall-clock and processor time."""

import time

import numpy as np
import pytest

from benchmarks.threads import ThreadRow, bars_of, row_of


def test_a_row_sets_several_threads_beside_one():
    row = row_of("sleeps", lambda n_jobs: time.sleep(0.04 / n_jobs) or [np.ones(2)], 2, 3)
    assert (row.case, row.engine, row.max_error) == ("sleeps", "2 threads", 0.0)
    assert row.alone_us > row.median_us > 0
    assert row.speedup == pytest.approx(row.alone_us / row.median_us)


def test_answers_that_differ_in_a_bit_are_told():
    row = row_of("drifts", lambda n_jobs: [np.array([0.0 if n_jobs == 1 else -0.0])], 2, 1)
    assert row.max_error == np.inf
    assert bars_of([row], 2)[0].says == "different in drifts"


@pytest.mark.parametrize(
    ("error", "speedup", "work", "met"),
    [(0.0, 1.4, 1.15, True), (np.inf, 1.39, 1.16, False)],
    ids=["met", "not met"],
)
def test_bars_are_met_at_their_limits(error, speedup, work, met):
    rows = [ThreadRow("a", "2 threads", 1.0, None, error, 1.0, speedup, work)]
    assert [bar.met for bar in bars_of(rows, 2)] == [met] * 3
