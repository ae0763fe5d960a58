"""The feature vectors of inputs: worked out at once, or when an engine asks for them.

Where a task has a ``feature_reader``, many inputs are read together: all that came so far, or what
all of them are asked for next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any

import numpy as np

from rote.errors import DataError, locate
from rote.features import Features, Reader, VectorBuilder
from rote.inference.problem import LazyScores, Wanted
from rote.kernels.bundles import Vectors
from rote.kernels.learning.linear import score_some
from rote.model.batch import Batch
from rote.tasks.task import Frame, Task
from rote.types import BoolArray, FloatArray, IntArray, readonly

TOGETHER = 512  # inputs that are read together, where a task has a reader


@contextmanager
def blame_one(
    what: str, each: Callable[[Any], object], items: Iterable[tuple[int, Any]]
) -> Iterator[None]:
    """Instead of an error in many items, raise that of the first numbered one which has it."""
    try:
        yield
    except Exception as error:
        for number, item in items:
            try:
                each(item)
            except type(error) as own:
                locate(own, what, number)
                raise own from None
        raise


class EagerVectors:
    """Reads inputs one by one, or many at a time where the task has a reader."""

    def __init__(self, task: Task[Any, Any], builder: VectorBuilder, what: str) -> None:
        self._task, self._builder, self._what = task, builder, what
        self._reader = task.feature_reader
        self._waiting: list[tuple[Any, Frame]] = []
        self._read = 0  # inputs that no longer wait
        self.next = len(builder)  # the number of the next vector

    def take(self, x: Any, frame: Frame) -> None:
        """The next input."""
        self.next += len(frame.kinds)
        if self._reader is not None:
            self._waiting.append((x, frame))
        else:
            self._take(x, frame)

    def settle(self, least: int = 1) -> None:
        """Read inputs that wait, if there are so many."""
        waiting = self._waiting
        if len(waiting) < least:
            return
        with blame_one(self._what, lambda one: self._add([one]), enumerate(waiting, self._read)):
            self._add(waiting)
        self._read += len(waiting)
        waiting.clear()

    def _add(self, waiting: Sequence[tuple[Any, Frame]]) -> None:
        assert self._reader is not None
        xs, frames = zip(*waiting, strict=True)
        kinds = [kind for frame in frames for kind in frame.kinds]
        if not self._builder.worth_listing(dict.fromkeys(kinds), len(xs)):
            for x, frame in waiting:
                self._take(x, frame)
            return
        counts = np.array([len(frame.kinds) for frame in frames])
        inputs = np.repeat(np.arange(len(xs)), counts)
        vectors = np.arange(len(inputs)) - (np.cumsum(counts) - counts)[inputs]
        lines = self._reader(xs, self._builder.names).lines(inputs, vectors)
        self._builder.add_lines(kinds, lines)

    def _take(self, x: Any, frame: Frame) -> None:
        for kind, features in zip(frame.kinds, _vectors(self._task, x, frame), strict=True):
            self._builder.add(kind, features)

    def source(self) -> Vectors:
        """All that was read."""
        return self._builder.build()


def _vectors(task: Task[Any, Any], x: Any, frame: Frame) -> Sequence[Features]:
    vectors = task.vectors(x)
    if not hasattr(vectors, "__len__"):
        raise DataError(
            f"a task's vectors(x) gives a list of {len(frame.kinds)} feature vectors, as many "
            f"as its frame names kinds; got {vectors!r:.80}"
        )
    if len(vectors) != len(frame.kinds):
        raise DataError(
            f"there are {len(vectors)} feature vectors, and the frame names the kinds of "
            f"{len(frame.kinds)}"
        )
    return vectors


class LazyVectors:
    """The feature vectors of inputs, worked out when they are asked for.

    ``count`` is how many there are, and ``computed`` how many were worked out.

    Parameters
    ----------
    task, builder
        The task of the inputs, and what gives their features columns.
    read_all
        Works out all vectors of some inputs.
    """

    def __init__(
        self,
        task: Task[Any, Any],
        builder: VectorBuilder,
        read_all: Callable[[Sequence[Any]], Vectors],
    ) -> None:
        self._task, self._builder, self._read_all = task, builder, read_all
        self._reads = task.feature_reader
        self._xs: list[Any] = []
        self._rows: list[Sequence[Features]] = []  # where the task has no reader
        self.next = len(builder)  # the number of the next vector

    def take(self, x: Any, frame: Frame) -> None:
        """The next input."""
        self.next += len(frame.kinds)
        self._xs.append(x)
        if self._reads is None:
            self._rows.append(_vectors(self._task, x, frame))

    def settle(self, least: int = 1) -> None:
        """Nothing is read yet."""

    def source(self) -> LazyVectors:
        return self

    def all(self) -> Vectors:
        """All of them."""
        self._asked[1:] = True
        return self._read_all(self._xs)

    @property
    def count(self) -> int:
        return self.next - 1  # without the constant vector

    @property
    def computed(self) -> int:
        return self.count if self._reads is None else int(self._asked.sum())

    @cached_property
    def _asked(self) -> BoolArray:
        return np.zeros(self.next, dtype=np.bool_)

    @cached_property
    def _reader(self) -> Reader | None:
        reads, names = self._reads, self._builder.names
        if reads is None:
            return None
        with blame_one("input", lambda x: reads([x], names), enumerate(self._xs)):
            return reads(self._xs, names)

    def some(
        self, kinds: list[str], inputs: IntArray, vectors: IntArray, numbers: IntArray
    ) -> Vectors:
        """Vectors of inputs, of these kinds; ``numbers`` are theirs among all."""
        self._asked[numbers] = True
        builder, reader = self._builder.emptied(), self._reader
        if reader is not None:
            own = ((k, inputs == k) for k in np.unique(inputs).tolist())
            with blame_one("input", lambda at: reader.lines(inputs[at], vectors[at]), own):
                lines = reader.lines(inputs, vectors)
            builder.add_lines(kinds, lines)
            return builder.build()
        for kind, i, k in zip(kinds, inputs.tolist(), vectors.tolist(), strict=True):
            try:
                builder.add(kind, self._rows[i][k])
            except Exception as error:
                locate(error, "input", i)
                raise
        return builder.build()


class BatchScores(LazyScores):
    """The scores of a batch, which are there once its vectors were looked at."""

    def __init__(self, source: LazyVectors, group: Batch, weights: FloatArray) -> None:
        super().__init__(group.space, len(group))
        self.source, self.group, self.weights = source, group, weights
        vector = group.slots.vector
        self._firsts = np.maximum(vector, 0)
        many = np.where(group.slots.each, np.diff(group.slots.start), 1)
        self._counts = np.where(vector < 0, 0, many)

    def fill(self, wanted: Sequence[Wanted]) -> None:
        own = [(scores, i, s) for scores, i, s in wanted if isinstance(scores, BatchScores)]
        asked = [scores.vectors(inputs, slots) for scores, inputs, slots in own]
        kinds = [
            kind
            for (scores, _, _), (_, vectors, _, _) in zip(own, asked, strict=True)
            for kind in map(scores.group.frame.kinds.__getitem__, vectors.tolist())
        ]
        whose, which, numbers = (np.concatenate([each[k] for each in asked]) for k in range(3))
        known, first = self.source.some(kinds, whose, which, numbers), 1  # behind the constant one
        for (scores, inputs, slots), (_, vectors, _, begins) in zip(own, asked, strict=True):
            places = readonly(np.where(begins < 0, 0, first + begins))
            chosen = readonly(inputs), readonly(slots), places
            score_some(self.weights, known, scores.group.slots, *chosen, scores.array)
            scores.known[inputs, slots] = True
            first += len(vectors)

    def vectors(
        self, inputs: IntArray, slots: IntArray
    ) -> tuple[IntArray, IntArray, IntArray, IntArray]:
        """The vectors of slots: whose they are, which, their numbers, and where each slot's begin.

        A slot that has none begins at -1.
        """
        counts, group = self._counts[slots], self.group
        begins = np.cumsum(counts) - counts
        owner = np.repeat(np.arange(len(slots)), counts)
        vectors = self._firsts[slots][owner] + np.arange(len(owner)) - begins[owner]
        places = inputs[owner]
        numbers = group.firsts[places] + vectors
        return group.members[places], vectors, numbers, np.where(counts > 0, begins, -1)
