"""Values of JSON checked against a shape, which is written as the value itself is.

str, int and float are a text that is not empty, a whole number and a finite number, and object is
anything; [shape] is a list, {"key": shape} an object, whose "key?" may be left out.
"""

from __future__ import annotations

import json
from math import isfinite
from typing import Any

from rote.errors import DataError

_WORDS = {str: "text", int: "whole number", float: "finite number", object: "value"}


def check_shape(what: str, value: Any, shape: Any) -> Any:
    """The value, if it has the shape; what does not fit is named by where it stands.

    >>> check_shape("y", {"spans": [[0, 2]]}, {"spans": [[int]], "id?": int})
    {'spans': [[0, 2]]}
    """
    if isinstance(shape, list) and isinstance(value, list):
        for place, each in enumerate(value):
            check_shape(f"{what}, {place}", each, shape[0])
    elif isinstance(shape, dict) and isinstance(value, dict):
        keys = {key.removesuffix("?"): inner for key, inner in shape.items()}
        stray = sorted(value.keys() - keys.keys())
        if stray:
            raise DataError(
                f"{what} has no other keys than {', '.join(keys)}; got {shown(stray[0])}, leave it "
                "out"
            )
        for key, inner in keys.items():
            if key in value or key in shape:
                check_shape(f'{what}, "{key}"', value.get(key), inner)
    elif isinstance(shape, list | dict) or not _fits(value, shape):
        raise DataError(f"{what} is {_said(shape)}; got {shown(value)}")
    return value


def shown(value: Any) -> str:
    """A value of JSON as an error quotes it."""
    return f"{json.dumps(value):.80}"


def _fits(value: Any, kind: type) -> bool:
    if kind is float:
        try:
            return type(value) in (int, float) and isfinite(value)
        except OverflowError:
            return False
    return kind is object or (type(value) is kind and value != "")


def _said(shape: Any, many: bool = False) -> str:
    if isinstance(shape, list):
        return f"{'lists' if many else 'a list'} of {_said(shape[0], many=True)}"
    if isinstance(shape, dict):
        keys = ", ".join(key for key in shape if not key.endswith("?"))
        return f"{'objects' if many else 'an object'} with {keys}"
    return f"{_WORDS[shape]}s" if many else f"a {_WORDS[shape]}"
