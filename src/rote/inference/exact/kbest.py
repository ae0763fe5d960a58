"""The k best outputs, by splitting what is left around each output that is found.

When y is the best of a set of outputs, the others are those that first differ from y
at variable j = 0, 1, …: same labels before j, another label at j. Each of these sets is
a set of closed labels, so any exact engine finds its best; the best of all is next.
"""

from __future__ import annotations

import numpy as np

from rote.errors import SettingError
from rote.inference.engine import Engine
from rote.inference.exact.exact import Exact
from rote.inference.problem import NO_CONTEXT, Context, Problem
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.settings import check, whole
from rote.space.space import Space
from rote.types import AnyArray, BoolArray, FloatArray, IntArray

MOST = 1 << 20  # ranks


def k_best(
    space: Space,
    scores: Problem | AnyArray,
    k: int,
    engine: Engine | None = None,
    context: Context = NO_CONTEXT,
) -> list[Solutions]:
    """The best, second best, … k-th best output of every input, each proved.

    The r-th `Solutions` are infeasible for inputs that have fewer outputs than that.
    Outputs within a tie of each other come in lexicographic order.

    >>> from rote import SpaceBuilder, k_best
    >>> builder = SpaceBuilder()
    >>> x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    >>> space = builder.build()
    >>> scores = space.scores({"x": {"a": 2.0}, "y": {"a": 1.0}})
    >>> [float(best.value[0]) for best in k_best(space, scores, 3)]
    [3.0, 2.0, 1.0]
    """
    check("k", k, whole(1, MOST))
    problem = Problem.of(space, scores)
    engine = engine or Exact()
    ranks = [_proved(engine.solve(space, problem, context))]
    everything = problem.open_labels()
    waiting: list[list[_Found]] = [[] for _ in range(len(problem))]
    last = [_Found(everything[i], 0, ranks[0], i) for i in range(len(problem))]
    while len(ranks) < k:
        inputs, parts = [], []
        for i, found in enumerate(last):
            if found.solutions.status[found.row] == Status.OPTIMAL:
                split = _others(space, found)
                inputs += [i] * len(split)
                parts += split
        if parts:
            allowed = np.stack([mask for mask, _ in parts])
            narrowed = problem.rows(np.array(inputs)).with_open(allowed)
            solved = _proved(engine.solve(space, narrowed, context.rows(np.array(inputs))))
            for row, (i, (mask, fixed)) in enumerate(zip(inputs, parts, strict=True)):
                if solved.status[row] == Status.OPTIMAL:
                    waiting[i].append(_Found(mask, fixed, solved, row))
        missing = _Found(np.empty(0, np.bool_), 0, Solutions.none(space, 1), 0)
        last = [
            _taken(found, float(tie)) if found else missing
            for found, tie in zip(waiting, problem.ties, strict=True)
        ]
        ranks.append(
            Solutions.joined(
                [found.solutions.rows(found.row) for found in last] or [Solutions.none(space, 0)]
            )
        )
        if all(found is missing for found in last):  # and so it is for all ranks that are left
            ranks += [ranks[-1]] * (int(k) - len(ranks))
    return ranks


def bound_of_others(
    problem: Problem, best: IntArray, engine: Engine, context: Context
) -> FloatArray:
    """What no output of each input but its best one is worth more than; -inf without others."""
    bounds = np.full(len(problem), -np.inf)
    whole, found = problem.open_labels(), Solutions.of(problem, best, FoundBy.ENUMERATION)
    chunks = [
        (i, mask)
        for i in range(len(problem))
        for mask, _ in _others(problem.space, _Found(whole[i], 0, found, i))
    ]
    if chunks:
        inputs = np.array([i for i, _ in chunks])
        narrowed = problem.rows(inputs).with_open(np.stack([mask for _, mask in chunks]))
        solved = engine.answer(narrowed, context.rows(inputs))
        np.maximum.at(bounds, inputs, solved.bound)
    return bounds


def _proved(solutions: Solutions) -> Solutions:
    if (~np.isin(solutions.status, (Status.OPTIMAL, Status.INFEASIBLE))).any():
        raise SettingError(
            "k_best orders outputs by proof, and the engine gave an answer without one; use an "
            "exact engine such as Exact(), with enough time or no limit"
        )
    return solutions


class _Found:
    """The best output of a set: closed labels, and how many variables are fixed in it."""

    def __init__(self, allowed: BoolArray, fixed: int, solutions: Solutions, row: int) -> None:
        self.allowed, self.fixed, self.solutions, self.row = allowed, fixed, solutions, row

    @property
    def value(self) -> float:
        return float(self.solutions.value[self.row])

    @property
    def labels(self) -> IntArray:
        return np.asarray(self.solutions.labels[self.row])


def _others(space: Space, found: _Found) -> list[tuple[BoolArray, int]]:
    """The set without its best output, in pieces that do not overlap."""
    chunks = []
    rest = found.allowed.copy()
    for j in range(found.fixed, len(space.variables)):
        own = slice(int(space.offsets[j]), int(space.offsets[j + 1]))
        chosen = int(space.offsets[j] + found.labels[j])
        piece = rest.copy()
        piece[chosen] = False
        if piece[own].any():
            chunks.append((piece, j))
        rest[own] = False
        rest[chosen] = True
    return chunks


def _taken(waiting: list[_Found], tie: float) -> _Found:
    top = max(found.value for found in waiting)
    equal = [found for found in waiting if found.value >= top - tie]
    first = min(equal, key=lambda found: tuple(found.labels))
    waiting.remove(first)
    return first
