"""Warm starts: the last output and duals of each question, for engines that start from them.

A question that has a name (`Context.keys`) has one start, which its next answer takes the place of.
One without a name starts from the output that is best for its scores, of those that came last, and
leaves a start of its own.

Where an engine is quick as a rule, only what took it long is remembered, and starts are given as
long as questions with one take less time than those without.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import count, islice
from typing import NamedTuple

import numpy as np

from rote.inference.exact.duals import Duals
from rote.inference.problem import Context, Problem, WarmStart
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.inference.stores.base import Store
from rote.inference.wrappers.amortized.admission import LATEST as WEIGHT
from rote.inference.wrappers.amortized.entries import Entry, Shared
from rote.kernels.cache_lookup import best_remembered, is_same
from rote.space.space import Space
from rote.types import FloatArray, IntArray, readonly

LATEST = 64  # starts among which that of a question without a name is looked for
LONG = 0.01  # seconds; remembering what took as long costs nothing to speak of
NONE = readonly(np.empty(0, dtype=np.int64))
TINY = float(np.finfo(np.float64).tiny)


class Start(NamedTuple):
    """The answer to a question, as arrays of one row, and duals of the whole network."""

    labels: IntArray
    scores: FloatArray
    duals: Duals | None
    gap: float  # how much better another output may be; 0 where none is

    @property
    def size(self) -> int:
        """In bytes."""
        size = self.labels.nbytes + self.scores.nbytes
        if self.duals is None:
            return size
        return size + self.duals.messages.nbytes + self.duals.multipliers.nbytes


class WarmStarts(Shared):
    """The starts of one space, those that came last at the end."""

    prefix = "warm1-"

    def __init__(self, space: Space, store: Store | None = None) -> None:
        super().__init__(space, store, (int(space.network.message_ptr[-1]), len(space.rows)))
        self.size = 0
        self.starts: dict[Hashable, Start] = {}
        self.cold: float | None = None  # seconds of a question without a start
        self.warm: float | None = None  # and with one
        self._unnamed = map(_Unnamed, count())

    @property
    def pays(self) -> bool:
        """Whether questions with a start take less time, as far as is known."""
        return self.warm is None or self.cold is None or self.warm < self.cold

    def note(self, starts: Sequence[Start | None], seconds: float) -> None:
        """Note how long an engine took for questions with these starts."""
        each, cold = seconds / len(starts), starts.count(None)
        if cold == len(starts):
            self.cold = each if self.cold is None else self.cold + WEIGHT * (each - self.cold)
        elif not cold:
            self.warm = each if self.warm is None else self.warm + WEIGHT * (each - self.warm)

    def fetch(self) -> None:
        """Take from the store what others have put there since the last time."""
        if self.log is not None and (news := self.news()):
            labels, scores, messages, multipliers, _, gaps = news
            duals = Duals(readonly(messages), readonly(multipliers))
            for i, gap in enumerate(gaps.tolist()):
                own = duals.rows([i]) if messages[i].any() or multipliers[i].any() else None
                start = Start(readonly(labels[i : i + 1]), scores[i : i + 1], own, gap)
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
            if start is not None and is_same(problem.scores, i, start.scores)
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
        status, gap = found.status.tolist(), (found.bound - found.value).tolist()
        for i, key in zip(range(len(problem)), keys, strict=False):
            if status[i] > Status.FEASIBLE:
                continue
            # Arrays of one row are the engine's own, and no others are held by keeping them.
            labels = found.labels if one else readonly(found.labels[i : i + 1].copy())
            duals = found.duals
            if duals is not None and not one:
                duals = duals.rows([i])
            old = self.starts.get(key)  # its room is made already
            scores = np.empty((1, self.space.parts)) if old is None else old.scores
            scores[0] = problem.scores[i]
            own = 0.0 if status[i] == Status.OPTIMAL else max(gap[i], TINY)
            self._put(key, Start(labels, scores, duals, own))
            new.append(key)
        if self.log is not None:
            self.log.append(self._entry(self.starts[key]).encoded() for key in new)

    def _entry(self, start: Start) -> Entry:
        """What a store keeps; duals are zero where there are none."""
        duals = start.duals or Duals(*(np.zeros((1, size)) for size in self.dual_sizes))
        arrays = start.labels, start.scores, duals.messages, duals.multipliers
        return Entry(*(array[0] for array in arrays), -np.inf, start.gap)

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
