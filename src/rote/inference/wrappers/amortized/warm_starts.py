"""Warm starts: the last output and duals of each question, for engines that start from them.

A question that has a name (`Context.keys`) has one entry, which its next answer takes the place of.
One without a name starts from the entry whose output is best for its scores, of those that were of
use last, and gets an entry of its own.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from rote.inference.exact.duals import Duals
from rote.inference.problem import Context, Problem, WarmStart
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.inference.stores.base import Store
from rote.inference.wrappers.amortized.entries import Entries, Entry
from rote.kernels.cache_lookup import best_remembered
from rote.space.space import Space
from rote.types import FloatArray, IntArray, readonly

NONE = readonly(np.empty(0, dtype=np.int64))
LATEST = 64  # entries among which the start of a question without a name is looked for


class WarmStarts(Entries):
    """The entries of one space that engines start from; their duals are of its whole network."""

    columns = ("scores", "labels", "messages", "multipliers", "gaps", "used")
    prefix = "warm1-"

    def __init__(self, space: Space, store: Store | None = None) -> None:
        super().__init__(space, store, (int(space.network.message_ptr[-1]), len(space.rows)))
        self.scores = np.empty((1, space.parts))
        self.labels = np.empty((1, len(space.variables)), dtype=np.int64)
        self.messages, self.multipliers = (np.empty((1, size)) for size in self.dual_sizes)
        self.gaps = np.empty(1)
        self._named: dict[Hashable, int] = {}

    def fetch(self) -> None:
        """Take from the store what others have put there since the last time."""
        if news := self.news():
            labels, scores, messages, multipliers, _, gaps = news
            nowhere = np.full(len(labels), -1, dtype=np.int64)
            self._write(nowhere, labels, scores, Duals(messages, multipliers), gaps)

    def find(self, problem: Problem, context: Context) -> IntArray:
        """The entry that each question starts from, or -1."""
        if context.keys is not None:
            return np.array([self._named.get(key, -1) for key in context.keys], dtype=np.int64)
        if not self.count:
            return np.full(len(problem), -1, dtype=np.int64)
        latest = np.argsort(self.used[: self.count], kind="stable")[-LATEST:]
        variables = len(self.space.variables)
        parts = readonly(self.space.known_parts_of(readonly(self.labels[latest])))
        best = best_remembered(problem.scores, problem.closed_rows, parts, variables)
        return np.where(best >= 0, latest[best], -1)

    def answers(self, problem: Problem, starts: IntArray) -> tuple[IntArray, Solutions | None]:
        """The questions whose scores are those of their entries, and what is known of them."""
        if problem.closed is not None:
            return NONE, None
        same = np.array(
            [
                i
                for i, row in enumerate(starts.tolist())
                if row >= 0 and np.array_equal(self.scores[row], problem.scores[i])
            ],
            dtype=np.int64,
        )
        if not len(same):
            return same, None
        labels, gaps, part = self.labels[starts[same]], self.gaps[starts[same]], problem.rows(same)
        status = np.where(gaps > 0, Status.FEASIBLE, Status.OPTIMAL)
        bound = part.value(readonly(labels)) + gaps
        return same, Solutions.of(part, labels, FoundBy.CACHE, bound=bound, status=status)

    def context(self, context: Context, problem: Problem, starts: IntArray) -> Context:
        """The same with outputs and duals to start from; -1 and 0 where nothing is known."""
        record = problem.closed is None
        if not (starts >= 0).any():
            return replace(context, record=record)
        none = starts < 0
        labels, messages = self.labels[starts], self.messages[starts]
        multipliers = self.multipliers[starts]
        labels[none], messages[none], multipliers[none] = -1, 0.0, 0.0
        duals = Duals(readonly(messages), readonly(multipliers))
        return replace(context, warm=WarmStart(readonly(labels), duals), record=record)

    def remember(
        self, problem: Problem, context: Context, starts: IntArray, found: Solutions
    ) -> None:
        """Keep answers of an engine that have an output and duals."""
        there = found.labels[:, 0] >= 0
        if found.duals is None or problem.closed is not None or not there.any():
            return
        keys = context.keys
        if not there.all():
            rows = np.flatnonzero(there)
            problem, context = problem.rows(rows), context.rows(rows)
            starts, found, keys = starts[rows], found.rows(rows), context.keys
        assert found.duals is not None
        gaps = np.where(
            found.status == Status.OPTIMAL,
            0.0,
            np.maximum(found.bound - found.value, np.finfo(np.float64).tiny),
        )
        places = np.full(len(problem), -1, dtype=np.int64) if keys is None else starts
        rows = self._write(places, found.labels, problem.scores, found.duals, gaps)
        if keys is not None:
            self._named.update(zip(keys, rows.tolist(), strict=True))
        if self.log is not None:
            self.log.append(
                Entry(
                    self.labels[row],
                    self.scores[row],
                    self.messages[row],
                    self.multipliers[row],
                    -np.inf,
                    float(self.gaps[row]),
                ).encoded()
                for row in rows.tolist()
            )

    def _write(
        self,
        rows: IntArray,
        labels: IntArray,
        scores: FloatArray,
        duals: Duals,
        gaps: FloatArray,
    ) -> IntArray:
        rows = self.new_rows(rows)
        self.scores[rows] = scores
        self.labels[rows] = labels
        self.messages[rows] = duals.messages
        self.multipliers[rows] = duals.multipliers
        self.gaps[rows] = gaps
        self.use(rows)
        return rows

    def forget(self, share: float = 0.25) -> IntArray:
        """Let go of the entries that have not been of use for longest."""
        place = super().forget(share)
        self._named = {k: int(place[row]) for k, row in self._named.items() if place[row] >= 0}
        return place
