"""Prediction that does not look at all of an input: feature vectors are worked out when needed.

`Speedup` with a theta decides some variables without scores. Only the vectors of the others
are asked of the task: by its ``lazy_vectors`` if it has them, or else all at once. Inputs wait for
each other, so that what all of them need next is worked out together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from rote.errors import SettingError, UnsupportedSpace
from rote.features import LazyRows, VectorBuilder
from rote.inference.base import Objective
from rote.inference.beam import Speedup
from rote.inference.beam.speedup import Wanted
from rote.kernels.linear import score_some
from rote.model.model import Model
from rote.tasks.base import Frame, Task
from rote.types import BoolArray, IntArray, frozen

X = TypeVar("X")
Y = TypeVar("Y")


@dataclass(frozen=True, eq=False)
class Lazily(Generic[Y]):
    """Outputs, which of them obeyed before they were repaired, and how many vectors were needed."""

    outputs: list[Y]
    obeyed: BoolArray
    vectors: int  # of all inputs
    computed: int  # before anything was repaired

    @property
    def skipped(self) -> float:
        """The share of vectors that the search did not need; repairs need all of an input."""
        return 1.0 - self.computed / self.vectors if self.vectors else 0.0


class LazyScores:
    """The scores of inputs of one frame, which are there once their vectors were looked at."""

    def __init__(self, model: Model[Any, Any], frame: Frame, xs: Sequence[Any]) -> None:
        if frame.traits:
            raise UnsupportedSpace("traits look at whole outputs, and cannot be left out; use RGS")
        self.frame = frame
        self.rows = [_rows(model.task, x) for x in xs]
        self.slots = model.layout.slots(frame)
        self.scores = np.zeros((len(xs), frame.space.parts))
        self.known = np.zeros((len(xs), len(frame.slots)), dtype=np.bool_)
        widths = np.diff(frame.starts).tolist()
        self._spans = [
            range(0) if vector is None else range(vector, vector + (width if each else 1))
            for (_, vector, each, _), width in zip(frame.slots, widths, strict=True)
        ]

    def add(self, builder: VectorBuilder, inputs: IntArray, slots: IntArray) -> IntArray:
        """Add the vectors of slots, each of an input, and say where those of each one begin."""
        self.known[inputs, slots] = True
        kinds, places = self.frame.kinds, []
        for i, s in zip(inputs.tolist(), slots.tolist(), strict=True):
            span, rows = self._spans[s], self.rows[i]
            places.append(len(builder) if span else 0)
            for k in span:
                builder.add(kinds[k], rows.row(k))
        return np.array(places, dtype=np.int64)


def fill(model: Model[Any, Any], groups: Sequence[LazyScores], wanted: Sequence[Wanted]) -> None:
    """Work out scores that are wanted, all of their vectors at once."""
    builder = VectorBuilder(model.layout.indices)
    places = [groups[group].add(builder, inputs, slots) for group, inputs, slots in wanted]
    vectors = builder.build()
    for (group, inputs, slots), own in zip(wanted, places, strict=True):
        scores = groups[group].scores
        known = frozen(inputs), frozen(slots), frozen(own)
        score_some(model.weights, vectors, groups[group].slots, *known, scores)


def predict_lazily(model: Model[X, Y], xs: Sequence[X]) -> Lazily[Y]:
    """The outputs of a model whose engine is a `Speedup`, and what they took."""
    engine = model.engine
    if not isinstance(engine, Speedup):
        raise SettingError(f"only a Speedup need not look at all inputs; the engine is {engine!r}")
    # Tasks give out the same frame again, and its hash is not cheap.
    by_frame: dict[int, tuple[Frame, list[int]]] = {}
    for number, x in enumerate(xs):
        own = model.task.frame(x)
        by_frame.setdefault(id(own), (own, []))[1].append(number)
    groups = [LazyScores(model, frame, [xs[k] for k in own]) for frame, own in by_frame.values()]
    spaces = [group.frame.space for group in groups]
    found = engine.searched_lazily(
        spaces, [group.scores for group in groups], partial(fill, model, groups)
    )
    rows = [row for group in groups for row in group.rows]
    vectors, computed = sum(map(len, rows)), sum(row.computed for row in rows)
    outputs: list[Any] = [None] * len(xs)
    obeyed = np.zeros(len(xs), dtype=np.bool_)
    for number, ((_, members), beams) in enumerate(zip(by_frame.values(), found, strict=True)):
        space, labels = spaces[number], beams.labels.copy()
        broken, lessons = np.flatnonzero(~beams.obeys), engine.lessons(len(members))
        again = np.union1d(broken, lessons)
        if len(again):
            places, slots = np.nonzero(~groups[number].known[again])
            fill(model, groups, [Wanted(number, again[places], slots)])
            objective = Objective(frozen(groups[number].scores), checked=space)
            if len(broken):
                labels[broken] = engine.repaired(space, objective.rows(broken))
            if len(lessons):
                labels[lessons] = engine.taught(space, objective.rows(lessons)).labels
        obeyed[members] = beams.obeys
        for place, chosen in zip(members, labels.tolist(), strict=True):
            outputs[place] = model.task.decode(xs[place], chosen)
    return Lazily(outputs, frozen(obeyed), vectors, computed)


def _rows(task: Task[Any, Any], x: Any) -> LazyRows[Any]:
    lazy = getattr(task, "lazy_vectors", None)
    if lazy is not None:
        found: LazyRows[Any] = lazy(x)
        return found
    vectors = task.vectors(x)
    rows = LazyRows(len(vectors), vectors.__getitem__)
    rows.rows(range(len(vectors)))  # they are all there, so none was saved
    return rows
