"""Who is ahead where, judged by the interval of the difference within trials."""

import numpy as np
import pytest
from scipy import stats

from papers.curves import Lead, intervals, listed
from rote import DataError

PLACES = (10, 20, 50)


def lead(*differences: list[float]) -> Lead:
    # What both share differs more between trials than they do.
    shared = np.linspace(0.2, 0.8, len(differences[0]))
    return Lead.of(PLACES, shared + np.array(differences), np.tile(shared, (len(PLACES), 1)))


def test_a_method_is_ahead_where_the_interval_of_the_difference_leaves_out_zero():
    found = lead([0.01, 0.02, 0.03, 0.02], [-0.02, 0.02, 0.01, -0.01], [-0.3, -0.2, -0.3, -0.4])
    assert found.ahead == (10,)
    assert found.behind == (50,)
    assert found.ahead_from is None


def test_intervals_are_those_of_students_t():
    results = np.random.default_rng(0).normal(size=(3, 8))
    for row, found in zip(results, intervals(results), strict=True):
        low, high = stats.t.interval(0.95, 7, row.mean(), stats.sem(row))
        assert (found.low, found.high) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("signs", "start"),
    [((1, 1, 1), 10), ((-1, 1, 1), 20), ((1, -1, 1), 50), ((1, 1, -1), None), ((1, 1, 0), None)],
)
def test_ahead_from_is_where_the_last_unbroken_lead_begins(signs, start):
    found = lead(*[[0.1 * s + 0.001, 0.1 * s - 0.001, 0.1 * s] for s in signs])
    assert found.ahead_from == start


def test_a_difference_is_said_in_points():
    found = lead([0.01, 0.02, 0.03], [0.0, 0.0, 0.0], [-0.01, -0.02, -0.03])
    # Student's t for 2 degrees of freedom and three places at once: 0.01 / √3 · 7.65.
    assert found.said(10) == "+2.0 points [-2.4, 6.4]"
    assert found.said(20) == "+0.0 points [0.0, 0.0]"
    assert found.said(50) == "-2.0 points [-6.4, 2.4]"


@pytest.mark.parametrize("shape", [(2, 4), (3,), (3, 5)])
def test_results_of_another_shape_are_refused(shape):
    with pytest.raises(DataError, match="shape"):
        Lead.of(PLACES, np.zeros((3, 4)), np.zeros(shape))


def test_places_are_listed_for_people():
    assert listed(()) == "none"
    assert listed((), "no number") == "no number"
    assert listed((5,)) == "5"
    assert listed((20, 50, 1000)) == "20, 50 and 1,000"
