"""Rules over many variables, left out until an output breaks them.

A rule that is too long for a table, such as a count, joins variables that could otherwise be
eliminated. `LazyRows` solves the space without such rules and looks at their rows afterwards. An
output that obeys them is the answer. Where it breaks one, a variable of that row parts the outputs
that are left into two sets, by closed labels; each is solved without the rows again, and the best
is looked at next. The first output that obeys is a best one, since no set has a better. Where
another output may be within a tie, the lexicographically first is looked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from heapq import heappop, heappush
from typing import ClassVar, NamedTuple, Protocol

import numpy as np

from rote.inference.engine import Engine
from rote.inference.exact.plans import Plan, full_plan, partial_plan
from rote.inference.exact.search import search
from rote.inference.exact.tables import once_per_space
from rote.inference.exact.tie_breaking import first_by_search, lexicographic_first
from rote.inference.problem import Context, Problem
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.kernels.bundles import RowGroups
from rote.kernels.search.rows import broken_rows, halves
from rote.settings import whole
from rote.space.lowering import Rows, lower, stacked
from rote.space.network import group_rows, split
from rote.space.space import Space
from rote.types import BoolArray, FloatArray, IntArray, readonly

FEW_CANDIDATES = 1 << 12  # of an elimination of all variables; beyond, only of the cheap ones
NODES = 1 << 10  # of a search without the rows


class Separator(Protocol):
    """Rules that are looked at when an output is there, such as those no list of rows could hold.

    Rows are over the labels of the space, and every output that is allowed obeys them.
    """

    def broken(self, labels: IntArray) -> Rows | None:
        """Rows that an output breaks, of shape (variables,); None where it is allowed."""


@dataclass(frozen=True)
class LazyRows(Engine):
    """Exact for rules over many variables, where few outputs break them.

    Optimises max_y Σ_parts scores · z(y) over the outputs that obey the rules.

    Parameters
    ----------
    set_limit
        How many sets of outputs of one input are solved, at least 1. Beyond, the answer is without
        proof.
    separator
        Rules beside those of the space, looked at when an output is there; None has none.
    """

    set_limit: int = 64
    separator: Separator | None = field(default=None, compare=False)

    checks: ClassVar = {"set_limit": whole(1)}

    def refuses(self, space: Space) -> str | None:
        if self.separator is not None or len(_parted(space).rows):
            return None
        return f"LazyRows takes rules that are too long for a table, and {space!r} has none"

    def answer(self, problem: Problem, context: Context) -> Solutions:
        rows = _Pool(problem.space, self.separator)
        best = self._best(problem, np.full(len(problem), -np.inf), rows)
        labels, complete = best.labels, best.complete
        tied = np.flatnonzero(best.doubtful & complete)
        if len(tied):

            def better(part: Problem, floor: FloatArray, asked: IntArray) -> IntArray:
                more = self._best(part, floor - 0.5 * part.ties, rows)
                complete[tied[asked]] &= more.complete
                return more.labels

            part, every = problem.rows(tied), np.ones(len(tied), np.bool_)
            if self.separator is None:
                labels[tied] = first_by_search(part, labels[tied], better)
            else:
                labels[tied] = lexicographic_first(part, labels[tied], every, better)
        there = (labels >= 0).all(axis=1)
        status = np.select(
            [complete & there, complete, there],
            [Status.OPTIMAL, Status.INFEASIBLE, Status.FEASIBLE],
            Status.TIMED_OUT,
        )
        if self.separator is not None and problem.closed is None:
            problem = problem.with_open(problem.open_labels())  # no rule of the space to blame
        core = _parted(problem.space).plan.core.variables
        relaxed = FoundBy.BRANCH if len(core) else FoundBy.ELIMINATION
        answers = Solutions.of(problem, labels, relaxed, bound=best.bound, status=status)
        source = np.where(best.branched, FoundBy.BRANCH.value, answers.source)
        return replace(answers, source=readonly(source))

    def _best(self, problem: Problem, floors: FloatArray, rows: _Pool) -> _Best:
        """A best output of each input, if it is above its floor."""
        parted = _parted(problem.space)
        relaxed = problem.with_space(parted.space)
        found = search(parted.plan, relaxed, floors, None, NODES)
        best = _Best(*found, np.zeros(len(problem), np.bool_))
        hard = np.flatnonzero(rows.broken(best.labels) >= 0)
        best.branched[hard] = True
        values = parted.space.known_value(problem.scores, best.labels)
        closed = problem.closed_labels
        waiting = {
            i: [_Set(-values[i], 0, best.labels[i].copy(), closed[i], bool(best.doubtful[i]))]
            for i in hard.tolist()
            if best.complete[i]
        }
        best.labels[hard] = -1
        solved = dict.fromkeys(waiting, 1)
        while waiting:
            tops = {i: heappop(sets) for i, sets in waiting.items()}
            broken = rows.broken(np.stack([top.labels for top in tops.values()]))
            parts = []
            for row, (i, top) in zip(broken.tolist(), tops.items(), strict=True):
                if row < 0:
                    others = max((-other.loss for other in waiting.pop(i)), default=-np.inf)
                    best.labels[i], best.bound[i] = top.labels, -top.loss
                    best.doubtful[i] = top.doubtful or others >= -top.loss - 2 * problem.ties[i]
                elif solved[i] + 2 > self.set_limit:
                    best.complete[i], best.bound[i] = False, -top.loss
                    del waiting[i]
                else:
                    parts.append((i, top, row))
            if not parts:
                break
            inputs = np.array([i for i, _, _ in parts])
            closed = np.stack([top.closed for _, top, _ in parts])
            outputs = readonly(np.stack([top.labels for _, top, _ in parts]))
            asked = relaxed.rows(inputs).changed(closed=readonly(closed))
            closed, possible = halves(
                asked.questions,
                outputs,
                readonly(np.array([row for *_, row in parts])),
                problem.space.offsets,
                rows.groups,
            )
            inputs, closed = np.repeat(inputs, 2)[possible], readonly(closed[possible])
            asked = relaxed.rows(inputs).changed(closed=closed)
            found = search(parted.plan, asked, floors[inputs], None, NODES)
            values = parted.space.known_value(asked.scores, found.labels)
            for k, i in enumerate(inputs.tolist()):
                solved[i] += 1
                if not found.complete[k]:
                    best.complete[i] = False
                elif values[k] > -np.inf:
                    one = _Set(
                        -values[k], solved[i], found.labels[k], closed[k], bool(found.doubtful[k])
                    )
                    heappush(waiting[i], one)
            for i, top, _ in parts:
                if not best.complete[i]:
                    best.bound[i] = -top.loss
                if not best.complete[i] or not waiting[i]:
                    del waiting[i]
        return best


class _Best(NamedTuple):
    """What `Found` has, and for which inputs the output without the rows would not do."""

    labels: IntArray
    bound: FloatArray
    complete: BoolArray
    doubtful: BoolArray
    branched: BoolArray


class _Set(NamedTuple):
    """A set of outputs, by its closed labels, and the best of them without the rows."""

    loss: float  # its value, with the sign changed
    number: int
    labels: IntArray
    closed: BoolArray
    doubtful: bool


class _Pool:
    """The rows that were left out, and those that a separator gave so far."""

    def __init__(self, space: Space, separator: Separator | None) -> None:
        parted = _parted(space)
        self.space, self.separator = space, separator
        self.rows, self.groups = parted.rows, parted.groups

    def broken(self, labels: IntArray) -> IntArray:
        """Of each output the row that it misses by most; -1 where it breaks none."""
        found = broken_rows(labels, self.space.offsets, self.groups)
        if self.separator is not None:
            for i in np.flatnonzero((found < 0) & (labels >= 0).all(axis=1)).tolist():
                more = self.separator.broken(labels[i])
                if more is not None:
                    found[i] = len(self.rows)
                    self.rows = stacked(self.rows, more)
            self.groups = group_rows(self.rows, self.space.sizes)
        return found


class _Parted(NamedTuple):
    """A space without its long rules, and these as rows over its labels."""

    space: Space
    plan: Plan
    rows: Rows
    groups: RowGroups


@once_per_space
def _parted(space: Space) -> _Parted:
    sizes = space.sizes.tolist()
    _, long_rules = split(space.sizes, [named.rule for named in space.rules])
    # A rule with auxiliary columns says nothing of labels by rows alone, and stays.
    lazy = [rule for rule in long_rules if not lower(sizes, [rule]).auxiliary]
    rest = tuple(n for n in space.rules if not any(n.rule is rule for rule in lazy))
    relaxed = Space(space.variables, space.factors, rest)
    rows = lower(sizes, lazy)
    plan = full_plan(relaxed, FEW_CANDIDATES) or partial_plan(relaxed)
    return _Parted(relaxed, plan, rows, group_rows(rows, space.sizes))
