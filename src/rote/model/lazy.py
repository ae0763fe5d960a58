"""Prediction that does not look at all of an input: feature vectors are worked out when needed.

`Speedup` with a theta decides some variables without scores. Only the vectors of the others
are asked of the task: by its ``lazy_vectors`` if it has them, one at a time, or else all at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from rote.errors import SettingError, UnsupportedSpace
from rote.features import LazyRows, VectorBuilder
from rote.inference.base import Objective
from rote.inference.beam import Speedup
from rote.kernels.linear import scores_of
from rote.kernels.structs import Slots
from rote.model.model import Model
from rote.tasks.base import Frame, Task
from rote.types import BoolArray, FloatArray, IntArray, frozen

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
    """The scores of inputs of one frame, worked out variable by variable and factor by factor."""

    def __init__(self, model: Model[Any, Any], frame: Frame, xs: Sequence[Any]) -> None:
        if frame.traits:
            raise UnsupportedSpace("traits look at whole outputs, and cannot be left out; use RGS")
        self.model, self.frame = model, frame
        self.rows = [_rows(model.task, x) for x in xs]
        self.slots = model.layout.slots(frame)

    def __len__(self) -> int:
        return len(self.rows)

    def scores(self, slots: IntArray, members: IntArray) -> FloatArray:
        """Of shape (members, parts), 0 but for the slots asked for."""
        found = np.zeros((len(members), self.frame.space.parts))
        for s in slots.tolist():
            begin, end = int(self.slots.start[s]), int(self.slots.start[s + 1])
            found[:, begin:end] = self._one(s, end - begin, members.tolist())
        return found

    def objective(self, members: IntArray) -> Objective:
        """All scores of some inputs."""
        space, every = self.frame.space, np.arange(len(self.frame.slots))
        return Objective(frozen(self.scores(every, members)), checked=space)

    def _one(self, s: int, width: int, members: list[int]) -> FloatArray:
        """The scores of one slot: its vectors, under the weights of its block."""
        slot, all_slots = self.frame.slots[s], self.slots
        builder = VectorBuilder(self.model.layout.indices)
        count = width if slot.each else 1
        if slot.vector is not None:
            for member in members:
                for k in range(slot.vector, slot.vector + count):
                    builder.add(self.frame.kinds[k], self.rows[member].row(k))
        span = slice(int(all_slots.start[s]), int(all_slots.start[s + 1]))
        one = slice(s, s + 1)
        alone = Slots(
            frozen(np.array([-1 if slot.vector is None else 0])),
            frozen(all_slots.origin[one]),
            frozen(all_slots.stride[one]),
            frozen(all_slots.each[one]),
            frozen(all_slots.tied[one]),
            frozen(np.array([0, width])),
            frozen(all_slots.column[span]),
        )
        firsts = frozen(1 + count * np.arange(len(members)))
        return scores_of(self.model.weights, builder.build(), alone, firsts)


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
    outputs: list[Any] = [None] * len(xs)
    obeyed = np.zeros(len(xs), dtype=np.bool_)
    vectors = computed = 0
    for frame, members in by_frame.values():
        space, inputs = frame.space, [xs[k] for k in members]
        rows = LazyScores(model, frame, inputs)
        found = engine.searched_lazily(space, rows)
        labels, broken = found.labels.copy(), np.flatnonzero(~found.obeys)
        vectors += sum(len(row) for row in rows.rows)
        computed += sum(row.computed for row in rows.rows)
        lessons = engine.lessons(len(inputs))
        if len(broken):
            labels[broken] = engine.repaired(space, rows.objective(broken))
        if len(lessons):
            labels[lessons] = engine.taught(space, rows.objective(lessons)).labels
        obeyed[members] = found.obeys
        for number, chosen in zip(members, labels.tolist(), strict=True):
            outputs[number] = model.task.decode(xs[number], chosen)
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
