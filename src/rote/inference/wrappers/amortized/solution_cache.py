"""A shelf: what is remembered of one space, as arrays that kernels look through.

Entries lie in rows. Their outputs are kept once each, numbered as they came. Which entries have
an output is worked out when first asked for, and again after something was put on the shelf.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from rote.inference.exact.plans import partial_plan
from rote.inference.exact.search import finite_messages
from rote.inference.wrappers.amortized.blobs import Entry
from rote.space.space import Space
from rote.types import BoolArray, FloatArray, IntArray, offsets_from_counts, readonly

FEW = 8  # entries to begin with
COLUMNS = ("scores", "messages", "multipliers", "margins", "output_of", "by_engine", "used")
KEYS = readonly(np.random.default_rng(0).integers(1 << 63, size=1 << 16, dtype=np.uint64) | 1)


class SolutionCache:
    """Entries of one space; rows beyond ``count`` are room for more."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.plan = partial_plan(space)
        graph = self.plan.core.network.graph
        self.wide = int(graph.flow.message_ptr[-1]), len(graph.rows.lower)
        n, slots = len(space.variables), len(space.variables) + len(space.factors)
        self.count = 0
        self.scores = np.empty((FEW, space.parts))
        self.messages = np.empty((FEW, self.wide[0]))
        self.multipliers = np.empty((FEW, self.wide[1]))
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
        arrays = [getattr(self, name) for name in (*COLUMNS, "outputs", "parts")]
        return sum(array.nbytes for array in arrays)

    def fitting(self, entries: Iterable[Entry]) -> list[Entry]:
        """Those of some entries from elsewhere that can be of this space."""
        found = [entry for entry in entries if self._fits(entry)]
        if not found:
            return found
        was_feasible = self.space.was_feasible(
            readonly(np.stack([entry.labels for entry in found]))
        )
        return [entry for entry, right in zip(found, was_feasible, strict=True) if right]

    def _fits(self, entry: Entry) -> bool:
        shapes = len(entry.messages), len(entry.multipliers)
        return (
            shapes == self.wide
            and len(entry.scores) == self.space.parts
            and len(entry.labels) == len(self.space.variables)
            and bool(np.isfinite(np.concatenate(entry[1:4])).all())
            and not np.isnan(entry.margin)
            and bool(((entry.labels >= 0) & (entry.labels < self.space.sizes)).all())
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


def digests(scores: FloatArray) -> list[int]:
    """A number per row; equal rows have equal ones."""
    bits = np.ascontiguousarray(scores + 0.0).view(np.uint64)  # -0.0 + 0.0 is 0.0
    mixed = bits ^ (bits >> np.uint64(31))
    keys = KEYS[: bits.shape[1]] if bits.shape[1] <= len(KEYS) else np.resize(KEYS, bits.shape[1])
    return (mixed * keys).sum(axis=1, dtype=np.uint64).tolist()  # type: ignore[no-any-return]
