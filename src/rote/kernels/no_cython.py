"""Stands for the package ``cython`` where kernels run as plain Python and it is not installed."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TypeVar

Value = TypeVar("Value")

compiled = False
nogil = nullcontext()


def cast(kind: type, value: Value) -> Value:
    """The same value; Cython changes its type."""
    return value if kind is not int else int(value)  # type: ignore[call-overload, no-any-return]
