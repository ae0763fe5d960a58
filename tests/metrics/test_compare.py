"""Comparisons against exhaustive swaps, exhaustive resamples, and SciPy."""

from itertools import product

import numpy as np
import pytest

from rote.errors import DataError, SettingError
from rote.metrics import compare, compare_systems, f1_of_sums

RANDOM = np.random.default_rng(11)
FIRST = RANDOM.integers(0, 2, 9).astype(float)
SECOND = np.clip(FIRST + RANDOM.integers(0, 2, 9), 0, 1)
COUNTS = [
    np.column_stack([[4, 3, 0, 2, 5, 1], [3, 3, 1, 2, 4, 2], right])
    for right in ([1, 2, 0, 1, 2, 1], [3, 3, 0, 2, 3, 1])
]


def every_swap(first, second, value):
    """The share of all 2^n swaps whose difference is as large as the observed one."""
    observed = abs(value(second) - value(first))
    far = 0
    for bits in product([False, True], repeat=len(first)):
        swap = np.array(bits).reshape(-1, *[1] * (first.ndim - 1))
        one, two = np.where(swap, second, first), np.where(swap, first, second)
        far += abs(value(two) - value(one)) >= observed - 1e-9
    return far / 2 ** len(first)


def f1(rows):
    true, predicted, right = rows.sum(axis=0)
    return 2 * right / (true + predicted) if true + predicted else 0.0


@pytest.mark.parametrize(
    ("data", "statistic", "value"), [((FIRST, SECOND), None, np.mean), (COUNTS, f1_of_sums, f1)]
)
def test_few_swaps_are_all_tried_and_many_come_near_all_of_them(data, statistic, value):
    expected = every_swap(*data, value)
    found = compare_systems(*data, statistic=statistic)
    assert (found.first, found.second) == pytest.approx((value(data[0]), value(data[1])))
    assert found.difference == found.second - found.first > 0
    assert found.p_value == pytest.approx(expected)
    some = compare_systems(*data, statistic=statistic, resamples=50)
    assert some.p_value == pytest.approx(expected, abs=0.15)


def test_resamples_come_near_the_exhaustive_bootstrap():
    first, second = np.array([0.1, 0.5, 0.2, 0.9]), np.array([0.4, 0.6, 0.1, 1.0])
    differences = [(second - first)[list(drawn)].mean() for drawn in product(range(4), repeat=4)]
    found = compare_systems(first, second, resamples=40_000)
    assert found.difference == pytest.approx((second - first).mean())
    low, high = np.quantile(differences, [0.025, 0.975])
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.02)


def test_resamples_of_counts_draw_whole_examples():
    found = compare_systems(*COUNTS, statistic=f1_of_sums, resamples=20_000, confidence=0.9)
    differences = [
        f1(COUNTS[1][drawn]) - f1(COUNTS[0][drawn])
        for drawn in np.random.default_rng(1).integers(0, 6, (5_000, 6))
    ]
    assert (found.low, found.high) == pytest.approx(
        np.quantile(differences, [0.05, 0.95]), abs=0.02
    )


def test_two_equal_systems_do_not_differ():
    found = compare_systems(FIRST, FIRST)
    assert (found.difference, found.low, found.high, found.p_value) == (0, 0, 0, 1)


def test_a_system_that_is_always_better_is_no_luck_and_p_is_never_zero():
    scores = np.linspace(0, 0.5, 60)
    found = compare_systems(scores, scores + 0.1 + scores / 9, resamples=999)
    assert found.p_value == 1 / 1000
    assert found.low > 0.1


def test_the_seed_decides_the_answer_and_the_blocks_do_not_change_its_meaning(monkeypatch):
    some = np.random.default_rng(3).normal(size=(2, 30))
    assert compare_systems(*some, seed=4) == compare_systems(*some, seed=4)
    assert compare_systems(*some, seed=4) != compare_systems(*some, seed=5)
    whole = compare_systems(*some, resamples=20_001)
    monkeypatch.setattr(compare, "DRAWS", 10_000)
    blocks = compare_systems(*some, resamples=20_001)
    assert blocks.p_value == pytest.approx(whole.p_value, abs=0.02)
    assert (blocks.low, blocks.high) == pytest.approx((whole.low, whole.high), abs=0.02)


def test_swapping_the_systems_turns_the_difference_round():
    one, other = compare_systems(FIRST, SECOND), compare_systems(SECOND, FIRST)
    assert one.difference == -other.difference
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))
    assert one.p_value == pytest.approx(other.p_value)


def test_luck_alone_is_called_significant_as_often_as_it_should_be():
    random = np.random.default_rng(0)
    p_values = [
        compare_systems(*random.normal(size=(2, 30)), resamples=200, seed=seed).p_value
        for seed in range(400)
    ]
    assert np.mean(np.array(p_values) <= 0.1) == pytest.approx(0.1, abs=0.04)


def test_f1_of_sums_is_zero_where_it_is_undefined():
    assert f1_of_sums(np.array([[4.0, 2, 1], [0, 0, 0]])).tolist() == [2 / 6, 0]


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([1, 2], [1, 2, 3], r"got the shapes \(2,\) and \(3,\)"),
        ([], [], "two at least"),
        ([1, 2], [1, float("inf")], "finite numbers"),
        (*COUNTS, "each example has 3 numbers; say which statistic"),
    ],
)
def test_bad_input_is_answered_with_a_sentence(first, second, message):
    with pytest.raises(DataError, match=message):
        compare_systems(first, second)


def test_bad_settings_are_refused():
    with pytest.raises(SettingError, match="resamples is a whole number of at least 1, got 0"):
        compare_systems(FIRST, SECOND, resamples=0)
    for confidence in (0, 1, 95):
        with pytest.raises(SettingError, match="confidence is a number above 0 and below 1"):
            compare_systems(FIRST, SECOND, confidence=confidence)
