"""Exact inference for any space: branch and bound over labels, with dual bounds.

Optimises max_y Σ_parts scores · z(y) over the outputs that obey the rules. The search
(`rote.kernels.branch`) is anytime: stopped by a limit, it returns the best output found
and the largest bound of what it had left to look at.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from rote.inference.base import Objective, Solutions, Source, Status, answered, as_objective
from rote.inference.canonical import canonical
from rote.inference.duals import Duals
from rote.inference.elimination import Plan, no_plan, partial_plan
from rote.inference.infeasible import unless_infeasible
from rote.kernels.branch import branch, first_in_order
from rote.space.space import Space
from rote.types import AnyArray, BoolArray, FloatArray, IntArray

UNLIMITED = 1 << 60
SWEEPS_IN_ORDER = 8
NODES_IN_ORDER = 1 << 10
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

    def solve(
        self, space: Space, objective: Objective | AnyArray, start: Duals | None = None
    ) -> Solutions:
        objective = as_objective(space, objective)
        floors = np.full(len(objective), -np.inf)
        found = self._search(space, objective, floors, start)
        doubtful = found.doubtful & found.complete
        labels = self._first_of_equals(space, objective, found.labels, doubtful)
        some = (labels >= 0).all(axis=1)
        status = np.select(
            [found.complete & some, found.complete, some],
            [Status.OPTIMAL, Status.INFEASIBLE, Status.FEASIBLE],
            Status.TIMED_OUT,
        )
        solutions = answered(
            space, objective, labels, Source.BRANCH, bound=found.bound, status=status
        )
        return unless_infeasible(space, objective, solutions)

    def _first_of_equals(
        self, space: Space, objective: Objective, labels: IntArray, doubtful: BoolArray
    ) -> IntArray:
        """Ties broken by one search in lexicographic order, which is short where bounds are
        tight, and by `canonical` where it is not."""
        rows = np.flatnonzero(doubtful & (labels >= 0).all(axis=1))
        if not len(rows):
            return labels
        part = objective.rows(rows)
        first = first_in_order(
            part.scores,
            part.closed,
            space.value(part.scores, labels[rows]) - part.ties,
            part.ties,
            space.network.graph,
            len(space.variables),
            SWEEPS_IN_ORDER,
            NODES_IN_ORDER + 8 * space.network.variables,
        )
        settled = (first >= 0).all(axis=1)
        labels = labels.copy()
        labels[rows[settled]] = first[settled]
        unsettled = np.zeros_like(doubtful)
        unsettled[rows[~settled]] = True
        return canonical(space, objective, labels, unsettled, self._better)

    def _better(self, space: Space, objective: Objective, floor: FloatArray) -> IntArray:
        found = self._search(space, objective, floor - 0.5 * objective.ties, None)
        return found.labels

    def _search(
        self, space: Space, objective: Objective, floors: FloatArray, start: Duals | None
    ) -> _Found:
        plan = partial_plan(space) if self.eliminate and start is None else no_plan(space)
        if self.time_limit is None:
            return _run(plan, space, objective, floors, start, self.node_limit or UNLIMITED)
        return self._timed(plan, space, objective, floors, start)

    def _timed(
        self,
        plan: Plan,
        space: Space,
        objective: Objective,
        floors: FloatArray,
        start: Duals | None,
    ) -> _Found:
        """Tries with growing node limits, one input after the other, until its time is up.

        Kernels do not read the clock; starting over costs at most a third of the whole.
        """
        each = []
        for i in range(len(objective)):
            row = np.array([i])
            part, own = objective.rows(row), None
            if start is not None:
                own = Duals(start.messages[row], start.multipliers[row])
            nodes = min(FIRST_NODES, self.node_limit or UNLIMITED)
            began = time.perf_counter()
            while True:
                tried = time.perf_counter()
                found = _run(plan, space, part, floors[row], own, nodes)
                now = time.perf_counter()
                spent, last = now - began, now - tried
                over = spent + 4 * last > (self.time_limit or 0.0)
                if found.complete[0] or over or nodes >= (self.node_limit or UNLIMITED):
                    break
                nodes = min(4 * nodes, self.node_limit or UNLIMITED)
            each.append(found)
        return _Found(*(np.concatenate(fields) for fields in zip(*map(_fields, each), strict=True)))


@dataclass(frozen=True, eq=False)
class _Found:
    labels: IntArray
    bound: FloatArray
    complete: BoolArray
    doubtful: BoolArray


def _fields(found: _Found) -> tuple[AnyArray, ...]:
    return found.labels, found.bound, found.complete, found.doubtful


def _run(
    plan: Plan,
    space: Space,
    objective: Objective,
    floors: FloatArray,
    start: Duals | None,
    nodes: int,
) -> _Found:
    none = np.empty((0, 0))
    long_rows = len(space.network.rows)
    labels, bound, complete, doubtful, _ = branch(
        objective.scores,
        objective.closed,
        floors,
        objective.ties,
        plan.steps,
        plan.core.network.graph,
        plan.core.variables,
        none if start is None else start.messages,
        none if start is None else start.multipliers[:, len(space.rows) - long_rows :],
        len(space.variables),
        nodes,
    )
    return _Found(labels, bound, complete, doubtful)
