"""What all stores share: names, marks to begin with, what is taken, finding a shelf."""

from __future__ import annotations

import time

import pytest

from rote.errors import StoreError
from rote.inference.stores.base import (
    decoded,
    encoded,
    first_mark,
    fitting,
    shelf_called,
)
from rote.inference.stores.memory import MemoryStore


def test_counting_begins_at_the_time_in_microseconds():
    before = time.time()
    mark = first_mark()
    assert before - 1 < mark / 1e6 < time.time() + 1
    assert mark < 2**53  # a Redis server counts with floating point numbers


def test_packs_larger_than_the_limit_are_left_out():
    packs = [b"1", b"12", b"123", b""]
    assert fitting(packs, 2) == [b"1", b"12", b""]
    assert fitting(packs, 3) == fitting(packs, None) == packs


@pytest.mark.parametrize("name", ["", "v1:ab", "木", "\x00", "\udcff"], ids=ascii)
def test_every_name_has_bytes_and_comes_back(name):
    assert decoded(encoded(name)) == name


@pytest.fixture
def store():
    store = MemoryStore()
    for shelf in ("1-abc", "1-abd", "1-ab", "2-x"):
        store.add(shelf, [b"pack"])
    return store


@pytest.mark.parametrize(
    ("name", "shelf"), [("1-abc", "1-abc"), ("1-ab", "1-ab"), ("2", "2-x"), ("1-abd", "1-abd")]
)
def test_a_shelf_is_found_by_its_name_or_by_how_it_alone_begins(store, name, shelf):
    assert shelf_called(store, name) == shelf


@pytest.mark.parametrize(
    ("name", "said"), [("3", "none of them begin with '3'"), ("1", "3 of them begin with '1'")]
)
def test_a_name_for_no_shelf_or_for_several_is_refused(store, name, said):
    with pytest.raises(StoreError, match=said):
        shelf_called(store, name)
