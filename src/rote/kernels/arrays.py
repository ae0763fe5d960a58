"""What kernels are written with: names of array types, and room made, filled and copied.

The types differ for Cython only (see ``arrays.pxd``): a number at the end says how many axes an
array has, and kernels write to those that begin with Out.
"""

from __future__ import annotations

from math import inf as inf
from typing import TypeAlias

import cython
import numpy as np

from rote.types import AnyArray, BoolArray, FloatArray, IntArray

if not cython.compiled:
    Int: TypeAlias = int
    Bool: TypeAlias = bool
    Word: TypeAlias = int
    Floats: TypeAlias = FloatArray
    Floats2: TypeAlias = FloatArray
    Floats3: TypeAlias = FloatArray
    OutFloats: TypeAlias = FloatArray
    OutFloats2: TypeAlias = FloatArray
    OutFloats3: TypeAlias = FloatArray
    Ints: TypeAlias = IntArray
    Ints2: TypeAlias = IntArray
    Ints3: TypeAlias = IntArray
    OutInts: TypeAlias = IntArray
    OutInts2: TypeAlias = IntArray
    OutInts3: TypeAlias = IntArray
    Flags: TypeAlias = BoolArray
    Flags2: TypeAlias = BoolArray
    OutFlags: TypeAlias = BoolArray
    OutFlags2: TypeAlias = BoolArray
    Words: TypeAlias = AnyArray
    OutWords: TypeAlias = AnyArray

    def fill(to: AnyArray, value: float) -> None:
        """Put one number everywhere."""
        to[:] = value

    def copy_into(to: AnyArray, source: AnyArray) -> None:
        """Put what one array has where another one begins."""
        to[: len(source)] = source


def floats(n: Int) -> OutFloats:
    """Room for n numbers, as it happens to be; the others are alike."""
    return np.empty(n)


def floats2(m: Int, n: Int) -> OutFloats2:
    return np.empty((m, n))


def ints(n: Int) -> OutInts:
    return np.empty(n, np.int64)


def ints2(m: Int, n: Int) -> OutInts2:
    return np.empty((m, n), np.int64)


def flags(n: Int) -> OutFlags:
    return np.empty(n, np.bool_)


def flags2(m: Int, n: Int) -> OutFlags2:
    return np.empty((m, n), np.bool_)


class Pool:
    """Numbers that are made at once and taken piece by piece: an array costs half a microsecond."""

    def __init__(self, n: Int) -> None:
        self.numbers = floats(n)
        self.taken = 0

    def take(self, n: Int) -> OutFloats:
        """The next n numbers."""
        self.taken += n
        return self.numbers[self.taken - n : self.taken]
