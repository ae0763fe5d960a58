"""Array aliases, and what every room does with arrays.

`readonly` makes "immutable" true for arrays as well; `offsets_from_counts` and `joined` lay things
end to end. `is_unknown` says which labels stand for one that nobody knows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Real
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

AnyArray: TypeAlias = NDArray[Any]
"""An array of anything."""
BoolArray: TypeAlias = NDArray[np.bool_]
"""An array of True and False."""
FloatArray: TypeAlias = NDArray[np.float64]
"""An array of numbers in double precision."""
IntArray: TypeAlias = NDArray[np.int64]
"""An array of whole numbers of 64 bits."""

UNKNOWN = -1  # among the positions of labels, that of one which nobody knows

Scalar = TypeVar("Scalar", bound=np.generic)


def readonly(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """The same values, contiguous and read-only.

    Parameters
    ----------
    array
        It stays as it was; it is copied only if it is not contiguous.

    >>> readonly(np.zeros(2)).flags.writeable
    False
    """
    same = np.ascontiguousarray(array)
    if same.flags.writeable:
        same = same.view()
        same.setflags(False)  # type: ignore[call-arg]  # twice as fast as by name
    return same


def offsets_from_counts(counts: AnyArray | Sequence[int]) -> IntArray:
    """Where each of some runs starts, one after the other; one more entry ends the last.

    Parameters
    ----------
    counts
        How long each run is.

    >>> offsets_from_counts([2, 0, 3]).tolist()
    [0, 2, 2, 5]
    """
    offsets = np.zeros(len(counts) + 1, dtype=np.int64)
    np.asarray(counts, dtype=np.int64).cumsum(out=offsets[1:])
    return offsets


def joined(arrays: Iterable[AnyArray]) -> IntArray:
    """Whole numbers one after the other, also where there is no array at all."""
    return np.concatenate([*arrays, np.empty(0, dtype=np.int64)]).astype(np.int64, copy=False)


def is_unknown(label: Any, labels: Sequence[str] = ()) -> bool:
    """Whether a label stands for one that nobody knows: None, -1, NaN, or "?" if it is no label."""
    if isinstance(label, str):
        return label == "?" and label not in labels
    return label is None or (isinstance(label, Real) and (label == UNKNOWN or label != label))


__all__ = ["AnyArray", "BoolArray", "FloatArray", "IntArray", "offsets_from_counts", "readonly"]
