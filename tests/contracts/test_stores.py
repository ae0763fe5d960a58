"""One contract for every store: packs come back whole and in order, within the limit.

The judge is a plain list. Stores are found, not listed: whatever `rote.inference.stores`
exports and that has an ``add`` is held to all of this.
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

from rote.errors import SettingError
from rote.inference import stores
from rote.inference.stores import LIMIT, MemoryStore, RedisStore, SqliteStore
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
        return lambda max_bytes=LIMIT: SqliteStore(path, max_bytes)
    assert kind == "RedisStore", f"say how to open a {kind}"
    url, prefix = request.getfixturevalue("server"), f"test{next(NUMBERS)}"
    return lambda max_bytes=LIMIT: RedisStore(url, prefix, max_bytes)


def exported_stores() -> list[str]:
    found = {name: getattr(stores, name) for name in stores.__all__}
    return [
        name
        for name, kind in found.items()
        if inspect.isclass(kind) and hasattr(kind, "add") and not inspect.isabstract(kind)
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


# -- order and marks ----------------------------------------------------------------------


def test_packs_come_back_whole_and_oldest_first(opened):
    store = opened()
    packs = [b"", b"one", bytes(range(256)), b"\r\n\x00'\";--", b"one"]
    store.add("a", packs[:2])
    store.add("a", packs[2:])
    assert store.read("a")[0] == packs
    assert store.read("a")[0] == packs


def test_a_mark_separates_what_was_read_from_what_came_after(opened):
    store = opened()
    store.add("a", [b"1", b"2"])
    first, mark = store.read("a")
    assert first == [b"1", b"2"]
    assert type(mark) is int
    assert store.read("a", mark) == ([], mark)
    store.add("a", [b"3"])
    second, later = store.read("a", mark)
    assert second == [b"3"]
    assert later > mark > 0
    assert store.read("a", later) == ([], later)


def test_a_shelf_that_is_not_there_is_empty_and_leaves_the_mark(opened):
    store = opened()
    assert store.read("nowhere") == ([], 0)
    assert store.read("nowhere", 17) == ([], 17)
    assert store.info() == {}


def test_shelves_are_apart_and_their_marks_are_one_order(opened):
    store = opened()
    store.add("a", [b"a1"])
    store.add("b", [b"b1", b"b2"])
    store.add("a", [b"a2"])
    (of_a, mark_a), (of_b, mark_b) = store.read("a"), store.read("b")
    assert (of_a, of_b) == ([b"a1", b"a2"], [b"b1", b"b2"])
    assert mark_a > mark_b
    assert store.read("a", mark_b)[0] == [b"a2"]


def test_adding_nothing_changes_nothing(opened):
    store = opened()
    store.add("a", [])
    assert store.info() == {}
    store.add("b", (b"1",))
    mark = store.read("b")[1]
    store.add("b", ())
    assert store.read("b", mark) == ([], mark)


def test_many_packs_in_one_add_stay_in_order(opened):
    store = opened()
    packs = [str(i).encode() for i in range(2500)]
    store.add("a", packs)
    assert store.read("a")[0] == packs
    assert store.info()["a"].packs == 2500


def test_large_packs_stay_whole(opened):
    store = opened()
    packs = [bytes([i]) * (5_000_000 + i) for i in range(3)]
    store.add("a", packs)
    assert store.read("a")[0] == packs


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


def test_any_string_names_a_shelf_of_its_own(opened):
    store = opened()
    for i, name in enumerate(NAMES):
        store.add(name, [str(i).encode()])
    assert [store.read(name)[0] for name in NAMES] == [[str(i).encode()] for i in range(len(NAMES))]
    assert set(store.info()) == set(NAMES)
    for name in NAMES[::2]:
        store.clear(name)
    assert set(store.info()) == set(NAMES[1::2])


# -- the limit ----------------------------------------------------------------------------


def total(store) -> int:
    return sum(shelf.size for shelf in store.info().values())


def test_the_oldest_packs_go_first_whatever_shelf_they_lie_on(opened):
    store = opened(10)
    store.add("a", [b"aaa", b"bbb"])
    store.add("b", [b"ccc"])
    assert store.info() == {"a": (2, 6), "b": (1, 3)}
    store.add("b", [b"dd"])
    assert (store.read("a")[0], store.read("b")[0]) == ([b"bbb"], [b"ccc", b"dd"])
    store.add("c", [b"e" * 6])
    assert store.info() == {"b": (1, 2), "c": (1, 6)}
    assert store.read("b")[0] == [b"dd"]


def test_what_fills_the_store_to_the_limit_is_kept(opened):
    store = opened(10)
    store.add("a", [b"12345", b"67890"])
    assert store.info() == {"a": (2, 10)}
    store.add("a", [b""])
    assert store.info() == {"a": (3, 10)}


def test_of_an_add_beyond_the_limit_the_last_packs_stay(opened):
    store = opened(10)
    store.add("a", [b"old"])
    store.add("b", [b"%04d" % i for i in range(2000)])
    assert store.read("b")[0] == [b"1998", b"1999"]
    assert store.info() == {"b": (2, 8)}


def test_a_pack_larger_than_the_limit_is_not_taken_and_drives_nothing_out(opened):
    store = opened(10)
    store.add("a", [b"old"])
    store.add("a", [b"x" * 11])
    store.add("b", [b"y" * 11])
    assert store.info() == {"a": (1, 3)}
    store.add("a", [b"one", b"z" * 11, b"two"])
    assert store.read("a")[0] == [b"old", b"one", b"two"]


def test_a_reader_whose_mark_is_gone_gets_what_is_left(opened):
    store = opened(4)
    store.add("a", [b"1", b"2"])
    mark = store.read("a")[1]
    store.add("a", [b"3", b"4", b"5", b"6", b"7"])
    assert store.read("a", mark)[0] == [b"4", b"5", b"6", b"7"]


def test_no_limit_is_no_limit(opened):
    store = opened(None)
    store.add("a", [bytes(1000)] * 3)
    assert store.info() == {"a": (3, 3000)}


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_is_above_zero(opened, limit):
    with pytest.raises(SettingError, match="max_bytes is a number above 0"):
        opened(limit)


# -- forgetting ---------------------------------------------------------------------------


def test_clearing_a_shelf_leaves_the_others(opened):
    store = opened()
    store.add("a", [b"1"])
    store.add("b", [b"2"])
    store.clear("nowhere")
    store.clear("a")
    assert store.info() == {"b": (1, 1)}
    assert (store.read("a")[0], store.read("b")[0]) == ([], [b"2"])
    store.clear()
    store.clear()
    assert store.info() == {}
    assert store.read("b")[0] == []


def test_what_was_cleared_counts_no_longer(opened):
    store = opened(10)
    for _ in range(5):
        store.add("a", [b"1234"])
        store.add("b", [b"5678"])
        store.clear("a")
        assert store.info() == {"b": (1, 4)}
        store.add("c", [b"123456"])
        assert store.info() == {"b": (1, 4), "c": (1, 6)}
        store.clear()


def test_marks_go_on_after_clearing(opened):
    store = opened()
    for shelf in ("a", None):
        store.add("a", [b"1", b"2", b"3"])
        mark = store.read("a")[1]
        store.clear(shelf)
        assert store.read("a", mark) == ([], mark)
        store.add("a", [b"new"])
        assert store.read("a", mark)[0] == [b"new"]


# -- handles, threads, copies -------------------------------------------------------------


def test_a_store_is_left_by_a_block_and_may_be_used_again(opened):
    with opened() as store:
        store.add("a", [b"1"])
        mark = store.read("a")[1]
    store.close()
    store.add("a", [b"2"])
    assert store.read("a", mark)[0] == [b"2"]


def test_two_handles_see_each_others_packs(two):
    first, second = two
    first.add("a", [b"1"])
    packs, mark = second.read("a")
    assert packs == [b"1"]
    second.add("a", [b"2"])
    first.add("b", [b"3"])
    assert first.read("a", mark)[0] == [b"2"]
    assert first.info() == second.info() == {"a": (2, 2), "b": (1, 1)}


def test_a_reader_misses_nothing_when_another_handle_clears(two):
    first, second = two
    first.add("a", [b"1", b"2"])
    mark = first.read("a")[1]
    for shelf in ("a", None):
        second.clear(shelf)
        second.add("a", [b"3"])
        packs, mark = first.read("a", mark)
        assert packs == [b"3"]


@pytest.mark.parametrize("kind", SHARED)
def test_the_limit_is_that_of_whoever_adds(kind, request):
    opens = opener(kind, request)
    with opens(100) as wide, opens(5) as narrow:
        wide.add("a", [b"123"] * 4)
        assert total(narrow) == 12
        narrow.add("b", [b"45"])
        assert wide.info() == {"a": (1, 3), "b": (1, 2)}


def test_a_copy_for_another_process_is_the_same_store_or_an_empty_one(opened):
    store = opened(1000)
    store.add("a", [b"1"])
    mark = store.read("a")[1]
    with pickle.loads(pickle.dumps(store)) as copy:  # noqa: S301
        assert type(copy) is type(store)
        assert copy.max_bytes == 1000
        assert copy.read("a")[0] == ([] if isinstance(store, MemoryStore) else [b"1"])
        copy.add("a", [b"2"])
        assert copy.read("a", mark)[0] == [b"2"]


def test_threads_share_a_store(opened):
    store = opened()
    threads, adds, each = 6, 12, 3

    def work(thread):
        mark, seen = 0, []
        for i in range(adds):
            store.add(f"shelf{i % 2}", [b"%d %d %d" % (thread, i, k) for k in range(each)])
            packs, mark = store.read("shelf0", mark)
            seen += packs
        return seen

    with ThreadPoolExecutor(threads) as pool:
        followed = list(pool.map(work, range(threads)))
    for shelf in (0, 1):
        packs = [tuple(map(int, pack.split())) for pack in store.read(f"shelf{shelf}")[0]]
        wanted = {
            (t, i, k) for t in range(threads) for i in range(shelf, adds, 2) for k in (0, 1, 2)
        }
        assert Counter(packs) == Counter(wanted)
        for k in range(0, len(packs), each):  # the packs of one add lie together
            assert packs[k : k + each] == [(*packs[k][:2], j) for j in range(each)]
        for thread in range(threads):
            own = [pack for pack in packs if pack[0] == thread]
            assert all(one < other for one, other in pairwise(own))
    everything = store.read("shelf0")[0]
    for seen in followed:
        assert seen == everything[: len(seen)]
    assert sum(shelf.packs for shelf in store.info().values()) == threads * adds * each


def test_threads_keep_the_limit_together(opened):
    store = opened(50)

    def work(thread):
        for i in range(10):
            store.add(f"shelf{thread}", [b"%07d" % i] * 2)
            assert total(store) <= 50

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    assert total(store) == 49


# -- against a plain list -----------------------------------------------------------------

shelf_names = st.sampled_from(["a", "b", "c"])
steps = st.one_of(
    st.tuples(st.just("add"), shelf_names, st.lists(st.binary(max_size=14), max_size=4)),
    st.tuples(st.just("read"), shelf_names, st.none()),
    st.tuples(st.just("clear"), shelf_names | st.none(), st.none()),
)


class Model:
    """What a store should be: a list of all packs, each with its number."""

    def __init__(self, limit):
        self.limit, self.number, self.packs = limit, 0, []

    def add(self, shelf, packs):
        for pack in packs:
            if len(pack) <= self.limit:
                self.number += 1
                self.packs.append((self.number, shelf, pack))
        while sum(len(pack) for _, _, pack in self.packs) > self.limit:
            self.packs.pop(0)

    def read(self, shelf, after):
        return [pack for number, on, pack in self.packs if on == shelf and number > after]

    def clear(self, shelf):
        self.packs = [one for one in self.packs if shelf not in (None, one[1])]

    def info(self):
        return {
            shelf: (len(self.read(shelf, 0)), sum(map(len, self.read(shelf, 0))))
            for shelf in {on for _, on, _ in self.packs}
        }


def test_a_store_does_what_a_list_does(opened):
    store = opened(40)

    @settings(max_examples=50, suppress_health_check=list(HealthCheck))
    @given(st.lists(steps, max_size=15))
    def agrees(steps):
        store.clear()
        model, marks = Model(40), dict.fromkeys("abc", (0, 0))
        for action, shelf, packs in steps:
            if action == "add":
                store.add(shelf, packs)
                model.add(shelf, packs)
            elif action == "clear":
                store.clear(shelf)
                model.clear(shelf)
            else:
                mark, number = marks[shelf]
                found, mark = store.read(shelf, mark)
                assert found == model.read(shelf, number)
                marks[shelf] = mark, model.number
            assert total(store) <= 40
        assert store.info() == model.info()
        assert all(store.read(shelf)[0] == model.read(shelf, 0) for shelf in "abc")

    agrees()
