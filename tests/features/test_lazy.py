"""Rows computed on demand: once, in any order, by several threads."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.errors import SettingError
from rote.features import LazyRows


@given(st.lists(st.integers(0, 9)))
def test_each_row_is_computed_when_first_asked_for_and_only_then(asked):
    calls = []

    def compute(i):
        calls.append(i)
        return [f"row={i}"]

    rows = LazyRows(10, compute)
    assert [rows.row(i) for i in asked] == [[f"row={i}"] for i in asked]
    assert calls == list(dict.fromkeys(asked))
    assert rows.computed == len(calls)
    assert rows.share == len(calls) / 10


def test_the_row_that_was_kept_is_the_one_that_is_given():
    rows = LazyRows(2, lambda i: {"i": i})
    assert rows.row(1) is rows.row(1)


def test_many_rows_come_in_the_order_asked_for():
    rows = LazyRows(5, lambda i: i * i)
    assert rows.rows([3, 0, 3]) == [9, 0, 9]
    assert rows.rows(np.array([4, 1])) == [16, 1]
    assert rows.rows([]) == []
    assert rows.computed == 4


def test_a_number_of_numpy_and_of_python_ask_for_the_same_row():
    rows = LazyRows(3, type)
    assert rows.row(np.int64(2)) is int
    assert rows.row(2) is int
    assert rows.computed == 1


def test_a_row_may_be_nothing_and_is_still_kept():
    calls = []
    rows = LazyRows(1, calls.append)
    assert rows.row(0) is None
    assert rows.row(0) is None
    assert calls == [0]


def test_no_rows_at_all_have_no_share():
    rows = LazyRows(0, str)
    assert len(rows) == 0
    assert (rows.computed, rows.share, rows.rows([])) == (0, 0.0, [])


@pytest.mark.parametrize("i", [-1, 3, 10**30])
def test_a_row_that_is_not_there_is_refused(i):
    rows = LazyRows(3, str)
    with pytest.raises(SettingError, match=f"there are 3 rows, counted from 0, and none is {i}"):
        rows.row(i)
    assert rows.computed == 0


def test_a_negative_count_is_refused():
    with pytest.raises(SettingError, match="cannot be -1 rows"):
        LazyRows(-1, str)


def test_a_row_that_failed_is_computed_again():
    answers = iter([ValueError("not now"), "row"])

    def compute(i):
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    rows = LazyRows(1, compute)
    with pytest.raises(ValueError, match="not now"):
        rows.row(0)
    assert rows.computed == 0
    assert rows.row(0) == "row"


def test_threads_that_ask_for_one_row_at_once_get_the_same_one():
    together = threading.Barrier(2, timeout=10)

    def compute(i):
        together.wait()  # both threads are inside before either is done
        return [i]

    rows = LazyRows(1, compute)
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(rows.row, [0, 0])
    assert first is second
    assert rows.computed == 1


def test_threads_that_ask_for_different_rows_do_not_wait_for_each_other():
    together = threading.Barrier(4, timeout=10)

    def compute(i):
        together.wait()
        return i

    rows = LazyRows(4, compute)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(rows.row, range(4))) == [0, 1, 2, 3]
    assert rows.share == 1.0
