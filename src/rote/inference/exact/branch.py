"""Exact inference for any space: branch and bound over labels, with dual bounds.

Optimises max_y Σ_parts scores · z(y) over the outputs that obey the rules. The search
(`rote.kernels.search.branch`) is anytime: stopped by a limit, it returns the best output found
and the largest bound of what it had left to look at.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from time import perf_counter
from typing import ClassVar

import numpy as np

from rote.inference.engine import Capability, Engine
from rote.inference.exact.duals import Duals, dual_bound, zero_duals
from rote.inference.exact.plans import no_plan, partial_plan
from rote.inference.exact.search import UNLIMITED, Found, finite_messages, search
from rote.inference.exact.tables import once_per_space
from rote.inference.exact.tie_breaking import first_by_search
from rote.inference.problem import Context, Problem, WarmStart
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.kernels.dual.ascent import ascend
from rote.kernels.dual.restart import branch_from
from rote.settings import FLAG, LIMIT, check, optional, whole
from rote.space.space import Space
from rote.types import AnyArray, FloatArray, IntArray, readonly

FIRST_NODES = 1 << 8  # the first try under a time limit; each further one has four times as many


@dataclass(frozen=True)
class BranchAndBound(Engine):
    """Branch and bound, after eliminating cheap variables where that helps.

    Where a limit is not enough to tell which of equal outputs comes first, the answer is a best
    output and need not be the first.

    Parameters
    ----------
    node_limit
        Nodes of the search for one input, at least 1; None is no limit.
    time_limit
        Seconds for one input, above 0; None is no limit.
    eliminate
        Whether cheap variables are eliminated first. False keeps every variable in the search; a
        search that starts from given duals does that as well.
    tie_limit
        Nodes of each search that tells equal outputs apart, at least 1; None is ``node_limit``.
    """

    node_limit: int | None = None
    time_limit: float | None = None
    eliminate: bool = True
    tie_limit: int | None = None

    checks: ClassVar = {
        "node_limit": optional(whole(1)),
        "time_limit": LIMIT,
        "eliminate": FLAG,
        "tie_limit": optional(whole(1)),
    }
    capabilities = frozenset({Capability.WARM_STARTS})

    def answer(self, problem: Problem, context: Context) -> Solutions:
        warm = context.warm or WarmStart()
        start = warm.duals
        if start is not None:
            dual_bound(problem.space, problem, start)  # checks shapes and signs
        floors = np.full(len(problem), -np.inf)
        if warm.incumbent is not None:
            floors = _values_of_incumbents(problem, warm.incumbent) - 4 * problem.ties
        seconds = np.inf if self.time_limit is None else float(self.time_limit)
        left = np.full(len(problem), seconds)
        most = self.node_limit or UNLIMITED
        found = self._search(problem, floors, left, most, start)
        if warm.incumbent is not None:  # which no limit takes away
            kept = (found.labels < 0).any(axis=1) & (floors > -np.inf)
            found = found._replace(labels=np.where(kept[:, None], warm.incumbent, found.labels))
        return self._answers(problem, found, left)

    def _answers(self, problem: Problem, found: Found, left: FloatArray) -> Solutions:
        """What was found, ties broken in the seconds that are left."""
        labels = found.labels
        there = (labels >= 0).all(axis=1)
        rows = np.flatnonzero(found.doubtful & found.complete & there & (left > 0))
        if len(rows):
            labels, better = labels.copy(), partial(self._better, left[rows])
            labels[rows] = first_by_search(problem.rows(rows), labels[rows], better)
        if found.complete.all():
            return Solutions.of(problem, labels, FoundBy.BRANCH)
        status = np.select(
            [found.complete & there, found.complete, there],
            [Status.OPTIMAL, Status.INFEASIBLE, Status.FEASIBLE],
            Status.TIMED_OUT,
        )
        return Solutions.of(problem, labels, FoundBy.BRANCH, bound=found.bound, status=status)

    def restarted(self, problem: Problem, incumbents: IntArray) -> Solutions:
        """The answers that are near to outputs of each input, such as its last answer.

        For spaces all of whose rules are in tables once cheap variables are eliminated
        (`restarts`).

        Parameters
        ----------
        problem
            The problem of all inputs.
        incumbents
            An output of each input, of shape (m, variables); one that breaks rules is of no use.
        """
        reduced = partial_plan(problem.space).reduced(problem.space)
        most = self.node_limit or UNLIMITED
        found = Found(*branch_from(problem.questions, readonly(incumbents), reduced, most))
        return self._answers(problem, found, np.full(len(problem), np.inf))

    def duals(
        self,
        space: Space,
        scores: Problem | AnyArray,
        start: Duals | None = None,
        sweeps: int = 32,
    ) -> Duals:
        """Duals by ascent; `dual_bound` says what they prove.

        Parameters
        ----------
        space
            The space of all inputs.
        scores
            Scores of shape (m, parts), or a problem.
        start
            The duals to begin with; None is zero.
        sweeps
            Passes over all tables and rows; the bound never gets worse with more of them.
        """
        problem = Problem.of(space, scores)
        check("sweeps", sweeps, whole(0))
        if start is None:
            start = zero_duals(space, len(problem))
        bound = dual_bound(space, problem, start)
        messages, multipliers = finite_messages(start.messages), start.multipliers.copy()
        long_rows = slice(len(space.rows) - len(space.network.rows), None)
        tail = multipliers[:, long_rows].copy()
        ascend(problem.questions, space.network.graph, messages, tail, sweeps)
        multipliers[:, long_rows] = tail
        # What a start knew of closed labels may take more than these sweeps to find again.
        worse = dual_bound(space, problem, Duals(messages, multipliers)) > bound
        messages[worse], multipliers[worse] = start.messages[worse], start.multipliers[worse]
        return Duals(readonly(messages), readonly(multipliers))

    def _better(
        self, left: FloatArray, problem: Problem, floor: FloatArray, rows: IntArray
    ) -> IntArray:
        """What `first_by_search` asks for; ties of inputs without time stay as they are."""
        labels = np.full((len(problem), len(problem.space.variables)), -1, np.int64)
        most = self.tie_limit or self.node_limit or UNLIMITED
        some = np.flatnonzero(left[rows] > 0)
        seconds, floor = left[rows[some]], floor - 0.5 * problem.ties
        labels[some] = self._search(problem.rows(some), floor[some], seconds, most).labels
        left[rows[some]] = seconds
        return labels

    def _search(
        self,
        problem: Problem,
        floors: FloatArray,
        left: FloatArray,
        most: int,
        start: Duals | None = None,
    ) -> Found:
        """What a search finds in the seconds ``left`` to each input; it takes off what it used."""
        space = problem.space
        plan = partial_plan(space) if self.eliminate and start is None else no_plan(space)

        def tried(rows: IntArray, nodes: int) -> Found:
            own = start and start.rows(rows)
            part = problem if len(rows) == len(problem) else problem.rows(rows)
            return search(plan, part, floors[rows], own, nodes)

        everything = np.arange(len(problem))
        if self.time_limit is None:
            return tried(everything, most)
        tried(everything[:0], most)  # compiles what is not compiled yet, before any clock runs
        # Most inputs are easy: all get a first try together, the rest one after the other.
        nodes = min(FIRST_NODES, most)
        began = perf_counter()
        first = tried(everything, nodes)
        share = (perf_counter() - began) / max(1, len(problem))
        left -= share
        every = deepcopy(first)
        for row in np.flatnonzero(~first.complete)[:, None]:
            found, took = _further(partial(tried, row), nodes, most, share, float(left[row[0]]))
            left[row] -= took
            if found is not None:
                for array, new in zip(every, found, strict=True):
                    array[row] = new
        return every


def _values_of_incumbents(problem: Problem, labels: IntArray) -> FloatArray:
    """What outputs are worth, -inf where one is none of this problem."""
    space, open_labels = problem.space, ~problem.closed_labels
    values: FloatArray = np.full(len(problem), -np.inf)
    inside = np.asarray(((labels >= 0) & (labels < space.sizes)).all(axis=1))
    columns = space.offsets[:-1] + np.where(inside[:, None], labels, 0)
    inside &= np.take_along_axis(open_labels, columns, axis=1).all(axis=1)
    rows = np.flatnonzero(inside)
    rows = rows[space.was_feasible(labels[rows])]
    values[rows] = space.known_value(problem.scores[rows], labels[rows])
    return values


def _further(
    tried: Callable[[int], Found], nodes: int, most: int, took: float, left: float
) -> tuple[Found | None, float]:
    """What one input comes to after a try that ``took`` its time, and the seconds that cost.

    Tries have growing node limits, the last of them what the time left allows: kernels do not
    read the clock, and starting over costs at most a third of the whole.
    """
    found, spent = None, 0.0
    while nodes < most and (more := min(4.0, (left - spent) / took)) >= 1.5:
        nodes = min(int(more * nodes), most)
        began = perf_counter()
        found = tried(nodes)
        took = perf_counter() - began
        spent += took
        if found.complete[0]:
            break
    return found, spent


@once_per_space
def restarts(space: Space) -> bool:
    """Whether `BranchAndBound.restarted` can start from outputs of this space."""
    return not len(partial_plan(space).core.network.rows)
