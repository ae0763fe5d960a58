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
from typing import Any, Generic, Protocol, TypeVar

LIMIT = 1 << 16  # pieces of one memo

Key = TypeVar("Key")
Piece = TypeVar("Piece")
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Tables(Protocol[T_co]):
    """What names that are put together are written as, by what they are put together from."""

    def texts(self, starts: tuple[str, ...]) -> Mapping[str, Sequence[T_co]]:
        """For a text what "{start}{text}" is written as, for each of some starts."""
        ...

    def pairs(self, starts: tuple[str, ...]) -> Mapping[str, Sequence[Mapping[str, T_co]]]:
        """For one text, for each of some starts, by another: what "{start}{one} {other}" is."""
        ...


class Writer(Generic[T]):
    """Writes names down as ``write`` does, and keeps pieces that were written.

    Names that are put together can be had from tables, by their texts, without being put together;
    tables have every key. If none are given, they are made by ``write``.

    >>> NAMES.write(["bias", "word=dog"])
    ['bias', 'word=dog']
    >>> NAMES.texts("first=", "last=")["dog"]
    ['first=dog', 'last=dog']
    >>> (words,) = NAMES.pairs("words=")["new"]
    >>> words["york"]
    'words=new york'
    """

    def __init__(
        self, write: Callable[[list[str]], list[T]], tables: Tables[T] | None = None
    ) -> None:
        self.write = write
        self._make: Tables[T] = _PutTogether(write) if tables is None else tables
        self._texts: dict[tuple[str, ...], Mapping[str, Sequence[T]]] = {}
        self._pairs: dict[tuple[str, ...], Mapping[str, Sequence[Mapping[str, T]]]] = {}
        self._memos: dict[Any, _Memo[Any, Any]] = {}

    def memo(self, piece: Callable[[Writer[T], Key], Piece]) -> Mapping[Key, Piece]:
        """What ``piece`` writes for each key, as a mapping that has every key.

        ``piece`` looks at the key alone, and what it returns is never changed.
        """
        found = self._memos.get(piece)
        if found is None:
            found = self._memos.setdefault(piece, _Memo(partial(piece, self)))
        return found

    def texts(self, *starts: str) -> Mapping[str, Sequence[T]]:
        """For a text what "{start}{text}" is written as, for each of some starts."""
        found = self._texts.get(starts)
        if found is None:
            found = self._texts.setdefault(starts, self._make.texts(starts))
        return found

    def pairs(self, *starts: str) -> Mapping[str, Sequence[Mapping[str, T]]]:
        """For one text, for each of some starts, by another: what "{start}{one} {other}" is."""
        found = self._pairs.get(starts)
        if found is None:
            found = self._pairs.setdefault(starts, self._make.pairs(starts))
        return found

    def copy(self) -> Writer[T]:
        """One that remembers the same, and to which this one's new pieces are unknown."""
        other = Writer(self.write, self._make)
        other._texts |= self._texts
        other._pairs |= self._pairs
        for piece, memo in self._memos.items():
            other._memos[piece] = _Memo(partial(piece, other))
            other._memos[piece].update(memo)
        return other


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


class _PutTogether(Generic[T]):
    """Tables that put names together, and keep none."""

    def __init__(self, write: Callable[[list[str]], list[T]]) -> None:
        self._write = write

    def texts(self, starts: tuple[str, ...]) -> Mapping[str, Sequence[T]]:
        return _Answers(lambda text: self._write([start + text for start in starts]))

    def pairs(self, starts: tuple[str, ...]) -> Mapping[str, Sequence[Mapping[str, T]]]:
        return _Answers(lambda one: [self._after(f"{start}{one} ") for start in starts])

    def _after(self, beginning: str) -> Mapping[str, T]:
        return _Answers(lambda other: self._write([beginning + other])[0])


class _Answers(dict[Key, Piece]):
    """A dictionary that works out what it is asked for, and keeps nothing."""

    def __init__(self, compute: Callable[[Key], Piece]) -> None:
        super().__init__()
        self._compute = compute

    def __missing__(self, key: Key) -> Piece:
        return self._compute(key)


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
