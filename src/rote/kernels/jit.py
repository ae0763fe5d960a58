"""`kernel`: compile with numba on the first call, and not before.

Importing numba takes longer than importing the rest of rote, so it waits for the
first kernel that runs. Compiled code is cached on disk beside the source. Set
``NUMBA_DISABLE_JIT=1`` to run the plain Python bodies.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import Any, Generic, ParamSpec, TypeVar, cast

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class _Kernel(Generic[Arguments, Result]):
    """A function that compiles itself; ``py_func`` is its plain body."""

    def __init__(self, function: Callable[Arguments, Result]) -> None:
        self.py_func = function
        self._compiled: Callable[Arguments, Result] | None = None
        update_wrapper(self, function)

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        if self._compiled is None:
            self._compiled = self.compiled()
        return self._compiled(*args, **kwargs)

    def compiled(self) -> Callable[Arguments, Result]:
        """The numba function, with the kernels it calls compiled as well."""
        if self._compiled is None:
            if os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
                self._compiled = self.py_func
            else:
                from numba import njit

                # Divisions by zero are ours to avoid; checking them would slow every loop.
                _njit = njit(cache=True, nogil=True, error_model="numpy")
                body = cast(FunctionType, self.py_func)
                # numba looks names up in the body's module and must find its own
                # functions there, not our wrappers.
                scope = dict(body.__globals__)
                for name in body.__code__.co_names:
                    if isinstance(scope.get(name), _Kernel):
                        scope[name] = scope[name].compiled()
                bound = FunctionType(body.__code__, scope, body.__name__, body.__defaults__)
                update_wrapper(bound, body)
                self._compiled = cast(Callable[Arguments, Result], _njit(bound))
        return self._compiled


def kernel(function: Callable[Arguments, Result]) -> _Kernel[Arguments, Result]:
    """Mark a function over arrays and scalars as a kernel."""
    return _Kernel(function)


def is_kernel(value: Any) -> bool:
    return isinstance(value, _Kernel)
