"""Rules over many variables, left out until an output breaks them.

A count, or a rule that is too long for a table, joins variables that could otherwise be
eliminated. `LazyRows` solves the space without such rules and looks at their rows afterwards. An
output that obeys them is the answer. Where it breaks one, a variable of that row parts the outputs
that are left into two sets, by closed labels; each is solved without the rows again, and the best
is looked at next. The first output that obeys is a best one, since no set has a better. Where
another output may be within a tie, the lexicographically first is looked for.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import ClassVar, NamedTuple

import numpy as np

from rote.inference.engine import Engine
from rote.inference.exact.cycle_cuts import cut_rules, violated_rows, without, without_cuts
from rote.inference.exact.plans import Plan, full_plan, partial_plan
from rote.inference.exact.search import search
from rote.inference.exact.tables import once_per_space
from rote.inference.exact.tie_breaking import first_by_search, lexicographic_first
from rote.inference.problem import Context, Problem
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.kernels.bundles import Questions, RowGroups
from rote.kernels.dp.elimination import max_marginals
from rote.kernels.search.rows import broken_rows, halves
from rote.settings import optional, whole
from rote.space.language import Acyclic, Linear, Rule
from rote.space.lowering import Rows, lower, stacked
from rote.space.network import group_rows, split
from rote.space.space import Space
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, readonly

FEW_CANDIDATES = 1 << 12  # of an elimination of all variables; beyond, only of the cheap ones
# Candidates of an elimination, all and for each variable; where there are fewer, a search with the
# rows is faster.
CANDIDATES_THAT_PAY, CANDIDATES_EACH = 512, 12
FEW_MISSED, FEW_SETS, MANY_SETS = 2, 4, 256
NODES = 1 << 10  # of a search without the rows


@dataclass(frozen=True)
class LazyRows(Engine):
    """Exact for rules over many variables, where few outputs break them.

    Optimises max_y Σ_parts scores · z(y) over the outputs that obey the rules.

    Parameters
    ----------
    set_limit
        How many sets of outputs of one input are solved, at least 1. Beyond, the answer is without
        proof.
    missed_limit
        By how much all rows together may be missed by the output without them, at least 1; None is
        no limit. Where it is more, the answer is without proof as well.
    """

    set_limit: int = 64
    missed_limit: int | None = None

    checks: ClassVar = {"set_limit": whole(1), "missed_limit": optional(whole(1))}

    def answer(self, problem: Problem, context: Context) -> Solutions:
        rows = _Pool(problem.space)
        best = self._best(problem, np.full(len(problem), -np.inf), rows)
        labels, complete = best.labels, best.complete
        tied = np.flatnonzero(best.doubtful & complete)
        if len(tied):

            def better(part: Problem, floor: FloatArray, asked: IntArray) -> IntArray:
                more = self._best(part, floor - 0.5 * part.ties, rows)
                complete[tied[asked]] &= more.complete
                return more.labels

            part, every = problem.rows(tied), np.ones(len(tied), np.bool_)
            if rows.cycles:  # which a search in order would need rows for paths for
                labels[tied] = lexicographic_first(part, labels[tied], every, better)
            else:
                labels[tied] = first_by_search(part, labels[tied], better)
        there = (labels >= 0).all(axis=1)
        status = np.select(
            [complete & there, complete, there],
            [Status.OPTIMAL, Status.INFEASIBLE, Status.FEASIBLE],
            Status.TIMED_OUT,
        )
        core = _parted(problem.space).plan.core.variables
        relaxed = FoundBy.BRANCH if len(core) else FoundBy.ELIMINATION
        answers = Solutions.of(problem, labels, relaxed, bound=best.bound, status=status)
        source = np.where(best.branched, FoundBy.BRANCH.value, answers.source)
        return replace(answers, source=readonly(source))

    def _best(self, problem: Problem, floors: FloatArray, rows: _Pool) -> _Best:
        """A best output of each input, if it is above its floor."""
        parted = _parted(problem.space)
        found = search(parted.plan, problem.with_space(parted.space), floors, None, NODES)
        best = _Best(*found, np.zeros(len(problem), np.bool_))
        broken, missed = rows.broken(best.labels)
        hard = np.flatnonzero(broken >= 0)
        if len(hard):
            best.branched[hard] = True
            if self.missed_limit is not None:
                best.complete[hard] &= missed[hard] <= self.missed_limit
            _Branching(problem, floors, rows, best, hard).run(self.set_limit)
        return best


@once_per_space
def lazy_rows_for(space: Space) -> LazyRows | None:
    """The engine for a space where leaving its long rules out saves work, else None."""
    if cut_rules(space):  # beyond few sets, relaxations with cuts are faster
        return LazyRows(set_limit=FEW_SETS)
    network = space.network
    least = max(CANDIDATES_THAT_PAY, CANDIDATES_EACH * len(space.variables))
    if network.table_ptr[-1] - network.labels < least or not _rules_over_many(space):
        return None
    parted = _parted(space)
    steps = parted.plan.steps
    entries, candidates = np.asarray(steps.entry_ptr), np.asarray(steps.candidate_ptr)
    joined = np.diff(candidates[entries])[np.diff(entries) > 1].sum()
    if not len(parted.rows) or joined < least:
        return None
    # Where tables are so small that all variables are eliminated, the search is not slow either.
    eliminated = not len(parted.plan.core.variables)
    return LazyRows(missed_limit=FEW_MISSED) if eliminated else LazyRows(set_limit=MANY_SETS)


def without_rules_over_many(space: Space) -> Space:
    """The space without the rules that `LazyRows` leaves out."""
    return _parted(space).space


class _Best(NamedTuple):
    """What `Found` has, and for which inputs the output without the rows would not do."""

    labels: IntArray
    bound: FloatArray
    complete: BoolArray
    doubtful: BoolArray
    branched: BoolArray


class _Set(NamedTuple):
    """A set of outputs, by its closed labels, and the best of them without the rows, if solved."""

    loss: float  # its value with the sign changed; before, a bound on that
    number: int
    closed: BoolArray
    labels: IntArray | None = None
    doubtful: bool = False

    @property
    def output(self) -> IntArray:
        """The best output of a set that is solved."""
        assert self.labels is not None
        return self.labels


class _Branching:
    """The search for outputs of the hard inputs, all of them together, set by set."""

    def __init__(
        self, problem: Problem, floors: FloatArray, rows: _Pool, best: _Best, hard: IntArray
    ) -> None:
        self.problem, self.floors, self.rows, self.best = problem, floors, rows, best
        self.parted = _parted(problem.space)
        self.relaxed = problem.with_space(self.parted.space)
        self.number = itertools.count()
        hard = hard[best.complete[hard]]
        values = problem.space.known_value(problem.scores[hard], best.labels[hard])
        closed = problem.rows(hard).closed_labels
        self.heaps = {
            i: [
                _Set(
                    -values[k],
                    next(self.number),
                    closed[k],
                    best.labels[i].copy(),
                    bool(best.doubtful[i]),
                )
            ]
            for k, i in enumerate(hard.tolist())
        }
        self.solved = dict.fromkeys(self.heaps, 1)
        best.labels[best.branched] = -1

    def run(self, limit: int) -> None:
        """Until every input has its answer, or so many sets were solved without one."""
        while self.heaps:
            self.solve_first()
            firsts = {i: heap[0] for i, heap in self.heaps.items() if heap[0].labels is not None}
            if not firsts:
                continue
            broken, _ = self.rows.broken(_stack([first.output for first in firsts.values()]))
            split = []
            for row, (i, first) in zip(broken.tolist(), firsts.items(), strict=True):
                if row < 0:
                    self.finish(i, first)
                elif self.solved[i] < limit:
                    split.append((i, heappop(self.heaps[i]), row))
                else:
                    self.best.complete[i], self.best.bound[i] = False, -first.loss
                    del self.heaps[i]
            if split:
                self.split(split)

    def asked(self, inputs: list[int], sets: list[_Set]) -> Problem:
        """The inputs without the rows, each with the closed labels of a set."""
        return self.relaxed.rows(inputs).changed(closed=_stack([one.closed for one in sets]))

    def solve_first(self) -> None:
        """Solve all sets that come before one that is solved; inputs without any are infeasible."""
        inputs, sets = [], []
        for i, heap in self.heaps.items():
            while heap and heap[0].labels is None:
                inputs.append(i)
                sets.append(heappop(heap))
        if sets:
            part = self.asked(inputs, sets)
            found = search(self.parted.plan, part, self.floors[inputs], None, NODES)
            values = part.space.known_value(part.scores, found.labels)
            for k, (i, one) in enumerate(zip(inputs, sets, strict=True)):
                self.solved[i] += 1
                self.best.complete[i] &= found.complete[k]
                if values[k] > -np.inf:
                    more = {"labels": found.labels[k], "doubtful": bool(found.doubtful[k])}
                    heappush(self.heaps[i], one._replace(loss=-values[k], **more))
        over = [i for i, heap in self.heaps.items() if not heap or not self.best.complete[i]]
        for i in over:
            del self.heaps[i]

    def finish(self, i: int, first: _Set) -> None:
        """Take the first output that obeys all rows."""
        near = first.loss + 2 * self.problem.ties[i]
        others = any(one is not first and one.loss <= near for one in self.heaps.pop(i))
        self.best.labels[i], self.best.bound[i] = first.output, -first.loss
        self.best.doubtful[i] = first.doubtful or others

    def split(self, split: list[tuple[int, _Set, int]]) -> None:
        """Part sets around outputs that break a row: each is an input, its set and the row."""
        inputs, sets, broken = map(list, zip(*split, strict=True))
        part = self.asked(inputs, sets)
        questions, plan = part.questions, self.parted.plan
        eliminated = not len(plan.core.variables)
        if eliminated:
            marginals = max_marginals(questions, part.space.labels, plan.steps)
            questions = Questions(readonly(marginals), questions.closed, questions.ties)
        outputs = _stack([one.output for one in sets])
        rows = readonly(np.array(broken))
        closed, losses = halves(questions, outputs, rows, part.space.offsets, self.rows.groups)
        for k, loss in enumerate(losses.tolist()):
            if loss < np.inf:
                # Losses of max-marginals are those of the half; others say only where to part.
                bound = sets[k // 2].loss + (max(0.0, loss) if eliminated else 0.0)
                heappush(self.heaps[inputs[k // 2]], _Set(bound, next(self.number), closed[k]))


class _Pool:
    """The rows that were left out, and those against cycles that outputs closed so far."""

    def __init__(self, space: Space) -> None:
        parted = _parted(space)
        self.space, self.cycles = space, parted.cycles
        self.rows, self.groups = parted.rows, parted.groups

    def broken(self, labels: IntArray) -> tuple[IntArray, FloatArray]:
        """Of each output the row that it misses by most, -1 for none, and by how much it misses."""
        found, missed = broken_rows(labels, self.space.offsets, self.groups)
        if self.cycles:
            fine, before = (found < 0) & (labels >= 0).all(axis=1), len(self.rows)
            for i in np.flatnonzero(fine).tolist():
                taken = np.zeros(self.space.labels)
                taken[self.space.offsets[:-1] + labels[i]] = 1.0
                more = violated_rows(self.space, taken)
                if more is not None:
                    found[i], missed[i] = len(self.rows), 1.0
                    self.rows = stacked(self.rows, more)
            if len(self.rows) > before:
                self.groups = group_rows(self.rows, self.space.sizes)
        return found, missed


class _Parted(NamedTuple):
    """A space without its long rules, and these as rows over its labels."""

    space: Space
    plan: Plan
    rows: Rows
    groups: RowGroups
    cycles: tuple[Acyclic, ...]  # these are not among the rows


@once_per_space
def _parted(space: Space) -> _Parted:
    cycles, sizes = cut_rules(space), space.sizes.tolist()
    space = without_cuts(space)
    # A rule with auxiliary columns says nothing of labels by rows alone, and stays.
    lazy = [rule for rule in _rules_over_many(space) if not lower(sizes, [rule]).auxiliary]
    relaxed = without(space, lazy)
    # So does one whose variables a search has in any case: left out, it would save nothing.
    left = set(partial_plan(relaxed).core.variables.tolist())
    kept = [rule for rule in lazy if all(v.index in left for v in rule.variables)]
    if kept:
        lazy = [rule for rule in lazy if not any(rule is other for other in kept)]
        relaxed = without(space, lazy)
    rows = lower(sizes, lazy)
    plan = full_plan(relaxed, FEW_CANDIDATES) or partial_plan(relaxed)
    return _Parted(relaxed, plan, rows, group_rows(rows, space.sizes), cycles)


def _rules_over_many(space: Space) -> list[Rule]:
    """Rules that are too long for a table, and counts of more than two variables."""
    tabled, long_rules = split(space.sizes, [named.rule for named in space.each_rule])
    counts = [rule for rule in tabled if isinstance(rule, Linear) and len(rule.variables) > 2]
    return [*counts, *long_rules]


def _stack(arrays: list[AnyArray]) -> AnyArray:
    return readonly(np.stack(arrays))
