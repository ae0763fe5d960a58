"""`Milp`: exact inference by integer programming, on HiGHS or Gurobi.

Every input is first solved without asking for whole labels. This relaxation starts from
the last input's basis, and where its labels come out whole they are the best output. Only
otherwise is the integer program itself solved. An output that breaks a rule is never returned: a
solver's tolerances are absolute, and where a rule mixes coefficients of 1 and 1e8 they let such
outputs through. Branch and bound, which counts exactly, solves these inputs instead.

Ties are broken with the relaxation's dual values. They prove for each label a of variable
j that an output with this label has a value of at most ``bound - slack[ja]`` (`Program.proof`).
With v the value found, a label with ``slack > tie + (bound - v)`` is in no output within a
tie of v. All such labels are closed; when no label smaller than the one found is left
open, there is nothing to look at. Otherwise a short search in lexicographic order looks
at what is left; where that is not short, `first_by_search` goes label by label, by branch and
bound within a limit of nodes, and by the solver beyond it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from rote.errors import UnsupportedSpace
from rote.inference.engine import Engine
from rote.inference.exact.branch import BranchAndBound
from rote.inference.exact.cycle_cuts import cut_rules, violated_rows, without_cuts
from rote.inference.exact.duals import Duals, zero_duals
from rote.inference.exact.plans import partial_plan
from rote.inference.exact.search import search
from rote.inference.exact.tie_breaking import first_by_search
from rote.inference.problem import NO_CONTEXT, Context, Problem
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.inference.solvers.gurobi import GurobiSession
from rote.inference.solvers.highs import HighsSession
from rote.inference.solvers.integer_program import (
    Outcome,
    Program,
    Proof,
    check_outputs,
    integer_program,
)
from rote.settings import LIMIT, number, one_of
from rote.space.language import Acyclic
from rote.space.space import Space
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, readonly

Session: TypeAlias = HighsSession | GurobiSession
SESSIONS: Mapping[str, type[Session]] = {"highs": HighsSession, "gurobi": GurobiSession}
LARGEST = 20  # bits of the largest score that a solver sees
NODES_FOR_TIES = 1 << 12
ROOM = 1.0  # in a solver's units: far above a tie (1e-4), far below the largest score


@dataclass(frozen=True)
class Milp(Engine):
    """Integer programming: any space, exact, anytime.

    Parameters
    ----------
    solver
        ``"highs"``, which comes with rote, or ``"gurobi"``, which wants gurobipy and a licence.
    time_limit
        Seconds for one input, above 0; None is no limit. When it is hit, the best output found is
        returned as FEASIBLE with the solver's bound, or TIMED_OUT if there is none.
    gap
        How far, relative to its value, an answer may stay below the bound, at least 0; an answer
        that does is FEASIBLE as well.

    >>> from rote import Milp, SpaceBuilder
    >>> builder = SpaceBuilder()
    >>> x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    >>> builder.require(x["a"] >> y["b"])
    >>> space = builder.build()
    >>> solutions = Milp().solve(space, space.scores({"x": {"a": 2.0}, "y": {"a": 1.0}}))
    >>> space.decode(solutions.labels), float(solutions.value[0])
    ([{'x': 'a', 'y': 'b'}], 2.0)
    """

    solver: Literal["highs", "gurobi"] = "highs"
    time_limit: float | None = None
    gap: float = 0.0

    checks: ClassVar = {
        "solver": one_of(*SESSIONS),
        "time_limit": LIMIT,
        "gap": number(least=0),
    }

    def answer(self, problem: Problem, context: Context) -> Solutions:
        """The best output of each input."""
        return self.within(problem, settle=False)

    def within(self, problem: Problem, *, settle: bool) -> Solutions:
        """The answers; with ``settle``, ties are broken however long that takes."""
        m, n = len(problem), len(problem.space.variables)
        if m == 0 or n == 0:  # there is nothing to decide
            return Solutions.of(problem, np.empty((m, n), dtype=np.int64), FoundBy.MILP)
        with self._searches(problem, without_cuts(problem.space)) as searches:
            found = [search.answer(self.gap, settle=settle) for search in searches]
        none = np.full(n, -1)
        labels = np.array([none if one.labels is None else one.labels for one in found])
        check_outputs(f"Milp({self.solver!r})", problem, labels)
        answers = Solutions.of(
            problem,
            labels,
            FoundBy.MILP,
            bound=np.array([one.bound for one in found]),
            status=np.array([one.status for one in found], dtype=np.int64),
        )
        return replace(answers, source=readonly(np.array([one.source.value for one in found])))

    def duals(self, space: Space, scores: Problem | AnyArray) -> Duals:
        """λ and u of the relaxation, whose `dual_bound` is the relaxation's optimum.

        They are 0 for an input whose relaxation has no solution, or none within the time
        limit.
        """
        problem = Problem.of(space, scores)
        zero = zero_duals(space, len(problem))
        if not len(problem) or not space.variables:
            return zero
        messages, multipliers = zero.messages.copy(), zero.multipliers.copy()
        program = integer_program(space)
        with self._searches(problem, space) as searches:
            for i, search in enumerate(searches):
                duals = program.admissible(search.relaxed(search.costs)[1])
                messages[i, program.message_at] = duals[program.message_rows]
                multipliers[i] = duals[program.rule_rows]
        return Duals(readonly(messages), readonly(multipliers))

    @contextmanager
    def _searches(self, problem: Problem, relaxed: Space) -> Iterator[Iterator[_Search]]:
        """A search for each input, one after the other in one session; its time begins with it.

        Rules that a ``relaxed`` space lacks are cut off where they are broken.
        """
        program, cuts = integer_program(relaxed), cut_rules(problem.space)
        cuts = () if relaxed is problem.space else cuts
        seconds = np.inf if self.time_limit is None else float(self.time_limit)
        with closing(SESSIONS[self.solver](program)) as session:
            yield (
                _Search(session, problem.rows(i), relaxed, cuts, perf_counter() + seconds)
                for i in range(len(problem))
            )


@dataclass(frozen=True, eq=False)
class _Found:
    status: Status
    bound: float
    labels: IntArray | None = None
    proof: Proof | None = None  # from the relaxation
    whole: bool = False  # the relaxation was not enough
    source: FoundBy = FoundBy.MILP


@dataclass(frozen=True, eq=False)
class _Search:
    """The search for the answer to one input.

    A solver's tolerances are absolute, and a tie is relative to the largest score. Asking
    for less tolerance makes solvers err (HiGHS then misses optima). So the largest score is
    brought to about a million instead, where a tie is 1e-4 and default tolerances are far
    below it; by a power of two, which leaves every digit as it is.
    """

    session: Session
    problem: Problem  # of one input
    space: Space  # without the rules that are cut off
    cuts: tuple[Acyclic, ...]
    deadline: float

    @property
    def program(self) -> Program:
        """The integer program with the cuts so far."""
        return self.session.program

    @cached_property
    def open(self) -> BoolArray:
        """The labels that are open to it."""
        return np.asarray(~self.problem.with_space(self.space).closed_labels[0])

    @cached_property
    def costs(self) -> FloatArray:
        return self.program.costs(self.problem.scores[0])

    @cached_property
    def scale(self) -> float:
        """What costs are divided by for the solver."""
        _, power = np.frexp(float(np.abs(self.costs).max()) or 1.0)
        return float(np.ldexp(1.0, int(power) - LARGEST))

    @property
    def tie(self) -> float:
        return float(self.problem.ties[0])

    @property
    def left(self) -> float:
        """The seconds until the deadline."""
        return max(0.0, self.deadline - perf_counter())

    def answer(self, gap: float, *, settle: bool) -> _Found:
        """The best output, and the smallest among equals if it is proved to be the best."""
        found = self.best(gap)
        if found.status != Status.OPTIMAL or found.labels is None or found.proof is None:
            return found
        search = replace(self, deadline=np.inf) if settle else self
        return replace(found, labels=search.first(found, found.labels, found.proof))

    def first(self, found: _Found, labels: IntArray, proof: Proof) -> IntArray:
        """Of the outputs within a tie of a best one, the first; as far as time allows."""
        likely = self.likely(labels, proof)
        if not found.whole and self.doubtful(likely, labels):
            likely &= self.likely(labels, self.proof_with_room(labels))
        if not self.doubtful(likely, labels):
            return labels

        def better(problem: Problem, floor: FloatArray, _rows: IntArray) -> IntArray:
            plan = partial_plan(problem.space)
            close = search(plan, problem, floor - 0.5 * self.tie, None, NODES_FOR_TIES)
            if close.complete[0]:
                return close.labels
            # Out of time, the tie stays as it is: the answer is still a best one.
            part = replace(self, problem=problem).best(0.0, float(floor[0]))
            return np.full_like(labels[None], -1) if part.labels is None else part.labels[None]

        narrowed = self.problem.with_open(likely[None])
        return np.asarray(first_by_search(narrowed, labels[None], better)[0])

    def likely(self, labels: IntArray, proof: Proof) -> BoolArray:
        """The labels that may be part of an output within a tie of the value of one."""
        floor = self.value(labels) - self.tie
        likely = self.open & (proof.slack <= proof.bound - floor)
        likely[self.program.chosen(labels)] = True
        return likely

    def doubtful(self, likely: BoolArray, labels: IntArray) -> bool:
        """Whether a lexicographically smaller output is left: one label is smaller, at least."""
        chosen = self.program.spread(self.program.chosen(labels))
        return bool((likely & (np.arange(self.program.labels) < chosen)).any())

    def proof_with_room(self, labels: IntArray) -> Proof:
        """A proof from duals inside the optimal face, where slacks are positive if they can be.

        The duals of a vertex leave many labels without slack that no best output takes. If
        ``labels`` stay the best while every other label scores a little more, then the
        duals of that problem give each other label at least this much slack in ours.
        """
        costs = self.costs.copy()
        costs[: self.program.labels] += ROOM * self.scale
        costs[self.program.chosen(labels)] -= ROOM * self.scale
        duals = self.relaxed(costs)[1]
        return self.program.proof(self.costs, self.open, duals)

    def best(self, gap: float, floor: float = -np.inf) -> _Found:
        """Some best output; none where the relaxation bounds it below ``floor``."""
        outcome, duals = self.relaxed(self.costs)
        program = self.program
        if outcome.status == Status.INFEASIBLE and program.trusted:
            return _Found(Status.INFEASIBLE, -np.inf)
        proof = program.proof(self.costs, self.open, duals)
        if proof.bound < floor:
            return _Found(Status.INFEASIBLE, proof.bound)
        labels = self.read(outcome)
        if labels is not None and self.was_feasible(labels):
            proved = proof.bound - self.value(labels) <= self.tie
            if proved or program.trusted:
                return _Found(Status.OPTIMAL, proof.bound, labels, proof)
        if not self.left:
            return _Found(Status.TIMED_OUT, proof.bound)
        if not program.trusted:
            return self.counted(proof.bound)
        # Solvers look at differences relative to the value; around 0 they look most closely.
        offset = 0.0 if gap else -proof.bound / self.scale
        limits = program.limits(self.open)
        costs = self.costs / self.scale
        outcome = self.session.whole(costs, limits, offset, self.left, gap)
        while self.cut(outcome) and self.left:
            outcome = self.session.whole(costs, limits, offset, self.left, gap)
        if outcome.status == Status.INFEASIBLE:
            return _Found(Status.INFEASIBLE, -np.inf)
        labels = None if self.cut(outcome) else self.read(outcome)
        bound = min(proof.bound, (outcome.bound - offset) * self.scale)
        if labels is None:
            return _Found(Status.TIMED_OUT, bound)
        if not self.was_feasible(labels):
            return self.counted(proof.bound)
        proved = bound - self.value(labels) <= self.tie
        proved |= outcome.status == Status.OPTIMAL and gap == 0.0
        status = Status.OPTIMAL if proved else Status.FEASIBLE
        return _Found(status, bound, labels, proof, whole=True)

    def relaxed(self, costs: FloatArray) -> tuple[Outcome, FloatArray]:
        """The relaxation, and its dual values in the units of the scores (0 if it has none)."""
        limits = self.program.limits(self.open)
        try:
            outcome = self.session.relaxation(costs / self.scale, limits, self.left)
            while self.left and self.cut(outcome):
                outcome = self.session.relaxation(costs / self.scale, limits, self.left)
        except UnsupportedSpace:
            if self.program.trusted:
                raise
            outcome = Outcome(Status.TIMED_OUT)  # its coefficients are too large for the solver
        if outcome.duals is None:
            return outcome, np.zeros(self.program.rows)
        return outcome, outcome.duals * self.scale

    def cut(self, outcome: Outcome) -> bool:
        """Whether an outcome breaks a rule that is not in the program; then rows against it are."""
        if outcome.columns is None or not self.cuts:
            return False
        shares = outcome.columns[: self.program.labels]
        rows = violated_rows(self.problem.space, shares)
        if rows is None:
            return False
        self.session.add(rows)
        return True

    def counted(self, bound: float) -> _Found:
        """The best output by branch and bound, in the time that is left."""
        left = self.left
        if not left:
            return _Found(Status.TIMED_OUT, bound)
        engine = BranchAndBound(time_limit=None if left == np.inf else left)
        found = engine.answer(self.problem.with_open(self.open[None]), NO_CONTEXT)
        status, labels = Status(int(found.status[0])), found.labels[0]
        bound = min(bound, float(found.bound[0])) if status != Status.INFEASIBLE else -np.inf
        some = labels if (labels >= 0).all() else None
        return _Found(status, bound, some, source=FoundBy.BRANCH)

    def read(self, outcome: Outcome) -> IntArray | None:
        return None if outcome.columns is None else self.program.read(outcome.columns)

    def was_feasible(self, labels: IntArray) -> bool:
        """Whether an output obeys the rules, whatever a solver's tolerance lets through."""
        space = self.problem.space
        known = space.holds if self.cuts else space.was_feasible
        return bool(known(labels[None]).all())

    def value(self, labels: IntArray) -> float:
        return float(self.problem.space.known_value(self.problem.scores, labels[None])[0])
