"""A store in the memory of this process. Threads share it; a copy for another process is empty."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from threading import Lock

from rote.inference.stores.base import MAX_BYTES, BoundedStore, LogSize, first_sequence


@dataclass(eq=False)
class MemoryStore(BoundedStore):
    """Blobs in memory, first in, first out.

    Parameters
    ----------
    max_bytes
        When the blobs of all logs together are above it, the oldest go first, whatever log they
        are in. A blob that is larger by itself is not taken. None is no limit.

    >>> store = MemoryStore(max_bytes=6)
    >>> store.append("a", [b"one", b"two"])
    >>> store.append("b", [b"three"])
    >>> store.info()
    {'b': LogSize(blobs=1, size=5)}
    >>> blobs, sequence = store.read("b")
    >>> blobs, store.read("b", sequence) == ([], sequence)
    ([b'three'], True)
    """

    max_bytes: int | None = MAX_BYTES

    def __post_init__(self) -> None:
        super().__post_init__()
        self._lock = Lock()
        self._sequence = first_sequence()
        self._size = 0
        self._logs: dict[str, deque[tuple[int, bytes]]] = {}
        self._order: deque[str] = deque()  # the log of every blob, oldest first

    def _append(self, log: str, blobs: Sequence[bytes]) -> None:
        with self._lock:
            kept = self._logs.setdefault(log, deque())
            kept.extend(enumerate(blobs, self._sequence + 1))
            self._order.extend([log] * len(blobs))
            self._sequence += len(blobs)
            self._size += sum(map(len, blobs))
            while self.max_bytes is not None and self._size > self.max_bytes:
                oldest = self._order.popleft()
                self._size -= len(self._logs[oldest].popleft()[1])
                if not self._logs[oldest]:
                    del self._logs[oldest]

    def read(self, log: str, after: int = 0) -> tuple[list[bytes], int]:
        with self._lock:
            kept = self._logs.get(log, deque())
            new = list(takewhile(lambda one: one[0] > after, reversed(kept)))
        return [blob for _, blob in reversed(new)], new[0][0] if new else after

    def info(self) -> dict[str, LogSize]:
        with self._lock:
            return {
                log: LogSize(len(kept), sum(len(blob) for _, blob in kept))
                for log, kept in self._logs.items()
            }

    def clear(self, log: str | None = None) -> None:
        with self._lock:
            for name in list(self._logs) if log is None else [log]:
                self._size -= sum(len(blob) for _, blob in self._logs.pop(name, ()))
            self._order = deque(name for name in self._order if name in self._logs)

    def close(self) -> None:
        """Nothing is open."""
