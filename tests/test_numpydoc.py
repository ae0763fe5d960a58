"""Every promised class and function says what each of its parameters is, as numpydoc has it."""

import importlib
import inspect
import re
from enum import Enum

import pytest

from tools.reference import promised


def parameters(thing: object) -> list[str]:
    """The names a caller may give."""
    try:
        found = inspect.signature(thing).parameters.values()  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return []
    gathered = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [one.name for one in found if one.kind not in gathered and one.name[0] != "_"]


def documented(text: str) -> set[str]:
    """The names under the heading Parameters."""
    lines = inspect.cleandoc(text).splitlines()
    found: set[str] = set()
    inside = False
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if set(below) == {"-"}:
            inside = line == "Parameters"
        elif inside and re.match(r"\S", line) and set(line) != {"-"}:
            found |= {name.strip(" *") for name in line.split(" : ")[0].split(",")}
    return found


THINGS = {
    f"{thing.__module__}.{thing.__qualname__}": thing
    for module, names in promised().items()
    for thing in (getattr(importlib.import_module(module), name) for name in names)
    if inspect.isfunction(thing)
    or (inspect.isclass(thing) and not issubclass(thing, (Exception, Enum)))
}


@pytest.mark.parametrize("name", sorted(THINGS))
def test_every_parameter_is_explained(name: str) -> None:
    thing = THINGS[name]
    missing = set(parameters(thing)) - documented(thing.__doc__ or "")
    assert not missing, f"{name} says nothing of {sorted(missing)}"
