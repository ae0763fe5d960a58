"""Entries as bytes: they come back as they were, or not at all."""

from __future__ import annotations

import struct
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.inference.wrappers.amortized.blobs import DIGEST, FORMAT, Entry, pack, shelf_name, unpack
from rote.space import SpaceBuilder

SHELF = "1-where-it-lies"
doubles = st.floats(width=64, allow_nan=False)
arrays = st.lists(doubles, max_size=4).map(lambda values: np.array(values, dtype=np.float64))
entries = st.builds(
    Entry,
    st.lists(st.integers(0, 2**62), max_size=4).map(lambda labels: np.array(labels, np.int64)),
    arrays,
    arrays,
    arrays,
    doubles,
)
SMALL = Entry(np.array([1, 0]), np.array([0.5, -2.0]), np.array([0.25]), np.array([3.0]), 0.75)


def signed(body: bytes) -> bytes:
    """Bytes with the digest that an entry would have."""
    key = blake2b(SHELF.encode()).digest()
    return body + blake2b(body, digest_size=DIGEST, key=key).digest()


def equal(one: Entry, other: Entry) -> bool:
    return one.margin == other.margin and all(
        mine.dtype == theirs.dtype and mine.tobytes() == theirs.tobytes()
        for mine, theirs in zip(one[:4], other[:4], strict=True)
    )


@given(entries)
@settings(max_examples=100)
def test_an_entry_comes_back_as_it_was(entry):
    assert equal(unpack(pack(entry, SHELF), SHELF), entry)


def test_an_entry_may_lie_in_memory_in_any_way():
    wide = np.arange(12.0).reshape(3, 4)
    entry = Entry(np.array([3, 2, 1])[::-1], wide[:, 1], wide.T[2], wide[0, ::-1], 1.0)
    found = unpack(pack(entry, SHELF), SHELF)
    assert found.labels.tolist() == [1, 2, 3]
    assert found.scores.tolist() == [1, 5, 9]
    assert found.messages.tolist() == [2, 6, 10]
    assert found.multipliers.tolist() == [3, 2, 1, 0]


@pytest.mark.parametrize("margin", [np.inf, -np.inf, 0.0, -1e-300])
def test_margins_of_all_kinds_come_back(margin):
    assert unpack(pack(SMALL._replace(margin=margin), SHELF), SHELF).margin == margin


def test_any_single_byte_that_changed_makes_it_no_entry():
    packed = bytearray(pack(SMALL, SHELF))
    for place, byte in enumerate(bytes(packed)):
        for other in range(256):
            packed[place] = other
            assert (unpack(bytes(packed), SHELF) is None) == (other != byte)
        packed[place] = byte


@given(entries, st.data())
@settings(max_examples=60)
def test_of_any_entry_a_byte_that_changed_makes_it_none(entry, data):
    packed = bytearray(pack(entry, SHELF))
    packed[data.draw(st.integers(0, len(packed) - 1))] ^= data.draw(st.integers(1, 255))
    assert unpack(bytes(packed), SHELF) is None


@given(entries, st.data())
@settings(max_examples=60)
def test_bytes_that_are_cut_off_or_too_many_are_no_entry(entry, data):
    packed = pack(entry, SHELF)
    cut = data.draw(st.integers(0, len(packed) - 1))
    assert unpack(packed[:cut], SHELF) is None
    assert unpack(packed[len(packed) - cut :], SHELF) is None
    assert unpack(packed + data.draw(st.binary(min_size=1, max_size=20)), SHELF) is None


@given(st.binary(max_size=120))
@settings(max_examples=100)
def test_any_other_bytes_are_no_entry_though_their_digest_be_right(body):
    assert unpack(body, SHELF) is None
    assert unpack(signed(body), SHELF) is None


@pytest.mark.parametrize(
    ("place", "number"),
    [(4, FORMAT + 1), (4, 0), (8, 3), (8, 1), (12, 1), (16, 2), (20, 2**32 - 1)],
    ids=["later format", "no format", "more labels", "fewer labels", "scores", "messages", "rows"],
)
def test_another_format_or_other_lengths_are_no_entry(place, number):
    body = bytearray(pack(SMALL, SHELF)[:-DIGEST])
    body[place : place + 4] = struct.pack("<I", number)
    assert unpack(signed(bytes(body)), SHELF) is None


def test_another_program_s_bytes_are_no_entry():
    body = bytearray(pack(SMALL, SHELF)[:-DIGEST])
    body[:4] = b"note"
    assert unpack(signed(bytes(body)), SHELF) is None


@given(st.text(max_size=90), st.text(max_size=90))
@settings(max_examples=60)
def test_a_pack_is_of_one_shelf_and_no_other(shelf, other):
    packed = pack(SMALL, shelf)
    assert equal(unpack(packed, shelf), SMALL)
    assert (unpack(packed, other) is None) == (shelf != other)
    assert unpack(packed, shelf + " ") is None


def test_the_digest_is_made_as_it_is_said():
    """Other tests sign bytes of their own; this shows that they do it right."""
    packed = pack(SMALL, SHELF)
    assert signed(packed[:-DIGEST]) == packed


def test_shelves_have_the_names_of_format_and_space():
    def space(labels):
        builder = SpaceBuilder()
        builder.variable("x", labels)
        return builder.build()

    assert shelf_name(space("ab")) == shelf_name(space("ab"))
    assert shelf_name(space("ab")) != shelf_name(space("abc"))
    assert shelf_name(space("ab")) == f"{FORMAT}-{space('ab').fingerprint}"
