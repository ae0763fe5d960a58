"""Memory: one shelf per space, a limit over all of them, and a store that others share."""

from __future__ import annotations

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
import pytest

from rote.inference import Exact
from rote.inference.stores import MemoryStore
from rote.inference.wrappers.amortized.blobs import shelf_name
from rote.inference.wrappers.amortized.memory import Memory
from rote.space import SpaceBuilder
from rote.tasks.entity_relation import entity_relation_space

SPACE = entity_relation_space(2)
LARGE = 1 << 30


def solve_and_put(memory, count, seed=0, space=SPACE):
    """Put the answers to some random problems on a shelf, as an engine does; their rows."""
    scores = np.random.default_rng(seed).normal(size=(count, space.parts))
    shelf = memory.shelf(space)
    return shelf.put(
        np.full(count, -1),
        shelf.numbers(Exact().solve(space, scores).labels)[0],
        scores,
        np.zeros((count, shelf.wide[0])),
        np.zeros((count, shelf.wide[1])),
        np.full(count, 0.5),
        by_engine=np.ones(count, dtype=np.bool_),
    )


def another_space(labels):
    builder = SpaceBuilder()
    builder.variable("x", tuple(map(str, range(labels))))
    return builder.build()


def held(memory, *spaces):
    return [memory.shelf(space).count for space in spaces]


# -- shelves ---------------------------------------------------------------------------------


def test_equal_spaces_have_one_shelf_and_one_account():
    memory = Memory(None, LARGE)
    one, equal, other = another_space(3), another_space(3), another_space(4)
    assert one is not equal
    assert memory.shelf(one) is memory.shelf(equal) is not memory.shelf(other)
    assert memory.admission(one) is memory.admission(equal) is not memory.admission(other)


def test_accounts_of_all_spaces_have_one_purse():
    memory = Memory(None, LARGE)
    spaces = [another_space(labels) for labels in (2, 3)]
    memory.admission(spaces[0]).enter_solved(1, 100.0)
    for _ in range(2):
        memory.admission(spaces[1]).enter_solved(1, 1e-9)
    count, tested = memory.admission(spaces[1]).next(10)
    assert tested
    assert count > 0


def test_threads_that_come_at_once_get_the_same_shelf():
    for labels in range(2, 12):
        memory, space = Memory(None, LARGE), another_space(labels)
        with ThreadPoolExecutor(8) as pool:
            shelves = list(pool.map(lambda _, m=memory, s=space: m.shelf(s), range(16)))
        assert all(shelf is shelves[0] for shelf in shelves)


# -- the limit -------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 2_000, 20_000, 60_000])
def test_what_is_remembered_is_within_the_limit(limit):
    memory = Memory(None, limit)
    spaces = [another_space(3), entity_relation_space(1), SPACE]
    assert held(memory, *spaces) == [0, 0, 0]
    for seed in range(5):
        for space in spaces:
            solve_and_put(memory, 20, seed, space)
            memory.keep_within_limit()
            assert sum(shelf.size for shelf in memory._shelves.values()) <= limit


def test_the_largest_shelf_forgets_first():
    memory = Memory(None, LARGE)
    small = another_space(2)
    solve_and_put(memory, 4, space=small)
    solve_and_put(memory, 100)
    memory.limit = memory.shelf(SPACE).size
    memory.keep_within_limit()
    assert held(memory, small) == [4]
    assert held(memory, SPACE)[0] < 100


def test_what_was_of_use_last_is_kept():
    memory = Memory(None, LARGE)
    rows = solve_and_put(memory, 40)
    shelf = memory.shelf(SPACE)
    useful = shelf.scores[rows[:5]].copy()
    shelf.use(rows[:5])
    memory.limit = shelf.size // 3
    memory.keep_within_limit()
    assert 5 <= shelf.count < 40
    assert (shelf.same(useful) >= 0).all()


def test_within_the_limit_nothing_is_forgotten():
    memory = Memory(None, LARGE)
    solve_and_put(memory, 50)
    memory.keep_within_limit()
    assert held(memory, SPACE) == [50]


def test_a_space_whose_entries_are_all_forgotten_is_let_go():
    store = MemoryStore()
    memory, spaces = Memory(store, 3_000), [another_space(labels) for labels in range(2, 60)]
    for space in spaces:
        memory.fetch(memory.shelf(space))
        memory.keep(memory.shelf(space), solve_and_put(memory, 2, space=space))
        memory.keep_within_limit()
    assert 0 < len(memory._shelves) < len(spaces) // 2
    assert all(shelf.count for shelf in memory._shelves.values())
    assert set(memory._marks) | set(memory._own) <= set(memory._shelves)


def test_a_shelf_that_went_is_filled_again_from_the_store():
    store = MemoryStore()
    memory = Memory(store, LARGE)
    memory.keep(memory.shelf(SPACE), solve_and_put(memory, 3))
    memory.limit = 1
    memory.keep_within_limit()
    memory.limit = LARGE
    memory.fetch(memory.shelf(SPACE))
    assert held(memory, SPACE) == [3]


def test_accounts_are_bounded_and_hold_no_space(monkeypatch):
    monkeypatch.setattr("rote.inference.wrappers.amortized.memory.MAX_ACCOUNTS", 4)
    memory, spaces = Memory(None, LARGE), [another_space(labels) for labels in range(2, 12)]
    accounts = [memory.admission(space) for space in spaces]
    assert [memory.admission(space) for space in spaces[6:]] == accounts[6:]
    assert len(memory._thrifts) == 4
    gone = weakref.ref(spaces.pop(6))
    gc.collect()
    assert gone() is None


# -- the store -------------------------------------------------------------------------------


def test_without_a_store_nothing_is_kept_or_fetched():
    memory = Memory(None, LARGE)
    memory.keep(memory.shelf(SPACE), solve_and_put(memory, 3))
    memory.fetch(memory.shelf(SPACE))
    assert held(memory, SPACE) == [3]


def test_what_one_keeps_another_fetches_bit_for_bit():
    store = MemoryStore()
    mine, theirs = Memory(store, LARGE), Memory(store, LARGE)
    mine.keep(mine.shelf(SPACE), solve_and_put(mine, 6))
    theirs.fetch(theirs.shelf(SPACE))
    one, other = mine.shelf(SPACE), theirs.shelf(SPACE)
    assert other.count == 6
    for name in ("scores", "messages", "multipliers", "margins"):
        assert getattr(one, name)[:6].tobytes() == getattr(other, name)[:6].tobytes()
    for row in range(6):
        labels = one.outputs[one.output_of[row]], other.outputs[other.output_of[row]]
        assert labels[0].tolist() == labels[1].tolist()
    assert (other.same(one.scores[:6]) == np.arange(6)).all()


def test_nothing_is_fetched_twice_nor_what_was_kept_by_oneself():
    store = MemoryStore()
    memories = [Memory(store, LARGE) for _ in range(2)]
    for seed in range(3):
        for k, memory in enumerate(memories):
            memory.keep(memory.shelf(SPACE), solve_and_put(memory, 4, seed=2 * seed + k))
            for one in memories:
                one.fetch(one.shelf(SPACE))
                one.fetch(one.shelf(SPACE))
    assert [held(memory, SPACE) for memory in memories] == [[24], [24]]
    assert store.info()[shelf_name(SPACE)].packs == 24


def test_keeping_nothing_makes_no_shelf_in_the_store():
    store = MemoryStore()
    memory = Memory(store, LARGE)
    memory.keep(memory.shelf(SPACE), np.empty(0, dtype=np.int64))
    assert store.info() == {}


def test_a_store_that_has_forgotten_is_no_harm():
    store = MemoryStore()
    memory, late = Memory(store, LARGE), Memory(store, LARGE)
    memory.keep(memory.shelf(SPACE), solve_and_put(memory, 4))
    store.clear()
    memory.fetch(memory.shelf(SPACE))
    late.fetch(late.shelf(SPACE))
    assert (held(memory, SPACE), held(late, SPACE)) == ([4], [0])
    memory.keep(memory.shelf(SPACE), solve_and_put(memory, 2, seed=1))
    late.fetch(late.shelf(SPACE))
    assert held(late, SPACE) == [2]


def test_digests_of_what_was_kept_do_not_pile_up():
    store = MemoryStore(max_bytes=10_000)
    memory = Memory(store, 100_000)
    shelf, sizes = memory.shelf(SPACE), []
    for seed in range(30):
        memory.keep(shelf, solve_and_put(memory, 10, seed))
        memory.fetch(shelf)
        memory.keep_within_limit()
        sizes.append(sum(map(len, memory._own.values())))
    assert max(sizes) <= 20
    assert all(later <= max(earlier, 20) for earlier, later in pairwise(sizes))
