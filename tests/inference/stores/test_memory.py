"""The store in memory: what the contract of all stores does not see."""

import time

from rote.inference.stores.memory import MemoryStore


def test_the_store_in_its_place_counts_on_from_where_one_was():
    first = MemoryStore()
    first.append("a", [b"1"])
    sequence = first.read("a")[1]
    time.sleep(0.001)
    second = MemoryStore()
    second.append("a", [b"2"])
    assert second.read("a", sequence)[0] == [b"2"]


def test_nothing_is_left_behind_by_what_was_dropped():
    store = MemoryStore(max_bytes=100)
    for i in range(1000):
        store.append(f"log{i}", [bytes(10)])
    assert len(store._logs) == len(store._order) == 10
    store.clear("log999")
    assert len(store._logs) == len(store._order) == 9
    assert store._size == 90


def test_asking_a_long_log_for_nothing_new_looks_at_one_blob():
    def seconds(blobs: int) -> float:
        store = MemoryStore()
        store.append("a", [b"1"] * blobs)
        sequence = store.read("a")[1]
        start = time.perf_counter()
        for _ in range(200):
            store.read("a", sequence)
        return time.perf_counter() - start

    # A pass over the log would take ten thousand times as long.
    assert min(seconds(100_000) for _ in range(3)) < 100 * max(seconds(10) for _ in range(3))
