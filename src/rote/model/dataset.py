"""Examples made ready for kernels: feature vectors as arrays, examples grouped by frame.

This is done once; training and prediction then run over arrays, group by group. For an engine that
need not look at all of an input, vectors are worked out when they are first asked for instead: by
the task's ``feature_reader``. Inputs wait for each other there, so that what all of
them need next is worked out together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from rote.errors import DataError, LabelError, ScoreError, SettingError, locate, relocate
from rote.features import (
    Features,
    HashedIndex,
    Index,
    Lines,
    Positions,
    Reader,
    VectorBuilder,
)
from rote.inference.problem import (
    NO_CONTEXT,
    Context,
    FeatureRows,
    LazyProblem,
    LazyScores,
    Problem,
    Wanted,
)
from rote.kernels.bundles import Slots, Vectors
from rote.kernels.learning.linear import score_some
from rote.model.layout import Layout
from rote.space import Space
from rote.space.global_features import columns_of
from rote.tasks.task import (
    Frame,
    Task,
    check_frame,
    check_task,
    labels_of,
)
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, readonly

CHUNK = 1 << 22  # scores that are in memory at once, for each thread
TOGETHER = 512  # inputs that are read together, where a task has a reader


@dataclass(frozen=True, eq=False)
class Batch:
    """The examples of one frame."""

    frame: Frame
    slots: Slots
    members: IntArray  # which examples of the whole
    firsts: IntArray  # the first vector of each
    sample_weight: FloatArray  # how much each counts in learning
    gold: IntArray | None  # (m, variables): the right labels, where they are known

    def __len__(self) -> int:
        return len(self.members)

    @property
    def space(self) -> Space:
        return self.frame.space

    def rows(self, index: slice | AnyArray) -> Batch:
        """Some of the examples."""
        return Batch(
            self.frame,
            self.slots,
            readonly(self.members[index]),
            readonly(self.firsts[index]),
            readonly(self.sample_weight[index]),
            None if self.gold is None else readonly(self.gold[index]),
        )

    def chunks(self, n_jobs: int = 1) -> list[Batch]:
        """Some examples at a time, so few that their scores fit into memory.

        With several jobs, there is at least a piece for each of them.
        """
        size = max(1, CHUNK // max(1, self.space.parts))
        if n_jobs > 1:
            size = min(size, -(-len(self) // n_jobs))
        return [self.rows(slice(k, k + size)) for k in range(0, len(self), size)]

    @cached_property
    def gold_slots(self) -> IntArray:
        """The right label or label tuple of each slot, of shape (m, slots)."""
        assert self.gold is not None
        return self.columns(self.gold)

    def columns(self, labels: IntArray) -> IntArray:
        """The label, label tuple or trait of each slot in each output that an engine found."""
        return columns_of(self.space, self.frame.global_feature_set, labels)


@dataclass(frozen=True, eq=False)
class Dataset:
    """Examples, their vectors and the layout of the weights that score them."""

    layout: Layout
    source: Vectors | LazyVectors
    groups: tuple[Batch, ...]
    count: int

    def __len__(self) -> int:
        return self.count

    @cached_property
    def vectors(self) -> Vectors:
        """All feature vectors."""
        return self.source.all() if isinstance(self.source, LazyVectors) else self.source

    @property
    def skipped(self) -> float:
        """The share of feature vectors that nobody has asked for yet."""
        source = self.source
        if not isinstance(source, LazyVectors) or not source.count:
            return 0.0
        return 1.0 - source.computed / source.count

    def batches(self) -> Iterator[list[Batch]]:
        """Pieces of groups, as many at once as there is room for their scores in memory."""
        batch: list[Batch] = []
        room = CHUNK
        for piece in (piece for group in self.groups for piece in group.chunks()):
            size = len(piece) * piece.space.parts
            if batch and size > room:
                yield batch
                batch, room = [], CHUNK
            batch.append(piece)
            room -= size
        if batch:
            yield batch

    def features(self, group: Batch) -> FeatureRows:
        """What engines may know of the examples of a group."""
        global_features = group.frame.global_feature_set
        return FeatureRows(
            self.vectors, group.slots, group.firsts, self.layout.size, global_features
        )

    def scores(self, weights: FloatArray, group: Batch) -> FloatArray:
        """Scores of shape (m, parts) for the examples of a group."""
        return self.features(group).scores(weights)

    def problem(self, weights: FloatArray, group: Batch, what: str = "input") -> Problem:
        """What outputs of the examples of a group are worth; errors call an example ``what``."""
        try:
            return self.features(group).problem(group.space, weights)
        except ScoreError as error:
            relocate(error, what, group.members.tolist())
            raise

    def context(self, group: Batch) -> Context:
        """What engines may know of the examples of a group: gold outputs and feature vectors."""
        return Context(group.gold, self.features(group))

    def question(
        self, weights: FloatArray, group: Batch, *, lazy: bool = False
    ) -> tuple[Problem, Context]:
        """What an engine is asked in prediction.

        ``lazy`` leaves vectors that are not there yet to be asked for by the engine.
        """
        if lazy and isinstance(self.source, LazyVectors) and not group.frame.global_features:
            return LazyProblem(_LazyScores(self.source, group, weights)), NO_CONTEXT
        return self.problem(weights, group), self.context(group).without_gold()

    @cached_property
    def places(self) -> tuple[tuple[Batch, int], ...]:
        """For each example its group, and its place in it."""
        found: list[tuple[Batch, int]] = [None] * self.count  # type: ignore[list-item]
        for group in self.groups:
            for place, member in enumerate(group.members.tolist()):
                found[member] = (group, place)
        return tuple(found)


def prepare(
    task: Task[Any, Any],
    xs: Iterable[Any],
    ys: Iterable[Any] | None = None,
    *,
    layout: Layout | None = None,
    hashed: Mapping[str, int] | None = None,
    sample_weight: AnyArray | None = None,
    allow_infeasible_gold: bool = False,
    lazy: bool = False,
) -> Dataset:
    """Examples made ready; without a layout, one is made for them and its indices are frozen.

    ``hashed`` says for some kinds of vectors into how many bits their names are hashed; a layout
    that is given has its indices already.
    ``sample_weight`` says how much each example counts in learning: 1, unless given. Outputs
    that break a rule are refused, unless ``allow_infeasible_gold``. With ``lazy``, inputs of a
    layout that is given are kept, and their vectors worked out when they are asked for.
    """
    check_task(task)
    if layout is not None and hashed:
        raise SettingError(
            "hashed says how names get columns in a new layout, and the layout given has columns "
            "already; leave one of them out"
        )
    check_many("inputs", xs)
    check_many("outputs", ys)
    builder = VectorBuilder(None if layout is None else layout.indices, hashed)
    batches: dict[Frame, _Batch] = {}
    # Tasks give out the same frame again, and its hash is not cheap. The frame is kept, so that no
    # other one can have its id.
    seen: dict[int, tuple[Frame, _Batch]] = {}
    outputs = None if ys is None else iter(ys)
    count, what = 0, "input" if ys is None else "example"
    read: _Reading | LazyVectors = _Reading(task, builder, what)
    if lazy:
        if layout is None:
            raise SettingError(
                "names of vectors that are read later have no columns; give a layout"
            )
        read = LazyVectors(task, layout, builder)
    for number, x in enumerate(xs):
        y = None if outputs is None else _next(outputs, number)
        try:
            frame = task.frame(x)
            if id(frame) not in seen:
                check_frame(frame)
                seen[id(frame)] = frame, batches.setdefault(frame, _Batch(frame))
            batch = seen[id(frame)][1]
            batch.members.append(number)
            batch.firsts.append(read.next)
            read.take(x, frame)
            if outputs is not None:
                batch.gold.append(_gold(task, x, y, frame))
        except Exception as error:
            locate(error, what, number)
            raise
        read.settle(TOGETHER)
        count = number + 1
    if outputs is not None and any(True for _ in outputs):
        raise DataError(f"there are {count} inputs and more outputs than that")
    read.settle()
    _check_hashed(hashed or {}, builder.indices)
    if layout is None:
        for index in builder.indices.values():
            index.freeze()
        layout = Layout.of(list(batches), builder.indices)
    each = _sample_weight(sample_weight, count)
    groups = [batch.group(layout, each, gold=ys is not None) for batch in batches.values()]
    if ys is not None and not allow_infeasible_gold:
        for group in groups:
            _check_rules(group)
    return Dataset(layout, read.source(), tuple(groups), count)


def check_many(what: str, given: object) -> None:
    """Refuse a single input or output where many are meant: it would be taken apart."""
    if isinstance(given, str | bytes | Mapping):
        raise DataError(
            f"expected a list of {what}, got {given!r:.80}; put a single one into a list, as in [x]"
        )


class _Reading:
    """Reads inputs: one by one, or many at a time where the task has a reader."""

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
        if len(self._waiting) < least:
            return
        try:
            self._add(self._waiting)
        except Exception as error:
            raise_for_one(error, self._add_one, self._waiting, self._what, self._read)
            raise
        self._read += len(self._waiting)
        self._waiting.clear()

    def _add_one(self, one: tuple[Any, Frame]) -> None:
        self._add([one])

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
        vectors = self._task.vectors(x)
        _check_count(vectors, frame)
        for kind, features in zip(frame.kinds, vectors, strict=True):
            self._builder.add(kind, features)

    def source(self) -> Vectors:
        """All that was read."""
        return self._builder.build()


def _check_count(vectors: Any, frame: Frame) -> None:
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


class LazyVectors:
    """The feature vectors of inputs, worked out when they are asked for.

    ``count`` is how many there are, and ``computed`` how many were worked out.
    """

    def __init__(self, task: Task[Any, Any], layout: Layout, builder: VectorBuilder) -> None:
        self._task, self._layout, self._builder = task, layout, builder
        self._reads = task.feature_reader
        self._xs: list[Any] = []
        self._rows: list[Sequence[Features]] = []  # where the task has no reader
        self.next = len(builder)  # the number of the next vector

    def take(self, x: Any, frame: Frame) -> None:
        """The next input."""
        self.next += len(frame.kinds)
        self._xs.append(x)
        if self._reads is None:
            rows = self._task.vectors(x)
            _check_count(rows, frame)
            self._rows.append(rows)

    def settle(self, least: int = 1) -> None:
        """Nothing is read yet."""

    def source(self) -> LazyVectors:
        return self

    def all(self) -> Vectors:
        """All of them."""
        self._asked[1:] = True
        return prepare(self._task, self._xs, layout=self._layout).vectors

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
        try:
            return reads(self._xs, names)
        except Exception as error:
            raise_for_one(error, lambda x: reads([x], names), self._xs, "input")
            raise

    def some(
        self, kinds: list[str], inputs: IntArray, vectors: IntArray, numbers: IntArray
    ) -> Vectors:
        """Vectors of inputs, of these kinds; ``numbers`` are theirs among all."""
        self._asked[numbers] = True
        builder = self._builder.emptied()
        if self._reader is not None:
            builder.add_lines(kinds, self._lines(self._reader, inputs, vectors))
            return builder.build()
        for kind, i, k in zip(kinds, inputs.tolist(), vectors.tolist(), strict=True):
            try:
                builder.add(kind, self._rows[i][k])
            except Exception as error:
                locate(error, "input", i)
                raise
        return builder.build()

    @staticmethod
    def _lines(reader: Reader, inputs: IntArray, vectors: IntArray) -> Mapping[str, Lines]:
        try:
            return reader.lines(inputs, vectors)
        except Exception as error:
            for number in np.unique(inputs).tolist():
                own = inputs == number
                try:
                    reader.lines(inputs[own], vectors[own])
                except type(error):
                    locate(error, "input", number)
                    break
            raise


class _LazyScores(LazyScores):
    """The scores of the inputs of a group, which are there once their vectors were looked at."""

    def __init__(self, source: LazyVectors, group: Batch, weights: FloatArray) -> None:
        super().__init__(group.space, len(group))
        self.source, self.group, self.weights = source, group, weights
        vector, each = group.slots.vector, group.slots.each
        self._firsts = np.maximum(vector, 0)
        self._counts = np.where(vector < 0, 0, np.where(each, np.diff(group.slots.start), 1))

    def fill(self, wanted: Sequence[Wanted]) -> None:
        own = [(scores, i, s) for scores, i, s in wanted if isinstance(scores, _LazyScores)]
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


def raise_for_one(
    error: Exception, read: Callable[[Any], object], xs: Sequence[Any], what: str, first: int = 0
) -> None:
    """Instead of an error in reading many, raise that of the first which has it by itself."""
    for number, x in enumerate(xs, start=first):
        try:
            read(x)
        except type(error) as own:
            locate(own, what, number)
            raise own from None


class _Batch:
    """The examples of one frame, while they are collected."""

    def __init__(self, frame: Frame) -> None:
        self.frame = frame
        self.members: list[int] = []
        self.firsts: list[int] = []
        self.gold: list[Sequence[int]] = []

    def group(self, layout: Layout, sample_weight: FloatArray, *, gold: bool) -> Batch:
        labels = readonly(self._labels()) if gold else None
        members = np.array(self.members, dtype=np.int64)
        return Batch(
            self.frame,
            layout.slots(self.frame),
            readonly(members),
            readonly(np.array(self.firsts, dtype=np.int64)),
            readonly(sample_weight[members]),
            labels,
        )

    def _labels(self) -> IntArray:
        try:
            return labels_of(self.frame.space, self.gold)
        except ValueError:
            for member, output in zip(self.members, self.gold, strict=True):
                try:
                    labels_of(self.frame.space, output)
                except ValueError as error:
                    locate(error, "example", member)
                    raise error from None
            raise


def _check_rules(group: Batch) -> None:
    assert group.gold is not None
    holds = group.space.holds(group.gold)
    if not holds.all():
        place = int(np.flatnonzero(~holds)[0])
        broken = group.space.broken(group.gold[place])[0].name
        error = LabelError(
            f"the output breaks the rule {broken!r}; correct the output, drop the rule, or say "
            "allow_infeasible_gold=True"
        )
        locate(error, "example", int(group.members[place]))
        raise error


def _check_hashed(hashed: Mapping[str, int], indices: Mapping[str, Index]) -> None:
    """Refuse a kind without names to hash: one that is misspelled, or one of arrays."""
    for kind in hashed:
        if not isinstance(indices.get(kind), HashedIndex):
            named = [k for k, index in indices.items() if not isinstance(index, Positions)]
            raise SettingError(
                f"hashed says how names of kind {kind!r} are hashed, and the inputs have no names "
                f"of that kind; they have names of {', '.join(map(repr, named)) or 'no kind'}"
            )


def _sample_weight(given: AnyArray | None, count: int) -> FloatArray:
    if given is None:
        return np.ones(count)
    sample_weight = np.asarray(given, dtype=np.float64)
    if sample_weight.shape != (count,):
        raise DataError(
            f"sample_weight has one number per example, {count}; got {sample_weight.shape}"
        )
    if not (np.isfinite(sample_weight).all() and (sample_weight >= 0).all()):
        raise DataError("sample_weight is finite and at least 0 for every example")
    return sample_weight


def _next(outputs: Iterator[Any], number: int) -> Any:
    try:
        return next(outputs)
    except StopIteration:
        raise DataError(f"input {number} has no output; there are {number} outputs") from None


def _gold(task: Task[Any, Any], x: Any, y: Any, frame: Frame) -> Sequence[int]:
    given = task.encode(x, y)
    expected = len(frame.space.variables)
    if given is None:
        raise LabelError(
            f"a task's encode(x, y) gives the positions of {expected} labels, one per variable; "
            "got None"
        )
    labels = list(given)
    if len(labels) != expected:
        raise LabelError(
            f"the output has {len(labels)} labels, and its space has {expected} variables"
        )
    return labels
