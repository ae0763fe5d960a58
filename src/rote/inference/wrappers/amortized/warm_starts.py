"""Warm starts: the last output and duals of each question, for engines that start from them.

A question that has a name (`Context.keys`) has one start, which its next answer takes the place of.
One without a name starts from the output that is best for its scores, of those that came last, and
leaves a start of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import replace
from itertools import count, islice
from typing import NamedTuple

import numpy as np

from rote.inference.exact.duals import Duals
from rote.inference.problem import Context, Problem, WarmStart
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.inference.stores.base import Store
from rote.inference.wrappers.amortized.entries import Entry, Shared
from rote.kernels.cache_lookup import best_remembered
from rote.space.space import Space
from rote.types import FloatArray, IntArray, readonly

LATEST = 64  # starts among which that of a question without a name is looked for
NONE = readonly(np.empty(0, dtype=np.int64))
TINY = float(np.finfo(np.float64).tiny)


class Start(NamedTuple):
    """The answer to a question, and duals of the whole network."""

    labels: IntArray
    scores: FloatArray
    messages: FloatArray
    multipliers: FloatArray
    gap: float  # how much better another output may be; 0 where none is

    @property
    def size(self) -> int:
        """In bytes."""
        return sum(array.nbytes for array in self[:4])


class WarmStarts(Shared):
    """The starts of one space, those that came last at the end."""

    prefix = "warm1-"

    def __init__(self, space: Space, store: Store | None = None) -> None:
        super().__init__(space, store, (int(space.network.message_ptr[-1]), len(space.rows)))
        self.size = 0
        self.starts: dict[Hashable, Start] = {}
        self._unnamed = map(_Unnamed, count())

    def fetch(self) -> None:
        """Take from the store what others have put there since the last time."""
        if self.log is not None and (news := self.news()):
            labels, scores, messages, multipliers, _, gaps = news
            for i, gap in enumerate(gaps.tolist()):
                own = Start(labels[i], scores[i], messages[i], multipliers[i], gap)
                self._put(next(self._unnamed), own)

    def find(self, problem: Problem, context: Context) -> Sequence[Start | None]:
        """What each question starts from."""
        if context.keys is not None:
            return [self.starts.get(key) for key in context.keys]
        if not self.starts:
            return [None] * len(problem)
        latest = list(islice(reversed(self.starts.values()), LATEST))
        labels = readonly(np.array([start.labels for start in latest]))
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
            i
            for i, start in enumerate(starts)
            if start is not None and (start.scores == problem.scores[i]).all()
        ]
        if not same:
            return NONE, None
        known = [start for start in (starts[i] for i in same) if start is not None]
        rows, labels = np.array(same), np.array([start.labels for start in known])
        gaps, part = np.array([start.gap for start in known]), problem.rows(rows)
        status = np.where(gaps > 0, Status.FEASIBLE, Status.OPTIMAL)
        bound = part.value(readonly(labels)) + gaps
        return rows, Solutions.of(part, labels, FoundBy.CACHE, bound=bound, status=status)

    def context(
        self, context: Context, problem: Problem, starts: Sequence[Start | None]
    ) -> Context:
        """The same with outputs and duals to start from; -1 and 0 where nothing is known."""
        record = problem.closed is None
        known = [(i, start) for i, start in enumerate(starts) if start is not None]
        if not known:
            return replace(context, record=record)
        if len(starts) == 1:
            own = known[0][1]
            warm = WarmStart(own.labels[None], Duals(own.messages[None], own.multipliers[None]))
            return replace(context, warm=warm, record=record)
        m, sizes = len(starts), self.dual_sizes
        labels = np.full((m, len(self.space.variables)), -1)
        messages, multipliers = np.zeros((m, sizes[0])), np.zeros((m, sizes[1]))
        for i, start in known:
            labels[i], messages[i], multipliers[i] = start.labels, start.messages, start.multipliers
        duals = Duals(readonly(messages), readonly(multipliers))
        return replace(context, warm=WarmStart(readonly(labels), duals), record=record)

    def remember(self, problem: Problem, context: Context, found: Solutions) -> None:
        """Keep answers of an engine that have an output and duals."""
        duals = found.duals
        if duals is None or problem.closed is not None:
            return
        keys: Iterable[Hashable] = self._unnamed if context.keys is None else context.keys
        new = []
        status, gap = found.status.tolist(), (found.bound - found.value).tolist()
        for i, key in zip(range(len(problem)), keys, strict=False):
            if found.labels[i, 0] >= 0:
                own = 0.0 if status[i] == Status.OPTIMAL else max(gap[i], TINY)
                start = Start(
                    readonly(found.labels[i].copy()),
                    readonly(problem.scores[i].copy()),
                    readonly(duals.messages[i].copy()),
                    readonly(duals.multipliers[i].copy()),
                    own,
                )
                self._put(key, start)
                new.append(start)
        if self.log is not None:
            self.log.append(Entry(*start[:4], -np.inf, start.gap).encoded() for start in new)

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
