"""What engines over solvers in processes of their own share: whole costs, checks, and ties.

**Whole numbers.** These solvers count in whole numbers. A score becomes what it lacks of the best
of its variable or table, times a power of two, rounded. `WholeCosts.error` bounds what rounding
changes in the value of any output. A solver's proof about rounded costs counts as one only where
its bound is within a tie; otherwise our own search closes the rest, or the answer is FEASIBLE.

**Ties.** A short search in lexicographic order comes first. Where it is not short, the solver is
asked for any output within a tie that precedes the one it found: usually there is none, and one
question was enough. Otherwise variables are settled one by one.

**Checks.** No answer leaves before it was checked against the rules as they are written.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from importlib.util import find_spec
from math import fsum
from time import perf_counter
from typing import ClassVar, NamedTuple

import numpy as np

from rote.errors import MissingDependency
from rote.inference.engine import Capability, Engine
from rote.inference.exact.plans import partial_plan
from rote.inference.exact.search import first_of_equals, search
from rote.inference.exact.tie_breaking import lexicographic_first
from rote.inference.problem import Context, Problem
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.inference.solvers.integer_program import check_outputs
from rote.inference.solvers.worker import WORKERS, Reply
from rote.settings import LIMIT
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, readonly

LARGEST = 52  # bits of one cost, which floats hold
TOTAL = 57  # bits of the largest total, which both solvers hold
NODES_TO_CLOSE = 1 << 16  # of our own search, where rounding leaves a gap


class WholeCosts(NamedTuple):
    """Whole costs of all entries; the value of an output is ``constant - unit · its cost``."""

    costs: IntArray
    constant: float
    unit: float
    error: float  # of this formula, at most

    def bound(self, cost: int | None) -> float:
        """No output of at least this cost has a value above this; without any there is none."""
        return -np.inf if cost is None else self.constant - self.unit * cost + self.error

    def ceiling(self, value: float) -> int:
        """The largest cost of a value that is at least this, up to the error."""
        return max(0, int(np.floor((self.constant - value) / self.unit)))


def whole_costs(scores: FloatArray, starts: IntArray, allowed: BoolArray) -> WholeCosts:
    """Costs of entries in groups, of which an output has one each; what is not allowed costs 0."""
    sizes = np.diff(np.append(starts, len(scores)))
    top = np.maximum.reduceat(np.where(allowed, scores, -np.inf), starts)
    top = np.where(np.isfinite(top), top, 0.0)
    lack = np.where(allowed, np.repeat(top, sizes) - scores, 0.0)
    ranges = np.maximum.reduceat(lack, starts)
    total, constant = float(ranges.sum()), fsum(top.tolist())
    # Differences and totals are rounded as well, each by at most the last digit of the largest.
    rounding = np.finfo(float).eps * (len(starts) * float(np.abs(top).max() + ranges.max()) + total)
    if total == 0.0:
        return WholeCosts(np.zeros(len(scores), np.int64), constant, 1.0, rounding)
    power = min(TOTAL - int(np.frexp(total)[1]), LARGEST - int(np.frexp(ranges.max())[1]))
    exact = np.ldexp(lack, power)
    whole = np.rint(exact)
    lost = float(np.maximum.reduceat(np.abs(exact - whole), starts).sum())
    costs = whole.astype(np.int64)
    common = int(np.gcd.reduce(costs))
    error = float(np.ldexp(lost, -power)) + rounding
    return WholeCosts(costs // common, constant, float(np.ldexp(common, -power)), error)


class Question(NamedTuple):
    """One input as a solver takes it."""

    space: dict[str, AnyArray]  # what all inputs of a space share
    whole: WholeCosts
    arrays: dict[str, AnyArray]  # what this input has of its own


@dataclass(frozen=True)
class Isolated(Engine):
    """An engine over a solver in a process of its own."""

    time_limit: float | None = None

    checks: ClassVar = {"time_limit": LIMIT}
    capabilities = frozenset({Capability.WARM_STARTS})
    kind: ClassVar[str]  # what `rote.inference.solvers.child` calls the solver
    package: ClassVar[str]
    source: ClassVar[FoundBy]

    @abstractmethod
    def question(self, problem: Problem) -> Question:
        """What the solver is asked about one input."""

    @classmethod
    def installed(cls) -> bool:
        """Whether its package is there."""
        return find_spec(cls.package) is not None

    def answer(self, problem: Problem, context: Context) -> Solutions:
        return self.within(problem, context, settle=False)

    def within(self, problem: Problem, context: Context, *, settle: bool) -> Solutions:
        """The answers; with ``settle``, ties are broken however long that takes."""
        if not self.installed():
            raise MissingDependency(
                f"{type(self).__name__} needs the package {self.package}, which is not installed; "
                f"run: pip install '.[{self.kind}]' in a checkout of rote, or use Exact()"
            )
        m, n = len(problem), len(problem.space.variables)
        if m == 0 or n == 0:  # there is nothing to decide
            return Solutions.of(problem, np.empty((m, n), dtype=np.int64), self.source)
        start = None if context.warm is None else context.warm.incumbent
        labels, bound = np.full((m, n), -1, dtype=np.int64), np.empty(m)
        status, source = np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64)
        for i in range(m):
            one = problem.rows(i)
            first = None if start is None else _feasible(one, start[i])
            found = _Search(self, one, first, self._deadline()).answer(settle=settle)
            status[i], source[i], bound[i] = found.status, found.source, found.bound
            if found.labels is not None:
                labels[i] = found.labels
        check_outputs(type(self).__name__, problem, labels)
        answers = Solutions.of(problem, labels, self.source, bound=bound, status=status)
        return replace(answers, source=readonly(source))

    def _deadline(self) -> float:
        return np.inf if self.time_limit is None else perf_counter() + float(self.time_limit)


def _feasible(problem: Problem, labels: IntArray) -> IntArray | None:
    """An output to start from, if it is one."""
    space = problem.space
    if (
        labels.shape != (len(space.variables),)
        or not ((labels >= 0) & (labels < space.sizes)).all()
    ):
        return None
    closed = problem.closed_labels[0, space.offsets[:-1] + labels].any()
    return None if closed or not space.was_feasible(labels[None]).all() else labels


class _Found(NamedTuple):
    status: Status
    bound: float
    source: FoundBy
    labels: IntArray | None = None


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for the answer to one input."""

    engine: Isolated
    problem: Problem  # of one input
    start: IntArray | None
    deadline: float

    def answer(self, *, settle: bool) -> _Found:
        question = self.engine.question(self.problem)
        ceiling = None if self.start is None else question.whole.ceiling(self.value(self.start)) + 1
        reply = self.ask(question, ceiling, hint=self.start)
        labels = self.start if reply.labels is None else reply.labels
        source, bound = self.engine.source, question.whole.bound(reply.bound)
        if labels is None:
            status = Status.INFEASIBLE if reply.proved else Status.TIMED_OUT
            return _Found(status, bound, source)
        check_outputs(type(self.engine).__name__, self.problem, labels[None])
        if self.start is not None and self.value(self.start) > self.value(labels):
            labels = self.start
        value = self.value(labels)
        if reply.proved and bound - value > self.tie:
            return self.closed(labels, bound)
        if bound - value > self.tie:
            return _Found(Status.FEASIBLE, bound, source, labels)
        search = replace(self, deadline=np.inf) if settle else self
        return _Found(Status.OPTIMAL, bound, source, search.first(question, labels))

    def ask(
        self, question: Question, ceiling: int | None = None, **outputs: IntArray | None
    ) -> Reply:
        """The solver's answer in the time that is left."""
        left = self.deadline - perf_counter()
        if left <= 0:
            return Reply(proved=False, bound=0, labels=None)
        header = {"ceiling": ceiling, "seconds": left if np.isfinite(left) else None}
        given = {name: labels for name, labels in outputs.items() if labels is not None}
        arrays = {"costs": question.whole.costs, **question.arrays, **given}
        key = self.problem.space.fingerprint
        return WORKERS.ask(self.engine.kind, key, question.space, header, arrays)

    def closed(self, labels: IntArray, bound: float) -> _Found:
        """What our own search makes of an output that is the best up to rounding."""
        floor = np.array([self.value(labels) - 0.5 * self.tie])
        plan = partial_plan(self.problem.space)
        found = search(plan, self.problem, floor, None, NODES_TO_CLOSE)
        if not found.complete[0]:
            better = found.labels[0]
            if (better >= 0).all() and self.value(better) > self.value(labels):
                labels = better
            bound = min(bound, float(found.bound[0]))
            return _Found(Status.FEASIBLE, bound, self.engine.source, labels)
        if (found.labels[0] >= 0).all():
            labels = found.labels[0]
        first = first_of_equals(self.problem, readonly(labels[None]))[0]
        labels = first if (first >= 0).all() else labels
        return _Found(Status.OPTIMAL, bound, self.engine.source, labels)

    def first(self, question: Question, labels: IntArray) -> IntArray:
        """Of the outputs within a tie of a best one, the first; as far as time allows."""
        short = first_of_equals(self.problem, readonly(labels[None]))[0]
        if (short >= 0).all():
            return np.asarray(short)
        floor = self.value(labels) - self.tie
        before = self.ask(question, question.whole.ceiling(floor), before=labels).labels
        if before is None or self.value(before) < floor:
            return labels

        def better(problem: Problem, least: FloatArray, _rows: IntArray) -> IntArray:
            asked = self.engine.question(problem)
            found = self.ask(asked, asked.whole.ceiling(float(least[0]))).labels
            return np.full_like(labels[None], -1) if found is None else found[None]

        # The output that was found is no worse than a tie; the floor stays that of the best one.
        every = np.array([True])
        return np.asarray(lexicographic_first(self.problem, labels[None], every, better)[0])

    @property
    def tie(self) -> float:
        return float(self.problem.ties[0])

    def value(self, labels: IntArray) -> float:
        return float(self.problem.space.known_value(self.problem.scores, labels[None])[0])
