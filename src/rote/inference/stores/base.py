"""The seam: a store keeps append-only logs of blobs.

A log holds what is remembered of one feasible set, or the answers of one served model. A blob is
one entry as bytes; a store never looks inside. Every blob gets a sequence number that grows over
all logs of a store, and a reader that keeps the last number it saw asks only for what came after.

Sequence numbers are never used twice, not even by the store that takes the place of one that was
lost: counting begins at the time the store was made, in microseconds. So a reader with an old
number never misses a new blob.

Stores are bounded. Beyond the limit on the bytes of all blobs together, the oldest blobs go
first, whatever log they are in. A blob larger than the whole limit is not taken at all.

`Log` is what writers and readers of a log share: every blob ends in a digest of its contents and of
the log's name. Blobs that are damaged, cut off or of another log are passed over.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import fields
from hashlib import blake2b
from typing import Any, ClassVar, NamedTuple, Protocol, Self

from rote.errors import StoreError
from rote.settings import Checked, optional, whole

MAX_BYTES = 2**28
"""Bytes of blobs that a store holds, where nothing else is said."""

DIGEST = 16


class LogSize(NamedTuple):
    """How much is in a log.

    Parameters
    ----------
    blobs
        How many blobs.
    size
        Their bytes together.
    """

    blobs: int
    size: int


class Store(Protocol):
    """Keeps logs of blobs, for one process or for many."""

    @abstractmethod
    def append(self, log: str, blobs: Sequence[bytes]) -> None:
        """Put blobs at the end of a log."""

    @abstractmethod
    def read(self, log: str, after: int = 0) -> tuple[list[bytes], int]:
        """Blobs of a log after a sequence number, oldest first, and the number of the last.

        Asking is cheap where nothing came.
        """

    @abstractmethod
    def info(self) -> dict[str, LogSize]:
        """How much is in each log that is not empty."""

    @abstractmethod
    def clear(self, log: str | None = None) -> None:
        """Empty one log, or all. Sequence numbers go on from where they were."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections. A store that is used again opens them again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class BoundedStore(Checked, Store):
    """A store with a limit of bytes; a pickled copy has the same settings."""

    max_bytes: int | None
    checks: ClassVar = {"max_bytes": optional(whole(1))}

    def append(self, log: str, blobs: Sequence[bytes]) -> None:
        most = self.max_bytes
        taken = [blob for blob in blobs if most is None or len(blob) <= most]
        if taken:
            self._append(log, taken)

    @abstractmethod
    def _append(self, log: str, blobs: Sequence[bytes]) -> None:
        """Append blobs, at least one, and drop the oldest beyond the limit."""

    def __reduce__(self) -> tuple[Any, ...]:
        settings: Any = fields(self)  # type: ignore[arg-type]
        return type(self), tuple(getattr(self, each.name) for each in settings)


class Log:
    """One log of a store, whose reader goes on from where it was."""

    def __init__(self, store: Store, name: str) -> None:
        self.store = store
        self.name = name
        self._sequence = 0
        self._own: set[bytes] = set()  # digests of blobs that were appended and not read back yet

    def append(self, contents: Iterable[bytes]) -> None:
        """Append each of some contents as a blob."""
        blobs = [sealed(each, self.name) for each in contents]
        if blobs:
            self._own.update(blob[-DIGEST:] for blob in blobs)
            self.store.append(self.name, blobs)

    def news(self) -> list[bytes]:
        """The contents of whole blobs that others have appended since the last time."""
        blobs, self._sequence = self.store.read(self.name, self._sequence)
        found = [unsealed(b, self.name) for b in blobs if b[-DIGEST:] not in self._own]
        self._own.clear()
        return [each for each in found if each is not None]


def sealed(contents: bytes, log: str) -> bytes:
    """A blob of a log."""
    return contents + _digest(contents, log)


def unsealed(blob: bytes, log: str) -> bytes | None:
    """The contents of a blob, or None if it is not whole, or not of this log."""
    contents, digest = blob[:-DIGEST], blob[-DIGEST:]
    return contents if _digest(contents, log) == digest else None


def _digest(contents: bytes, log: str) -> bytes:
    return blake2b(contents, digest_size=DIGEST, key=blake2b(encoded(log)).digest()).digest()


def first_sequence() -> int:
    """The sequence number that a store made now counts from."""
    return time.time_ns() // 1000


def encoded(log: str) -> bytes:
    """A log's name as bytes; any string has some, even one that is no valid text."""
    return log.encode("utf-8", "surrogatepass")


def decoded(name: bytes) -> str:
    return name.decode("utf-8", "surrogatepass")


def log_named(store: Store, name: str) -> str:
    """The one log with this name, or whose name begins so."""
    logs = store.info()
    if name in logs:
        return name
    found = sorted(log for log in logs if log.startswith(name))
    if len(found) != 1:
        raise StoreError(
            f"expected the name of one log of {len(logs)}, or how it begins; "
            f"{len(found) or 'none'} of them begin with {name!r}"
        )
    return found[0]
