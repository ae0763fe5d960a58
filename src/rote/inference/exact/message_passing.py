"""Exact inference by message passing, for spaces whose tables are over pairs.

TRW-S (`rote.kernels.dual.trws`) bounds the value of every label, an output in hand closes labels
that cannot be in a better one, and what is left is small or is handed on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from rote.errors import ScoreError
from rote.inference.engine import Capability, Engine
from rote.inference.exact.branch import BranchAndBound
from rote.inference.exact.duals import Duals, dual_sizes
from rote.inference.exact.tables import once_per_space
from rote.inference.problem import Context, Problem, WarmStart
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.kernels.dual.trws import message_passing
from rote.settings import optional, whole
from rote.space.space import Space
from rote.types import IntArray, readonly

NO_MESSAGES = readonly(np.empty((0, 0)))
NO_OUTPUTS = readonly(np.empty((0, 0), np.int64))
CHEAP = 1 / 8  # share of variables that are cheap to eliminate


class Narrowed(NamedTuple):
    """What message passing leaves to another engine: some of the inputs, with labels closed."""

    rows: IntArray
    problem: Problem
    context: Context  # with the best outputs found as a warm start


@dataclass(frozen=True)
class MessagePassing(Engine):
    """TRW-S bounds, labels closed by their losses, and a short search of what is left.

    Optimises max_y Σ_parts scores · z(y) over the outputs that obey the rules. Inputs whose search
    is not short are left to branch and bound, with the labels that are still open. Refuses spaces
    with tables over more than two variables, and with rules that are too long for a table.

    Parameters
    ----------
    node_limit
        Nodes of the search for one input before it is handed on, at least 1. None is 2¹² where
        branch and bound could eliminate cheap variables, and 2¹⁶ elsewhere.
    """

    node_limit: int | None = None

    checks: ClassVar = {"node_limit": optional(whole(1))}
    capabilities = frozenset({Capability.WARM_STARTS})

    def refuses(self, space: Space) -> str | None:
        if is_pairwise(space):
            return None
        return "MessagePassing takes tables over two variables alone; use Exact or BranchAndBound"

    def warm_starts(self, space: Space) -> bool:
        return True

    def answer(self, problem: Problem, context: Context) -> Solutions:
        found, left = self.attempt(problem, context)
        if left is None:
            return found
        return found.with_rows(left.rows, BranchAndBound().answer(left.problem, left.context))

    def attempt(self, problem: Problem, context: Context) -> tuple[Solutions, Narrowed | None]:
        """What message passing settles by itself, and what is left of the others, if anything."""
        space, warm = problem.space, context.warm or WarmStart()
        size, rows_of_rules = dual_sizes(space)
        start = NO_MESSAGES if warm.duals is None else warm.duals.messages
        if warm.duals is not None and start.shape != (len(problem), size):
            raise ScoreError(
                f"messages of this space have the shape {(len(problem), size)}; got {start.shape}"
            )
        messages = np.empty((len(problem) if context.record else 0, size))
        labels, bound, settled, opened = message_passing(
            problem.questions,
            space.network.graph,
            space.network.is_plain,
            readonly(start),
            NO_OUTPUTS if warm.incumbent is None else readonly(warm.incumbent),
            messages,
            self.node_limit or nodes_worth_it(space),
        )
        duals = None
        if context.record:
            multipliers = np.zeros((len(problem), rows_of_rules))
            duals = Duals(readonly(messages), readonly(multipliers))
        if all(settled.tolist()):
            return Solutions.of(problem, labels, FoundBy.MESSAGES, duals=duals), None
        there = np.asarray((labels >= 0).all(axis=1))
        status = np.select(
            [settled & there, settled, there],
            [Status.OPTIMAL, Status.INFEASIBLE, Status.FEASIBLE],
            Status.TIMED_OUT,
        )
        found = Solutions.of(
            problem, labels, FoundBy.MESSAGES, bound=bound, status=status, duals=duals
        )
        rows = np.flatnonzero(~settled)
        narrowed = problem if len(rows) == len(problem) else problem.rows(rows)
        if there[rows].all():  # otherwise it may be that the space itself has no output
            narrowed = narrowed.with_open(opened[rows])
        incumbents = readonly(labels[rows])
        return found, Narrowed(rows, narrowed, Context(warm=WarmStart(incumbents)))


@once_per_space
def is_pairwise(space: Space) -> bool:
    """Whether every table is over two variables, and there are no rows and auxiliary variables."""
    network = space.network
    pairs = bool((np.diff(network.scope_ptr) == 2).all())
    return pairs and not len(network.rows) and network.own == network.variables


@once_per_space
def nodes_worth_it(space: Space) -> int:
    """How long to search here: elsewhere, variables with up to two neighbours are eliminated."""
    tables = np.bincount(space.network.scope, minlength=space.network.variables)
    return 1 << 12 if (tables <= 2).sum() > CHEAP * len(tables) else 1 << 16
