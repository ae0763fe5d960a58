"""Feature vectors as arrays: names become columns of an index, once.

A vector is given as a mapping from names to values, as a sequence of names (each counts
1, a repeated name counts again), as `Written` names, as an array with one axis, or as one row of
a SciPy sparse array. Vectors of one *kind* share an index. It grows until it is frozen; names that
a frozen index does not know are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from rote.errors import DataError
from rote.features.index import FeatureIndex, HashedIndex, Index, Positions
from rote.features.writing import Writer, Written
from rote.kernels.packing import packed
from rote.kernels.structs import Vectors
from rote.types import AnyArray, IntArray, frozen

# The last is a row of a SciPy sparse array, which has no type of its own here.
Features: TypeAlias = Mapping[str, float] | Sequence[str] | Written | AnyArray | Any
"""A feature vector: names and values, names alone, an array, or a row of a sparse array."""

CONSTANT = "constant"
"""The kind of the one vector that all inputs share: a single 1."""


class VectorBuilder:
    """Collects vectors and the indices of their kinds; the constant vector comes first.

    ``hashed`` says for some kinds into how many bits names are hashed, instead of being
    listed.

    >>> builder = VectorBuilder()
    >>> builder.add("word", ["word=dog", "shape=x"])
    >>> builder.add("word", {"length": 3.0, "shape=x": 1.0})
    >>> built = builder.build()
    >>> built.ptr.tolist(), built.column.tolist(), built.value.tolist()
    ([0, 1, 3, 5], [0, 0, 1, 2, 1], [1.0, 1.0, 1.0, 3.0, 1.0])
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
        self._ways: dict[tuple[str, str], _Way] = {}  # by kind and mark

    def __len__(self) -> int:
        return len(self._lengths)

    def add(self, kind: str, features: Features) -> None:
        """Append one vector."""
        if isinstance(features, Written):
            self._add_written(kind, features)
        elif isinstance(features, np.ndarray):
            self._add_array(kind, features)
        elif hasattr(features, "tocsr"):
            self._add_sparse(kind, features)
        elif isinstance(features, Mapping):
            self._add_mapping(kind, features)
        elif isinstance(features, str):
            raise DataError(
                "a feature vector is a mapping, a sequence of names or an array; got the string "
                f"{features!r}; put it into a list"
            )
        else:
            self._append(self._index(kind).columns(features))

    def build(self) -> Vectors:
        """All vectors so far."""
        self._settle()
        ptr = np.zeros(len(self._lengths) + 1, dtype=np.int64)
        np.cumsum(self._lengths, out=ptr[1:])
        columns = np.concatenate(self._columns).astype(np.int64, copy=False)
        values = np.concatenate(self._values).astype(np.float64, copy=False)
        alone, tables = (
            np.full(len(self._lengths), -1),
            np.zeros(len(self._lengths), dtype=np.int64),
        )
        behind: list[IntArray] = [np.zeros(0, dtype=np.int64)]
        for (kind, mark), way in self._ways.items():
            if way.vectors:
                table = self.indices[kind].behind(mark)
                assert table is not None  # or there would be no writer
                alone[way.vectors] = way.alone
                tables[way.vectors] = sum(map(len, behind))
                behind.append(table)
        given = Vectors(ptr, columns, values)
        ptr, columns, values = packed(given, alone, tables, np.concatenate(behind))
        return Vectors(frozen(ptr), frozen(columns), frozen(values))

    def _add_written(self, kind: str, features: Written) -> None:
        way = self._ways.get((kind, features.mark)) or self._way(kind, features.mark)
        if way.writer is None:
            self._append(self._index(kind).columns(features.names()))
            return
        self._append(features.written(way.writer))
        if features.mark:
            way.vectors.append(len(self._lengths) - 1)
            way.alone.append(features.alone)

    def _way(self, kind: str, mark: str) -> _Way:
        index = self._index(kind)
        told = not mark or index.behind(mark) is not None
        way = self._ways[kind, mark] = _Way(index.writer if told else None, [], [])
        return way

    def _add_mapping(self, kind: str, features: Mapping[str, float]) -> None:
        columns = self._index(kind).columns(list(features))
        values = [_number(name, value) for name, value in features.items()]
        self._numbers.append((len(self._named), values))
        self._append(columns)

    def _add_array(self, kind: str, features: AnyArray) -> None:
        if features.ndim != 1 or features.dtype.kind not in "fiub":
            raise DataError(
                "a feature vector that is an array has one axis and real numbers; "
                f"got shape {features.shape} of {features.dtype}"
            )
        used = np.flatnonzero(features)
        self._add_positions(kind, len(features), used, features[used])

    def _add_sparse(self, kind: str, features: Any) -> None:
        row = features.tocsr()
        if row.ndim == 2 and row.shape[0] != 1:
            raise DataError(f"a sparse feature vector has one row, got {row.shape[0]}")
        self._add_positions(kind, row.shape[-1], row.indices, row.data)

    def _add_positions(self, kind: str, width: int, used: AnyArray, values: AnyArray) -> None:
        index = self.indices.setdefault(kind, Positions(width))
        if not isinstance(index, Positions) or len(index) != width:
            expected = f"arrays of length {len(index)}" if isinstance(index, Positions) else "names"
            raise DataError(
                f"vectors of kind {kind!r} are {expected}, got an array of length {width}"
            )
        values = values.astype(np.float64)
        if not np.isfinite(values).all():
            place = int(np.flatnonzero(~np.isfinite(values))[0])
            raise DataError(f"feature values are finite; position {used[place]} is {values[place]}")
        self._settle()
        self._columns.append(used)
        self._values.append(values)
        self._lengths.append(len(used))

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


class _Way(NamedTuple):
    """How written vectors of a kind and mark get columns: by a writer, or else by their names."""

    writer: Writer[int] | None
    vectors: list[int]  # those that go on behind the mark
    alone: list[int]  # and how many of the names of each do not


def _number(name: str, value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise DataError(f"feature values are numbers; {name!r} is {value!r}") from None
    if not isfinite(number):
        raise DataError(f"feature values are finite; {name!r} is {value}")
    return number
