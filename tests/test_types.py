"""Arrays: `frozen` ones are read-only and nobody else's, and things lie end to end without gaps."""

import numpy as np
import pytest

from rote.types import joined, offsets_from_counts, readonly


@pytest.mark.parametrize(
    "given",
    [np.arange(6.0).reshape(2, 3), np.zeros((4, 4), dtype=np.bool_)[:, ::2], np.eye(3, 2).T],
)
def test_the_same_values_are_read_only_and_contiguous_and_the_callers_array_stays(given):
    result = readonly(given)
    assert (result.dtype, result.tolist()) == (given.dtype, given.tolist())
    assert result.flags.c_contiguous
    with pytest.raises(ValueError, match="read-only"):
        result[0] = 1
    assert not readonly(result).flags.writeable
    given[0] = 1
    assert given[0].all()


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
