"""Many feature vectors at once, as the numbers of their names.

`Lines` are vectors of one kind, one after the other. They are put together from columns, which have
one name for each vector, and from runs, which have some. A number below 0 is no name. With *marks*,
all names but the first few of a vector follow once more, behind its mark.

A `Reader` reads lines from many inputs at once, and only those that are asked for. A task says by
its ``feature_reader`` how to make one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from rote.errors import DataError
from rote.features.trie import Names, NamesOf
from rote.kernels.features.trie import put_runs
from rote.types import AnyArray, IntArray, offsets_from_counts


class Runs(NamedTuple):
    """Some names for each of several things, such as those of all words between two places.

    Parameters
    ----------
    numbers
        The numbers of names, run after run.
    ptr
        Where each run begins; one more entry ends the last.
    """

    numbers: IntArray
    ptr: IntArray


class Lines:
    """Vectors of one kind.

    Parameters
    ----------
    count
        How many vectors.
    marks
        Prefixes: the names of a vector follow once more behind the one it has.
    marked
        For each vector which of the marks it has, counted from 1, or 0 for none.
    alone
        How many names of a vector, from its first, do not follow behind its mark.

    >>> lines = Lines(2)
    >>> lines.add(7, np.array([1, 2]))
    >>> lines.add_runs(Runs(np.array([3, 4, 5]), np.array([0, 1, 3])), np.array([1, 0]))
    >>> built = lines.build()
    >>> built.numbers.tolist(), built.ptr.tolist()
    ([7, 1, 4, 5, 7, 2, 3], [0, 4, 7])
    """

    def __init__(
        self,
        count: int,
        marks: Sequence[str] = (),
        marked: IntArray | None = None,
        alone: int = 0,
    ) -> None:
        self.marks, self.alone = tuple(marks), alone
        self.marked = np.zeros(count, dtype=np.int64)
        if marked is not None:
            self.marked = np.ascontiguousarray(marked, dtype=np.int64)
        known = (self.marked >= 0) & (self.marked <= len(self.marks))
        if self.marked.shape != (count,) or not known.all():
            raise DataError(
                f"marked has a number between 0 and {len(self.marks)} for each of {count} vectors, "
                f"got {self.marked!r:.80}"
            )
        self._lengths = np.zeros(count, dtype=np.int64)
        self._parts: list[AnyArray | int | tuple[Runs, IntArray]] = []

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, *columns: AnyArray | int) -> None:
        """One name for each vector, or the same for all; again and again."""
        self._parts += columns
        self._lengths += len(columns)

    def add_runs(self, runs: Runs, which: IntArray | None = None) -> None:
        """A run of names for each vector: ``which`` of them, or as many as there are vectors."""
        places = np.arange(len(self)) if which is None else which
        self._parts.append((runs, places))
        self._lengths += np.diff(runs.ptr)[places]

    def build(self) -> Runs:
        """A run of numbers for every vector."""
        ptr = offsets_from_counts(self._lengths)
        numbers, at = np.empty(ptr[-1], dtype=np.int64), ptr[:-1].copy()
        for part in self._parts:
            if isinstance(part, tuple):
                runs, which = part
                given = (runs.numbers, runs.ptr, which)
                put_runs(numbers, at, *(np.ascontiguousarray(a, dtype=np.int64) for a in given))
            else:
                numbers[at] = part
                at += 1
        return Runs(numbers, ptr)


class Reader(Protocol):
    """Reads vectors of some inputs."""

    def lines(self, inputs: IntArray, vectors: IntArray) -> Mapping[str, Lines]:
        """By kind, vectors number ``vectors`` of the inputs with these places, in that order."""
        ...


FeatureReader: TypeAlias = Callable[[Sequence[Any], NamesOf], Reader]
"""Makes the reader of some inputs, given what has the numbers of names."""


def spelled(lines: Lines, names: Names) -> list[list[str]]:
    """The names of every vector.

    Parameters
    ----------
    lines
        The vectors, by numbers of names.
    names
        What the numbers were asked from.
    """
    numbers, ptr = lines.build()
    known = numbers >= 0
    every = np.full(len(numbers), None, dtype=object)
    every[known] = names.spelled(numbers[known].tolist())
    found = []
    for begin, end, mark in zip(ptr[:-1], ptr[1:], lines.marked.tolist(), strict=True):
        own, after = every[begin:end].tolist(), every[begin + lines.alone : end].tolist()
        more = [lines.marks[mark - 1] + name for name in after if name is not None] if mark else []
        found.append([name for name in own if name is not None] + more)
    return found
