"""Array aliases, and `frozen`, which makes "immutable" true for arrays as well."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

AnyArray: TypeAlias = NDArray[Any]
BoolArray: TypeAlias = NDArray[np.bool_]
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]

Scalar = TypeVar("Scalar", bound=np.generic)


def frozen(array: NDArray[Scalar]) -> NDArray[Scalar]:
    """The same values, contiguous and read-only; the array given stays as it was.

    >>> frozen(np.zeros(2)).flags.writeable
    False
    """
    view = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view
