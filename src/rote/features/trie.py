"""Names that are put together from texts, many at a time.

A name is a start such as "word=" and what follows: texts with a separator between them. `Names` has
a number for each: it lists new ones, or is made for names that are known, and then all others are
-1. It is asked for arrays of names at a time, by arrays of texts, and puts no name together: it
follows the texts through a tree.

    names.say("words=", one, other)     for each k the number of "words={one[k]} {other[k]}"

A text that has the separator in it counts as the texts that it separates, so that equal names have
equal numbers. What depends on a word alone is worked out once for it, and kept in a `Lexicon`.
Lexica are bounded: one that is full is emptied, and fills again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import partial
from itertools import repeat
from threading import Lock
from typing import Any, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from rote.kernels.features.trie import (
    NOWHERE,
    ROOT,
    ChainPlan,
    Joined,
    Tree,
    follow,
    follow_windows,
    give_numbers,
    hang,
    walk,
)
from rote.types import AnyArray, IntArray, offsets_from_counts

LIMIT = 1 << 16  # rows of a lexicon
UNKNOWN = -1  # the number or column of a name that is not listed

Key = TypeVar("Key", bound=Hashable)
Rows: TypeAlias = Sequence[Sequence[int]]


class NamesOf(Protocol):
    """The names of a kind of vectors, some of which follow behind marks as well."""

    def __call__(
        self, kind: str, marks: tuple[str, ...] = (), /, separator: str = " "
    ) -> Names: ...


class Span(NamedTuple):
    """For each k the texts from one place up to another.

    Parameters
    ----------
    texts
        The numbers of texts.
    begins, ends
        Where the texts of each k begin and end among them.
    """

    texts: IntArray
    begins: IntArray
    ends: IntArray


class Names:
    """Numbers of names.

    Parameters
    ----------
    known
        All names there are, and any other is -1; without them, new names are listed.
    separator
        What stands between the texts of a name.

    >>> names = Names()
    >>> one, other = names.texts(["new", "old"]), names.texts(["york", "town"])
    >>> names.say("words=", one, other).tolist(), names.say("word=", other).tolist()
    ([0, 1], [2, 3])
    >>> names.spelled(range(4))
    ['words=new york', 'words=old town', 'word=york', 'word=town']
    >>> known = Names(["word=york", "bias"])
    >>> known.say("word=", known.texts(["town", "york"])).tolist(), known.number("bias")
    ([-1, 0], 1)
    """

    def __init__(self, known: Iterable[str] | None = None, separator: str = " ") -> None:
        self.grows = True
        self.separator = separator
        self._texts: dict[str, int] = {}
        self._joined: dict[tuple[int, ...], int] = {}  # texts with separators: -2, -3, …
        self._runs = Joined(np.empty(0, dtype=np.int64), np.zeros(1, dtype=np.int64))
        self._lock = Lock()
        self._starts: dict[str, int] = {}  # their nodes
        self._tree = _tree(1 << 10)
        self._numbers = np.full(len(self._tree.parents), UNKNOWN)  # the last is that of NOWHERE
        self._count = 0
        self._lexica: dict[Any, Lexicon[Any]] = {}
        if known is not None:
            self.numbers(known)
            self._plant(2 * int(self._tree.size[0]))  # no larger than it need be
            self.grows = False

    def __len__(self) -> int:
        return self._count

    def text(self, text: str) -> int:
        """The number of a text; -1 if it is in no name that is known."""
        if self.separator not in text:
            return self._key(text)
        texts = tuple(map(self._key, text.split(self.separator)))
        if UNKNOWN in texts:
            return UNKNOWN
        with self._lock:
            if texts not in self._joined:
                known, ptr = self._runs.texts, self._runs.ptr
                self._runs = Joined(
                    np.append(known, texts), np.append(ptr, len(known) + len(texts))
                )
                self._joined[texts] = -2 - len(self._joined)
            return self._joined[texts]

    def texts(self, texts: Iterable[str]) -> IntArray:
        """The numbers of texts."""
        given = list(texts)
        if self.separator in "".join(given):
            return np.array(list(map(self.text, given)), dtype=np.int64)
        for text in given if self.grows else ():
            self._key(text)
        return np.array(list(map(self._texts.get, given, repeat(UNKNOWN))), dtype=np.int64)

    def number(self, name: str) -> int:
        """The number of a name that has no texts."""
        return int(self.say(name, np.array([self._key("")]))[0])

    def numbers(self, names: Iterable[str]) -> IntArray:
        """The numbers of names that are there already; what has no "=" is a start alone."""
        parts = [name.partition("=") for name in names]
        starts = [head + sign for head, sign, _ in parts]
        rests = [rest for _, _, rest in parts]
        texts = self.separator.join(rests).split(self.separator) if rests else []
        ptr = offsets_from_counts([1 + rest.count(self.separator) for rest in rests])
        nodes = np.array(list(map(self._start, starts)), dtype=np.int64)
        self._walk(nodes, Span(self.texts(texts), ptr[:-1], ptr[1:]))
        return self._numbered(nodes)

    def say(self, start: str, *parts: IntArray | Span) -> IntArray:
        """The numbers of names: a start, and for each part one text, or those of a span.

        No text at all is the same as one that is empty.
        """
        nodes = np.empty(len(parts[0].begins if isinstance(parts[0], Span) else parts[0]), np.int64)
        nodes.fill(self._start(start))
        for part in parts:
            self._walk(nodes, part)
        return self._numbered(nodes)

    def begin(self, starts: Sequence[str], texts: IntArray) -> IntArray:
        """The nodes of beginnings of names: for each start a row of texts."""
        nodes = np.array(list(map(self._start, starts)), dtype=np.int64).repeat(texts.shape[1])
        self._walk(nodes, texts.ravel())
        return nodes.reshape(texts.shape)

    def say_windows(self, windows: ChainPlan, said: IntArray, places: IntArray) -> IntArray:
        """The numbers of names around places, of shape (places, names); see `follow_windows`."""
        tree = self._room(len(windows.rows) * places.shape[1])
        nodes = follow_windows(tree, self._runs, windows, said, places, self.grows)
        return self._numbered(nodes)

    def spelled(self, numbers: Iterable[int]) -> list[str]:
        """The names that have these numbers."""
        count = int(self._tree.size[0])
        owners = np.full(self._count, ROOT)
        nodes = np.flatnonzero(self._numbers[:count] >= 0)
        owners[self._numbers[nodes]] = nodes
        spelled, of = list(self._texts), owners.tolist()
        parents, texts = (a[:count].tolist() for a in (self._tree.parents, self._tree.texts))
        names = []
        for number in numbers:
            node, way = of[number], []
            while node != ROOT:
                way.append(spelled[texts[node]])
                node = parents[node]
            names.append(way[-1] + self.separator.join(way[-2::-1]))
        return names

    def lexicon(
        self, describe: Callable[[Names, Sequence[Key]], AnyArray | Rows], width: int
    ) -> Lexicon[Key]:
        """What is said of keys, a row each; ``describe`` looks at these names and keys alone."""
        found = self._lexica.get(describe)
        if found is None:
            own = Lexicon(partial(describe, self), width)
            found = self._lexica.setdefault(describe, own)
        return found

    def _key(self, text: str) -> int:
        if self.grows:
            return self._texts.setdefault(text, len(self._texts))
        return self._texts.get(text, UNKNOWN)

    def _start(self, start: str) -> int:
        """The node that a start leads to."""
        if start not in self._starts:
            node = np.full(1, ROOT)
            self._walk(node, np.array([self._key(start)]))
            self._starts[start] = int(node[0])
        return self._starts[start]

    def _numbered(self, nodes: IntArray) -> IntArray:
        if self.grows:
            found, self._count = give_numbers(nodes.ravel(), self._numbers, self._count)
            return found.reshape(nodes.shape)
        return np.asarray(self._numbers[nodes])

    def _walk(self, nodes: IntArray, part: IntArray | Span) -> None:
        if not isinstance(part, Span):
            if not self.grows and not self._joined:
                follow(self._tree, nodes, np.ascontiguousarray(part, dtype=np.int64))
                return
            places = np.arange(len(part) + 1)
            part = Span(part, places[:-1], places[1:])
        steps = int(np.maximum(1, part.ends - part.begins).sum()) if self.grows else 0
        # They may be of anybody.
        texts, begins, ends = (np.ascontiguousarray(a, dtype=np.int64) for a in part)
        walk(self._room(steps), self._runs, nodes, texts, begins, ends, self._key(""), self.grows)

    def _room(self, steps: int) -> Tree:
        """The tree; if it grows, along so many texts, there is room and half of it stays free."""
        if self.grows:
            nodes = int(self._tree.size[0]) + steps * int(np.diff(self._runs.ptr).max(initial=1))
            if 2 * nodes > len(self._tree.edges):
                self._plant(2 * nodes)
        return self._tree

    def _plant(self, room: int) -> None:
        """Put the tree into a table of so many places, rounded up to a power of 2."""
        count = int(self._tree.size[0])
        old, self._tree = self._tree, _tree(1 << (room - 1).bit_length())
        self._tree.parents[:count] = old.parents[:count]
        self._tree.texts[:count] = old.texts[:count]
        self._tree.size[0] = count
        hang(self._tree)
        numbers = np.full(len(self._tree.parents), UNKNOWN)
        numbers[:count] = self._numbers[:count]
        self._numbers = numbers


class Lexicon(Generic[Key]):
    """A row of ``width`` numbers for each key, such as what is to be said of a word."""

    def __init__(self, describe: Callable[[Sequence[Key]], AnyArray | Rows], width: int) -> None:
        self._describe, self._width = describe, width
        self._places: dict[Key, int] = {}
        self._table = np.empty((width, 0), dtype=np.int64)
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._places)

    def rows(self, keys: Sequence[Key]) -> IntArray:
        """The rows of keys, as an array of shape (width, keys)."""
        with self._lock:
            new = [key for key in dict.fromkeys(keys) if key not in self._places]
            if self._places and len(self._places) + len(new) > LIMIT:
                self._places.clear()
                new = list(dict.fromkeys(keys))
            if new:
                self._take(new)
            places = np.array(list(map(self._places.__getitem__, keys)), dtype=np.int64)
            return self._table.take(places, axis=1)  # rows lie one after the other

    def _take(self, new: Sequence[Key]) -> None:
        rows = np.array(self._describe(new), dtype=np.int64)
        begin = len(self._places)
        end = begin + len(new)
        if end > self._table.shape[1]:
            table = np.empty((self._width, 2 * end), dtype=np.int64)
            table[:, :begin] = self._table[:, :begin]
            self._table = table
        self._table[:, begin:end] = rows.reshape(len(new), self._width).T
        self._places.update(zip(new, range(begin, end), strict=True))


def _tree(size: int) -> Tree:
    return Tree(
        np.full((size, 2), NOWHERE),
        np.zeros(size // 2 + 1, dtype=np.int64),
        np.zeros(size // 2 + 1, dtype=np.int64),
        np.ones(1, dtype=np.int64),  # the root
    )
