"""Which argument of a door or a bundle does not fit, and what was expected.

Compiled code converts its arguments by itself and refuses what does not fit, without the argument's
name. Its name is looked for then, and only then.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

DTYPES = {"Floats": "float64", "Ints": "int64", "Flags": "bool", "Words": "uint64"}
SCALARS = {"Int": "a whole number", "float": "a number"}


def refuse(called: Callable[..., Any], given: tuple[object, ...], **named: object) -> None:
    """Say which argument does not fit, if there is one."""
    types = types_of(called)
    for name, value in {**dict(zip(types, given, strict=False)), **named}.items():
        kind = types.get(name, "")
        array = re.fullmatch(r"(Out)?(Floats|Ints|Flags|Words)(\d?)", kind)
        if array is not None:
            wrong = array_misfit(value, array[1] is not None, DTYPES[array[2]], int(array[3] or 1))
        elif kind in SCALARS:
            wrong = None if isinstance(value, (int, float, np.number)) else SCALARS[kind]
        else:
            wrong = None if kind in ("", "Bool", type(value).__name__) else f"a bundle {kind}"
        if wrong is not None:
            said = f"{called.__qualname__}, {name}: expected {wrong}, got {described(value)}"
            raise TypeError(said) from None


def array_misfit(value: object, is_written: bool, dtype: str, axes: int) -> str | None:
    """What was expected, where an array is something else."""
    if (
        isinstance(value, np.ndarray)
        and value.ndim == axes
        and (value.dtype == dtype or (value.dtype == np.uint8 and dtype == "bool"))
        and value.flags.c_contiguous
        and (value.flags.writeable or not is_written)
    ):
        return None
    kind = "writable C-contiguous" if is_written else "C-contiguous"
    return f"a {kind} {dtype} array with {counted(axes)}"


def described(value: object) -> str:
    """What came."""
    if not isinstance(value, np.ndarray):
        return f"{type(value).__name__} {str(value)[:40]!r}"
    strided = "" if value.flags.c_contiguous else ", not C-contiguous"
    locked = "" if value.flags.writeable else ", read-only"
    return f"{value.dtype} with {counted(value.ndim)}{strided}{locked}"


def counted(axes: int) -> str:
    return "1 axis" if axes == 1 else f"{axes} axes"


@cache
def types_of(called: Callable[..., Any]) -> dict[str, str]:
    """The annotations of a function's parameters, in order; of a class, those of ``__init__``.

    A compiled ``__init__`` has none: they are read from the source, which lies beside it.
    """
    if not isinstance(called, type):
        return {k: str(v) for k, v in called.__annotations__.items() if k != "return"}
    beside = Path(str(sys.modules[called.__module__].__file__)).parent
    source = beside / f"{called.__module__.rpartition('.')[2]}.py"
    for node in ast.parse(source.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ClassDef) and node.name == called.__name__:
            for begin in node.body:
                if isinstance(begin, ast.FunctionDef) and begin.name == "__init__":
                    given = begin.args.args
                    return {a.arg: ast.unparse(a.annotation) for a in given if a.annotation}
    return {}
