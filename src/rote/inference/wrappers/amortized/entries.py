"""Entries: solved problems of one space as columns of arrays, bounded, and shared by a store."""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Self

import numpy as np

from rote.inference.stores.base import Log, Store
from rote.space.space import Space
from rote.types import AnyArray, FloatArray, IntArray, readonly


class Entry(NamedTuple):
    """The output ``labels`` that answers a problem with these ``scores``, as stores keep it.

    ``messages`` and ``multipliers`` are duals to start from. The value of every other output is
    less by ``margin`` at least; if this is not above 0, nothing is known. No output is better by
    more than ``gap``, which is 0 where the answer was proved optimal.
    """

    labels: IntArray
    scores: FloatArray
    messages: FloatArray
    multipliers: FloatArray
    margin: float
    gap: float

    def encoded(self) -> bytes:
        """As numbers of eight bytes: margin, gap, four lengths, and the arrays in turn."""
        *arrays, margin, gap = self
        return np.concatenate([[margin, gap, *map(len, arrays)], *arrays], dtype="<f8").tobytes()

    @classmethod
    def decoded(cls, contents: bytes | None) -> Self | None:
        """The entry that was encoded, or None if this is not one."""
        if contents is None or len(contents) < 48 or len(contents) % 8:
            return None
        numbers = np.frombuffer(contents, dtype="<f8")
        margin, gap = numbers[:2].tolist()
        lengths = numbers[2:6]
        if not (lengths >= 0).all() or lengths.sum() != len(numbers) - 6:
            return None
        labels, scores, messages, multipliers = np.split(
            numbers[6:], np.cumsum(lengths[:3]).astype(np.int64)
        )
        return cls(labels.astype(np.int64), scores, messages, multipliers, margin, gap)


class Shared:
    """What is remembered of one space, and the log of a store that others put theirs into."""

    prefix: ClassVar[str]  # of the names of logs, with the number of the format

    def __init__(
        self, space: Space, store: Store | None = None, dual_sizes: tuple[int, int] = (0, 0)
    ) -> None:
        self.space = space
        self.log = None if store is None else Log(store, self.prefix + space.fingerprint)
        self.dual_sizes = dual_sizes

    def news(self) -> list[AnyArray]:
        """What others have put into the store since the last time, by column; [] if nothing."""
        if self.log is None:
            return []
        found = [Entry.decoded(contents) for contents in self.log.news()]
        entries = [entry for entry in found if entry is not None and self.fits(entry)]
        if not entries:
            return []
        columns = [np.stack(column) for column in zip(*entries, strict=True)]
        rows = np.flatnonzero(self.space.was_feasible(readonly(columns[0])))
        return [column[rows] for column in columns] if len(rows) else []

    def fits(self, entry: Entry) -> bool:
        """Whether an entry of others can be of this space."""
        return (
            (len(entry.messages), len(entry.multipliers)) == self.dual_sizes
            and len(entry.scores) == self.space.parts
            and len(entry.labels) == len(self.space.variables)
            and bool(np.isfinite(np.concatenate(entry[1:4])).all())
            and not np.isnan(entry.margin)
            and entry.gap >= 0
            and bool(((entry.labels >= 0) & (entry.labels < self.space.sizes)).all())
        )


class Entries(Shared):
    """Columns with a row for each entry; rows beyond ``count`` are room for more."""

    columns: ClassVar[tuple[str, ...]]  # names of attributes, one of them ``used``

    def __init__(
        self, space: Space, store: Store | None = None, dual_sizes: tuple[int, int] = (0, 0)
    ) -> None:
        super().__init__(space, store, dual_sizes)
        self.count = 0
        self.used = np.empty(1, dtype=np.int64)  # when an entry was last of use
        self.clock = 0
        self.forgotten = 0  # how often rows were given new numbers

    @property
    def size(self) -> int:
        """In bytes, of entries and the room there is for more."""
        return sum(getattr(self, name).nbytes for name in self.columns)

    def use(self, rows: IntArray) -> None:
        """Note that entries were of use."""
        self.clock += 1
        self.used[rows] = self.clock

    def new_rows(self, rows: IntArray) -> IntArray:
        """The rows given, and new ones where a row is -1; there is room for all."""
        rows = rows.copy()
        new = np.flatnonzero(rows < 0)
        rows[new] = np.arange(self.count, self.count + len(new))
        self.count += len(new)
        have = len(self.used)
        if self.count > have:
            for name in self.columns:
                old = getattr(self, name)
                array = np.empty((max(self.count, 2 * have), *old.shape[1:]), dtype=old.dtype)
                array[:have] = old
                setattr(self, name, array)
        return rows

    def forget(self, share: float = 0.25) -> IntArray:
        """Let go of the entries that have not been of use for longest; the new rows, or -1."""
        by_use = np.argsort(self.used[: self.count], kind="stable")
        kept = np.sort(by_use[max(1, int(share * self.count)) :])
        place = np.full(self.count, -1, dtype=np.int64)
        place[kept] = np.arange(len(kept))
        for name in self.columns:
            setattr(self, name, getattr(self, name)[kept])
        self.count = len(kept)
        self.forgotten += 1
        return place
