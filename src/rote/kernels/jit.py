"""`kernel`: compile with numba on the first call, and not before.

Importing numba takes longer than importing the rest of rote, so it waits for the
first kernel that runs. A kernel called from Python is cached on disk beside the
source, together with the kernels it calls; those are compiled without a door to
Python, which for bundles of arrays would cost more than their bodies. Set
``NUMBA_DISABLE_JIT=1`` to run the plain Python bodies.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache, cached_property, update_wrapper
from hashlib import sha256
from pathlib import Path
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, cast

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class Kernel(Generic[Arguments, Result]):
    """A function that compiles itself; ``py_func`` is its plain body."""

    def __init__(self, function: Callable[Arguments, Result], **inner: Any) -> None:
        self.py_func = function
        self._inner = inner
        update_wrapper(self, function)

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        return self.outer(*args, **kwargs)

    @cached_property
    def outer(self) -> Callable[Arguments, Result]:
        """For calls from Python."""
        return self._compiled(cache=True)

    @cached_property
    def inner(self) -> Callable[Arguments, Result]:
        """For calls from other kernels."""
        return self._compiled(no_cpython_wrapper=True, no_cfunc_wrapper=True, **self._inner)

    def _compiled(self, **options: Any) -> Callable[Arguments, Result]:
        if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
            return self.py_func
        from numba import njit

        body = cast(FunctionType, self.py_func)
        # numba looks names up in the body's module and must find its own functions
        # there, not ours.
        names = dict(body.__globals__)
        for name in body.__code__.co_names:
            if isinstance(names.get(name), Kernel):
                names[name] = names[name].inner
        bound = update_wrapper(
            FunctionType(body.__code__, names, body.__name__, body.__defaults__), body
        )
        # numba takes a cached kernel for current when its own file is unchanged, and does not
        # look at the kernels it calls. Its name on disk therefore carries a digest of all.
        bound.__qualname__ = f"{body.__qualname__}_{_digest(Path(__file__).parent)}"
        # Divisions by zero are ours to avoid; checking for them would slow every loop.
        compiled = njit(nogil=True, error_model="numpy", **options)(bound)
        return cast(Callable[Arguments, Result], compiled)


@cache
def _digest(folder: Path) -> str:
    """Of every source in the folder of kernels."""
    digest = sha256()
    for file in sorted(folder.rglob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def kernel(function: Callable[Arguments, Result]) -> Kernel[Arguments, Result]:
    """Mark a function over arrays and scalars as a kernel."""
    return Kernel(function)


def inlined(function: Callable[Arguments, Result]) -> Kernel[Arguments, Result]:
    """A kernel that others take in where they call it: for small ones in innermost loops.

    Handing a bundle of arrays to a function counts a reference to each of them, which takes longer
    than a few additions.
    """
    return Kernel(function, inline="always")


def lean(function: Callable[Arguments, Result]) -> Kernel[Arguments, Result]:
    """A kernel that makes no arrays, and so counts no references when another kernel calls it.

    For those that are called often and take bundles, but are too large to be taken in. Copying one
    array into another makes one, too; numba refuses to compile what does.
    """
    return Kernel(function, _nrt=False)
