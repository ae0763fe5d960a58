"""The seam: a store keeps packs, in order, on shelves.

A shelf holds what is remembered of one feasible set. A pack is one entry as bytes; a store
never looks inside. Every pack gets a mark, a whole number that grows over all shelves of a
store, and a reader that keeps the last mark it saw asks only for what came after it.

Marks are never used twice, not even by the store that takes the place of one that was lost:
counting begins at the time the store was made, in microseconds. So a reader with an old mark
never misses a new pack.

Stores are bounded. Beyond the limit on the bytes of all packs together, the oldest packs go
first, whatever shelf they lie on. A pack larger than the whole limit is not taken at all.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from rote.errors import StoreError

LIMIT = 2**28
"""Bytes of packs that a store holds, where nothing else is said."""

SERVED = "served-"
"""How the names of shelves begin that hold whole answers of a service, and no entries."""


class ShelfSize(NamedTuple):
    """How much lies on a shelf."""

    packs: int
    size: int  # in bytes


class Store(Protocol):
    """Keeps packs on shelves, for one process or for many."""

    @abstractmethod
    def add(self, shelf: str, packs: Sequence[bytes]) -> None:
        """Put packs on a shelf, behind those that lie there."""

    @abstractmethod
    def read(self, shelf: str, after: int = 0) -> tuple[list[bytes], int]:
        """Packs put on a shelf after a mark, oldest first, and the new mark.

        Asking is cheap where nothing came.
        """

    @abstractmethod
    def info(self) -> dict[str, ShelfSize]:
        """How much lies on each shelf that is not empty."""

    @abstractmethod
    def clear(self, shelf: str | None = None) -> None:
        """Forget what lies on one shelf, or on all. Marks go on from where they were."""

    @abstractmethod
    def close(self) -> None:
        """Let go of files and connections. A store that is used again opens them again."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def first_mark() -> int:
    """The mark that a store made now counts from."""
    return time.time_ns() // 1000


def fitting(packs: Sequence[bytes], limit: int | None) -> list[bytes]:
    """The packs that are not larger than all that a store may hold."""
    return [pack for pack in packs if limit is None or len(pack) <= limit]


def encoded(shelf: str) -> bytes:
    """A shelf's name as bytes; any string has some, even one that is no valid text."""
    return shelf.encode("utf-8", "surrogatepass")


def decoded(name: bytes) -> str:
    return name.decode("utf-8", "surrogatepass")


def shelf_called(store: Store, name: str) -> str:
    """The one shelf with this name, or whose name begins so."""
    shelves = store.info()
    if name in shelves:
        return name
    found = sorted(shelf for shelf in shelves if shelf.startswith(name))
    if len(found) != 1:
        raise StoreError(
            f"expected the name of one shelf of {len(shelves)}, or how it begins; "
            f"{len(found) or 'none'} of them begin with {name!r}"
        )
    return found[0]
