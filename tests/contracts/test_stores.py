"""One contract for every store: blobs come back whole and in order, within the limit.

The judge is a plain list. Stores are found, not listed: whatever `rote.inference.stores`
exports and that has an ``append`` is held to all of this.
"""

from __future__ import annotations

import inspect
import pickle
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import count, pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rote import stores
from rote.errors import SettingError
from rote.inference.stores import MAX_BYTES, MemoryStore, RedisStore, SqliteStore
from tests.inference.stores.server import running_redis

SHARED = ("SqliteStore", "RedisStore")  # two handles are one store
NUMBERS = count()


@pytest.fixture(scope="module")
def server():
    with running_redis() as url:
        yield url


def opener(kind, request):
    """Opens handles on one new store of a kind, as often as it is called."""
    if kind == "MemoryStore":
        return MemoryStore
    if kind == "SqliteStore":
        path = request.getfixturevalue("tmp_path") / "store.sqlite"
        return lambda max_bytes=MAX_BYTES: SqliteStore(path, max_bytes)
    assert kind == "RedisStore", f"say how to open a {kind}"
    url, prefix = request.getfixturevalue("server"), f"test{next(NUMBERS)}"
    return lambda max_bytes=MAX_BYTES: RedisStore(url, prefix, max_bytes)


def exported_stores() -> list[str]:
    found = {name: getattr(stores, name) for name in stores.__all__}
    return [
        name
        for name, kind in found.items()
        if inspect.isclass(kind) and hasattr(kind, "append") and not inspect.isabstract(kind)
    ]


@pytest.fixture(params=exported_stores())
def opened(request):
    """A function that opens a handle; all are closed in the end."""
    opens, handles = opener(request.param, request), []

    def one(*arguments):
        handles.append(opens(*arguments))
        return handles[-1]

    yield one
    for handle in handles:
        handle.close()


@pytest.fixture(params=SHARED)
def two(request):
    """Two handles on one store."""
    opens = opener(request.param, request)
    with opens() as first, opens() as second:
        yield first, second


def test_every_exported_store_is_in_the_suite():
    assert set(exported_stores()) == {"MemoryStore", *SHARED}


# -- order and sequences ----------------------------------------------------------------------


def test_blobs_come_back_whole_and_oldest_first(opened):
    store = opened()
    blobs = [b"", b"one", bytes(range(256)), b"\r\n\x00'\";--", b"one"]
    store.append("a", blobs[:2])
    store.append("a", blobs[2:])
    assert store.read("a")[0] == blobs
    assert store.read("a")[0] == blobs


def test_a_sequence_separates_what_was_read_from_what_came_after(opened):
    store = opened()
    store.append("a", [b"1", b"2"])
    first, sequence = store.read("a")
    assert first == [b"1", b"2"]
    assert type(sequence) is int
    assert store.read("a", sequence) == ([], sequence)
    store.append("a", [b"3"])
    second, later = store.read("a", sequence)
    assert second == [b"3"]
    assert later > sequence > 0
    assert store.read("a", later) == ([], later)


def test_a_log_that_is_not_there_is_empty_and_leaves_the_number(opened):
    store = opened()
    assert store.read("nowhere") == ([], 0)
    assert store.read("nowhere", 17) == ([], 17)
    assert store.info() == {}


def test_many_blobs_in_one_append_stay_in_order(opened):
    store = opened()
    blobs = [str(i).encode() for i in range(2500)]
    store.append("a", blobs)
    assert store.read("a")[0] == blobs
    assert store.info()["a"].blobs == 2500


def test_large_blobs_stay_whole(opened):
    store = opened()
    blobs = [bytes([i]) * (5_000_000 + i) for i in range(3)]
    store.append("a", blobs)
    assert store.read("a")[0] == blobs


NAMES = [
    "",
    " ",
    "v1:0123abcd",
    "v1:0123abc",
    "a'b\"c;--",
    "%_*?[]{}\\",
    "nul\x00nul",
    "nul",
    "line\nline",
    "ünïcode ✓ 木",
    "UPPER",
    "upper",
    "\ud800",
    "1",
    "01",
    "x" * 5000,
]


def test_any_string_names_a_log_of_its_own(opened):
    store = opened()
    for i, name in enumerate(NAMES):
        store.append(name, [str(i).encode()])
    assert [store.read(name)[0] for name in NAMES] == [[str(i).encode()] for i in range(len(NAMES))]
    assert set(store.info()) == set(NAMES)
    for name in NAMES[::2]:
        store.clear(name)
    assert set(store.info()) == set(NAMES[1::2])


# -- the limit ----------------------------------------------------------------------------


def total(store) -> int:
    return sum(log.size for log in store.info().values())


def test_of_an_append_beyond_the_limit_the_last_blobs_stay(opened):
    store = opened(10)
    store.append("a", [b"old"])
    store.append("b", [b"%04d" % i for i in range(2000)])
    assert store.read("b")[0] == [b"1998", b"1999"]
    assert store.info() == {"b": (2, 8)}


def test_no_limit_is_no_limit(opened):
    store = opened(None)
    store.append("a", [bytes(1000)] * 3)
    assert store.info() == {"a": (3, 3000)}


@pytest.mark.parametrize("limit", [0, -1, 2.5, True])
def test_a_limit_is_above_zero(opened, limit):
    with pytest.raises(SettingError, match="max_bytes is a whole number of at least 1, or None"):
        opened(limit)


# -- forgetting ---------------------------------------------------------------------------


def test_sequences_go_on_after_clearing(opened):
    store = opened()
    for log in ("a", None):
        store.append("a", [b"1", b"2", b"3"])
        sequence = store.read("a")[1]
        store.clear(log)
        assert store.read("a", sequence) == ([], sequence)
        store.append("a", [b"new"])
        assert store.read("a", sequence)[0] == [b"new"]


# -- handles, threads, copies -------------------------------------------------------------


def test_a_store_is_left_by_a_block_and_may_be_used_again(opened):
    with opened() as store:
        store.append("a", [b"1"])
        sequence = store.read("a")[1]
    store.close()
    store.append("a", [b"2"])
    assert store.read("a", sequence)[0] == [b"2"]


def test_two_handles_see_each_others_blobs(two):
    first, second = two
    first.append("a", [b"1"])
    blobs, sequence = second.read("a")
    assert blobs == [b"1"]
    second.append("a", [b"2"])
    first.append("b", [b"3"])
    assert first.read("a", sequence)[0] == [b"2"]
    assert first.info() == second.info() == {"a": (2, 2), "b": (1, 1)}


def test_a_reader_misses_nothing_when_another_handle_clears(two):
    first, second = two
    first.append("a", [b"1", b"2"])
    sequence = first.read("a")[1]
    for log in ("a", None):
        second.clear(log)
        second.append("a", [b"3"])
        blobs, sequence = first.read("a", sequence)
        assert blobs == [b"3"]


@pytest.mark.parametrize("kind", SHARED)
def test_the_limit_is_that_of_whoever_appends(kind, request):
    opens = opener(kind, request)
    with opens(100) as wide, opens(5) as narrow:
        wide.append("a", [b"123"] * 4)
        assert total(narrow) == 12
        narrow.append("b", [b"45"])
        assert wide.info() == {"a": (1, 3), "b": (1, 2)}


def test_a_copy_for_another_process_is_the_same_store_or_an_empty_one(opened):
    store = opened(1000)
    store.append("a", [b"1"])
    sequence = store.read("a")[1]
    with pickle.loads(pickle.dumps(store)) as copy:  # noqa: S301
        assert type(copy) is type(store)
        assert copy.max_bytes == 1000
        assert copy.read("a")[0] == ([] if isinstance(store, MemoryStore) else [b"1"])
        copy.append("a", [b"2"])
        assert copy.read("a", sequence)[0] == [b"2"]


def test_threads_share_a_store(opened):
    store = opened()
    threads, adds, each = 6, 12, 3

    def work(thread):
        sequence, seen = 0, []
        for i in range(adds):
            store.append(f"log{i % 2}", [b"%d %d %d" % (thread, i, k) for k in range(each)])
            blobs, sequence = store.read("log0", sequence)
            seen += blobs
        return seen

    with ThreadPoolExecutor(threads) as pool:
        followed = list(pool.map(work, range(threads)))
    for log in (0, 1):
        blobs = [tuple(map(int, blob.split())) for blob in store.read(f"log{log}")[0]]
        wanted = {(t, i, k) for t in range(threads) for i in range(log, adds, 2) for k in (0, 1, 2)}
        assert Counter(blobs) == Counter(wanted)
        for k in range(0, len(blobs), each):  # the blobs of one add lie together
            assert blobs[k : k + each] == [(*blobs[k][:2], j) for j in range(each)]
        for thread in range(threads):
            own = [blob for blob in blobs if blob[0] == thread]
            assert all(one < other for one, other in pairwise(own))
    everything = store.read("log0")[0]
    for seen in followed:
        assert seen == everything[: len(seen)]
    assert sum(log.blobs for log in store.info().values()) == threads * adds * each


def test_threads_keep_the_limit_together(opened):
    store = opened(50)

    def work(thread):
        for i in range(10):
            store.append(f"log{thread}", [b"%07d" % i] * 2)
            assert total(store) <= 50

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert total(store) == 49


# -- against a plain list -----------------------------------------------------------------

log_names = st.sampled_from(["a", "b", "c"])
steps = st.one_of(
    st.tuples(
        st.just("append"),
        log_names,
        st.lists(st.binary(max_size=14) | st.just(bytes(41)), max_size=4),
    ),
    st.tuples(st.just("read"), log_names, st.none()),
    st.tuples(st.just("clear"), log_names | st.none(), st.none()),
)


class Model:
    """What a store should be: a list of all blobs, each with its number."""

    def __init__(self, limit):
        self.limit, self.number, self.blobs = limit, 0, []

    def append(self, log, blobs):
        for blob in blobs:
            if len(blob) <= self.limit:
                self.number += 1
                self.blobs.append((self.number, log, blob))
        while sum(len(blob) for _, _, blob in self.blobs) > self.limit:
            self.blobs.pop(0)

    def read(self, log, after):
        return [blob for number, on, blob in self.blobs if on == log and number > after]

    def clear(self, log):
        self.blobs = [one for one in self.blobs if log not in (None, one[1])]

    def info(self):
        return {
            log: (len(self.read(log, 0)), sum(map(len, self.read(log, 0))))
            for log in {on for _, on, _ in self.blobs}
        }


def test_a_store_does_what_a_list_does(opened):
    store = opened(40)

    @settings(max_examples=100, suppress_health_check=list(HealthCheck))
    @given(st.lists(steps, max_size=15))
    def agrees(steps):
        store.clear()
        model, sequences = Model(40), dict.fromkeys("abc", (0, 0))
        for action, log, blobs in steps:
            if action == "append":
                store.append(log, blobs)
                model.append(log, blobs)
            elif action == "clear":
                store.clear(log)
                model.clear(log)
            else:
                sequence, number = sequences[log]
                found, sequence = store.read(log, sequence)
                assert found == model.read(log, number)
                sequences[log] = sequence, model.number
            assert total(store) <= 40
        assert store.info() == model.info()
        assert all(store.read(log)[0] == model.read(log, 0) for log in "abc")

    agrees()
