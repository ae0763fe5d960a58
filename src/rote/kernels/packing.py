"""Feature vectors as they are kept: without columns that are unknown, below 0.

Some vectors go on *behind a mark*: all entries but the first few follow once more, in other
columns.
"""

from __future__ import annotations

import numpy as np

from rote.kernels.jit import kernel
from rote.kernels.structs import Vectors
from rote.types import IntArray


@kernel
def packed(vectors: Vectors, alone: IntArray, tables: IntArray, behind: IntArray) -> Vectors:
    """The vectors without unknown columns, and with what follows behind marks.

    ``alone`` says of each vector how many of its entries do not follow, or -1 if none does. The
    column that follows column c is ``behind[tables + c]``, or below 0.
    """
    count = vectors.ptr.shape[0] - 1
    most = 2 * vectors.column.shape[0]
    ptr = np.zeros(count + 1, np.int64)
    column, value = np.empty(most, np.int64), np.empty(most)
    at = 0
    for v in range(count):
        begin, end = vectors.ptr[v], vectors.ptr[v + 1]
        for k in range(begin, end):
            if vectors.column[k] >= 0:
                column[at], value[at] = vectors.column[k], vectors.value[k]
                at += 1
        if alone[v] >= 0:
            for k in range(begin + alone[v], end):
                if vectors.column[k] >= 0:
                    other = behind[tables[v] + vectors.column[k]]
                    if other >= 0:
                        column[at], value[at] = other, vectors.value[k]
                        at += 1
        ptr[v + 1] = at
    return Vectors(ptr, column[:at].copy(), value[:at].copy())
