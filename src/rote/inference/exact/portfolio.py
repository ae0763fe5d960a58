"""Branch and bound and solvers that take turns, without a time limit and with one.

Which is faster cannot be seen beforehand, and either may take hours where the other takes a second.
So they take turns, each given more than it had before, and an input takes a few times as long as
the better of them needs. Where only labels have scores, solvers are strong and the first turn of
branch and bound is short. What the first turn does not settle is worth a presolve. What finished a
space is remembered with it, and comes first the next time.

Under a time limit, inputs that a first turn does not settle get an output by propagation, which
large neighbourhood search makes better; then engines that can prove something have their shares of
the time, each starting from what is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter

import numpy as np

from rote.errors import SolverError
from rote.inference.engine import Engine
from rote.inference.exact.branch import BranchAndBound
from rote.inference.exact.hardness import LONG_SEARCH, memory_of
from rote.inference.exact.neighbourhoods import Climb
from rote.inference.exact.presolve import Presolved, graph_of_rules
from rote.inference.exact.tables import once_per_space
from rote.inference.problem import NO_CONTEXT, Context, Problem, WarmStart
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.inference.solvers.cp_sat import CpSat
from rote.inference.solvers.isolated import Isolated
from rote.inference.solvers.milp import Milp
from rote.inference.solvers.toulbar2 import Toulbar2
from rote.inference.solvers.worker import WORKERS
from rote.space.space import Space
from rote.types import IntArray

# Nodes of branch and bound, turn by turn: about a quarter of a second, some seconds, a minute. An
# input that needs more is left to the solvers.
TURNS = (LONG_SEARCH, 1 << 20, 1 << 24)
TURNS_OF_RULES = (1 << 8, 1 << 12, *TURNS)  # where only labels have scores
SHORTEST = 0.1  # seconds: building the program takes about as long
HANDOVER = 0.1  # seconds that branch and bound may have before the integer program is tried
SHORTEST_OF_CP_SAT = 1.0  # where it is wanted, few inputs take it longer
SECONDS_PER_ENTRY = 5e-6  # of the tables: what building the program takes
PATIENCE = 4.0  # times as long as a solver took before
FIRST_SHARE = 0.05  # of a time limit, for branch and bound before anything else is tried
BEAM = 2  # partial outputs that are kept in the search for a first output


@once_per_space
def scores_labels_only(space: Space) -> bool:
    """Whether no table has scores: then solvers need no columns but those of labels."""
    network = space.network
    return bool(network.gather_ptr[-1] == network.gather_ptr[network.labels])


def portfolio(
    problem: Problem, context: Context = NO_CONTEXT, turns: Sequence[int] = ()
) -> Solutions:
    """Branch and bound with so many nodes in each turn, and the solvers in between.

    Outputs of the context are incumbents of the first turn.
    """
    space, start = problem.space, perf_counter()
    turns = turns or (TURNS_OF_RULES if scores_labels_only(space) else TURNS)
    first = max(turns[0], memory_of(space).nodes)
    found = _search_of(first).answer(problem, context)
    left = found.unsettled
    if not len(left):
        return found
    rest = Presolved.of(problem.rows(left), space.once(graph_of_rules))
    return found.with_rows(left, rest.answers(partial(_further, start, turns[1:])))


def _search_of(nodes: int) -> BranchAndBound:
    # What is found in few nodes may have equals that take many to tell apart.
    return BranchAndBound(nodes, tie_limit=max(nodes, TURNS[-1]))


def _further(start: float, turns: Sequence[int], problem: Problem) -> Solutions:
    """The turns after the first one."""
    space, memory = problem.space, memory_of(problem.space)
    found = Solutions.none(space, len(problem))
    left = np.arange(len(problem))
    for nodes in turns:
        spent = (perf_counter() - start) / len(left)
        limit = max(SHORTEST, spent, PATIENCE * memory.seconds)
        fits = limit >= SECONDS_PER_ENTRY * len(space.network.allowed)
        if fits and (spent >= HANDOVER or memory.seconds or _has_cp_sat(space)):
            began = perf_counter()
            found, rest = _tried(found, problem, left, limit)
            if len(rest) < len(left):
                memory.note(0, (perf_counter() - began) / len(left))
            left = rest
            if not len(left):
                return found
        before, found = len(left), _solved(found, problem, left, _search_of(nodes))
        left = found.unsettled
        if len(left) < before:
            memory.note(min(nodes, TURNS[0]), 0.0)
        if not len(left):
            return found
    found, left = _tried(found, problem, left, None)
    return _solved(found, problem, left, Milp())


def _tried(
    found: Solutions, problem: Problem, rows: IntArray, limit: float | None
) -> tuple[Solutions, IntArray]:
    """The same with what CP-SAT or the integer program prove of some inputs, and what is left."""
    if _has_cp_sat(problem.space):
        with suppress(SolverError):  # the next engine goes on
            longer = None if limit is None else max(limit, SHORTEST_OF_CP_SAT)
            part = CpSat(longer).within(problem.rows(rows), NO_CONTEXT, settle=True)
            found, rows = _with_settled(found, rows, part)
    if len(rows) and limit is not None:
        part = Milp(time_limit=limit).within(problem.rows(rows), settle=True)
        found, rows = _with_settled(found, rows, part)
    return found, rows


def _has_cp_sat(space: Space) -> bool:
    """Whether CP-SAT is installed, strong here, and ready; if not, it starts beside all else."""
    return CpSat.installed() and scores_labels_only(space) and WORKERS.ready(CpSat.kind)


def _with_settled(found: Solutions, rows: IntArray, part: Solutions) -> tuple[Solutions, IntArray]:
    """The same with the answers to some inputs that are proved, and the inputs that are left."""
    left = part.unsettled
    settled = np.setdiff1d(np.arange(len(rows)), left)
    return found.with_rows(rows[settled], part.rows(settled)), rows[left]


def _solved(found: Solutions, problem: Problem, rows: IntArray, engine: Engine) -> Solutions:
    """The same with the answers of an engine to some of the inputs."""
    if not len(rows):
        return found
    part = problem if len(rows) == len(problem) else problem.rows(rows)
    return found.with_rows(rows, engine.answer(part, NO_CONTEXT))


def within(
    seconds: float,
    problem: Problem,
    context: Context = NO_CONTEXT,
    watch: Callable[[Solutions], None] = lambda _: None,
) -> Solutions:
    """What each input comes to in so many seconds; of each that takes long, ``watch`` sees more."""
    first = BranchAndBound(time_limit=FIRST_SHARE * seconds)
    found = first.answer(problem, context)
    for i in found.unsettled.tolist():
        search = _Anytime(problem.rows(i), found.rows(i), watch)
        found = found.with_rows(np.array([i]), search.run((1.0 - FIRST_SHARE) * seconds))
    return found


@dataclass(eq=False)
class _Anytime:
    """One input: an output, made better and better, and engines that prove that none is."""

    problem: Problem
    found: Solutions
    watch: Callable[[Solutions], None]
    climb: Climb | None = None

    def run(self, seconds: float) -> Solutions:
        from rote.inference.approximate.beam import ConstrainedBeam  # which imports this module

        self.watch(self.found)
        end = perf_counter() + seconds
        if self.found.labels[0].min(initial=0) < 0:
            self.take(ConstrainedBeam(width=BEAM).answer(self.problem, NO_CONTEXT))
        shares, last = _shares(self.problem.space)
        self.improve(seconds * (1.0 - sum(shares.values()) - last))
        for engine, share in shares.items():
            feasible = self.found.status[0] == Status.FEASIBLE
            start = WarmStart(incumbent=self.found.labels) if feasible else None
            limit = max(1e-3, min(share * seconds, end - perf_counter()))
            with suppress(SolverError):
                limited = replace(engine, time_limit=limit)
                self.take(limited.answer(self.problem, Context(warm=start)))
            if not len(self.found.unsettled):
                return self.found
        self.improve(end - perf_counter())
        return self.found

    def improve(self, seconds: float) -> None:
        """Local search from the output known, if there is one."""
        if self.found.status[0] != Status.FEASIBLE or not self.problem.space.variables:
            return
        labels = self.found.labels[0]
        if self.climb is None:
            self.climb = Climb(self.problem, labels)
        elif not np.array_equal(labels, self.climb.best):
            self.climb.start_from(labels)
        self.climb.run(seconds, self.reached)

    def reached(self, labels: IntArray) -> None:
        """A better output, by local search."""
        found = self.found
        bound, status = found.bound, found.status
        self.take(
            Solutions.of(self.problem, labels[None], FoundBy.GREEDY, bound=bound, status=status)
        )

    def take(self, other: Solutions) -> None:
        self.found = self.found.improved(self.problem, other)
        self.watch(self.found)


def _shares(space: Space) -> tuple[dict[BranchAndBound | Milp | Isolated, float], float]:
    """The engines that have a share of the time, and what is left for the end."""
    if scores_labels_only(space) and CpSat.installed():
        return {CpSat(): 0.42, Toulbar2() if Toulbar2.installed() else Milp(): 0.42}, 0.1
    if Toulbar2.installed():
        return {Toulbar2(): 0.85}, 0.1
    return {BranchAndBound(): 0.28, Milp(): 0.28}, 0.3
