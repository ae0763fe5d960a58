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
at what is left; where that is not short, `lexicographic_first` goes label by label, by branch and
bound within a limit of nodes, and by the solver beyond it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from time import perf_counter
from typing import ClassVar, Literal, TypeAlias

import numpy as np

from rote.errors import UnsupportedSpace
from rote.inference.engine import Engine
from rote.inference.exact.branch import BranchAndBound
from rote.inference.exact.duals import Duals, zero_duals
from rote.inference.exact.plans import partial_plan
from rote.inference.exact.search import search
from rote.inference.exact.tie_breaking import first_by_search
from rote.inference.problem import NO_CONTEXT, Context, Problem
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.inference.solvers.gurobi import GurobiSession
from rote.inference.solvers.highs import HighsSession
from rote.inference.solvers.integer_program import Outcome, Program, Proof, integer_program
from rote.settings import LIMIT, number, one_of
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
        m, n = len(problem), len(problem.space.variables)
        if m == 0 or n == 0:  # there is nothing to decide
            return Solutions.of(problem, np.empty((m, n), dtype=np.int64), FoundBy.MILP)
        with self._search(problem.space) as search:
            found = [
                search.answer(search.question(problem, i), tie, self._deadline(), self.gap)
                for i, tie in enumerate(problem.ties.tolist())
            ]
        none = np.full(n, -1)
        answers = Solutions.of(
            problem,
            np.array([none if one.labels is None else one.labels for one in found]),
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
        messages, multipliers = (
            array.copy() for array in vars(zero_duals(space, len(problem))).values()
        )
        if len(problem) and space.variables:
            with self._search(space) as search:
                program = search.program
                for i in range(len(problem)):
                    _, duals = search.relaxed(search.question(problem, i), self._deadline())
                    duals = program.admissible(duals)
                    messages[i, program.message_at] = duals[program.message_rows]
                    multipliers[i] = duals[program.rule_rows]
        return Duals(readonly(messages), readonly(multipliers))

    @contextmanager
    def _search(self, space: Space) -> Iterator[_Search]:
        program = integer_program(space)
        with closing(SESSIONS[self.solver](program)) as session:
            yield _Search(space, program, session)

    def _deadline(self) -> float:
        return np.inf if self.time_limit is None else perf_counter() + float(self.time_limit)


@dataclass(frozen=True, eq=False)
class _Question:
    """One input: its scores as they are, and as a solver gets them.

    A solver's tolerances are absolute, and a tie is relative to the largest score. Asking
    for less tolerance makes solvers err (HiGHS then misses optima). So the largest score is
    brought to about a million instead, where a tie is 1e-4 and default tolerances are far
    below it; by a power of two, which leaves every digit as it is.
    """

    scores: FloatArray
    open: BoolArray  # per label
    costs: FloatArray
    scale: float

    @property
    def scaled(self) -> FloatArray:
        return self.costs / self.scale


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
    """Answers one question after the other in one session."""

    space: Space
    program: Program
    session: Session

    def question(self, problem: Problem, i: int) -> _Question:
        open_labels = self.program.allowed
        if problem.closed is not None:
            open_labels = open_labels & ~problem.closed[i]
        scores = problem.scores[i]
        costs = self.program.costs(scores)
        _, power = np.frexp(max(1.0, float(np.abs(costs).max())))
        return _Question(scores, open_labels, costs, float(np.ldexp(1.0, int(power) - LARGEST)))

    def answer(self, question: _Question, tie: float, deadline: float, gap: float) -> _Found:
        """The best output, and the smallest among equals if it is proved to be the best."""
        found = self.best(question, tie, deadline, gap)
        if found.status != Status.OPTIMAL or found.labels is None or found.proof is None:
            return found
        labels = found.labels
        floor = self.value(question, labels) - tie
        likely = self.likely(question, labels, found.proof, floor)
        if not found.whole and self.doubtful(likely, labels):
            proof = self.proof_with_room(question, labels, deadline)
            likely &= self.likely(question, labels, proof, floor)
        if not self.doubtful(likely, labels):
            return found

        def better(problem: Problem, floor: FloatArray, _rows: IntArray) -> IntArray:
            plan = partial_plan(self.space)
            close = search(plan, problem, floor - 0.5 * tie, None, NODES_FOR_TIES)
            if close.complete[0]:
                return close.labels
            # Out of time, the tie stays as it is: the answer is still a best one.
            part = self.best(self.question(problem, 0), tie, deadline, 0.0, float(floor[0]))
            return np.full_like(labels[None], -1) if part.labels is None else part.labels[None]

        smallest = first_by_search(self.problem(question, likely), labels[None], better)
        return replace(found, labels=smallest[0])

    def problem(self, question: _Question, open_labels: BoolArray) -> Problem:
        """The question with no other label open."""
        closed = readonly(~open_labels[None])
        return Problem.built(self.space, readonly(question.scores[None]), closed=closed)

    def likely(
        self, question: _Question, labels: IntArray, proof: Proof, floor: float
    ) -> BoolArray:
        """The labels that may be part of an output with a value of ``floor``."""
        likely = question.open & (proof.slack <= proof.bound - floor)
        likely[self.program.chosen(labels)] = True
        return likely

    def doubtful(self, likely: BoolArray, labels: IntArray) -> bool:
        """Whether a lexicographically smaller output is left: one label is smaller, at least."""
        chosen = self.program.spread(self.program.chosen(labels))
        return bool((likely & (np.arange(self.program.labels) < chosen)).any())

    def proof_with_room(self, question: _Question, labels: IntArray, deadline: float) -> Proof:
        """A proof from duals inside the optimal face, where slacks are positive if they can be.

        The duals of a vertex leave many labels without slack that no best output takes. If
        ``labels`` stay the best while every other label scores a little more, then the
        duals of that problem give each other label at least this much slack in ours.
        """
        costs = question.costs.copy()
        costs[: self.program.labels] += ROOM * question.scale
        costs[self.program.chosen(labels)] -= ROOM * question.scale
        _, duals = self.relaxed(replace(question, costs=costs), deadline)
        return self.program.proof(question.costs, question.open, duals)

    def best(
        self,
        question: _Question,
        tie: float,
        deadline: float,
        gap: float,
        floor: float = -np.inf,
    ) -> _Found:
        """Some best output; none where the relaxation bounds it below ``floor``."""
        outcome, duals = self.relaxed(question, deadline)
        if outcome.status == Status.INFEASIBLE and self.program.trusted:
            return _Found(Status.INFEASIBLE, -np.inf)
        proof = self.program.proof(question.costs, question.open, duals)
        if proof.bound < floor:
            return _Found(Status.INFEASIBLE, proof.bound)
        if outcome.columns is not None:
            labels = self.program.read(outcome.columns)
            if labels is not None and self.was_feasible(labels):
                proved = proof.bound - self.value(question, labels) <= tie
                if proved or self.program.trusted:
                    return _Found(Status.OPTIMAL, proof.bound, labels, proof)
        if not _left(deadline):
            return _Found(Status.TIMED_OUT, proof.bound)
        if not self.program.trusted:
            return self.counted(question, proof.bound, deadline)
        limits = self.program.limits(question.open)
        # Solvers look at differences relative to the value; around 0 they look most closely.
        offset = 0.0 if gap else -proof.bound / question.scale
        outcome = self.session.whole(question.scaled, limits, offset, _left(deadline), gap)
        if outcome.status == Status.INFEASIBLE:
            return _Found(Status.INFEASIBLE, -np.inf)
        labels = None if outcome.columns is None else self.program.read(outcome.columns)
        bound = min(proof.bound, (outcome.bound - offset) * question.scale)
        if labels is None:
            return _Found(Status.TIMED_OUT, bound)
        if not self.was_feasible(labels):
            return self.counted(question, proof.bound, deadline)
        proved = bound - self.value(question, labels) <= tie
        proved |= outcome.status == Status.OPTIMAL and gap == 0.0
        status = Status.OPTIMAL if proved else Status.FEASIBLE
        return _Found(status, bound, labels, proof, whole=True)

    def relaxed(self, question: _Question, deadline: float) -> tuple[Outcome, FloatArray]:
        """The relaxation, and its dual values in the units of the scores (0 if it has none)."""
        limits = self.program.limits(question.open)
        try:
            outcome = self.session.relaxation(question.scaled, limits, _left(deadline))
        except UnsupportedSpace:
            if self.program.trusted:
                raise
            outcome = Outcome(Status.TIMED_OUT)  # its coefficients are too large for the solver
        if outcome.duals is None:
            return outcome, np.zeros(self.program.rows)
        return outcome, outcome.duals * question.scale

    def counted(self, question: _Question, bound: float, deadline: float) -> _Found:
        """The best output by branch and bound, in the time that is left."""
        left = _left(deadline)
        if not left:
            return _Found(Status.TIMED_OUT, bound)
        engine = BranchAndBound(time_limit=None if left == np.inf else left)
        found = engine.answer(self.problem(question, question.open), NO_CONTEXT)
        status, labels = Status(int(found.status[0])), found.labels[0]
        bound = min(bound, float(found.bound[0])) if status != Status.INFEASIBLE else -np.inf
        some = labels if (labels >= 0).all() else None
        return _Found(status, bound, some, source=FoundBy.BRANCH)

    def was_feasible(self, labels: IntArray) -> bool:
        """Whether an output obeys the rules, whatever a solver's tolerance lets through."""
        return bool(self.space.was_feasible(labels[None]).all())

    def value(self, question: _Question, labels: IntArray) -> float:
        return float(self.space.value(question.scores, labels)[0])


def _left(deadline: float) -> float:
    """The seconds until then."""
    return max(0.0, deadline - perf_counter())
