"""Prediction that does not look at all of an input: feature vectors are worked out when needed.

`Speedup` with a theta decides some variables without scores. Only the vectors of the others
are asked of the task, by its ``feature_reader``; without one, all are worked out at once. Inputs
wait for each other, so that what all of them need next is worked out together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np

from rote.errors import (
    InfeasibleSpace,
    ScoreError,
    SettingError,
    UnsupportedSpace,
    renumber,
    say_about,
)
from rote.features import Reader, VectorBuilder
from rote.inference.approximate import Speedup
from rote.inference.approximate.learned_beam import Wanted
from rote.inference.engine import find
from rote.inference.problem import NO_CONTEXT, TOO_LARGE, Problem, check_finite
from rote.kernels.bundles import Vectors as Known
from rote.kernels.learning.linear import score_some
from rote.model.dataset import raise_for_one
from rote.model.model import Model
from rote.tasks.task import Frame, check_frame
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

    def __init__(self, model: Model[Any, Any], frame: Frame, members: Sequence[int]) -> None:
        if frame.traits:
            raise UnsupportedSpace("traits look at whole outputs, and cannot be left out; use RGS")
        self.frame, self.members = frame, np.array(members, dtype=np.int64)
        self.slots = model.layout.slots(frame)
        self.scores = np.zeros((len(members), frame.space.parts))
        self.known = np.zeros((len(members), len(frame.slots)), dtype=np.bool_)
        self.asked = np.zeros((len(members), len(frame.kinds)), dtype=np.bool_)
        widths = np.diff(frame.starts).tolist()
        spans = [
            (0, 0) if vector is None else (vector, width if each else 1)
            for (_, vector, each, _), width in zip(frame.slots, widths, strict=True)
        ]
        self._firsts, self._counts = np.array(spans, dtype=np.int64).reshape(-1, 2).T

    def ask(self, inputs: IntArray, slots: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """The vectors of slots, each of an input: whose they are, which, and where each begins.

        A slot that has none begins at -1.
        """
        counts = self._counts[slots]
        begins = np.cumsum(counts) - counts
        owner = np.repeat(np.arange(len(slots)), counts)
        vectors = self._firsts[slots][owner] + np.arange(len(owner)) - begins[owner]
        self.known[inputs, slots] = True
        self.asked[inputs[owner], vectors] = True
        return self.members[inputs[owner]], vectors, np.where(counts > 0, begins, -1)


class Vectors:
    """The feature vectors of inputs, when asked for by the task's reader, or else all at once."""

    def __init__(self, model: Model[Any, Any], xs: Sequence[Any]) -> None:
        self._builder, self._task = VectorBuilder(model.layout.indices), model.task
        self._reader: Reader | None = None
        self._rows: Sequence[Sequence[Any]] = ()
        try:
            self._read(xs)
        except Exception as error:
            raise_for_one(error, lambda x: self._read([x]), xs, "input")
            raise
        self.saves = self._reader is not None

    def _read(self, xs: Sequence[Any]) -> None:
        if self._task.feature_reader is None:
            self._rows = [self._task.vectors(x) for x in xs]
        else:
            self._reader = self._task.feature_reader(xs, self._builder.names)

    def of(self, kinds: list[str], inputs: IntArray, vectors: IntArray) -> Known:
        """Some vectors, of these kinds."""
        builder = self._builder.emptied()
        if self._reader is not None:
            builder.add_lines(kinds, self._reader.lines(inputs, vectors))
        else:
            for kind, i, k in zip(kinds, inputs.tolist(), vectors.tolist(), strict=True):
                try:
                    builder.add(kind, self._rows[i][k])
                except Exception as error:
                    say_about(error, "input", i)
                    raise
        return builder.build()


def fill(
    model: Model[Any, Any],
    vectors: Vectors,
    groups: Sequence[LazyScores],
    wanted: Sequence[Wanted],
) -> None:
    """Work out scores that are wanted, all of their vectors at once."""
    asked = [groups[group].ask(inputs, slots) for group, inputs, slots in wanted]
    kinds = [
        kind
        for (group, _, _), (_, own, _) in zip(wanted, asked, strict=True)
        for kind in map(groups[group].frame.kinds.__getitem__, own.tolist())
    ]
    inputs, which = (np.concatenate([each[k] for each in asked]) for k in (0, 1))
    known, first = vectors.of(kinds, inputs, which), 1  # behind the constant vector
    for (group, rows, slots), (_, own, begins) in zip(wanted, asked, strict=True):
        scores, places = groups[group].scores, frozen(np.where(begins < 0, 0, first + begins))
        chosen = frozen(rows), frozen(slots), places
        score_some(model.weights, known, groups[group].slots, *chosen, scores)
        first += len(own)


def predict_lazily(model: Model[X, Y], xs: Sequence[X]) -> Lazily[Y]:
    """The outputs of a model whose engine is a `Speedup`, and what they took."""
    engine = find(model.engine, Speedup)
    if engine is None:
        raise SettingError(
            f"only a Speedup need not look at all inputs; the engine is {model.engine!r}"
        )
    # Tasks give out the same frame again, and its hash is not cheap.
    by_frame: dict[int, tuple[Frame, list[int]]] = {}
    for number, x in enumerate(xs):
        try:
            own = model.task.frame(x)
            check_frame(own)
        except Exception as error:
            say_about(error, "input", number)
            raise
        by_frame.setdefault(id(own), (own, []))[1].append(number)
    groups = [LazyScores(model, frame, own) for frame, own in by_frame.values()]
    spaces, vectors = [group.frame.space for group in groups], Vectors(model, xs)
    searched = engine.searched_lazily(
        spaces, [group.scores for group in groups], partial(fill, model, vectors, groups)
    )
    count = sum(group.asked.size for group in groups)
    computed = sum(int(group.asked.sum()) for group in groups) if vectors.saves else count
    outputs: list[Any] = [None] * len(xs)
    obeyed = np.zeros(len(xs), dtype=np.bool_)
    for number, ((_, members), beams) in enumerate(zip(by_frame.values(), searched, strict=True)):
        space, labels = spaces[number], beams.labels.copy()
        broken, lessons = np.flatnonzero(~beams.obeys), engine.lessons(len(members))
        again = np.union1d(broken, lessons)
        if len(again):
            places, slots = np.nonzero(~groups[number].known[again])
            fill(model, vectors, groups, [Wanted(number, again[places], slots)])
        try:
            check_finite(groups[number].scores, TOO_LARGE)
        except ScoreError as error:
            renumber(error, "input", members)
            raise
        if len(again):
            problem = Problem.built(space, frozen(groups[number].scores))
            try:
                if len(broken):
                    labels[broken] = engine.repaired(problem.rows(broken))
                if len(lessons):
                    taught = engine.taught(problem.rows(lessons), NO_CONTEXT)
                    numbers = groups[number].members[lessons]
                    labels[lessons] = taught.require_outputs("input", numbers)
            except InfeasibleSpace as error:
                say_about(error, "input", members[0])
                raise
        obeyed[members] = beams.obeys
        for place, chosen in zip(members, labels.tolist(), strict=True):
            outputs[place] = model.task.decode(xs[place], chosen)
    return Lazily(outputs, frozen(obeyed), count, computed)
