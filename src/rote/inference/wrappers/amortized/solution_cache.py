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

from collections.abc import Hashable, Sequence
from functools import cached_property
from threading import RLock
from typing import Any, TypeAlias, TypeVar

import numpy as np

from rote.inference.exact.plans import partial_plan
from rote.inference.exact.search import finite_messages
from rote.inference.stores.base import Store
from rote.inference.wrappers.amortized.entries import Entries, Entry, Shared
from rote.inference.wrappers.amortized.warm_starts import WarmStarts
from rote.space.space import Space
from rote.types import BoolArray, FloatArray, IntArray, offsets_from_counts, readonly

Keys: TypeAlias = Sequence[Hashable] | IntArray
KEYS = readonly(np.random.default_rng(0).integers(1 << 63, size=1 << 16, dtype=np.uint64) | 1)


class SolutionCache(Entries):
    """The entries of one space that certificates look through.

    Their duals are of what `partial_plan` leaves of the space.
    """

    columns = (
        *("scores", "messages", "multipliers", "margins", "gaps"),
        *("output_of", "by_engine", "used"),
    )
    prefix = "3-"

    def __init__(self, space: Space, store: Store | None = None) -> None:
        self.plan = partial_plan(space)
        graph = self.plan.core.network.graph
        super().__init__(space, store, (int(graph.flow.message_ptr[-1]), len(graph.rows.lower)))
        n, slots = len(space.variables), len(space.variables) + len(space.factors)
        self.scores = np.empty((1, space.parts))
        self.messages, self.multipliers = (np.empty((1, size)) for size in self.dual_sizes)
        self.margins, self.gaps = np.empty(1), np.empty(1)
        self.output_of = np.empty(1, dtype=np.int64)
        self.by_engine = np.zeros(1, dtype=np.bool_)  # an engine's answer: worth keeping
        self.outputs = np.empty((0, n), dtype=np.int64)
        self.parts = readonly(np.empty((0, slots), dtype=np.int64))
        self.entry_of_output = np.empty(0, dtype=np.int64)  # one that has, or had, this output
        self._numbers: dict[bytes, int] = {}
        self._solved: dict[int, int] = {}
        self._named: dict[Hashable, int] = {}

    @property
    def size(self) -> int:
        """In bytes, of entries, outputs, and the room there is for more."""
        return super().size + self.outputs.nbytes + self.parts.nbytes

    def fetch(self) -> None:
        """Take from the store what others have put there since the last time."""
        if news := self.news():
            labels, *others = news
            self.put(
                np.full(len(labels), -1, dtype=np.int64),
                self.numbers(readonly(labels))[0],
                *others,
                by_engine=np.ones(len(labels), dtype=np.bool_),
            )

    def keep(self, rows: IntArray) -> None:
        """Put solved problems into the store."""
        if self.log is not None:
            columns = self.scores, self.messages, self.multipliers, self.margins, self.gaps
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
        gaps: FloatArray,
        *,
        by_engine: BoolArray,
    ) -> IntArray:
        """Write entries to given rows, or to new ones where a row is -1; returns their rows."""
        rows = self.new_rows(rows)
        self.scores[rows] = scores
        self.messages[rows] = finite_messages(messages)
        self.multipliers[rows] = multipliers
        self.margins[rows] = margins
        self.gaps[rows] = gaps
        self.output_of[rows] = outputs
        self.by_engine[rows] = by_engine
        if by_engine.any():
            solved = rows[by_engine]
            self._solved.update(zip(digests(self.scores[solved]), solved.tolist(), strict=True))
        self.use(rows)
        self.entry_of_output[outputs] = rows
        self.__dict__.pop("groups", None)
        return rows

    def named(self, keys: Keys) -> IntArray:
        """The entry of each question that has a name, or -1."""
        return np.array([self._named.get(key, -1) for key in keys], dtype=np.int64)

    def name(self, keys: Keys, rows: IntArray) -> None:
        """Say whose entries these are; -1 is none."""
        named = zip(keys, rows.tolist(), strict=True)
        self._named.update((key, row) for key, row in named if row >= 0)

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

    def forget(self, share: float = 0.25) -> IntArray:
        """Let go of the entries that have not been of use for longest, and of their outputs."""
        place = super().forget(share)
        self._solved = {d: int(place[row]) for d, row in self._solved.items() if place[row] >= 0}
        self._named = {k: int(place[row]) for k, row in self._named.items() if place[row] >= 0}
        alive, self.output_of = np.unique(self.output_of, return_inverse=True)
        number = {int(old): new for new, old in enumerate(alive)}
        self._numbers = {row: number[k] for row, k in self._numbers.items() if k in number}
        self.outputs, self.parts = self.outputs[alive], readonly(self.parts[alive])
        self.entry_of_output = np.empty(len(alive), dtype=np.int64)
        self.entry_of_output[self.output_of] = np.arange(self.count)
        self.__dict__.pop("groups", None)
        return place


E = TypeVar("E", bound=Shared)


class SolutionCaches:
    """The entries of all spaces, within a limit of bytes."""

    def __init__(self, store: Store | None, max_bytes: int) -> None:
        self.store = store
        self.max_bytes = max_bytes
        self.lock = RLock()
        self._caches: dict[tuple[type[Shared], Space], Any] = {}
        self._sizes: dict[SolutionCache | WarmStarts, int] = {}
        self._size = 0

    def of(self, space: Space) -> SolutionCache:
        """What certificates look through."""
        return self._of(SolutionCache, space)

    def warm_starts(self, space: Space) -> WarmStarts:
        """What engines start from."""
        return self._of(WarmStarts, space)

    def start_pays(self, space: Space) -> bool:
        """Whether to start from what is remembered has paid so far, or was not tried."""
        found: WarmStarts | None = self._caches.get((WarmStarts, space))
        return found is None or found.pays

    def _of(self, kind: type[E], space: Space) -> E:
        found: E | None = self._caches.get((kind, space))
        if found is None:
            with self.lock:
                found = self._caches.setdefault((kind, space), kind(space, self.store))
        return found

    def trim(self, changed: SolutionCache | WarmStarts) -> None:
        """Forget until what is remembered is not more than the limit, after a cache has changed.

        Where a cache that went is asked again, the store is read from the start.
        """
        self._measure(changed)
        while self._size > self.max_bytes:
            largest = max(self._sizes, key=self._sizes.__getitem__)
            largest.forget()
            if not self._measure(largest):
                del self._caches[type(largest), largest.space], self._sizes[largest]

    def _measure(self, cache: SolutionCache | WarmStarts) -> int:
        """How large a cache is now."""
        size = cache.size
        self._size += size - self._sizes.get(cache, 0)
        self._sizes[cache] = size
        return size


def digests(scores: FloatArray) -> list[int]:
    """A number per row; equal rows have equal ones."""
    bits = np.ascontiguousarray(scores + 0.0).view(np.uint64)  # -0.0 + 0.0 is 0.0
    mixed = bits ^ (bits >> np.uint64(31))
    keys = KEYS[: bits.shape[1]] if bits.shape[1] <= len(KEYS) else np.resize(KEYS, bits.shape[1])
    return (mixed * keys).sum(axis=1, dtype=np.uint64).tolist()  # type: ignore[no-any-return]
