"""Engines for the spaces of `papers.samdani2012.fields`: a hurried `Exact`, one for citations.

Both are exact. ``Hurried`` gives branch and bound few nodes, as a citation under young weights can
be hard for it; ``Blocks`` looks at scores only, and never at how rules are written.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from rote import (
    BranchAndBound,
    Chain,
    Context,
    Elimination,
    Engine,
    FoundBy,
    Independent,
    Milp,
    Problem,
    Solutions,
    Status,
    Tree,
)
from rote.types import FloatArray, readonly

NODES = 300
NODES_FOR_TIES = 1 << 24
# What solves a space in one pass is asked first, as `Exact` does.
ONE_PASS = Independent(), Chain(order=1), Tree(), Elimination(1 << 12), Chain()


@dataclass(frozen=True)
class Hurried(Engine):
    """As `Exact`, with fewer nodes before the integer program."""

    nodes: int = NODES

    def answer(self, problem: Problem, context: Context) -> Solutions:
        for engine in ONE_PASS:
            if engine.accepts(problem.space):
                return engine.answer(problem, context)
        found = BranchAndBound(self.nodes, tie_limit=NODES_FOR_TIES).answer(problem, context)
        left = np.flatnonzero(~np.isin(found.status, (Status.OPTIMAL, Status.INFEASIBLE)))
        if not len(left):
            return found
        return found.with_rows(left, Milp().answer(problem.rows(left), context.rows(left)))


@dataclass(frozen=True)
class Blocks(Engine):
    """For citations only: max-sum over labels and the set of labels that are over or begun.

    Only labels that turn out to be there twice are remembered, and remembering is begun again with
    these, until each is one block. It knows the rules of `citations` by itself, whichever way they
    are written, and takes any one of equal outputs.
    """

    def answer(self, problem: Problem, context: Context) -> Solutions:
        space, scores, m = problem.space, problem.scores, len(problem)
        n, width = len(space.variables), len(space.variables[0].labels)
        single = np.where(problem.closed_labels, -np.inf, scores[:, : space.labels])
        pairs = scores[:, space.labels :].reshape(m, n - 1, width, width)
        found = [
            _best_blocks(own, between)
            for own, between in zip(single.reshape(m, n, width), pairs, strict=True)
        ]
        return Solutions.of(problem, readonly(np.array(found)), FoundBy.CHAIN)


def _best_blocks(single: FloatArray, pairs: FloatArray) -> list[int]:
    """The best labels, each one block; -1 for all if there are none."""
    watched: list[int] = []
    while True:
        labels = _best_watched(single, pairs, watched)
        blocks = [label for label, _ in groupby(labels)]
        twice = {label for label in blocks if label >= 0 and blocks.count(label) > 1}
        if not twice:
            return labels
        watched += sorted(twice)


def _best_watched(single: FloatArray, pairs: FloatArray, watched: Sequence[int]) -> list[int]:
    """The best labels of which the watched ones are one block; states are (seen, label)."""
    sets, width = 1 << len(watched), single.shape[1]
    bit = np.zeros(width, dtype=np.int64)
    bit[list(watched)] = 1 << np.arange(len(watched))
    label, seen = np.arange(width), np.arange(sets)[:, None]
    value = np.full((sets, width), -np.inf)
    value[bit, label] = single[0]
    fresh = (seen & bit) == 0  # a set that a label which is entered may come from
    back = []
    for own, between in zip(single[1:], pairs, strict=True):
        other = between.copy()
        np.fill_diagonal(other, -np.inf)
        moved = value[:, :, None] + other
        source = moved.argmax(axis=1)
        entered = np.where(fresh, np.take_along_axis(moved, source[:, None], 1)[:, 0], -np.inf)
        after = value + np.diag(between)
        before = seen * width + label  # where a state comes from, as one number
        came = np.broadcast_to(before, value.shape).copy()
        # With a watched label, a set goes to the one that has it too, from which none enters.
        target = seen | bit
        arrived, origin = np.full_like(entered, -np.inf), np.zeros_like(came)
        to, column = target[fresh], np.broadcast_to(label, value.shape)[fresh]
        arrived[to, column] = entered[fresh]
        origin[to, column] = (seen * width + source)[fresh]
        better = arrived > after
        value = np.where(better, arrived, after) + own
        back.append(np.where(better, origin, came))
    state = int(value.argmax())
    if value.ravel()[state] == -np.inf:
        return [-1] * len(single)
    states = [state]
    for came in reversed(back):
        states.append(int(came.ravel()[states[-1]]))
    return [state % width for state in reversed(states)]
