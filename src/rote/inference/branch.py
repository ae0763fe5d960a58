"""Exact inference for any space: branch and bound over labels, with dual bounds.

Optimises max_y Σ_parts scores · z(y) over the outputs that obey the rules. The search
(`rote.kernels.branch`) is anytime: stopped by a limit, it returns the best output found
and the largest bound of what it had left to look at.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from rote.errors import SettingError
from rote.inference.answers import answered
from rote.inference.base import (
    Objective,
    Solutions,
    Source,
    Status,
    as_objective,
    positive,
)
from rote.inference.canonical import canonical
from rote.inference.duals import Duals, dual_bound, zero_duals
from rote.inference.plans import no_plan, partial_plan
from rote.inference.search import UNLIMITED, Found, first_of_equals, search, without_far
from rote.kernels.ascent import ascend
from rote.space.space import Space
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, frozen

FIRST_NODES = 1 << 14  # the first try under a time limit; each further one has four times as many


@dataclass(frozen=True)
class BranchAndBound:
    """Branch and bound, after eliminating cheap variables where that helps.

    ``node_limit`` and ``time_limit`` (seconds) hold per input. ``eliminate=False`` keeps
    every variable in the search; only then can it start from given duals.
    """

    node_limit: int | None = None
    time_limit: float | None = None
    eliminate: bool = True

    def __post_init__(self) -> None:
        positive("node_limit", self.node_limit)
        positive("time_limit", self.time_limit)

    def solve(
        self, space: Space, objective: Objective | AnyArray, start: Duals | None = None
    ) -> Solutions:
        objective = as_objective(space, objective)
        if start is not None:
            dual_bound(space, objective, start)  # checks shapes and signs
        floors = np.full(len(objective), -np.inf)
        found = self._search(space, objective, floors, start)
        labels = found.labels
        if found.doubtful.any():
            doubtful = found.doubtful & found.complete
            labels = self._first_of_equals(space, objective, labels, doubtful)
        if found.complete.all():
            return answered(space, objective, labels, Source.BRANCH)
        some = (labels >= 0).all(axis=1)
        status = np.select(
            [found.complete & some, found.complete, some],
            [Status.OPTIMAL, Status.INFEASIBLE, Status.FEASIBLE],
            Status.TIMED_OUT,
        )
        return answered(space, objective, labels, Source.BRANCH, bound=found.bound, status=status)

    def duals(
        self,
        space: Space,
        objective: Objective | AnyArray,
        start: Duals | None = None,
        sweeps: int = 32,
    ) -> Duals:
        """Duals by so many sweeps of ascent, from ``start`` or from zero.

        `dual_bound` says what they prove; it never gets worse with more sweeps.
        """
        objective = as_objective(space, objective)
        if sweeps < 0:
            raise SettingError(f"sweeps is a number of at least 0, got {sweeps}")
        if start is None:
            start = zero_duals(space, len(objective))
        bound = dual_bound(space, objective, start)
        messages, multipliers = without_far(start.messages), start.multipliers.copy()
        long_rows = slice(len(space.rows) - len(space.network.rows), None)
        tail = multipliers[:, long_rows].copy()
        ascend(objective.scores, objective.closed, space.network.graph, messages, tail, sweeps)
        multipliers[:, long_rows] = tail
        # What a start knew of closed labels may take more than these sweeps to find again.
        worse = dual_bound(space, objective, Duals(messages, multipliers)) > bound
        messages[worse], multipliers[worse] = start.messages[worse], start.multipliers[worse]
        return Duals(frozen(messages), frozen(multipliers))

    def _first_of_equals(
        self, space: Space, objective: Objective, labels: IntArray, doubtful: BoolArray
    ) -> IntArray:
        """Ties broken by a search in lexicographic order, or by `canonical` where it is long.

        The search is short where bounds are tight.
        """
        rows = np.flatnonzero(doubtful & (labels >= 0).all(axis=1))
        if not len(rows):
            return labels
        first = first_of_equals(space, objective.rows(rows), frozen(labels[rows]))
        settled = (first >= 0).all(axis=1)
        labels = labels.copy()
        labels[rows[settled]] = first[settled]
        unsettled = np.zeros_like(doubtful)
        unsettled[rows[~settled]] = True
        return canonical(space, objective, labels, unsettled, self._better)

    def _better(self, space: Space, objective: Objective, floor: FloatArray) -> IntArray:
        found = self._search(space, objective, floor - 0.5 * objective.ties)
        return found.labels

    def _search(
        self,
        space: Space,
        objective: Objective,
        floors: FloatArray,
        start: Duals | None = None,
    ) -> Found:
        plan = partial_plan(space) if self.eliminate and start is None else no_plan(space)
        most = self.node_limit or UNLIMITED

        def tried(rows: IntArray, nodes: int) -> Found:
            own = start and Duals(start.messages[rows], start.multipliers[rows])
            part = objective if len(rows) == len(objective) else objective.rows(rows)
            return search(plan, space, part, floors[rows], own, nodes)

        everything = np.arange(len(objective))
        if self.time_limit is None:
            return tried(everything, most)
        # Most inputs are easy: all get a first try together, the rest one after the other.
        first = tried(everything, min(FIRST_NODES, most))
        again = np.flatnonzero(~first.complete)
        each = [_timed(tried, row, self.time_limit, most) for row in again[:, None]]
        fields = [array.copy() for array in _fields(first)]
        for row, found in zip(again, each, strict=True):
            for field, new in zip(fields, _fields(found), strict=True):
                field[row] = new[0]
        return Found(*fields)


def _timed(
    tried: Callable[[IntArray, int], Found], row: IntArray, seconds: float, most: int
) -> Found:
    """Tries with growing node limits, the last of them what the time left allows.

    Kernels do not read the clock; starting over costs at most a third of the whole.
    """
    nodes = min(FIRST_NODES, most)
    left = seconds
    while True:
        began = time.perf_counter()
        found = tried(row, nodes)
        took = time.perf_counter() - began
        left -= took
        more = min(4.0, left / took)
        if found.complete[0] or nodes >= most or more < 1.5:
            return found
        nodes = min(int(more * nodes), most)


def _fields(found: Found) -> tuple[AnyArray, ...]:
    return found.labels, found.bound, found.complete, found.doubtful
