"""Tasks and their settings as JSON, and back: a file can name settings, never code.

    None, booleans, numbers, texts     as they are
    tuples and lists                   [...], which comes back as a tuple
    mappings                           {"mapping": [[key, value], ...]}
    frozen dataclasses of rote         {"kind": "Templates", "settings": {"columns": [...], ...}}

The names after "kind" are those of a registry, and nothing else is ever looked up. A function
cannot be written down. A task that has one, or that is a user's own, is *outlined*: what of its
settings can be written is, so that a task given later can be compared with it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np

from rote.errors import ModelError, RoteError
from rote.tasks.task import Task

Registry = Mapping[str, str]  # the module of each class

TASKS: dict[str, str] = {
    "Coreference": "rote.tasks.coreference",
    "EntityRelation": "rote.tasks.entity_relation",
    "LabelledGraph": "rote.tasks.graphs",
    "MultiLabel": "rote.tasks.multilabel",
    "Multiclass": "rote.tasks.multiclass",
    "Tagging": "rote.tasks.tagging",
    "Templates": "rote.features.templates",
    "WithoutRules": "rote.tasks.task",
}  # a package with tasks of its own adds them when it is imported


def describe(task: Task[Any, Any]) -> dict[str, Any]:
    """All of a task, for `task_from`; a task that cannot be written down is refused.

    >>> from rote.features import Templates
    >>> from rote.tasks.tagging import Tagging
    >>> task = Tagging(("N", "V"), Templates(("word",), ("word[0]",)))
    >>> describe(task)["settings"]["labels"]
    ['N', 'V']
    >>> task_from(describe(task)) == task
    True
    """
    return _fields_of(task, TASKS)


def task_from(description: Any) -> Task[Any, Any]:
    """The task that was described."""
    task: Task[Any, Any] = restored(description, TASKS)
    if not hasattr(task, "frame"):
        raise ModelError(f"expected the description of a task, got one of {type(task).__name__}")
    return task


def outline(
    value: Any, registry: Registry = TASKS, settings_of: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """What can be written of any task or engine.

    Its class is under "kind" if the registry has it and under "own" if not; "left_out" names the
    settings that cannot be written. One with a kind and nothing left out can be restored.
    """
    settings, left_out = {}, []
    given = _settings(value) if settings_of is None else settings_of
    for name, setting in given.items():
        try:
            settings[name] = described(setting, registry)
        except ModelError:
            left_out.append(name)
    known = "kind" if _is_registered(value, registry) else "own"
    return {known: type(value).__name__, "settings": settings, "left_out": sorted(left_out)}


def described(value: Any, registry: Registry) -> Any:
    """A setting as JSON has it."""
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
    """The setting that JSON brought."""
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
    values = {name: restored(setting, registry) for name, setting in settings.items()}
    try:
        return getattr(import_module(registry[kind]), kind), values
    except (ImportError, AttributeError) as error:
        raise ModelError(f"{kind} is not there: {error}") from None


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
    settings = {}
    for name, setting in _settings(value).items():
        try:
            settings[name] = described(setting, registry)
        except ModelError as error:
            raise ModelError(f"{name!r} of {kind}: {error}") from None
    return {"kind": kind, "settings": settings}


def _settings(value: Any) -> dict[str, Any]:
    if is_dataclass(value):
        return {f.name: getattr(value, f.name) for f in fields(value) if f.init}
    held = getattr(value, "__dict__", {})
    return {name: setting for name, setting in held.items() if not name.startswith("_")}


def _is_registered(value: Any, registry: Registry) -> bool:
    kind = type(value)
    return is_dataclass(value) and registry.get(kind.__name__) == kind.__module__
