"""A solution cache beside a plain list of entries, through all that can happen to it."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.engines import Exact
from rote.inference.stores.base import Log
from rote.inference.stores.memory import MemoryStore
from rote.inference.wrappers.amortized import solution_cache as module
from rote.inference.wrappers.amortized.entries import Entry
from rote.inference.wrappers.amortized.solution_cache import (
    SolutionCache,
    SolutionCaches,
    digests,
)
from rote.space import SpaceBuilder, exactly
from rote.tasks.entity_relation import entity_relation_space
from rote.types import readonly
from tests.inference.wrappers.amortized.caches import put
from tests.strategies import rules_as_rows


def trim(caches):
    for cache in list(caches._caches.values()):
        if (type(cache), cache.space) in caches._caches:
            caches.trim(cache)


def joined(n=4, labels="abc"):
    """Variables that nothing cheap gets rid of, so that there are messages to keep."""
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", labels) for j in range(n)]
    for one, other in itertools.combinations(variables, 2):
        builder.factor(one, other)
    return builder.build()


@dataclass
class Listed:
    """What a cache should hold, in the order of its rows."""

    labels: tuple[int, ...]
    scores: np.ndarray
    messages: np.ndarray
    margin: float
    by_engine: bool
    used: int


@dataclass
class Both:
    """A cache, and the list that says what should be on it."""

    cache: SolutionCache
    rng: np.random.Generator
    entries: list[Listed] = field(default_factory=list)
    clock: int = 0

    def put(self):
        """Some entries, new ones and over old ones."""
        space, m = self.cache.space, int(self.rng.integers(0, 6))
        labels = self.rng.integers(0, 2, size=(m, len(space.variables)))
        scores = self.rng.normal(size=(m, space.parts))
        margins = self.rng.normal(size=m)
        by_engine = self.rng.random(m) < 0.5
        # Not the same row twice: which entry stays would be a matter of taste.
        rows = self.rng.permutation(np.arange(-5, len(self.entries)))
        rows = np.concatenate([rows, np.full(m, -1)])[:m].clip(min=-1)
        drawn = []

        def duals(shape):
            drawn.append(self.rng.normal(size=shape))
            return drawn[-1]

        found = put(
            self.cache, labels, scores, margins, rows=rows, by_engine=by_engine, duals=duals
        )
        self.clock += 1
        for i, row in enumerate(rows):
            entry = Listed(
                tuple(labels[i].tolist()),
                scores[i],
                drawn[0][i],
                float(margins[i]),
                bool(by_engine[i]),
                self.clock,
            )
            if row >= 0:
                assert found[i] == row
                self.entries[row] = entry
            else:
                assert found[i] == len(self.entries)
                self.entries.append(entry)

    def use(self):
        rows = np.flatnonzero(self.rng.random(len(self.entries)) < 0.3)
        self.cache.use(rows)
        self.clock += 1
        for row in rows:
            self.entries[row].used = self.clock

    def forget(self):
        before = self.cache.forgotten
        self.cache.name(range(self.cache.count), np.arange(self.cache.count))
        self.cache.forget()
        assert self.cache.forgotten == before + 1
        own = self.cache.output_of[self.cache.entry_of_output]
        assert own.tolist() == list(range(len(self.cache.outputs)))
        dropped = max(1, len(self.entries) // 4)
        order = sorted(range(len(self.entries)), key=lambda row: self.entries[row].used)
        kept = sorted(order[dropped:])
        places = {row: new for new, row in enumerate(kept)}
        rows = range(len(self.entries))
        assert self.cache.named(rows).tolist() == [places.get(row, -1) for row in rows]
        self.entries = [self.entries[row] for row in kept]

    def look(self):
        """Work out what is worked out when first asked for, so that it can be out of date."""
        assert len(self.cache.groups[0]) == len(self.cache.outputs) + 1

    def number(self):
        """Outputs without entries, as of inputs with closed labels."""
        labels = readonly(self.rng.integers(0, 3, size=(3, len(self.cache.space.variables))))
        seen = {tuple(row) for row in self.cache.outputs.tolist()}
        numbers, new = self.cache.numbers(labels)
        assert new == len({tuple(row) for row in labels.tolist()} - seen)
        assert (self.cache.outputs[numbers] == labels).all()

    def check(self):
        cache, entries = self.cache, self.entries
        n = cache.count
        assert n == len(entries)
        assert len(cache.scores) >= n
        outputs = [tuple(row) for row in cache.outputs.tolist()]
        assert len(set(outputs)) == len(outputs)
        assert (cache.parts == cache.space.parts_of(cache.outputs)).all()
        assert [outputs[k] for k in cache.output_of[:n]] == [e.labels for e in entries]
        assert cache.margins[:n].tolist() == [e.margin for e in entries]
        assert cache.by_engine[:n].tolist() == [e.by_engine for e in entries]
        for row, entry in enumerate(entries):
            assert (cache.scores[row] == entry.scores).all()
            assert (cache.messages[row] == entry.messages).all()
        ptr, order = cache.groups
        for k, labels in enumerate(outputs):
            own = [row for row in reversed(range(n)) if entries[row].labels == labels]
            assert order[ptr[k] : ptr[k + 1]].tolist() == own
        assert len(cache.entry_of_output) == len(outputs)
        assert (cache.entry_of_output < max(n, 1)).all()
        if n:
            asked = np.stack([e.scores for e in entries])
            expected = [row if e.by_engine else -1 for row, e in enumerate(entries)]
            assert cache.same(asked).tolist() == expected
            asked[:, -1] += 1e-9
            assert cache.same(asked).tolist() == [-1] * n


OPERATIONS = [Both.put, Both.put, Both.put, Both.use, Both.forget, Both.look, Both.number]


@given(st.integers(0, 2**32 - 1), st.lists(st.sampled_from(OPERATIONS), min_size=1, max_size=25))
@settings(max_examples=50)
def test_a_cache_holds_what_was_put_there_less_what_was_used_longest_ago(seed, operations):
    both = Both(SolutionCache(joined()), np.random.default_rng(seed))
    for operation in operations:
        operation(both)
        both.check()


def test_forgetting_again_and_again_leaves_nothing_and_takes_no_room():
    cache = SolutionCache(joined())
    put(cache, np.zeros((5, 4)), np.random.default_rng(0).normal(size=(5, cache.space.parts)))
    cache.numbers(readonly(np.ones((1, 4), dtype=np.int64)))
    for left in (4, 3, 2, 1, 0, 0):
        cache.forget()
        assert cache.count == left
    assert cache.size == 0
    assert len(cache.outputs) == 0
    rows = put(cache, [[1, 1, 1, 1]], np.ones(cache.space.parts))
    assert rows.tolist() == [0]
    assert cache.same(np.ones((1, cache.space.parts))).tolist() == [0]


def test_the_same_row_twice_holds_one_whole_entry():
    cache = SolutionCache(joined())
    put(cache, np.zeros((1, 4)), np.zeros(cache.space.parts), by_engine=False)
    scores = np.stack([np.full(cache.space.parts, 1.0), np.full(cache.space.parts, 2.0)])
    labels = np.array([[0, 0, 0, 1], [0, 0, 1, 0]])
    rows = put(cache, labels, scores, [1.0, 2.0], rows=[0, 0], by_engine=False)
    assert rows.tolist() == [0, 0]
    assert cache.count == 1
    held = cache.scores[0, 0]
    assert cache.outputs[cache.output_of[0]].tolist() == labels[int(held) - 1].tolist()
    assert cache.margins[0] == held


def test_messages_that_stand_for_infinity_are_not_kept():
    cache = SolutionCache(joined())
    put(
        cache,
        np.zeros((1, 4)),
        np.zeros(cache.space.parts),
        duals=lambda shape: np.full(shape, -1e9),
    )
    assert (cache.messages[0] == 0).all()


# -- equal scores -------------------------------------------------------------------------


def test_scores_one_digit_apart_are_not_the_same_and_zeros_of_two_signs_are():
    cache = SolutionCache(joined())
    zero = np.zeros((1, cache.space.parts))
    put(cache, np.zeros((1, 4)), zero)
    assert cache.same(-zero).tolist() == [0]
    cache = SolutionCache(joined())
    scores = np.ones((1, cache.space.parts))
    put(cache, np.zeros((1, 4)), scores)
    assert cache.same(np.nextafter(scores, 2.0)).tolist() == [-1]
    for part in range(cache.space.parts):
        other = scores.copy()
        other[0, part] = np.nextafter(1.0, 2.0)
        assert cache.same(other).tolist() == [-1]


def test_scores_whose_digests_are_equal_by_chance_are_not_the_same(monkeypatch):
    """Without comparing the scores themselves, another problem's answer would be given."""
    cache = SolutionCache(joined())
    monkeypatch.setattr(module, "digests", lambda scores: [7] * len(scores))
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 1, cache.space.parts))
    put(cache, np.zeros((1, 4)), one)
    assert cache.same(one).tolist() == [0]
    assert cache.same(other).tolist() == [-1]


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6), st.data()
)
@settings(max_examples=60)
def test_equal_rows_have_equal_digests_and_others_hardly_ever(row, data):
    scores = np.array([row, row])
    one, two = digests(scores)
    assert one == two
    part = data.draw(st.integers(0, len(row) - 1))
    scores[1, part] = np.nextafter(scores[1, part], np.inf if scores[1, part] < 1 else -np.inf)
    one, two = digests(scores)
    assert one != two


def test_digests_depend_on_where_scores_stand():
    assert len(set(digests(np.eye(50)))) == 50


def test_there_may_be_more_scores_than_keys():
    scores = np.zeros((3, len(module.KEYS) + 2))
    scores[1, -1] = scores[2, -2] = 1.0
    assert len(set(digests(scores))) == 3


# -- entries as bytes ---------------------------------------------------------------------

doubles = st.floats(width=64, allow_nan=False)
arrays = st.lists(doubles, max_size=4).map(lambda values: np.array(values, dtype=np.float64))
labellings = st.lists(st.integers(0, 2**52), max_size=4).map(lambda k: np.array(k, np.int64))


@given(st.builds(Entry, labellings, arrays, arrays, arrays, doubles))
@settings(max_examples=100)
def test_an_entry_comes_back_as_it_was(entry):
    found = Entry.decoded(entry.encoded())
    assert found.margin == entry.margin
    for mine, theirs in zip(found[:4], entry[:4], strict=True):
        assert (mine.dtype, mine.tobytes()) == (theirs.dtype, theirs.tobytes())


@given(st.binary(max_size=39) | st.binary(min_size=41, max_size=47))
def test_other_bytes_are_no_entry(contents):
    assert Entry.decoded(contents) is None
    assert Entry.decoded(contents + np.full(6, np.nan).tobytes()) is None


# -- caches of all spaces, and a store ----------------------------------------------------

SPACE = entity_relation_space(2)
LARGE = 1 << 30


def another_space(labels):
    builder = SpaceBuilder()
    builder.variable("x", tuple(map(str, range(labels))))
    return builder.build()


def solve_and_put(caches, count, seed=0, space=SPACE):
    """Put the answers to some random problems into a cache, as an engine does; their rows."""
    scores = np.random.default_rng(seed).normal(size=(count, space.parts))
    return put(caches.of(space), Exact().solve(space, scores).labels, scores, 0.5)


def solve_and_keep(caches, *arguments, space=SPACE, **named):
    caches.of(space).keep(solve_and_put(caches, *arguments, space=space, **named))


def held(caches, *spaces):
    return [caches.of(space).count for space in spaces]


def test_equal_spaces_have_one_cache_whichever_thread_comes_first():
    one, equal, other = another_space(3), another_space(3), another_space(4)
    assert one is not equal
    for _ in range(10):
        caches = SolutionCaches(None, LARGE)
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(caches.of, [one, equal] * 8))
        assert all(cache is found[0] for cache in found)
        assert caches.of(other) is not found[0]


@pytest.mark.parametrize("limit", [1, 2_000, 20_000, 60_000])
def test_what_is_remembered_is_within_the_limit(limit):
    caches = SolutionCaches(None, limit)
    spaces = [another_space(3), entity_relation_space(1), SPACE]
    for seed in range(5):
        for space in spaces:
            solve_and_put(caches, 20, seed, space)
            trim(caches)
            assert sum(cache.size for cache in caches._caches.values()) <= limit


def test_the_largest_cache_forgets_first_what_was_of_no_use():
    caches, small = SolutionCaches(None, LARGE), another_space(2)
    solve_and_put(caches, 4, space=small)
    rows = solve_and_put(caches, 100)
    trim(caches)
    assert held(caches, small, SPACE) == [4, 100]
    cache = caches.of(SPACE)
    useful = cache.scores[rows[:5]].copy()
    cache.use(rows[:5])
    caches.max_bytes = cache.size // 3
    trim(caches)
    assert held(caches, small) == [4]
    assert 5 <= cache.count < 100
    assert (cache.same(useful) >= 0).all()


def test_a_cache_that_forgot_everything_goes_and_is_filled_again_from_the_store():
    caches, spaces = SolutionCaches(MemoryStore(), 3_000), [another_space(k) for k in range(2, 60)]
    for space in spaces:
        caches.of(space).fetch()
        solve_and_keep(caches, 2, space=space)
        trim(caches)
    assert 0 < len(caches._caches) < len(spaces) // 2
    assert all(cache.count for cache in caches._caches.values())
    gone = next(space for space in spaces if space not in caches._caches)
    caches.of(gone).fetch()
    assert held(caches, gone) == [2]


def test_what_one_keeps_another_fetches_once_and_bit_for_bit():
    store = MemoryStore()
    mine, theirs, alone = (SolutionCaches(each, LARGE) for each in (store, store, None))
    for turn in (1, 2):
        for caches in (mine, alone):
            solve_and_keep(caches, 6, seed=turn)
        for _ in range(2):
            for caches in (mine, theirs, alone):
                caches.of(SPACE).fetch()
    assert held(mine, SPACE) == held(theirs, SPACE) == held(alone, SPACE) == [12]
    assert store.info()[SolutionCache.prefix + SPACE.fingerprint].blobs == 12
    one, other = mine.of(SPACE), theirs.of(SPACE)
    for name in ("scores", "messages", "multipliers", "margins"):
        assert getattr(one, name)[:12].tobytes() == getattr(other, name)[:12].tobytes()
    labels = [each.outputs[each.output_of[:12]].tolist() for each in (one, other)]
    assert labels[0] == labels[1]
    assert (other.same(one.scores[:12]) == np.arange(12)).all()


def test_a_store_that_has_forgotten_is_no_harm():
    store = MemoryStore()
    caches, late = SolutionCaches(store, LARGE), SolutionCaches(store, LARGE)
    solve_and_keep(caches, 4)
    store.clear()
    for each in (caches, late):
        each.of(SPACE).fetch()
    assert (held(caches, SPACE), held(late, SPACE)) == ([4], [0])
    solve_and_keep(caches, 2, seed=1)
    late.of(SPACE).fetch()
    assert held(late, SPACE) == [2]


# -- entries of others --------------------------------------------------------------------


@pytest.fixture
def ruled():
    """A cache whose space has a rule that is kept as a row: exactly one "b"."""
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(4)]
    for one, other in itertools.combinations(variables, 2):
        builder.factor(one, other)
    builder.require(exactly(1, [variable["b"] for variable in variables]))
    with rules_as_rows():
        cache = SolutionCache(builder.build(), MemoryStore())
        assert min(cache.dual_sizes) > 0
        yield cache


def fits(cache, **changes):
    """Whether an entry is taken, with others beside it."""
    right = Entry(
        np.array([0, 1, 0, 0]), *map(np.zeros, (cache.space.parts, *cache.dual_sizes)), 1, 0
    )
    before = cache.count
    entries = [right, right._replace(**changes), right]
    Log(cache.log.store, cache.log.name).append(entry.encoded() for entry in entries)
    cache.fetch()
    assert cache.count - before in (2, 3)
    return cache.count - before == 3


def test_an_entry_of_the_space_fits(ruled):
    assert fits(ruled, labels=np.array([0, 0, 1, 0]))
    for margin in (0.5, np.inf, -np.inf):
        assert fits(ruled, margin=margin)
    assert not fits(ruled, margin=np.nan)


@pytest.mark.parametrize(
    "labels", [[0, 0, 0, 0], [1, 1, 0, 0], [0, 2, 0, 0], [-1, 1, 0, 0], [1, 0, 0], [0] * 5, []]
)
def test_labels_that_are_no_output_of_the_space_do_not_fit(ruled, labels):
    assert not fits(ruled, labels=np.array(labels))


@pytest.mark.parametrize("name", ["scores", "messages", "multipliers"])
def test_numbers_that_are_too_many_too_few_or_infinite_do_not_fit(ruled, name):
    own = np.zeros_like(getattr(ruled, name)[0])
    broken = [np.append(own[:-1], bad) for bad in (np.inf, -np.inf, np.nan)]
    for other in (*broken, own[:-1], np.append(own, 0.0), own[:0]):
        assert not fits(ruled, **{name: other})
