"""Solution caches: what is remembered of each space, in this process and in a store beyond it.

A cache has the solved problems of one space as arrays that kernels look through. Entries lie in
rows. Their outputs are kept once each, numbered as they came. Which entries have an output is
worked out when first asked for, and again after something was put into the cache.

Entries are kept up to a limit of bytes over all spaces; beyond it, the largest cache forgets what
has been of no use for longest, and a cache that has forgotten everything goes, so that no space is
held for ever. Solved problems also go into the store, if there is one, and what others have put
there is fetched before a cache is asked.
"""

from __future__ import annotations

from functools import cached_property
from threading import RLock
from typing import NamedTuple, Self

import numpy as np

from rote.inference.exact.plans import partial_plan
from rote.inference.exact.search import finite_messages
from rote.inference.stores.base import Log, Store
from rote.space.space import Space
from rote.types import BoolArray, FloatArray, IntArray, offsets_from_counts, readonly

LOG_PREFIX = "2-"  # the number of the format, in the names of logs of entries
FEW = 8  # entries to begin with
COLUMNS = ("scores", "messages", "multipliers", "margins", "output_of", "by_engine", "used")
KEYS = readonly(np.random.default_rng(0).integers(1 << 63, size=1 << 16, dtype=np.uint64) | 1)


class Entry(NamedTuple):
    """The best output ``labels`` of a problem with these ``scores``.

    ``messages`` and ``multipliers`` are duals of what `partial_plan` leaves of the space. The
    value of every other output is less by ``margin`` at least; if this is not above 0, nothing is
    known.
    """

    labels: IntArray
    scores: FloatArray
    messages: FloatArray
    multipliers: FloatArray
    margin: float

    def encoded(self) -> bytes:
        """As numbers of eight bytes: the margin, four lengths, and the arrays in turn."""
        *arrays, margin = self
        return np.concatenate([[margin, *map(len, arrays)], *arrays], dtype="<f8").tobytes()

    @classmethod
    def decoded(cls, contents: bytes | None) -> Self | None:
        """The entry that was encoded, or None if this is not one."""
        if contents is None or len(contents) < 40 or len(contents) % 8:
            return None
        numbers = np.frombuffer(contents, dtype="<f8")
        lengths = numbers[1:5]
        if not (lengths >= 0).all() or lengths.sum() != len(numbers) - 5:
            return None
        labels, scores, messages, multipliers = np.split(
            numbers[5:], np.cumsum(lengths[:3]).astype(np.int64)
        )
        return cls(labels.astype(np.int64), scores, messages, multipliers, float(numbers[0]))


class SolutionCache:
    """Entries of one space; rows beyond ``count`` are room for more."""

    def __init__(self, space: Space, store: Store | None = None) -> None:
        self.space = space
        self.log = None if store is None else Log(store, LOG_PREFIX + space.fingerprint)
        self.plan = partial_plan(space)
        graph = self.plan.core.network.graph
        self.dual_sizes = int(graph.flow.message_ptr[-1]), len(graph.rows.lower)
        n, slots = len(space.variables), len(space.variables) + len(space.factors)
        self.count = 0
        self.scores = np.empty((FEW, space.parts))
        self.messages = np.empty((FEW, self.dual_sizes[0]))
        self.multipliers = np.empty((FEW, self.dual_sizes[1]))
        self.margins = np.empty(FEW)
        self.output_of = np.empty(FEW, dtype=np.int64)
        self.by_engine = np.zeros(FEW, dtype=np.bool_)  # an engine's answer: worth keeping
        self.used = np.empty(FEW, dtype=np.int64)  # when an entry was last of use
        self.clock = 0
        self.forgotten = 0  # how often rows were given new numbers
        self.outputs = np.empty((0, n), dtype=np.int64)
        self.parts = readonly(np.empty((0, slots), dtype=np.int64))
        self.entry_of_output = np.empty(0, dtype=np.int64)  # one that has, or had, this output
        self.asked: IntArray = np.empty(0, dtype=np.int64)  # the entry of each input asked last
        self._numbers: dict[bytes, int] = {}
        self._solved: dict[int, int] = {}

    @property
    def size(self) -> int:
        """In bytes, of entries, outputs, and the room there is for more."""
        return sum(getattr(self, name).nbytes for name in (*COLUMNS, "outputs", "parts"))

    def fetch(self) -> None:
        """Take from the store what others have put there since the last time."""
        if self.log is None:
            return
        found = [Entry.decoded(contents) for contents in self.log.news()]
        entries = [entry for entry in found if entry is not None and self._fits(entry)]
        if not entries:
            return
        labels, *others = (np.stack(column) for column in zip(*entries, strict=True))
        rows = np.flatnonzero(self.space.was_feasible(readonly(labels)))
        if len(rows):
            self.put(
                np.full(len(rows), -1, dtype=np.int64),
                self.numbers(readonly(labels[rows]))[0],
                *(column[rows] for column in others),
                by_engine=np.ones(len(rows), dtype=np.bool_),
            )

    def _fits(self, entry: Entry) -> bool:
        """Whether an entry of others can be of this space."""
        return (
            (len(entry.messages), len(entry.multipliers)) == self.dual_sizes
            and len(entry.scores) == self.space.parts
            and len(entry.labels) == len(self.space.variables)
            and bool(np.isfinite(np.concatenate(entry[1:4])).all())
            and not np.isnan(entry.margin)
            and bool(((entry.labels >= 0) & (entry.labels < self.space.sizes)).all())
        )

    def keep(self, rows: IntArray) -> None:
        """Put solved problems into the store."""
        if self.log is not None:
            columns = self.scores, self.messages, self.multipliers, self.margins
            self.log.append(
                Entry(self.outputs[self.output_of[row]], *(each[row] for each in columns)).encoded()
                for row in rows.tolist()
            )

    def numbers(self, labels: IntArray) -> tuple[IntArray, int]:
        """The number of each output, and how many of them had never been seen."""
        rows = np.ascontiguousarray(labels).view(np.dtype((np.void, 8 * labels.shape[1]))).ravel()
        distinct, first, place = np.unique(rows, return_index=True, return_inverse=True)
        known = len(self._numbers)
        found = np.array(
            [self._numbers.setdefault(row.tobytes(), len(self._numbers)) for row in distinct],
            dtype=np.int64,
        )
        new = np.flatnonzero(found >= known)
        if len(new):
            added = readonly(labels[first[new]])
            self.outputs = np.concatenate([self.outputs, added])
            parts = self.space.known_parts_of(added)
            self.parts = readonly(np.concatenate([self.parts, parts]))
            nowhere = np.full(len(new), -1, dtype=np.int64)
            self.entry_of_output = np.concatenate([self.entry_of_output, nowhere])
            self.__dict__.pop("groups", None)
        return found[place], len(new)

    def put(
        self,
        rows: IntArray,
        outputs: IntArray,
        scores: FloatArray,
        messages: FloatArray,
        multipliers: FloatArray,
        margins: FloatArray,
        *,
        by_engine: BoolArray,
    ) -> IntArray:
        """Write entries to given rows, or to new ones where a row is -1; returns their rows.

        Rows with an engine's answers are not written over.
        """
        taken = np.flatnonzero((rows >= 0) & ~by_engine)
        taken = taken[~self.by_engine[rows[taken]]]
        rows, given = np.full(len(rows), -1, dtype=np.int64), rows
        rows[taken] = given[taken]
        new = np.flatnonzero(rows < 0)
        rows[new] = np.arange(self.count, self.count + len(new))
        self._make_room(self.count + len(new))
        self.count += len(new)
        self.scores[rows] = scores
        self.messages[rows] = finite_messages(messages)
        self.multipliers[rows] = multipliers
        self.margins[rows] = margins
        self.output_of[rows] = outputs
        self.by_engine[rows] = by_engine
        if by_engine.any():
            solved = rows[by_engine]
            self._solved.update(zip(digests(self.scores[solved]), solved.tolist(), strict=True))
        self.use(rows)
        self.entry_of_output[outputs] = rows
        self.__dict__.pop("groups", None)
        return rows

    def use(self, rows: IntArray) -> None:
        """Note that entries were of use."""
        self.clock += 1
        self.used[rows] = self.clock

    def same(self, scores: FloatArray) -> IntArray:
        """The row of an engine's answer to equal scores, for each input, or -1."""
        rows = np.array([self._solved.get(d, -1) for d in digests(scores)], dtype=np.int64)
        rows[(self.scores[rows] != scores).any(axis=1)] = -1
        return rows

    @cached_property
    def groups(self) -> tuple[IntArray, IntArray]:
        """Entries by output: those of output k are ``order[ptr[k] : ptr[k + 1]]``, newest first."""
        own = self.output_of[: self.count][::-1]
        order = self.count - 1 - np.argsort(own, kind="stable")
        counts = np.bincount(own, minlength=len(self.outputs))
        return readonly(offsets_from_counts(counts)), readonly(order)

    def forget(self, share: float = 0.25) -> None:
        """Let go of the entries that have not been of use for longest, and of their outputs."""
        by_use = np.argsort(self.used[: self.count], kind="stable")
        kept = np.sort(by_use[max(1, int(share * self.count)) :])
        place = np.full(self.count, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        for name in COLUMNS:
            setattr(self, name, getattr(self, name)[kept])
        self.count = len(kept)
        self.forgotten += 1
        self.asked = np.empty(0, dtype=np.int64)
        self._solved = {d: int(place[row]) for d, row in self._solved.items() if place[row] >= 0}
        alive, self.output_of = np.unique(self.output_of, return_inverse=True)
        number = {int(old): new for new, old in enumerate(alive)}
        self._numbers = {row: number[k] for row, k in self._numbers.items() if k in number}
        self.outputs, self.parts = self.outputs[alive], readonly(self.parts[alive])
        self.entry_of_output = np.empty(len(alive), dtype=np.int64)
        self.entry_of_output[self.output_of] = np.arange(self.count)
        self.__dict__.pop("groups", None)

    def _make_room(self, rows: int) -> None:
        have = len(self.scores)
        if rows <= have:
            return
        for name in COLUMNS:
            old = getattr(self, name)
            new = np.empty((max(rows, 2 * have), *old.shape[1:]), dtype=old.dtype)
            new[: self.count] = old[: self.count]
            setattr(self, name, new)


class SolutionCaches:
    """The caches of all spaces, within a limit of bytes."""

    def __init__(self, store: Store | None, max_bytes: int) -> None:
        self.store = store
        self.max_bytes = max_bytes
        self.lock = RLock()
        self._caches: dict[Space, SolutionCache] = {}

    def of(self, space: Space) -> SolutionCache:
        """What is remembered of a space."""
        found = self._caches.get(space)
        if found is None:
            with self.lock:
                found = self._caches.setdefault(space, SolutionCache(space, self.store))
        return found

    def trim(self) -> None:
        """Forget until what is remembered is not more than the limit.

        Where a cache that went is asked again, the store is read from the start.
        """
        while sum(cache.size for cache in self._caches.values()) > self.max_bytes:
            largest = max(self._caches.values(), key=lambda cache: cache.size)
            largest.forget()
            if not largest.size:
                del self._caches[largest.space]


def digests(scores: FloatArray) -> list[int]:
    """A number per row; equal rows have equal ones."""
    bits = np.ascontiguousarray(scores + 0.0).view(np.uint64)  # -0.0 + 0.0 is 0.0
    mixed = bits ^ (bits >> np.uint64(31))
    keys = KEYS[: bits.shape[1]] if bits.shape[1] <= len(KEYS) else np.resize(KEYS, bits.shape[1])
    return (mixed * keys).sum(axis=1, dtype=np.uint64).tolist()  # type: ignore[no-any-return]
