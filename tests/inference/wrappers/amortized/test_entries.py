"""Entries as bytes and back, what of a store is believed, and which are let go of."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.inference.stores import MemoryStore
from rote.inference.stores.base import Log
from rote.inference.wrappers.amortized.entries import Entries, Entry
from rote.space import SpaceBuilder

numbers = st.lists(st.floats(allow_nan=False), max_size=5).map(np.array)
labels = st.lists(st.integers(0, 2**40), max_size=5).map(lambda drawn: np.array(drawn, np.int64))
entries = st.builds(
    Entry, labels, numbers, numbers, numbers, st.floats(allow_nan=False), st.floats(0)
)


class Table(Entries):
    """Columns as caches have them: outputs, and when each was of use."""

    columns = ("labels", "used")
    prefix = "tested-1-"

    def __init__(self, space, store=None, dual_sizes=(0, 0)):
        super().__init__(space, store, dual_sizes)
        self.labels = np.empty((1, len(space.variables)), dtype=np.int64)

    def put(self, rows, outputs):
        rows = self.new_rows(np.array(rows))
        self.labels[rows] = outputs
        self.use(rows)
        return rows.tolist()


@pytest.fixture
def space():
    builder = SpaceBuilder()
    x, y = (builder.variable(name, "abc") for name in "xy")
    builder.require(~(x["a"] & y["a"]))
    return builder.build()


def entry(**changed):
    own = Entry(np.array([1, 2]), np.arange(6.0), np.ones(3), np.zeros(1), 0.5, 0.0)
    return own._replace(**changed)


# -- as bytes -----------------------------------------------------------------------------


@given(entries)
def test_an_entry_comes_back_as_it_was(own):
    again = Entry.decoded(own.encoded())
    assert again.labels.dtype == np.int64
    assert [np.asarray(x).tolist() for x in again] == [np.asarray(x).tolist() for x in own]


@given(st.binary(max_size=200))
def test_bytes_of_others_are_an_entry_or_none(contents):
    found = Entry.decoded(contents)
    assert found is None or 8 * (6 + sum(map(len, found[:4]))) == len(contents)


def test_lengths_that_do_not_add_up_are_no_entry():
    contents = entry().encoded()
    assert Entry.decoded(None) is None
    assert Entry.decoded(contents[:-8]) is None
    assert Entry.decoded(contents[:-1]) is None
    assert Entry.decoded(contents + bytes(8)) is None
    negative = struct.pack("<6d", 0.5, 0.0, -1.0, 1.0, 0.0, 0.0)
    assert Entry.decoded(negative) is None
    assert Entry.decoded(struct.pack("<6d", 0.5, 0.0, np.nan, 0.0, 0.0, 0.0)) is None


# -- what of a store is believed ----------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"labels": np.array([1, 3])},
        {"labels": np.array([-1, 1])},
        {"labels": np.array([1])},
        {"scores": np.arange(5.0)},
        {"scores": np.array([0, 1, 2, 3, 4, np.inf])},
        {"messages": np.ones(2)},
        {"messages": np.array([1, np.nan, 1])},
        {"multipliers": np.zeros(2)},
        {"margin": np.nan},
        {"gap": -1.0},
        {"gap": np.nan},
    ],
    ids=str,
)
def test_an_entry_that_cannot_be_of_the_space_does_not_fit(space, wrong):
    table = Table(space, dual_sizes=(3, 1))
    assert table.fits(entry())
    assert not table.fits(entry(**wrong))


def test_news_are_what_fits_and_obeys_the_rules_by_column(space):
    store = MemoryStore()
    table = Table(space, store, dual_sizes=(3, 1))
    assert table.news() == []
    other = Log(store, Table.prefix + space.fingerprint)
    told = [
        entry().encoded(),
        entry(labels=np.array([0, 0])).encoded(),  # breaks the rule
        entry(gap=-1.0).encoded(),
        b"damaged",
        entry(labels=np.array([0, 2]), margin=0.25).encoded(),
    ]
    other.append(told)
    columns = table.news()
    assert columns[0].tolist() == [[1, 2], [0, 2]]
    assert [len(column) for column in columns] == [2] * 6
    assert columns[4].tolist() == [0.5, 0.25]
    assert table.news() == []
    other.append(told[1:4])
    assert table.news() == []
    assert Table(space).news() == []  # without a store


# -- rows ---------------------------------------------------------------------------------


def test_rows_are_written_over_or_new_and_there_is_room_for_them(space):
    table = Table(space)
    assert table.put([-1, -1, -1], [[0, 1], [1, 1], [2, 1]]) == [0, 1, 2]
    assert table.put([1, -1], [[1, 2], [2, 2]]) == [1, 3]
    assert table.count == 4
    assert table.labels[:4].tolist() == [[0, 1], [1, 2], [2, 1], [2, 2]]
    assert len(table.labels) == len(table.used) >= 4
    assert table.size == table.labels.nbytes + table.used.nbytes


@pytest.mark.parametrize(("share", "kept"), [(0.25, [0, 2, 3]), (0.5, [0, 3]), (0.0, [0, 2, 3])])
def test_what_was_not_of_use_for_longest_is_forgotten(space, share, kept):
    table = Table(space)
    outputs = np.array([[0, 1], [1, 1], [2, 1], [2, 2]])
    for output in outputs:
        table.put([-1], [output])
    table.use(np.array([0]))
    place = table.forget(share)
    assert [k for k in range(4) if place[k] >= 0] == kept
    assert place[kept].tolist() == list(range(len(kept)))
    assert table.labels[: table.count].tolist() == outputs[kept].tolist()
    assert (table.count, table.forgotten) == (len(kept), 1)
