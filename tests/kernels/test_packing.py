"""Vectors without unknown columns and with what follows behind marks: compiled and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from rote.kernels.packing import packed
from rote.kernels.structs import Vectors
from tests.kernels.bodies import plain

both = pytest.mark.parametrize("run", [packed, plain(packed)])


@both
def test_what_is_unknown_is_left_out_and_what_is_marked_follows(run):
    given = Vectors(
        np.array([0, 1, 4, 4, 6, 8]),
        np.array([0, 2, -1, 1, -1, -1, 0, 1]),
        np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]),
    )
    alone, tables = np.array([-1, 1, 0, 0, 3]), np.array([0, 0, 3, 3, 0])
    behind = np.array([9, 8, -1, 5, 6])
    found = run(given, alone, tables, behind)
    assert found.ptr.tolist() == [0, 1, 4, 4, 4, 6]
    assert found.column.tolist() == [0, 2, 1, 8, 0, 1]
    assert found.value.tolist() == [1.0, 2.0, 4.0, 4.0, 7.0, 8.0]


@both
def test_no_vectors_are_none(run):
    empty = np.zeros(0, np.int64)
    found = run(Vectors(np.zeros(1, np.int64), empty, np.zeros(0)), empty, empty, empty)
    assert [each.tolist() for each in found] == [[0], [], []]
