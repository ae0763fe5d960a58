"""Compiled forms of spaces, and which spaces stay in memory though nobody holds them.

What engines work out from a space (networks, plans, programs) is a *form* of it. Equal spaces
share their `Forms`, which go with the last of them. `keep_recent` makes a function that builds
spaces, or frames with a space, keep those that were asked for last: all that are kept in this
process, with the forms compiled since, take about `MAX_BYTES` together.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable
from dataclasses import is_dataclass
from functools import wraps
from threading import RLock
from typing import Any, ParamSpec, Protocol, TypeVar
from weakref import WeakValueDictionary

import numpy as np

Shape = ParamSpec("Shape")

MAX_BYTES = 128 << 20
MISSING = object()


class Forms:
    """The compiled forms of all spaces with one fingerprint, and about how many bytes they are.

    Of two threads that ask for the same form, one builds it and the other waits; threads that ask
    for forms of different spaces do not wait for each other.
    """

    def __init__(self, size: int) -> None:
        self.size = size  # of the space, its forms included
        self.keepers = 0  # how many entries of `RECENT` hold the space
        self.lock = RLock()  # those who build a form may ask for another one
        self._built: dict[Hashable, Any] = {}

    def get(self, build: Callable[..., Any], *args: Any) -> Any:
        """What ``build(*args)`` returns; the first of ``args`` is the space, which all share."""
        key = build, args[1:]
        found = self._built.get(key, MISSING)
        if found is MISSING:
            with self.lock:
                found = self._built.get(key, MISSING)
                if found is MISSING:
                    found = self._built[key] = build(*args)
                    RECENT.grow(self, size_of(found))
        return found


class HasForms(Protocol):
    """A space, or what holds one."""

    @property
    def forms(self) -> Forms: ...


Kept = TypeVar("Kept", bound=HasForms)


class Recent:
    """What was asked for last, up to a limit of bytes; a space that entries share counts once."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        self.lock = RLock()
        self._entries: dict[int, HasForms] = {}  # by id; what was asked for last comes last

    def keep(self, value: HasForms) -> None:
        """Keep what was asked for just now."""
        forms = value.forms
        with self.lock:
            known = self._entries.pop(id(value), None)
            self._entries[id(value)] = value
            if known is None:
                forms.keepers += 1
                if forms.keepers == 1:
                    self.size += forms.size
                self._shrink()

    def grow(self, forms: Forms, size: int) -> None:
        """Note that a form of so many bytes was added."""
        with self.lock:
            forms.size += size
            if forms.keepers:
                self.size += size
                self._shrink()

    def _shrink(self) -> None:
        """Let go of what was not asked for longest; the latest stays, however large it is."""
        while self.size > self.limit and len(self._entries) > 1:
            forms = self._entries.pop(next(iter(self._entries))).forms
            forms.keepers -= 1
            if not forms.keepers:
                self.size -= forms.size


RECENT = Recent(MAX_BYTES)
_FORMS: WeakValueDictionary[str, Forms] = WeakValueDictionary()


def forms_of(fingerprint: str, size: int) -> Forms:
    """The forms of all spaces with a fingerprint; new ones for a space of so many bytes."""
    with RECENT.lock:
        found = _FORMS.get(fingerprint)
        if found is None:
            found = _FORMS[fingerprint] = Forms(size)
        return found


def keep_recent(build: Callable[Shape, Kept]) -> Callable[Shape, Kept]:
    """Make a function keep what it built last, within the limit of `RECENT`.

    Its arguments are hashable, and say all about what it builds. What it no longer keeps and
    somebody else still holds is not built again.
    """
    alive: WeakValueDictionary[Hashable, Kept] = WeakValueDictionary()

    @wraps(build)
    def ask(*args: Shape.args, **kwargs: Shape.kwargs) -> Kept:
        shape = args, tuple(sorted(kwargs.items()))
        found = alive.get(shape)
        if found is None:
            made = build(*args, **kwargs)
            with RECENT.lock:  # of two threads, the second takes what the first has built
                found = alive.setdefault(shape, made)
        RECENT.keep(found)
        return found

    return ask


def size_of(form: object) -> int:
    """About how many bytes a form holds in arrays, those apart that are part of a larger one."""
    size, seen, waiting = 0, set(), [form]
    while waiting:
        found = waiting.pop()
        if id(found) in seen:  # a network may hold itself
            continue
        seen.add(id(found))
        if isinstance(found, np.ndarray):
            base = found.base
            if not isinstance(base, np.ndarray) or base.size <= found.size:
                size += 200 + found.nbytes
            continue
        if is_dataclass(found) and hasattr(found, "__dict__"):
            found = vars(found)
        if isinstance(found, tuple | list | dict):
            size += 100
            waiting += found.values() if isinstance(found, dict) else found
    return size


def _unlock() -> None:
    """After a fork no thread is there any more that could give back a lock."""
    RECENT.lock = RLock()
    for forms in _FORMS.values():
        forms.lock = RLock()


if hasattr(os, "register_at_fork"):  # where processes are forked at all
    os.register_at_fork(after_in_child=_unlock)
