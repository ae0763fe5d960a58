"""Examples made ready for kernels: feature vectors as arrays, examples in batches by their frame.

This is done once; training and prediction then run over arrays, batch by batch. For an engine that
need not look at all of an input, vectors are worked out when they are first asked for instead
(`rote.model.vectors.LazyVectors`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any

import numpy as np

from rote.errors import DataError, LabelError, ScoreError, SettingError, locate, relocate
from rote.features import HashedIndex, Index, Positions, VectorBuilder
from rote.inference.problem import NO_CONTEXT, Context, FeatureRows, LazyProblem, Problem
from rote.io.tables import columns_of, grouped
from rote.kernels.bundles import Vectors
from rote.model.batch import Batch, within_memory
from rote.model.layout import Layout
from rote.model.vectors import TOGETHER, BatchScores, EagerVectors, LazyVectors, blame_one
from rote.tasks.task import Frame, Task, check_frame, check_task, labels_of
from rote.types import AnyArray, FloatArray, IntArray, readonly

NOTHING = object()  # where inputs or outputs have come to an end


@dataclass(frozen=True, eq=False)
class Dataset:
    """Examples, their vectors and the layout of the weights that score them.

    Parameters
    ----------
    layout
        Where each weight lies.
    source
        All feature vectors, or what works them out when they are asked for.
    groups
        The examples, those of one frame in one batch.
    count
        How many examples there are.
    keys
        What each example is called where engines remember it; its number, if nothing else is said.
    """

    layout: Layout
    source: Vectors | LazyVectors
    groups: tuple[Batch, ...]
    count: int
    keys: IntArray | None = None

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

    def batches(self, n_jobs: int = 1) -> Iterator[list[Batch]]:
        """Pieces of groups, as many at once as there is room for their scores in memory.

        For several jobs, each piece is by itself.
        """
        if n_jobs > 1:
            return ([piece] for group in self.groups for piece in group.chunks(n_jobs))
        return within_memory(self.groups)

    def features(self, group: Batch) -> FeatureRows:
        """What engines may know of the examples of a group."""
        known = group.slots, group.firsts, self.layout.size, group.frame.global_feature_set
        return FeatureRows(self.vectors, *known)

    def scores(self, weights: FloatArray, group: Batch) -> FloatArray:
        """Scores of shape (m, parts) for the examples of a group."""
        return self.features(group).scores(weights)

    def problem(self, weights: FloatArray, group: Batch, what: str = "input") -> Problem:
        """What is maximised for the examples of a group; errors call an example ``what``."""
        try:
            return self.features(group).problem(group.space, weights)
        except ScoreError as error:
            relocate(error, what, group.members.tolist())
            raise

    def context(self, group: Batch) -> Context:
        """What engines may know of the examples of a group: gold, feature vectors and keys."""
        keys = group.members if self.keys is None else readonly(self.keys[group.members])
        return Context(group.gold, self.features(group), keys=keys)

    def question(
        self, weights: FloatArray, group: Batch, *, lazy: bool = False
    ) -> tuple[Problem, Context]:
        """What an engine is asked in prediction.

        ``lazy`` leaves vectors that are not there yet to be asked for by the engine.
        """
        if lazy and isinstance(self.source, LazyVectors) and not group.frame.global_features:
            return LazyProblem(BatchScores(self.source, group, weights)), NO_CONTEXT
        context = replace(self.context(group), gold=None)
        if self.keys is None:  # a number says nothing beyond its dataset
            context = replace(context, keys=None)
        return self.problem(weights, group), context

    @cached_property
    def places(self) -> tuple[tuple[Batch, int], ...]:
        """For each example its group, and its place in it."""
        found = {
            member: (group, place)
            for group in self.groups
            for place, member in enumerate(group.members.tolist())
        }
        return tuple(found[member] for member in range(self.count))


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

    Parameters
    ----------
    task
        What an input looks like, and what its outputs mean.
    xs, ys
        The inputs, and as many gold outputs where they are known.
    layout
        That of a model; features it does not know are left out.
    hashed
        For some kinds of vectors, into how many bits their names are hashed. Not with a layout,
        which has its indices already.
    sample_weight
        How much each example counts in learning, at least 0; 1 unless given.
    allow_infeasible_gold
        Takes gold outputs that break a rule, which are refused otherwise.
    lazy
        Keeps the inputs, and works out their vectors when they are asked for; with a layout only.
    """
    check_task(task)
    if layout is not None and hashed:
        raise SettingError(
            "hashed says how names get columns in a new layout, and the layout given has columns "
            "already; leave one of them out"
        )
    if layout is None and lazy:
        raise SettingError("names of vectors that are read later have no columns; give a layout")
    check_many("inputs", xs)
    check_many("outputs", ys)
    builder = VectorBuilder(None if layout is None else layout.indices, hashed)
    batches: dict[Frame, _Examples] = {}
    # Tasks give out the same frame again, and its hash is not cheap. The frame is kept, so that no
    # other one can have its id.
    seen: dict[int, tuple[Frame, _Examples]] = {}
    what = "input" if ys is None else "example"
    read: EagerVectors | LazyVectors = EagerVectors(task, builder, what)
    if lazy:
        read = LazyVectors(task, builder, lambda xs: prepare(task, xs, layout=layout).vectors)
    count = 0
    for number, (x, y) in enumerate(pairs_of(xs, ys)):
        try:
            frame = task.frame(x)
            if id(frame) not in seen:
                check_frame(frame)
                seen[id(frame)] = frame, batches.setdefault(frame, _Examples())
            batch = seen[id(frame)][1]
            batch.members.append(number)
            batch.firsts.append(read.next)
            read.take(x, frame)
            if ys is not None:
                batch.gold.append(_gold(task, x, y, frame))
        except Exception as error:
            locate(error, what, number)
            raise
        read.settle(TOGETHER)
        count = number + 1
    read.settle()
    _check_hashed(hashed or {}, builder.indices)
    if layout is None:
        for index in builder.indices.values():
            index.freeze()
        layout = Layout.of(list(batches), builder.indices)
    each = _sample_weight(sample_weight, count)
    groups = tuple(own.batch(f, layout, each, gold=ys is not None) for f, own in batches.items())
    if ys is not None and not allow_infeasible_gold:
        for group in groups:
            _check_rules(group)
    return Dataset(layout, read.source(), groups, count)


def check_many(what: str, given: object) -> None:
    """Refuse a single input or output where many are meant: it would be taken apart."""
    if isinstance(given, str | bytes | Mapping):
        raise DataError(
            f"expected a list of {what}, got {given!r:.80}; put a single one into a list, as in [x]"
        )
    if columns_of(given) is not None or grouped(given) is not None:
        raise DataError(
            f"expected a list of {what}, got a {type(given).__name__}; make a list of tables, one "
            "for each, as in [rows for _, rows in table.groupby(...)]"
        )


def pairs_of(xs: Iterable[Any], ys: Iterable[Any] | None) -> Iterator[tuple[Any, Any]]:
    """Inputs with their outputs, of which there are as many."""
    if ys is None:
        yield from ((x, None) for x in xs)
        return
    for number, (x, y) in enumerate(zip_longest(xs, ys, fillvalue=NOTHING)):
        if y is NOTHING:
            raise DataError(f"input {number} has no output; there are {number} outputs")
        if x is NOTHING:
            raise DataError(f"there are {number} inputs and more outputs than that")
        yield x, y


@dataclass(eq=False)
class _Examples:
    """The examples of one frame, while they are collected."""

    members: list[int] = field(default_factory=list)
    firsts: list[int] = field(default_factory=list)
    gold: list[Sequence[int]] = field(default_factory=list)

    def batch(self, frame: Frame, layout: Layout, weight: FloatArray, *, gold: bool) -> Batch:
        labels = None
        if gold:
            named = zip(self.members, self.gold, strict=True)
            with blame_one("example", lambda one: labels_of(frame.space, one), named):
                labels = readonly(labels_of(frame.space, self.gold))
        members, firsts = (
            readonly(np.array(own, dtype=np.int64)) for own in (self.members, self.firsts)
        )
        own_weight = readonly(weight[members])
        return Batch(frame, layout.slots(frame), members, firsts, own_weight, labels)


def _check_rules(group: Batch) -> None:
    assert group.gold is not None
    holds = group.space.was_feasible(group.gold)
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


def _gold(task: Task[Any, Any], x: Any, y: Any, frame: Frame) -> Sequence[int]:
    given, expected = task.encode(x, y), frame.space.own
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
