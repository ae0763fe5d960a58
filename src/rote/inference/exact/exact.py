"""`Exact` looks at the space and chooses; ``source`` says what it chose.

A space of rules that is used for the first time, for one input, is not compiled: what presolve
leaves goes straight to a short branch and bound (`rote.inference.exact.presolve`). Otherwise:

1. No factors and no rules between variables: the best label of each variable.
2. A chain or a tree: max-sum in one pass.
3. No factors, and the best labels happen to obey the rules: these, input by input.
4. Variable elimination, where its tables stay small.
5. A chain of higher order, where elimination was too much.
6. Branch and bound, after eliminating cheap variables; where that takes long, presolve.
7. The integer program.

Which of the last two is faster cannot be seen beforehand, and either may take hours where the other
takes a second. So they take turns, each given more than it had before, and an input takes a few
times as long as the better of them needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import ClassVar

import numpy as np

from rote.inference.engine import Engine
from rote.inference.exact.branch import BranchAndBound
from rote.inference.exact.chain import Chain
from rote.inference.exact.elimination import Elimination
from rote.inference.exact.independent import Independent, argmax_presolve
from rote.inference.exact.presolve import Presolved, graph_of_rules
from rote.inference.exact.tables import once_per_space
from rote.inference.exact.tree import Tree
from rote.inference.problem import NO_CONTEXT, Context, Problem
from rote.inference.solutions import Solutions, Status
from rote.inference.solvers.milp import Milp
from rote.kernels.bundles import ChainPlan
from rote.settings import LIMIT
from rote.space.space import Space
from rote.types import IntArray, readonly

# Beyond so many candidates, branch and bound on what cheap elimination leaves is faster.
FEW_CANDIDATES = 1 << 12
# Nodes of branch and bound, turn by turn: about a quarter of a second, some seconds, a minute. An
# input that needs more is left to the integer program.
TURNS = (1 << 16, 1 << 20, 1 << 24)
SHORTEST = 0.1  # seconds: building the program takes about as long


@dataclass(frozen=True)
class Exact(Engine):
    """The best output, proved, by whatever suits the space.

    Parameters
    ----------
    time_limit
        Seconds for one input, above 0; None is no limit. Branch and bound and the integer program
        share it, and the best output found by then is returned with a bound. Spaces that a single
        pass solves do not look at the clock.
    """

    time_limit: float | None = None

    checks: ClassVar = {"time_limit": LIMIT}

    def answer(self, problem: Problem, context: Context) -> Solutions:
        if _is_used_once(problem):
            return Presolved.of(problem, graph_of_rules(problem.space)).answers(self._compiled)
        return self._compiled(problem)

    def _compiled(self, problem: Problem) -> Solutions:
        """The answers by what is compiled once of a space."""
        if not _looks_first(problem.space):
            return self._solve(problem)
        seen, hard = argmax_presolve(problem)
        if not len(hard):
            return seen
        rest = problem if len(hard) == len(problem) else problem.rows(hard)
        return seen.with_rows(hard, self._solve(rest))

    def chain(self, space: Space) -> ChainPlan | None:
        chosen = choice(space)
        return None if chosen is None else chosen.chain(space)

    def _solve(self, problem: Problem) -> Solutions:
        chosen = choice(problem.space)
        if chosen is not None:
            return chosen.answer(problem, NO_CONTEXT)
        if self.time_limit is not None:
            return _within(float(self.time_limit), problem)
        return portfolio(problem)


def _is_used_once(problem: Problem) -> bool:
    """Whether compiling the space is not worth it, as far as we know."""
    space = problem.space
    if not space.is_new() or len(problem) != 1 or not space.rules:
        return False
    # With as many factors as variables it may be a chain or a tree, which takes one pass.
    return 2 * len(space.factors) < len(space.variables)


def portfolio(problem: Problem, turns: Sequence[int] = TURNS) -> Solutions:
    """Branch and bound with so many nodes in each turn, and the integer program in between.

    What the first turn does not settle is worth a presolve.
    """
    start = perf_counter()
    everything = np.arange(len(problem))
    found = Solutions.none(problem.space, len(problem))
    found = _solved(found, problem, everything, _search_of(turns[0]))
    left = _unsettled(found)
    if not len(left):
        return found
    rest = Presolved.of(problem.rows(left), problem.space.once(graph_of_rules))
    return found.with_rows(left, rest.answers(partial(_further, start, turns[1:])))


def _search_of(nodes: int) -> BranchAndBound:
    # What is found in few nodes may have equals that take many to tell apart.
    return BranchAndBound(nodes, tie_limit=max(nodes, TURNS[-1]))


def _further(start: float, turns: Sequence[int], problem: Problem) -> Solutions:
    """The turns after the first one."""
    found = Solutions.none(problem.space, len(problem))
    left = np.arange(len(problem))
    for nodes in turns:
        # What the program proves within as long as everything took so far, it solves again
        # without a limit: under one, equal outputs may be left in any order.
        limit = max(SHORTEST, (perf_counter() - start) / len(left))
        tried = Milp(time_limit=limit).answer(problem.rows(left), NO_CONTEXT)
        easy = np.setdiff1d(left, left[_unsettled(tried)])
        found = _solved(found, problem, easy, Milp())
        left = np.setdiff1d(left, easy)
        found = _solved(found, problem, left, _search_of(nodes))
        left = _unsettled(found)
        if not len(left):
            return found
    return _solved(found, problem, left, Milp())


def _solved(found: Solutions, problem: Problem, rows: IntArray, engine: Engine) -> Solutions:
    """The same with the answers of an engine to some of the inputs."""
    if not len(rows):
        return found
    part = problem if len(rows) == len(problem) else problem.rows(rows)
    return found.with_rows(rows, engine.answer(part, NO_CONTEXT))


def _within(seconds: float, problem: Problem) -> Solutions:
    """Half of the time of each input for branch and bound, and half for the integer program."""
    found = BranchAndBound(time_limit=seconds / 2).answer(problem, NO_CONTEXT)
    left = _unsettled(found)
    if not len(left):
        return found
    rest = problem.rows(left)
    other = Milp(time_limit=seconds / 2).answer(rest, NO_CONTEXT)
    return found.with_rows(left, _better(rest, found.rows(left), other))


def _better(problem: Problem, first: Solutions, other: Solutions) -> Solutions:
    """The better of two answers to each input, where the first proves nothing, and both bounds."""
    settled = np.isin(other.status, (Status.OPTIMAL, Status.INFEASIBLE))
    rows = np.flatnonzero(settled | (other.value > first.value))
    best = first.with_rows(rows, other.rows(rows))
    bound = np.where(settled, other.bound, np.minimum(first.bound, other.bound))
    reached = (best.value > -np.inf) & (bound <= best.value + problem.ties)
    return replace(
        best,
        bound=readonly(np.where(reached, best.value, bound)),
        status=readonly(np.where(reached, Status.OPTIMAL.value, best.status)),
    )


def _unsettled(found: Solutions) -> IntArray:
    return np.flatnonzero((found.status != Status.OPTIMAL) & (found.status != Status.INFEASIBLE))


@once_per_space
def _looks_first(space: Space) -> bool:
    """Whether the best labels may be the answer, and seeing that costs less than solving."""
    chosen = choice(space)
    one_pass = chosen is not None and chosen.one_pass
    return not (one_pass or space.factors or len(space.network.rows))


@once_per_space
def choice(space: Space) -> Engine | None:
    """The engine for a space; None stands for branch and bound."""
    options = (Independent(), Chain(order=1), Tree(), Elimination(FEW_CANDIDATES), Chain())
    return next((engine for engine in options if engine.accepts(space)), None)
