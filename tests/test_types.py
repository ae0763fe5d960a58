"""Arrays: `frozen` ones are read-only and nobody else's, and things lie end to end without gaps."""

from __future__ import annotations

import numpy as np
import pytest

from rote.types import joined, offsets_from_counts, readonly


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.bool_])
def test_the_values_and_the_type_stay(dtype):
    given = np.arange(6).reshape(2, 3).astype(dtype)
    result = readonly(given)
    assert result.dtype == dtype
    assert result.tolist() == given.tolist()


def test_it_cannot_be_written():
    result = readonly(np.zeros(3))
    with pytest.raises(ValueError, match="read-only"):
        result[0] = 1.0


@pytest.mark.parametrize("given", [np.zeros((4, 4))[:, ::2], np.zeros((3, 2)).T])
def test_it_is_contiguous(given):
    assert readonly(given).flags.c_contiguous
    assert readonly(given).shape == given.shape


def test_the_callers_array_stays_his_own():
    given = np.zeros(3)
    readonly(given)
    given[0] = 1.0
    assert given[0] == 1.0


def test_freezing_twice_changes_nothing():
    once = readonly(np.arange(3))
    assert readonly(once).tolist() == [0, 1, 2]
    assert not readonly(once).flags.writeable


@pytest.mark.parametrize(
    ("counts", "expected"),
    [
        ([2, 0, 3], [0, 2, 2, 5]),
        (np.array([1, 4], dtype=np.int32), [0, 1, 5]),
        (np.array([True, False, True]), [0, 1, 1, 2]),
        ([], [0]),
        (np.empty(0), [0]),
    ],
)
def test_runs_start_where_the_ones_before_end(counts, expected):
    result = offsets_from_counts(counts)
    assert result.dtype == np.int64
    assert result.tolist() == expected


def test_arrays_are_joined_as_whole_numbers_even_where_there_are_none():
    for arrays, expected in (
        ([np.array([1, 2]), np.array([], dtype=np.int64), np.array([3])], [1, 2, 3]),
        ([np.array([True, False])], [1, 0]),
        ([], []),
    ):
        result = joined(arrays)
        assert result.dtype == np.int64
        assert result.tolist() == expected
