"""Feature vectors as arrays: names become columns of an index, once.

A vector is given as a mapping from names to values, as a sequence of names (each counts
1, a repeated name counts again), as an array with one axis, or as one row of a SciPy sparse array;
or many of them at once as `Lines`. Vectors of one *kind* share an index. It grows until it is
frozen; names that a frozen index does not know are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from math import isfinite, nan
from typing import Any, TypeAlias

import numpy as np

from rote.errors import DataError
from rote.features.batches import Lines, Runs
from rote.features.index import FEW, FeatureIndex, HashedIndex, Index, Listing, Positions
from rote.features.trie import UNKNOWN, Names
from rote.kernels.bundles import Vectors
from rote.types import AnyArray, FloatArray, joined, offsets_from_counts, readonly

# The last is a row of a SciPy sparse array, which has no type of its own here.
Features: TypeAlias = Mapping[str, float] | Sequence[str] | AnyArray | Any
"""A feature vector: names and values, names alone, an array, or a row of a sparse array."""

CONSTANT = "constant"
"""The kind of the one vector that all inputs share: a single 1."""


class VectorBuilder:
    """Collects vectors and the indices of their kinds; the constant vector comes first.

    Parameters
    ----------
    indices
        The index of each kind that has one already; the others begin empty.
    hashed
        For some kinds, into how many bits names are hashed instead of being listed.

    >>> builder = VectorBuilder()
    >>> builder.add("word", ["word=dog", "shape=x"])
    >>> builder.add("word", {"length": 3.0, "shape=x": 1.0})
    >>> built = builder.build()
    >>> [array.tolist() for array in (built.ptr, built.column, built.value)]
    [[0, 1, 3, 5], [0, 0, 1, 2, 1], [1.0, 1.0, 1.0, 3.0, 1.0]]
    """

    def __init__(
        self, indices: Mapping[str, Index] | None = None, hashed: Mapping[str, int] | None = None
    ) -> None:
        self.indices: dict[str, Index] = {CONSTANT: Positions(1), **(indices or {})}
        self._hashed = hashed or {}
        self._columns: list[AnyArray] = [np.zeros(1, dtype=np.int64)]
        self._values: list[AnyArray] = [np.ones(1)]
        self._named: list[int] = []  # columns of named features that are not arrays yet
        self._numbers: list[tuple[int, list[float]]] = []
        self._lengths: list[int] = [1]
        self._listings: dict[str, Listing] = {}  # by kind

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, kind: str, features: Features) -> None:
        """Append one vector."""
        if isinstance(features, np.ndarray):
            if features.ndim != 1 or features.dtype.kind not in "fiub":
                raise DataError(
                    "a feature vector that is an array has one axis and real numbers; "
                    f"got shape {features.shape} of {features.dtype}"
                )
            used = np.flatnonzero(features)
            self._add_positions(kind, len(features), used, features[used])
        elif hasattr(features, "tocsr"):
            row = features.tocsr()
            if row.ndim == 2 and row.shape[0] != 1:
                raise DataError(f"a sparse feature vector has one row, got {row.shape[0]}")
            self._add_positions(kind, row.shape[-1], row.indices, row.data)
        elif isinstance(features, Mapping):
            columns = self._index(kind).columns(list(features))
            values = [_number(name, value) for name, value in features.items()]
            self._numbers.append((len(self._named), values))
            self._append(columns)
        elif isinstance(features, str):
            raise DataError(
                "a feature vector is a mapping, a sequence of names or an array; got the string "
                f"{features!r}; put it into a list"
            )
        elif isinstance(features, set | frozenset):
            raise DataError(
                "names are listed in the order in which they come, and a set has another one in "
                "every process; put them into a list, in an order of your own"
            )
        else:
            self._append(self._index(kind).columns(features))

    def names(self, kind: str, marks: tuple[str, ...] = (), separator: str = " ") -> Names:
        """What lines of a kind are read with, before they are added; always with the same marks."""
        if kind not in self._listings:
            index = self._index(kind)
            listing = index.listing if isinstance(index, FeatureIndex) else partial(Listing, index)
            self._listings[kind] = listing(marks, separator)
        return self._listing(kind, marks).names

    def worth_listing(self, kinds: Iterable[str], inputs: int) -> bool:
        """Whether so many more inputs are read sooner as lines than name by name."""
        return all(
            index.worth_listing(inputs) if isinstance(index, FeatureIndex) else inputs >= FEW
            for index in map(self._index, kinds)
        )

    def add_lines(self, kinds: list[str], lines: Mapping[str, Lines]) -> None:
        """Append vectors of several kinds, in the order in which kinds come."""
        for kind in dict.fromkeys([*kinds, *lines]):
            given, wanted = len(lines.get(kind, ())), kinds.count(kind)
            if given != wanted:
                raise DataError(
                    f"a reader gave {given} vectors of kind {kind!r} instead of {wanted}"
                )
        known = {
            kind: self._listing(kind, own.marks).columns(own)
            for kind, own in lines.items()
            if len(own)
        }
        columns = joined(own for own, _ in known.values())
        lengths = joined(np.diff(ptr) for _, ptr in known.values())
        if len(known) > 1:  # runs of a kind follow each other, and kinds take turns
            codes = {kind: code for code, kind in enumerate(known)}
            which = np.argsort(np.argsort([codes[kind] for kind in kinds], kind="stable"))
            turns = Lines(len(kinds))
            turns.add_runs(Runs(columns, offsets_from_counts(lengths)), which)
            columns, ptr = turns.build()
            lengths = np.diff(ptr)
        self._extend(columns, np.ones(len(columns)), lengths.tolist())

    def emptied(self) -> VectorBuilder:
        """One without vectors, whose lines are read with the same names."""
        other = VectorBuilder(self.indices, self._hashed)
        other.indices, other._listings = self.indices, self._listings
        return other

    def build(self) -> Vectors:
        """All vectors so far, without names that are unknown."""
        self._settle()
        columns = np.concatenate(self._columns).astype(np.int64, copy=False)
        values = np.concatenate(self._values).astype(np.float64, copy=False)
        ptr = offsets_from_counts(self._lengths)
        known = columns != UNKNOWN
        if not known.all():
            ptr = offsets_from_counts(known)[ptr]
            columns, values = columns[known], values[known]
        return Vectors(readonly(ptr), readonly(columns), readonly(values))

    def _add_positions(self, kind: str, width: int, used: AnyArray, values: AnyArray) -> None:
        index = self.indices.setdefault(kind, Positions(width))
        if not isinstance(index, Positions):
            raise DataError(f"vectors of kind {kind!r} are names, got an array")
        if len(index) != width:
            raise DataError(
                f"vectors of kind {kind!r} are arrays of length {len(index)}, got an array of "
                f"length {width}; a constant that the task adds to each is counted"
            )
        values = values.astype(np.float64)
        if not np.isfinite(values).all():
            place = int(np.flatnonzero(~np.isfinite(values))[0])
            raise DataError(f"feature values are finite; position {used[place]} is {values[place]}")
        self._extend(used, values, [len(used)])

    def _index(self, kind: str) -> Index:
        index = self.indices.get(kind)
        if index is None:
            bits = self._hashed.get(kind)
            index = self.indices[kind] = FeatureIndex() if bits is None else HashedIndex(bits)
        elif isinstance(index, Positions):
            raise DataError(
                f"vectors of kind {kind!r} are arrays of length {len(index)}, got names"
            )
        return index

    def _listing(self, kind: str, marks: tuple[str, ...]) -> Listing:
        listing = self._listings.get(kind)
        if listing is None:
            raise DataError(
                f"a reader gave vectors of kind {kind!r} and never asked for its names; say names "
                "that names(kind, marks) has numbers for"
            )
        if listing.marks != marks:
            raise DataError(
                f"names of kind {kind!r} were first asked for with the marks {listing.marks}, and "
                f"then came {marks}; use the same marks for all vectors of a kind"
            )
        return listing

    def _extend(self, columns: AnyArray, values: FloatArray, lengths: list[int]) -> None:
        self._settle()
        self._columns.append(columns)
        self._values.append(values)
        self._lengths += lengths

    def _append(self, columns: list[int]) -> None:
        self._named += columns
        self._lengths.append(len(columns))

    def _settle(self) -> None:
        """Turn named features into arrays, so that vectors stay in the order they came in."""
        if self._named:
            self._columns.append(np.array(self._named, dtype=np.int64))
            values = np.ones(len(self._named))
            for start, numbers in self._numbers:
                values[start : start + len(numbers)] = numbers
            self._values.append(values)
            self._named, self._numbers = [], []


def _number(name: str, value: float) -> float:
    try:
        number = nan if isinstance(value, str | bytes) else float(value)  # it would read texts
    except (TypeError, ValueError):
        number = nan
    if not isfinite(number):
        raise DataError(
            f"feature values are finite numbers; {name!r} is {value!r}; put a text into the name, "
            f"as in '{name}=...': 1"
        )
    return number
