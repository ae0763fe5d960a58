"""Feature vectors as arrays: names become columns of an index, once.

A vector is given as a mapping from names to values, as a sequence of names (each counts
1, a repeated name counts again), as `Written` names, as an array with one axis, or as one row of
a SciPy sparse array. Vectors of one *kind* share an index. It grows until it is frozen; names that
a frozen index does not know are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, TypeAlias

import numpy as np

from rote.errors import DataError
from rote.features.index import UNKNOWN, FeatureIndex, HashedIndex, Index, Positions
from rote.features.writing import Written
from rote.kernels.structs import Vectors
from rote.types import AnyArray, FloatArray, IntArray, frozen

# The last is a row of a SciPy sparse array, which has no type of its own here.
Features: TypeAlias = Mapping[str, float] | Sequence[str] | Written | AnyArray | Any

CONSTANT = "constant"  # the kind of the one vector that all inputs share: a single 1


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
        # Which vectors go on behind a mark, and where in them that begins, by kind and mark.
        self._marked: dict[tuple[str, str], tuple[list[int], list[int]]] = {}

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
        if self._marked:
            ptr, columns, values = self._with_marked(ptr, columns, values)
        known = columns != UNKNOWN
        if not known.all():
            before = np.zeros(len(columns) + 1, dtype=np.int64)
            np.cumsum(known, out=before[1:])
            ptr, columns, values = before[ptr], columns[known], values[known]
        return Vectors(frozen(ptr), frozen(columns), frozen(values))

    def _with_marked(
        self, ptr: IntArray, columns: IntArray, values: FloatArray
    ) -> tuple[IntArray, IntArray, FloatArray]:
        """The same with what follows behind marks, if anything, after each vector."""
        # Two stretches for each vector: what it has, and of that what follows behind the mark.
        starts, sizes = np.repeat(ptr[:-1], 2), np.zeros(2 * len(ptr) - 2, dtype=np.int64)
        sizes[::2] = np.diff(ptr)
        for vectors, alone in self._marked.values():
            second = 2 * np.array(vectors) + 1
            starts[second] += alone
            sizes[second] = np.maximum(sizes[second - 1] - alone, 0)
        ends = np.cumsum(sizes)
        source = np.arange(ends[-1]) + np.repeat(starts - ends + sizes, sizes)
        columns, values = columns[source], values[source]
        for (kind, mark), (vectors, _) in self._marked.items():
            behind = self.indices[kind].behind(mark)
            assert behind is not None
            second = np.zeros(len(sizes), dtype=np.bool_)
            second[2 * np.array(vectors) + 1] = True
            places = np.flatnonzero(np.repeat(second, sizes))
            columns[places] = behind[columns[places]]
        return np.concatenate([ptr[:1], ends[1::2]]), columns, values

    def _add_written(self, kind: str, features: Written) -> None:
        index = self._index(kind)
        writer, mark = index.writer, features.mark
        if writer is None or (mark and index.behind(mark) is None):
            self._append(index.columns(features.names()))
            return
        self._append(features.written(writer))
        if mark:
            vectors, alone = self._marked.setdefault((kind, mark), ([], []))
            vectors.append(len(self) - 1)
            alone.append(features.alone)

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


def _number(name: str, value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise DataError(f"feature values are numbers; {name!r} is {value!r}") from None
    if not isfinite(number):
        raise DataError(f"feature values are finite; {name!r} is {value}")
    return number
