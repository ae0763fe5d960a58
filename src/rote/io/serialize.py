"""Frozen dataclasses and their settings as JSON, and back: a file can name settings, never code.

    None, booleans, numbers, texts     as they are
    tuples and lists                   [...], which comes back as a tuple
    mappings                           {"mapping": [[key, value], ...]}
    dataclasses of a registry          {"kind": "Templates", "settings": {"columns": [...], ...}}

The names after "kind" are those of the registry at hand, and nothing else is ever looked up. A
function cannot be written down. What has one, or is of a class that the registry does not have, is
*outlined*: what of its settings can be written is, so that one given later can be compared with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from rote.errors import ModelError, RoteError

Registry = Mapping[str, type[Any]]  # classes by their names


def classes(*known: type[Any]) -> dict[str, type[Any]]:
    """A registry of these classes.

    >>> classes(int)
    {'int': <class 'int'>}
    """
    return {kind.__name__: kind for kind in known}


def outline(
    value: Any, registry: Registry, settings_of: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What can be written of any task or engine.

    Its class is under "kind" if the registry has it and under "own" if not; "left_out" names the
    settings that cannot be written. One with a kind and nothing left out can be restored.
    """
    settings, refused = _written(_settings(value) if settings_of is None else settings_of, registry)
    known = "kind" if _is_registered(value, registry) else "own"
    return {known: type(value).__name__, "settings": settings, "left_out": sorted(refused)}


def described(value: Any, registry: Registry) -> Any:
    """A value as JSON has it; one that cannot be written down is refused.

    >>> from rote.features import Templates
    >>> written = described(Templates(("word",), ("word[0]",)), classes(Templates))
    >>> written["settings"]["columns"]
    ['word']
    >>> restored(written, classes(Templates)).columns
    ('word',)
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    if isinstance(value, (tuple, list)):
        return [described(item, registry) for item in value]
    if isinstance(value, Mapping):
        pairs = [[described(k, registry), described(v, registry)] for k, v in value.items()]
        return {"mapping": pairs}
    return _fields_of(value, registry)


def restored(description: Any, registry: Registry) -> Any:
    """The value that JSON brought."""
    if isinstance(description, list):
        return tuple(restored(item, registry) for item in description)
    if not isinstance(description, dict):
        return description
    if description.keys() == {"mapping"}:
        return MappingProxyType(_mapping(description["mapping"], registry))
    kind, values = parts_of(description, registry)
    try:
        return kind(**values)
    except (RoteError, TypeError, ValueError, AttributeError, KeyError) as error:
        raise ModelError(f"the settings of {kind.__name__} do not make one: {error}") from None


def parts_of(description: Any, registry: Registry) -> tuple[Any, dict[str, Any]]:
    """The class that a description names, and its settings."""
    if description.keys() != {"kind", "settings"} or not isinstance(description["settings"], dict):
        raise ModelError(
            'a description has the keys "kind" and "settings"; '
            f"got {', '.join(map(repr, description))}"
        )
    kind, settings = description["kind"], description["settings"]
    if not isinstance(kind, str) or kind not in registry:
        raise ModelError(
            f"{kind!r} is none of {', '.join(registry)}; it may come from a later version of rote"
        )
    return registry[kind], {name: restored(each, registry) for name, each in settings.items()}


def _mapping(pairs: Any, registry: Registry) -> dict[Any, Any]:
    try:
        return {restored(k, registry): restored(v, registry) for k, v in pairs}
    except (TypeError, ValueError):
        raise ModelError("a mapping is a list of pairs of a key and a value") from None


def _fields_of(value: Any, registry: Registry) -> dict[str, Any]:
    kind = type(value).__name__
    if not _is_registered(value, registry):
        function = getattr(value, "__name__", None)
        what = f"the function {function!r}" if function else f"an object of class {kind}"
        raise ModelError(
            f"{what} cannot be written down; only {', '.join(registry)} and plain values can. "
            "Save the model all the same, and give the task or engine again to load it"
        )
    settings, refused = _written(_settings(value), registry)
    for name, error in refused.items():
        raise ModelError(f"{name!r} of {kind}: {error}") from None
    return {"kind": kind, "settings": settings}


def _written(
    settings: Mapping[str, Any], registry: Registry
) -> tuple[dict[str, Any], dict[str, ModelError]]:
    """The settings that can be written down, and why the others cannot."""
    written, refused = {}, {}
    for name, setting in settings.items():
        try:
            written[name] = described(setting, registry)
        except ModelError as error:
            refused[name] = error
    return written, refused


def _settings(value: Any) -> dict[str, Any]:
    if is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in fields(value) if f.init}
    held = getattr(value, "__dict__", {})
    return {name: setting for name, setting in held.items() if not name.startswith("_")}


def _is_registered(value: Any, registry: Registry) -> bool:
    return is_dataclass(value) and registry.get(type(value).__name__) is type(value)
