"""What kernels are written with: names of array types, and room made, filled and copied.

The types differ for Cython only (see ``arrays.pxd``): a number at the end says how many axes an
array has, and kernels write to those that begin with Out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from math import inf as inf
from typing import Any, TypeAlias

import cython
import numpy as np

from rote.kernels.misfits import refuse
from rote.types import AnyArray, BoolArray, FloatArray, IntArray


def guard(door: Callable[..., Any]) -> Callable[..., Any]:
    """A door that names the argument which does not fit."""

    @wraps(door)
    def guarded(*given: object) -> Any:
        if not cython.compiled:
            refuse(door, given)
        try:
            return door(*given)
        except (TypeError, ValueError):
            refuse(door, given)
            raise

    return guarded


if cython.compiled:

    class Bundle:
        """What has arrays as attributes: numpy's for Python, views of memory for kernels."""

        def __getattribute__(self, name: str) -> object:
            value = object.__getattribute__(self, name)
            if type(value).__name__ != "_memoryviewslice":
                return value
            array = np.asarray(value)
            return array.view(np.bool_) if array.dtype == np.uint8 else array

    INITS: dict[type, int] = {}

    def guarded_init(bundle, given, named):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
        """What the types of guarded bundles call in place of their own ``__init__``."""
        try:
            call_init(INITS[type(bundle)], bundle, given, named)
        except (TypeError, ValueError):
            refuse(type(bundle), given, **(cython.cast(dict, named) if named else {}))
            raise
        return 0

    def guard_bundle(bundle: type) -> None:
        """Let a bundle name the argument that does not fit."""
        INITS[bundle] = replace_init(bundle, guarded_init)
else:
    call_init = replace_init = None

    class Bundle:
        """What has arrays as attributes."""

    def guard_bundle(bundle: type) -> None:
        """Let a bundle name the argument that does not fit."""
        init = bundle.__init__

        def guarded(self: Bundle, *given: object, **named: object) -> None:
            refuse(bundle, given, **named)
            init(self, *given, **named)

        bundle.__init__ = guarded

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

    def expect(name: str, what: str, wanted: Int, got: Int) -> None:
        """Refuse an array that has more or less of something than it must have."""
        if got != wanted:
            raise ValueError(f"{name}: expected {wanted} {what}, got {got}")

    def expect_least(name: str, what: str, least: Int, got: Int) -> None:
        """Refuse an array that has less of something than it must have."""
        if got < least:
            raise ValueError(f"{name}: expected at least {least} {what}, got {got}")


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


class IntPool:
    """Whole numbers, made and taken in the same way."""

    def __init__(self, n: Int) -> None:
        self.numbers = ints(n)
        self.taken = 0

    def take(self, n: Int) -> OutInts:
        """The next n numbers."""
        self.taken += n
        return self.numbers[self.taken - n : self.taken]
