"""`show`: a picture of what a task's output says of its input, wherever the output comes from.

Sentences with entities and relations, taggings and fields, and graphs that are grids have pictures
of their own; outputs of all other tasks are shown variable by variable. The rules that an output
breaks are found in the space of its input.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

import numpy as np

from rote.errors import LabelError
from rote.space.reasons import BrokenRule, broken_rules
from rote.tasks.task import Task, labels_of
from rote.types import AnyArray, IntArray
from rote.viz import (
    Picture,
    picture_of_extraction,
    picture_of_grid,
    picture_of_labels,
    picture_of_tagging,
)
from rote.viz.kinds import about_rules
from rote.viz.shapes import DIFFERENT_SIGN

if TYPE_CHECKING:
    from rote.io.conll import Sentence
    from rote.tasks.entity_relation import EntityRelation, Extraction
    from rote.tasks.graphs import Graph, LabelledGraph
    from rote.tasks.tagging import Tagging

X = TypeVar("X")
Y = TypeVar("Y")


@runtime_checkable
class Drawn(Protocol):
    """A task that draws its outputs itself."""

    def show(self, x: Any, y: Any, gold: Any, facts: Sequence[str]) -> Picture: ...


def show(
    task: Task[X, Y], x: X, y: Y, gold: Y | None = None, *, facts: Sequence[str] = ()
) -> Picture:
    """A picture of the output y of an input; with a gold output, what differs from it is marked.

    >>> from rote.features import Templates
    >>> from rote.tasks.tagging import Tagging
    >>> task = Tagging(("B-NP", "I-NP", "O"), Templates(("word",), ("word[0]",)), bio=True)
    >>> print(show(task, [["dogs"], ["bark"]], ["O", "I-NP"]))
    dogs    bark
    O ✗1 └I-NP ✗1┘
    <BLANKLINE>
    broken rules: 1 of 2
    ✗1 I-NP at 1 goes on
    """
    from rote.tasks.entity_relation import EntityRelation
    from rote.tasks.graphs import LabelledGraph
    from rote.tasks.tagging import Tagging

    some: Any = (x, y, gold, list(facts))
    match task:
        case EntityRelation():
            return _extraction(task, *some)
        case Tagging():
            return _tagging(task, *some)
        case Drawn():
            return task.show(*some)
        case LabelledGraph():
            return _graph(task, *some)
        case _:
            return _variables(task, *some)


def _extraction(
    task: EntityRelation, x: Sentence, y: Extraction, gold: Extraction | None, facts: list[str]
) -> Picture:
    broken, about = rules_broken(task, x, y)
    names = [x.text(entity) for entity in x.entities]
    return picture_of_extraction(
        x.words,
        [(entity.start, entity.stop) for entity in x.entities],
        y.entities,
        y.relations,
        gold=None if gold is None else (gold.entities, gold.relations),
        broken=[rule._replace(name=spoken(rule.name, names)) for rule in broken],
        labels=task.entity_labels,
        facts=[*facts, *_about_gold(task, x, y, gold), *about],
    )


def spoken(rule: str, entities: Sequence[str]) -> str:
    """The name of a rule about entities with their words in place of e0, e1, ….

    >>> spoken("Kill(e0, e1) needs Peop and Peop", ["Oswald", "Kennedy"])
    'Kill(Oswald, Kennedy) needs Peop and Peop'
    """
    return re.sub(r"\be(\d+)\b", lambda found: entities[int(found[1])], rule)


def _tagging(
    task: Tagging, x: Sequence[Any], y: Sequence[str], gold: Sequence[str] | None, facts: list[str]
) -> Picture:
    broken, about = rules_broken(task, x, y)
    return picture_of_tagging(
        words_of(task, x),
        y,
        gold=gold,
        broken=broken,
        labels=task.labels,
        facts=[*facts, *_about_gold(task, x, y, gold), *about],
    )


def words_of(task: Tagging | Any, x: Sequence[Any]) -> list[str]:
    """What is written for each token: itself, its word, or its number where it has none.

    The word is the column of that name where templates name columns, else the first column.
    """
    from rote.features import Templates

    column = 0
    if isinstance(task.features, Templates) and "word" in task.features.columns:
        column = task.features.columns.index("word")
    return [_word(token, column, t) for t, token in enumerate(x)]


def _word(token: object, column: int, number: int) -> str:
    match token:
        case str():
            return token
        case Mapping():
            return str(token.get("word", number))
        case [*cells] if cells and isinstance(cells[column], str):
            return str(cells[column])
        case _:
            return str(number)


def _graph(
    task: LabelledGraph, x: Graph, y: AnyArray, gold: AnyArray | None, facts: list[str]
) -> Picture:
    labels = np.array(task.encode(x, y))
    right = None if gold is None else np.asarray(gold)
    if right is not None and right.shape != labels.shape:
        raise LabelError(f"gold has one label for each of {len(x)} nodes; got {right.shape}")
    shape = grid_shape(x)
    differ = [] if right is None else ((right >= 0) & (right != labels)).tolist()
    told = [*facts, *differing(differ, "nodes")]
    if shape is None:
        known = None if right is None else np.where(right < 0, labels, right)
        return picture_of_labels(task.frame(x).space, labels, gold=known, facts=told)
    broken, about = rules_broken(task, x, y)
    return picture_of_grid(
        labels.reshape(shape),
        task.labels,
        gold=None if right is None else right.reshape(shape),
        broken=broken,
        facts=[*told, *about],
    )


def grid_shape(x: Graph) -> tuple[int, int] | None:
    """The rows and columns of the grid that a graph is, its nodes numbered row by row, if it is."""
    from rote.tasks.graphs import grid

    def ordered(edges: AnyArray) -> AnyArray:
        return np.unique(np.sort(edges, axis=1), axis=0)

    n, own = len(x), ordered(x.edges)
    for rows in (rows for rows in range(1, n + 1) if n % rows == 0):
        edges = grid(rows, n // rows)
        if len(edges) == len(own) and np.array_equal(ordered(edges), own):
            return rows, n // rows
    return None


def _variables(task: Task[X, Y], x: X, y: Y, gold: Y | None, facts: list[str]) -> Picture:
    return picture_of_labels(
        task.frame(x).space,
        _labels(task, x, y),
        gold=None if gold is None else _labels(task, x, gold),
        facts=[*facts, *_about_gold(task, x, y, gold)],
    )


def rules_broken(task: Task[X, Y], x: X, y: Y) -> tuple[Sequence[BrokenRule], list[str]]:
    """The rules that an output breaks, and a sentence about them."""
    space = task.frame(x).space
    broken = broken_rules(space, _labels(task, x, y))
    return broken, about_rules(space, broken)


def _labels(task: Task[X, Y], x: X, y: Y) -> IntArray:
    labels: IntArray = labels_of(task.frame(x).space, task.encode(x, y))[0]
    return labels


def _about_gold(task: Task[X, Y], x: X, y: Y, gold: Y | None) -> list[str]:
    if gold is None:
        return []
    return differing((_labels(task, x, y) != _labels(task, x, gold)).tolist(), "variables")


def differing(differ: Sequence[bool], what: str) -> list[str]:
    if not differ:
        return []
    if not any(differ):
        return ["equal to gold"]
    return [f"{DIFFERENT_SIGN} differs from gold in {sum(differ)} of {len(differ)} {what}"]
