"""The search kernel, given a plan: what branch and bound and feasibility questions share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.inference.exact.duals import Duals
from rote.inference.exact.plans import Plan, no_plan
from rote.inference.problem import Problem
from rote.kernels.bundles import DualRows
from rote.kernels.constants import FAR
from rote.kernels.search.branch import branch
from rote.types import BoolArray, FloatArray, IntArray, readonly

UNLIMITED = 1 << 60
NODES_IN_ORDER = 1 << 10
NO_DUALS = DualRows(readonly(np.empty((0, 0))), readonly(np.empty((0, 0))))


class Found(NamedTuple):
    """One row per input; labels are -1 where nothing beats the floor."""

    labels: IntArray
    bound: FloatArray
    complete: BoolArray  # nothing was left to look at
    doubtful: BoolArray  # another output may be within a tie


def finite_messages(messages: FloatArray) -> FloatArray:
    """Messages to start from: those that stand for infinity would drown the others' digits."""
    return np.where(np.abs(messages) < FAR / 2, messages, 0.0)


def search(
    plan: Plan,
    problem: Problem,
    floors: FloatArray,
    start: Duals | None,
    nodes: int,
    *,
    in_order: bool = False,
) -> Found:
    """Outputs that beat their floors: the best ones, or the first ``in_order``."""
    # Kernels are compiled anew for arrays that differ in layout or in being read-only.
    space, duals = problem.space, NO_DUALS
    if start is not None:
        long_rows = start.multipliers[:, len(space.rows) - len(space.network.rows) :]
        duals = DualRows(readonly(finite_messages(start.messages)), readonly(long_rows))
    reduced = plan.reduced(space)
    return Found(*branch(problem.questions, readonly(floors), reduced, duals, nodes, in_order))


def first_of_equals(problem: Problem, labels: IntArray) -> IntArray:
    """Of the outputs within a tie of those given, the lexicographically first.

    Labels are -1 where the search is not short; it is where bounds are tight.
    """
    space = problem.space
    floors = space.known_value(problem.scores, labels) - problem.ties
    nodes = NODES_IN_ORDER + 8 * space.network.variables
    return search(no_plan(space), problem, floors, None, nodes, in_order=True).labels
