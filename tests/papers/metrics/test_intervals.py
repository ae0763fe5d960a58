"""The interval of a mean against SciPy's."""

import numpy as np
import pytest
from scipy import stats

from papers.metrics.intervals import mean_interval
from rote.errors import DataError, SettingError


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99])
def test_the_interval_of_a_mean_is_students(confidence):
    values = np.random.default_rng(9).normal(5, 2, 10)
    found = mean_interval(values, confidence)
    low, high = stats.t.interval(confidence, 9, values.mean(), stats.sem(values))
    assert (found.mean, found.low, found.high) == pytest.approx((values.mean(), low, high))
    assert found.trials == 10


def test_equal_trials_leave_no_doubt():
    found = mean_interval([0.5, 0.5, 0.5])
    assert (found.mean, found.low, found.high) == (0.5, 0.5, 0.5)


@pytest.mark.parametrize("values", [[], [1.0], [[1.0, 2.0]], [1.0, float("nan")]])
def test_an_interval_needs_two_finite_trials(values):
    with pytest.raises(DataError, match="results of two trials at least"):
        mean_interval(values)


@pytest.mark.parametrize("confidence", [0, 1, 95])
def test_a_confidence_outside_0_and_1_is_refused(confidence):
    with pytest.raises(SettingError, match="confidence is a number above 0 and below 1"):
        mean_interval([1.0, 2.0], confidence)
