"""Warm starts: the last output and duals of each question, for engines that start from them.

A question that has a name (`Context.keys`) has one start, which its next answer takes the place of.
One without a name starts from the output that is best for its scores, of those that came last, and
leaves a start of its own.

Starts without duals are given as long as questions with one take less time than those without.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import count, islice
from typing import NamedTuple

import numpy as np

from rote.inference.exact.duals import Duals, dual_sizes
from rote.inference.problem import Context, Problem, WarmStart
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.inference.stores.base import Store
from rote.inference.wrappers.amortized.admission import LATEST as WEIGHT
from rote.inference.wrappers.amortized.entries import Entry, Shared
from rote.kernels.cache_lookup import best_remembered, is_same
from rote.space.space import Space
from rote.types import FloatArray, IntArray, readonly

LATEST = 64  # starts among which that of a question without a name is looked for
NONE = readonly(np.empty(0, dtype=np.int64))
SOME = 32  # scores
TINY = float(np.finfo(np.float64).tiny)


class Start(NamedTuple):
    """The answer to a question, as arrays of one row, and duals of the whole network.

    All scores are kept of a question that is new, or was asked again as it was; of one whose scores
    change, as in training, some of them, which tell whether it is asked again as it was.
    """

    labels: IntArray
    some: bytes
    scores: FloatArray | None
    duals: Duals | None
    gap: float  # how much better another output may be; 0 where none is
    size: int  # in bytes

    @classmethod
    def of(
        cls,
        labels: IntArray,
        some: bytes,
        scores: FloatArray | None,
        duals: Duals | None,
        gap: float,
    ) -> Start:
        """A start, measured."""
        size = labels.nbytes + len(some)
        if scores is not None:
            size += scores.nbytes
        if duals is not None:
            size += duals.messages.nbytes + duals.multipliers.nbytes
        return cls(labels, some, scores, duals, gap, size)


class WarmStarts(Shared):
    """The starts of one space, those that came last at the end."""

    prefix = "warm1-"

    def __init__(self, space: Space, store: Store | None = None) -> None:
        super().__init__(space, store, dual_sizes(space))
        self.size = 0
        self.starts: dict[Hashable, Start] = {}
        self.cold: float | None = None  # seconds of a question without a start
        self.warm: float | None = None  # and with one
        self._step = -(-space.parts // SOME)
        self._unnamed = map(_Unnamed, count())

    @property
    def pays(self) -> bool:
        """Whether questions with a start take less time, as far as is known.

        Of starts with duals this is not asked: those who take them are known to gain.
        """
        return self.warm is None or self.cold is None or self.warm < self.cold

    def note(self, starts: Sequence[Start | None], seconds: float) -> None:
        """Note how long an engine took for questions with these starts."""
        each = seconds / len(starts)
        if all(start is None for start in starts):
            self.cold = each if self.cold is None else self.cold + WEIGHT * (each - self.cold)
        elif all(start is not None and start.duals is None for start in starts):
            self.warm = each if self.warm is None else self.warm + WEIGHT * (each - self.warm)

    def fetch(self) -> None:
        """Take from the store what others have put there since the last time."""
        if self.log is not None and (news := self.news()):
            labels, scores, messages, multipliers, _, gaps = news
            duals = Duals(readonly(messages), readonly(multipliers))
            for i, gap in enumerate(gaps.tolist()):
                own = duals.rows([i]) if messages[i].any() or multipliers[i].any() else None
                whole = scores[i : i + 1]
                start = Start.of(readonly(labels[i : i + 1]), self._some(whole, 0), whole, own, gap)
                self._put(next(self._unnamed), start)

    def find(self, problem: Problem, context: Context) -> list[Start | None]:
        """What each question starts from."""
        if context.keys is not None:
            return [self.starts.get(key) for key in context.keys]
        if not self.starts:
            return [None] * len(problem)
        latest = list(islice(reversed(self.starts.values()), LATEST))
        labels = readonly(np.concatenate([start.labels for start in latest]))
        parts = readonly(self.space.known_parts_of(labels))
        variables = len(self.space.variables)
        best = best_remembered(problem.scores, problem.closed_rows, parts, variables)
        return [latest[k] if k >= 0 else None for k in best.tolist()]

    def answers(
        self, problem: Problem, starts: Sequence[Start | None]
    ) -> tuple[IntArray, Solutions | None]:
        """The questions whose scores are those of their starts, and what is known of them."""
        if problem.closed is not None:
            return NONE, None
        same = [
            (i, start)
            for i, start in enumerate(starts)
            if start is not None
            and start.scores is not None
            and is_same(problem.scores, i, start.scores)
        ]
        if not same:
            return NONE, None
        rows, labels = np.array([i for i, _ in same]), np.concatenate([s.labels for _, s in same])
        gaps, part = np.array([start.gap for _, start in same]), problem.rows(rows)
        status = np.where(gaps > 0, Status.FEASIBLE, Status.OPTIMAL)
        bound = part.value(readonly(labels)) + gaps
        return rows, Solutions.of(part, labels, FoundBy.CACHE, bound=bound, status=status)

    def context(
        self, context: Context, problem: Problem, starts: Sequence[Start | None]
    ) -> Context:
        """The same with outputs and duals to start from; -1 and 0 where nothing is known."""
        return Context(
            context.gold, context.features, self._warm(starts), context.keys, problem.closed is None
        )

    def _warm(self, starts: Sequence[Start | None]) -> WarmStart | None:
        if len(starts) == 1:
            own = starts[0]
            return None if own is None else WarmStart(own.labels, own.duals)
        known = [(i, start) for i, start in enumerate(starts) if start is not None]
        if not known:
            return None
        labels = np.full((len(starts), len(self.space.variables)), -1)
        messages, multipliers = (np.zeros((len(starts), size)) for size in self.dual_sizes)
        duals = None
        for i, start in known:
            labels[i] = start.labels[0]
            if start.duals is not None:
                messages[i], multipliers[i] = start.duals.messages[0], start.duals.multipliers[0]
                duals = Duals(readonly(messages), readonly(multipliers))
        return WarmStart(readonly(labels), duals)

    def remember(self, problem: Problem, context: Context, found: Solutions) -> None:
        """Keep answers of an engine that have an output."""
        if problem.closed is not None:
            return
        keys: Iterable[Hashable] = self._unnamed if context.keys is None else context.keys
        one, new = len(problem) == 1, []
        status = found.status.tolist()
        for i, key in zip(range(len(problem)), keys, strict=False):
            if status[i] > Status.FEASIBLE:
                continue
            # Arrays of one row are the engine's own, and no others are held by keeping them.
            labels = found.labels if one else readonly(found.labels[i : i + 1].copy())
            duals = found.duals
            if duals is not None and not one:
                duals = duals.rows([i])
            old, some, scores = self.starts.get(key), self._some(problem.scores, i), None
            if old is None or old.some == some:
                scores = problem.scores[i : i + 1].copy()
            gap = 0.0
            if status[i] != Status.OPTIMAL:
                gap = max(float(found.bound[i] - found.value[i]), TINY)
            start = Start.of(labels, some, scores, duals, gap)
            self._put(key, start)
            new.append((i, start))
        if self.log is not None:
            self.log.append(self._entry(problem.scores[i], start).encoded() for i, start in new)

    def _some(self, scores: FloatArray, i: int) -> bytes:
        return scores[i, :: self._step].tobytes()

    def _entry(self, scores: FloatArray, start: Start) -> Entry:
        """What a store keeps; duals are zero where there are none."""
        duals = start.duals or Duals(*(np.zeros((1, size)) for size in self.dual_sizes))
        return Entry(
            start.labels[0], scores, duals.messages[0], duals.multipliers[0], -np.inf, start.gap
        )

    def _put(self, key: Hashable, start: Start) -> None:
        old = self.starts.pop(key, None)
        self.size += start.size - (0 if old is None else old.size)
        self.starts[key] = start

    def forget(self, share: float = 0.25) -> None:
        """Let go of the starts that came first."""
        for key in list(islice(self.starts, max(1, int(share * len(self.starts))))):
            self.size -= self.starts.pop(key).size


class _Unnamed(NamedTuple):
    """A name that no caller gives."""

    number: int
