"""What pictures of outputs share: the rules that are broken, and how much differs from gold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from rote.space.reasons import BrokenConstraint, violations
from rote.tasks.task import Task, labels_of
from rote.types import IntArray
from rote.viz import Picture, picture_of_labels
from rote.viz.kinds import about_rules
from rote.viz.shapes import DIFFERENT_SIGN

X = TypeVar("X")
Y = TypeVar("Y")


def show_variables(task: Any, x: Any, y: Any, gold: Any, facts: Sequence[str] = ()) -> Picture:
    """An output variable by variable, for tasks that have no picture of their own."""
    return picture_of_labels(
        task.frame(x).space,
        _labels(task, x, y),
        gold=None if gold is None else _labels(task, x, gold),
        facts=[*facts, *about_gold(task, x, y, gold)],
    )


def explained(
    task: Task[X, Y], x: X, y: Y, gold: Y | None, facts: Sequence[str]
) -> tuple[Sequence[BrokenConstraint], list[str]]:
    """The rules that an output breaks, and all that is said under its picture."""
    broken, about = rules_broken(task, x, y)
    return broken, [*facts, *about_gold(task, x, y, gold), *about]


def rules_broken(task: Task[X, Y], x: X, y: Y) -> tuple[Sequence[BrokenConstraint], list[str]]:
    """The rules that an output breaks, and a sentence about them."""
    space = task.frame(x).space
    broken = violations(space, _labels(task, x, y))
    return broken, about_rules(space, broken)


def about_gold(task: Task[X, Y], x: X, y: Y, gold: Y | None) -> list[str]:
    """A sentence about how many variables differ, where there is a gold output."""
    if gold is None:
        return []
    return differing((_labels(task, x, y) != _labels(task, x, gold)).tolist(), "variables")


def differing(differ: Sequence[bool], what: str) -> list[str]:
    """A sentence about how many of something differ."""
    if not differ:
        return []
    if not any(differ):
        return ["equal to gold"]
    return [f"{DIFFERENT_SIGN} differs from gold in {sum(differ)} of {len(differ)} {what}"]


def _labels(task: Task[X, Y], x: X, y: Y) -> IntArray:
    labels: IntArray = labels_of(task.frame(x).space, task.encode(x, y))[0]
    return labels
