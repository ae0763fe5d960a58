"""A shelf beside a plain list of entries, through all that can happen to it."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.inference.wrappers.amortized import solution_cache as shelves
from rote.inference.wrappers.amortized.blobs import Entry
from rote.inference.wrappers.amortized.solution_cache import FEW, SolutionCache, digests
from rote.space import SpaceBuilder, exactly
from rote.types import readonly
from tests.inference.wrappers.amortized.shelves import put
from tests.strategies import rules_as_rows


def joined(n=4, labels="abc"):
    """Variables that nothing cheap gets rid of, so that there are messages to keep."""
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", labels) for j in range(n)]
    for one, other in itertools.combinations(variables, 2):
        builder.factor(one, other)
    return builder.build()


@dataclass
class Listed:
    """What a shelf should hold, in the order of its rows."""

    labels: tuple[int, ...]
    scores: np.ndarray
    messages: np.ndarray
    margin: float
    by_engine: bool
    used: int


@dataclass
class Both:
    """A shelf, and the list that says what should be on it."""

    shelf: SolutionCache
    rng: np.random.Generator
    entries: list[Listed] = field(default_factory=list)
    clock: int = 0

    def put(self):
        """Some entries, new ones and over old ones."""
        space, m = self.shelf.space, int(self.rng.integers(0, 6))
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
            self.shelf, labels, scores, margins, rows=rows, by_engine=by_engine, duals=duals
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
            if row >= 0 and not by_engine[i] and not self.entries[row].by_engine:
                assert found[i] == row
                self.entries[row] = entry
            else:
                assert found[i] == len(self.entries)
                self.entries.append(entry)

    def use(self):
        rows = np.flatnonzero(self.rng.random(len(self.entries)) < 0.3)
        self.shelf.use(rows)
        self.clock += 1
        for row in rows:
            self.entries[row].used = self.clock

    def forget(self):
        before = self.shelf.forgotten
        self.shelf.forget()
        assert self.shelf.forgotten == before + 1
        dropped = max(1, len(self.entries) // 4)
        order = sorted(range(len(self.entries)), key=lambda row: self.entries[row].used)
        kept = sorted(order[dropped:])
        self.entries = [self.entries[row] for row in kept]

    def look(self):
        """Work out what is worked out when first asked for, so that it can be out of date."""
        assert len(self.shelf.groups[0]) == len(self.shelf.outputs) + 1

    def number(self):
        """Outputs without entries, as of inputs with closed labels."""
        labels = readonly(self.rng.integers(0, 3, size=(3, len(self.shelf.space.variables))))
        seen = {tuple(row) for row in self.shelf.outputs.tolist()}
        numbers, new = self.shelf.numbers(labels)
        assert new == len({tuple(row) for row in labels.tolist()} - seen)
        assert (self.shelf.outputs[numbers] == labels).all()

    def check(self):
        shelf, entries = self.shelf, self.entries
        n = shelf.count
        assert n == len(entries)
        assert len(shelf.scores) >= n
        outputs = [tuple(row) for row in shelf.outputs.tolist()]
        assert len(set(outputs)) == len(outputs)
        assert (shelf.parts == shelf.space.parts_of(shelf.outputs)).all()
        assert [outputs[k] for k in shelf.output_of[:n]] == [e.labels for e in entries]
        assert shelf.margins[:n].tolist() == [e.margin for e in entries]
        assert shelf.by_engine[:n].tolist() == [e.by_engine for e in entries]
        for row, entry in enumerate(entries):
            assert (shelf.scores[row] == entry.scores).all()
            assert (shelf.messages[row] == entry.messages).all()
        ptr, order = shelf.groups
        for k, labels in enumerate(outputs):
            own = [row for row in reversed(range(n)) if entries[row].labels == labels]
            assert order[ptr[k] : ptr[k + 1]].tolist() == own
        assert len(shelf.entry_of_output) == len(outputs)
        assert (shelf.entry_of_output < max(n, 1)).all()
        if n:
            asked = np.stack([e.scores for e in entries])
            expected = [row if e.by_engine else -1 for row, e in enumerate(entries)]
            assert shelf.same(asked).tolist() == expected
            asked[:, -1] += 1e-9
            assert shelf.same(asked).tolist() == [-1] * n


OPERATIONS = [Both.put, Both.put, Both.put, Both.use, Both.forget, Both.look, Both.number]


@given(st.integers(0, 2**32 - 1), st.lists(st.sampled_from(OPERATIONS), min_size=1, max_size=25))
@settings(max_examples=50)
def test_a_shelf_holds_what_was_put_there_less_what_was_used_longest_ago(seed, operations):
    both = Both(SolutionCache(joined()), np.random.default_rng(seed))
    for operation in operations:
        operation(both)
        both.check()


def test_room_grows_as_it_is_needed_and_counts_as_size():
    shelf = SolutionCache(joined())
    rng = np.random.default_rng(0)
    empty = shelf.size
    scores = rng.normal(size=(5 * FEW, shelf.space.parts))
    for start in range(0, len(scores), 3):
        part = scores[start : start + 3]
        put(shelf, np.zeros((len(part), 4)), part)
    assert shelf.count == len(scores)
    assert (shelf.scores[: shelf.count] == scores).all()
    assert shelf.same(scores).tolist() == list(range(len(scores)))
    row = 8 * (shelf.space.parts + sum(shelf.wide))
    assert shelf.size >= empty + (len(scores) - FEW) * row


def test_forgetting_again_and_again_leaves_nothing_and_takes_no_room():
    shelf = SolutionCache(joined())
    put(shelf, np.zeros((5, 4)), np.random.default_rng(0).normal(size=(5, shelf.space.parts)))
    shelf.numbers(readonly(np.ones((1, 4), dtype=np.int64)))
    for left in (4, 3, 2, 1, 0, 0):
        shelf.forget()
        assert shelf.count == left
    assert shelf.size == 0
    assert len(shelf.outputs) == 0
    rows = put(shelf, [[1, 1, 1, 1]], np.ones(shelf.space.parts))
    assert rows.tolist() == [0]
    assert shelf.same(np.ones((1, shelf.space.parts))).tolist() == [0]


def test_what_was_forgotten_is_seen_anew():
    shelf = SolutionCache(joined())
    labels = readonly(np.eye(4, dtype=np.int64))
    assert shelf.numbers(labels)[1] == 4
    assert shelf.numbers(labels)[1] == 0
    put(shelf, labels[:2], np.zeros((2, shelf.space.parts)))
    shelf.use(np.array([1]))
    shelf.forget()
    assert shelf.outputs.tolist() == [[0, 1, 0, 0]]
    assert shelf.numbers(labels)[1] == 3


def test_after_forgetting_nothing_points_to_rows_that_moved():
    shelf = SolutionCache(joined())
    rng = np.random.default_rng(0)
    put(shelf, rng.integers(0, 2, size=(8, 4)), rng.normal(size=(8, shelf.space.parts)))
    shelf.asked = np.arange(8)
    shelf.forget()
    assert len(shelf.asked) == 0
    own = shelf.output_of[shelf.entry_of_output]
    assert own.tolist() == list(range(len(shelf.outputs)))


def test_the_same_row_twice_holds_one_whole_entry():
    shelf = SolutionCache(joined())
    put(shelf, np.zeros((1, 4)), np.zeros(shelf.space.parts), by_engine=False)
    scores = np.stack([np.full(shelf.space.parts, 1.0), np.full(shelf.space.parts, 2.0)])
    labels = np.array([[0, 0, 0, 1], [0, 0, 1, 0]])
    rows = put(shelf, labels, scores, [1.0, 2.0], rows=[0, 0], by_engine=False)
    assert rows.tolist() == [0, 0]
    assert shelf.count == 1
    held = shelf.scores[0, 0]
    assert shelf.outputs[shelf.output_of[0]].tolist() == labels[int(held) - 1].tolist()
    assert shelf.margins[0] == held


def test_messages_that_stand_for_infinity_are_not_kept():
    shelf = SolutionCache(joined())
    put(
        shelf,
        np.zeros((1, 4)),
        np.zeros(shelf.space.parts),
        duals=lambda shape: np.full(shape, -1e9),
    )
    assert (shelf.messages[0] == 0).all()


# -- equal scores -------------------------------------------------------------------------


def test_zero_has_two_signs_and_is_the_same():
    shelf = SolutionCache(joined())
    scores = np.zeros((1, shelf.space.parts))
    put(shelf, np.zeros((1, 4)), scores)
    assert shelf.same(-scores).tolist() == [0]


def test_scores_one_digit_apart_are_not_the_same():
    shelf = SolutionCache(joined())
    scores = np.ones((1, shelf.space.parts))
    put(shelf, np.zeros((1, 4)), scores)
    assert shelf.same(np.nextafter(scores, 2.0)).tolist() == [-1]
    for part in range(shelf.space.parts):
        other = scores.copy()
        other[0, part] = np.nextafter(1.0, 2.0)
        assert shelf.same(other).tolist() == [-1]


def test_scores_whose_digests_are_equal_by_chance_are_not_the_same(monkeypatch):
    """Without comparing the scores themselves, another problem's answer would be given."""
    shelf = SolutionCache(joined())
    monkeypatch.setattr(shelves, "digests", lambda scores: [7] * len(scores))
    rng = np.random.default_rng(0)
    one, other = rng.normal(size=(2, 1, shelf.space.parts))
    put(shelf, np.zeros((1, 4)), one)
    assert shelf.same(one).tolist() == [0]
    assert shelf.same(other).tolist() == [-1]


def test_only_an_engine_s_answers_are_given_again():
    shelf = SolutionCache(joined())
    scores = np.ones((1, shelf.space.parts))
    put(shelf, np.zeros((1, 4)), scores, by_engine=False)
    assert shelf.same(scores).tolist() == [-1]


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
    scores = np.zeros((3, len(shelves.KEYS) + 2))
    scores[1, -1] = scores[2, -2] = 1.0
    assert len(set(digests(scores))) == 3


# -- entries from elsewhere ---------------------------------------------------------------


def entry_for(shelf, labels):
    return Entry(
        np.array(labels),
        np.zeros(shelf.space.parts),
        np.zeros(shelf.wide[0]),
        np.zeros(shelf.wide[1]),
        0.5,
    )


@pytest.fixture
def ruled():
    """A shelf whose space has a rule that is kept as a row: exactly one "b"."""
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(4)]
    for one, other in itertools.combinations(variables, 2):
        builder.factor(one, other)
    builder.require(exactly(1, [variable["b"] for variable in variables]))
    with rules_as_rows():
        shelf = SolutionCache(builder.build())
        assert min(shelf.wide) > 0
        yield shelf


def fits(shelf, entry):
    """Whether an entry is taken, alone and with others beside it."""
    right = entry_for(shelf, [0, 1, 0, 0])
    taken = shelf.fitting([right, entry, right])
    assert taken[0] is taken[-1] is right
    alone = shelf.fitting([entry])
    assert len(taken) == 2 + len(alone)
    return alone == [entry]


def test_an_entry_of_the_space_fits(ruled):
    entry = entry_for(ruled, [0, 0, 1, 0])
    for margin in (0.5, np.inf, -np.inf):
        assert fits(ruled, entry._replace(margin=margin))
    assert ruled.fitting([]) == []


@pytest.mark.parametrize(
    "labels", [[0, 0, 0, 0], [1, 1, 0, 0], [0, 2, 0, 0], [-1, 1, 0, 0], [1, 0, 0], [0] * 5, []]
)
def test_labels_that_are_no_output_of_the_space_do_not_fit(ruled, labels):
    assert not fits(ruled, entry_for(ruled, labels))


@pytest.mark.parametrize("name", ["scores", "messages", "multipliers"])
def test_numbers_that_are_too_many_too_few_or_infinite_do_not_fit(ruled, name):
    entry = entry_for(ruled, [0, 1, 0, 0])
    own = getattr(entry, name)
    broken = own.copy()
    for bad in (np.inf, -np.inf, np.nan):
        broken[-1] = bad
        assert not fits(ruled, entry._replace(**{name: broken}))
    for other in (own[:-1], np.append(own, 0.0), own[:0]):
        assert not fits(ruled, entry._replace(**{name: other}))


def test_a_margin_that_is_no_number_does_not_fit(ruled):
    assert not fits(ruled, entry_for(ruled, [0, 1, 0, 0])._replace(margin=np.nan))
