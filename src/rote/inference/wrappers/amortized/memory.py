"""What an amortized engine remembers: shelves in this process, and a store beyond it.

Entries are kept up to a limit of bytes; beyond it, the largest shelf forgets what has been of no
use for longest, and a shelf that has forgotten everything goes, so that no space is held for ever.
Accounts are small, and those that were opened last are kept. Solved problems also go into the
store, if there is one, and what others have put there is fetched before a shelf is asked.
"""

from __future__ import annotations

from collections import defaultdict
from threading import RLock

import numpy as np

from rote.inference.stores.base import Store
from rote.inference.wrappers.amortized.admission import AdmissionPolicy, Budget
from rote.inference.wrappers.amortized.blobs import DIGEST, Entry, pack, shelf_name, unpack
from rote.inference.wrappers.amortized.counters import Tally
from rote.inference.wrappers.amortized.solution_cache import SolutionCache
from rote.space.space import Space
from rote.types import IntArray, readonly

MAX_ACCOUNTS = 1 << 16


class Memory:
    """Shelves, accounts and counters; engines that differ in ε alone share one."""

    def __init__(self, store: Store | None, limit: int) -> None:
        self.store = store
        self.limit = limit
        self.tally = Tally()
        self.asked = 0  # inputs, counted when they come
        self.lock = RLock()
        self._shelves: dict[Space, SolutionCache] = {}
        self._thrifts: dict[
            str, AdmissionPolicy
        ] = {}  # by fingerprint, which is smaller than a space
        self._latest: tuple[Space, AdmissionPolicy] | None = (
            None  # the same space is often asked again
        )
        self._purse = Budget()
        self._marks: dict[Space, int] = {}
        # Digests of packs that were put into the store and not read back yet.
        self._own: defaultdict[Space, set[bytes]] = defaultdict(set)

    def number(self, m: int) -> IntArray:
        """The numbers of m inputs that are asked now, over all threads."""
        with self.lock:
            first = self.asked
            self.asked += m
        return np.arange(first, first + m)

    def shelf(self, space: Space) -> SolutionCache:
        """What is remembered of a space."""
        found = self._shelves.get(space)
        if found is None:
            with self.lock:
                found = self._shelves.setdefault(space, SolutionCache(space))
        return found

    def admission(self, space: Space) -> AdmissionPolicy:
        """Whether it pays to ask the shelf of a space."""
        latest = self._latest
        if latest is not None and latest[0] is space:
            return latest[1]
        with self.lock:
            found = self._thrifts.get(space.fingerprint)
            if found is None:
                found = self._thrifts[space.fingerprint] = AdmissionPolicy(space.parts, self._purse)
                if len(self._thrifts) > MAX_ACCOUNTS:
                    del self._thrifts[next(iter(self._thrifts))]
            self._latest = space, found
        return found

    def fetch(self, shelf: SolutionCache) -> None:
        """Take from the store what others have put there since the last time."""
        if self.store is None:
            return
        space, name = shelf.space, shelf_name(shelf.space)
        packs, self._marks[space] = self.store.read(name, self._marks.get(space, 0))
        foreign = (unpack(p, name) for p in packs if p[-DIGEST:] not in self._own[space])
        entries = shelf.fitting(e for e in foreign if e is not None)
        self._own[space].clear()
        if entries:
            labels = readonly(np.stack([e.labels for e in entries]))
            shelf.put(
                np.full(len(entries), -1, dtype=np.int64),
                shelf.numbers(labels)[0],
                np.stack([e.scores for e in entries]),
                np.stack([e.messages for e in entries]),
                np.stack([e.multipliers for e in entries]),
                np.array([e.margin for e in entries]),
                by_engine=np.ones(len(entries), dtype=np.bool_),
            )

    def keep(self, shelf: SolutionCache, rows: IntArray) -> None:
        """Put solved problems into the store."""
        if self.store is None or not len(rows):
            return
        name = shelf_name(shelf.space)
        packs = [
            pack(
                Entry(
                    shelf.outputs[shelf.output_of[row]],
                    shelf.scores[row],
                    shelf.messages[row],
                    shelf.multipliers[row],
                    float(shelf.margins[row]),
                ),
                name,
            )
            for row in rows.tolist()
        ]
        self._own[shelf.space].update(each[-DIGEST:] for each in packs)
        self.store.add(name, packs)

    def keep_within_limit(self) -> None:
        """Forget until what is remembered is not more than the limit."""
        shelves = self._shelves
        while sum(shelf.size for shelf in shelves.values()) > self.limit:
            largest = max(shelves.values(), key=lambda shelf: shelf.size)
            largest.forget()
            if not largest.size:
                self._drop(largest.space)

    def _drop(self, space: Space) -> None:
        """Let go of a shelf; if it comes to be asked again, the store is read from the start."""
        del self._shelves[space]
        self._marks.pop(space, None)
        self._own.pop(space, None)
