"""Vectors that write themselves: as names, or straight as columns of an index that is frozen.

Rows of names are made of pieces that come again, such as all that is said of one word. A `Writer`
writes names down, as themselves or as the columns they have, and its memos keep the pieces by
what they depend on. A `Written` vector works with any writer. So the columns of known pieces
are had without putting a name together or looking it up.

Memos are bounded: one that is full is emptied, and fills again. Threads may share a writer: two
that ask for a new piece at the same moment both write it, and write the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar

LIMIT = 1 << 14  # pieces of one memo

Key = TypeVar("Key")
Piece = TypeVar("Piece")
T = TypeVar("T")
Write: TypeAlias = Callable[[list[str]], list[T]]


class Writer(Generic[T]):
    """Writes names down as ``write`` does, and keeps pieces that were written.

    >>> NAMES.write(["bias", "word=dog"])
    ['bias', 'word=dog']
    """

    def __init__(self, write: Write[T]) -> None:
        self.write = write
        self._memos: dict[Any, Mapping[Any, Any]] = {}

    def memo(self, piece: Callable[[Write[T], Key], Piece]) -> Mapping[Key, Piece]:
        """What ``piece`` writes for each key, as a mapping that has every key.

        ``piece`` looks at the key alone, and what it returns is never changed.
        """
        found = self._memos.get(piece)
        if found is None:
            found = self._memos.setdefault(piece, _Memo(partial(piece, self.write)))
        return found


class Written(ABC):
    """A sequence of names that any writer can write; each counts 1.

    With a ``mark``, all names but the first ``alone`` follow once more, behind the mark.
    """

    __slots__ = ()
    mark: str = ""
    alone: int = 0

    @abstractmethod
    def written(self, writer: Writer[T]) -> list[T]:
        """The names as the writer writes them, without those that follow behind the mark."""

    def names(self) -> list[str]:
        """All names."""
        names = self.written(NAMES)
        return names + [self.mark + name for name in names[self.alone :]] if self.mark else names

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def __len__(self) -> int:
        return len(self.names())

    def __getitem__(self, place: int) -> str:
        return self.names()[place]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Written | Sequence) and self.names() == list(other)

    __hash__ = None  # type: ignore[assignment]  # equal to lists, which have none


class _Memo(dict[Key, Piece]):
    """A dictionary that works out what it does not have, and is emptied when it is full."""

    def __init__(self, compute: Callable[[Key], Piece]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: Key) -> Piece:
        found = self._compute(key)
        if len(self) >= LIMIT:
            self.clear()
        self[key] = found
        return found


NAMES: Writer[str] = Writer(list)
"""The writer of names as they are."""
