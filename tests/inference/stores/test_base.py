"""What all stores share: logs whose blobs are checked, names, finding a log."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.errors import StoreError
from rote.inference.stores.base import (
    Log,
    decoded,
    encoded,
    first_sequence,
    log_named,
    sealed,
    unsealed,
)
from rote.inference.stores.memory import MemoryStore


def test_counting_begins_at_the_time_in_microseconds():
    before = time.time()
    sequence = first_sequence()
    assert before - 1 < sequence / 1e6 < time.time() + 1
    assert sequence < 2**53  # a Redis server counts with floating point numbers


@pytest.mark.parametrize("name", ["", "v1:ab", "木", "\x00", "\udcff"], ids=ascii)
def test_every_name_has_bytes_and_comes_back(name):
    assert decoded(encoded(name)) == name


# -- blobs with a digest ---------------------------------------------------------------------


@given(st.binary(max_size=40), st.text(max_size=90), st.text(max_size=90))
def test_a_blob_is_of_one_log_and_no_other(contents, log, other):
    blob = sealed(contents, log)
    assert unsealed(blob, log) == contents
    assert (unsealed(blob, other) is None) == (log != other)
    assert unsealed(contents, log) is None


@given(st.binary(max_size=40), st.data())
def test_a_blob_that_was_changed_cut_off_or_made_longer_is_passed_over(contents, data):
    blob = bytearray(sealed(contents, "a"))
    cut = data.draw(st.integers(0, len(blob) - 1))
    longer = data.draw(st.binary(min_size=1, max_size=20))
    wrong = [bytes(blob[:cut]), bytes(blob[len(blob) - cut :]), bytes(blob) + longer]
    blob[data.draw(st.integers(0, len(blob) - 1))] ^= data.draw(st.integers(1, 255))
    assert [unsealed(each, "a") for each in (*wrong, bytes(blob))] == [None] * 4


def test_a_log_reads_what_others_have_appended_once():
    store = MemoryStore()
    logs = [Log(store, "a") for _ in range(2)]
    for turn in range(3):
        logs[0].append([b"0%d" % turn, b"x"])
        logs[1].append([b"1%d" % turn])
        assert [log.news() for log in logs] == [[b"1%d" % turn], [b"0%d" % turn, b"x"]]
        assert [log.news() for log in logs] == [[], []]
    store.append("a", [b"damaged", sealed(b"of another log", "b"), sealed(b"whole", "a")])
    assert logs[0].news() == [b"whole"]
    assert store.info()["a"].blobs == 12
    assert Log(store, "a").news()[-1] == b"whole"


def test_appending_nothing_makes_no_log():
    store = MemoryStore()
    Log(store, "a").append([])
    assert store.info() == {}


def test_digests_of_what_was_appended_do_not_pile_up():
    log = Log(MemoryStore(max_bytes=100), "a")
    for turn in range(30):
        log.append([b"%d" % turn] * 3)
        log.news()
        assert not log._own


# -- finding a log ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "log"), [("1-abc", "1-abc"), ("1-ab", "1-ab"), ("2", "2-x"), ("1", "3"), ("3", "none")]
)
def test_a_log_is_found_by_its_name_or_by_how_it_alone_begins(name, log):
    store = MemoryStore()
    for each in ("1-abc", "1-abd", "1-ab", "2-x"):
        store.append(each, [b"blob"])
    if log in store.info():
        assert log_named(store, name) == log
    else:
        with pytest.raises(StoreError, match=f"{log} of them begin with '{name}'"):
            log_named(store, name)
