"""A store in the memory of this process. Threads share it; a copy for another process is empty."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from itertools import takewhile
from threading import Lock
from typing import NamedTuple

from rote.errors import positive
from rote.inference.stores.base import LIMIT, ShelfSize, Store, first_mark, fitting


class _Lying(NamedTuple):
    mark: int
    pack: bytes


class MemoryStore(Store):
    """Packs in memory, first in, first out.

    When the packs of all shelves together are above ``max_bytes``, the oldest go first,
    whatever shelf they lie on. A pack that is larger by itself is not taken. None is no limit.

    >>> store = MemoryStore(max_bytes=6)
    >>> store.add("a", [b"one", b"two"])
    >>> store.add("b", [b"three"])
    >>> store.info()
    {'b': ShelfSize(packs=1, size=5)}
    >>> packs, mark = store.read("b")
    >>> packs, store.read("b", mark) == ([], mark)
    ([b'three'], True)
    """

    def __init__(self, max_bytes: int | None = LIMIT) -> None:
        positive("max_bytes", max_bytes)
        self.max_bytes = max_bytes
        self._lock = Lock()
        self._mark = first_mark()
        self._held = 0
        self._shelves: dict[str, deque[_Lying]] = {}
        self._order: deque[str] = deque()  # the shelf of every pack, oldest first

    def __repr__(self) -> str:
        return f"MemoryStore(max_bytes={self.max_bytes})"

    def __reduce__(self) -> tuple[type[MemoryStore], tuple[int | None]]:
        return MemoryStore, (self.max_bytes,)

    def add(self, shelf: str, packs: Sequence[bytes]) -> None:
        taken = fitting(packs, self.max_bytes)
        if not taken:
            return
        with self._lock:
            lying = self._shelves.setdefault(shelf, deque())
            for pack in taken:
                self._mark += 1
                lying.append(_Lying(self._mark, pack))
                self._order.append(shelf)
                self._held += len(pack)
            while self.max_bytes is not None and self._held > self.max_bytes:
                self._drop_oldest()

    def read(self, shelf: str, after: int = 0) -> tuple[list[bytes], int]:
        with self._lock:
            lying = self._shelves.get(shelf, deque())
            new = list(takewhile(lambda one: one.mark > after, reversed(lying)))
        return [one.pack for one in reversed(new)], new[0].mark if new else after

    def info(self) -> dict[str, ShelfSize]:
        with self._lock:
            return {
                shelf: ShelfSize(len(lying), sum(len(one.pack) for one in lying))
                for shelf, lying in self._shelves.items()
            }

    def clear(self, shelf: str | None = None) -> None:
        with self._lock:
            if shelf is None:
                self._shelves.clear()
                self._order.clear()
                self._held = 0
            elif shelf in self._shelves:
                self._held -= sum(len(one.pack) for one in self._shelves.pop(shelf))
                self._order = deque(one for one in self._order if one != shelf)

    def close(self) -> None:
        """Nothing is open."""

    def _drop_oldest(self) -> None:
        shelf = self._order.popleft()
        lying = self._shelves[shelf]
        self._held -= len(lying.popleft().pack)
        if not lying:
            del self._shelves[shelf]
