"""The k best outputs, by splitting what is left around each output that is found.

When y is the best of a set of outputs, the others are those that first differ from y
at variable j = 0, 1, …: same labels before j, another label at j. Each of these sets is
a set of closed labels, so any exact engine finds its best; the best of all is next.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rote.errors import SettingError
from rote.inference.asking import ask
from rote.inference.engine import Engine
from rote.inference.exact.exact import Exact
from rote.inference.problem import NO_CONTEXT, Context, Problem
from rote.inference.solutions import Solutions, Status
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

    Parameters
    ----------
    space
        The space of all inputs.
    scores
        Scores of shape (m, parts), or a problem.
    k
        How many outputs of each input, at least 1; each takes as many questions to the engine as
        the space has variables, asked in one batch.
    engine
        An engine that proves its answers; None is `Exact`.
    context
        What the engine may know beside the scores.

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
    engine, everything = engine or Exact(), problem.open_labels()
    ranks = [_proved(engine.solve(space, problem, context))]
    waiting: list[list[_Best]] = [[] for _ in range(len(problem))]
    last = {
        i: _Best(everything[i], 0, ranks[0], i) for i in np.flatnonzero(ranks[0].optimal).tolist()
    }
    while len(ranks) < k:
        parts = [(i, *part) for i, best in last.items() for part in best.others(space)]
        if parts:
            inputs = np.array([i for i, *_ in parts])
            narrowed = problem.rows(inputs).with_open(np.stack([mask for _, mask, _ in parts]))
            solved = _proved(engine.solve(space, narrowed, context.rows(inputs)))
            for row in np.flatnonzero(solved.optimal).tolist():
                i, mask, fixed = parts[row]
                waiting[i].append(_Best(mask, fixed, solved, row))
        last = {i: _taken(left, problem.ties[i]) for i, left in enumerate(waiting) if left}
        rank = Solutions.none(space, len(problem))
        if last:
            found = Solutions.joined([best.solutions.rows(best.row) for best in last.values()])
            rank = rank.with_rows(np.array([*last]), found)
            ranks.append(rank)
        else:  # and so it is for all ranks that are left
            ranks += [rank] * (int(k) - len(ranks))
    return ranks


def bound_of_others(
    problem: Problem, best: IntArray, engine: Engine, context: Context
) -> FloatArray:
    """An upper bound on the value of every output but the best, for each input; -inf without."""
    bounds = np.full(len(problem), -np.inf)
    parts = [
        (i, mask)
        for i, everything in enumerate(problem.open_labels())
        for mask, _ in _others(problem.space, everything, 0, best[i])
    ]
    if parts:
        inputs = np.array([i for i, _ in parts])
        narrowed = problem.rows(inputs).with_open(np.stack([mask for _, mask in parts]))
        solved = ask(engine, narrowed, context.rows(inputs))
        np.maximum.at(bounds, inputs, solved.bound)
    return bounds


def _proved(solutions: Solutions) -> Solutions:
    if (~np.isin(solutions.status, (Status.OPTIMAL, Status.INFEASIBLE))).any():
        raise SettingError(
            "k_best orders outputs by proof, and the engine gave an answer without one; use an "
            "exact engine such as Exact(), with enough time or no limit"
        )
    return solutions


@dataclass(frozen=True, eq=False)
class _Best:
    """The best output of a set: its open labels, and how many variables are fixed in it."""

    open: BoolArray
    fixed: int
    solutions: Solutions
    row: int

    @property
    def value(self) -> float:
        return float(self.solutions.value[self.row])

    @property
    def labels(self) -> IntArray:
        return np.asarray(self.solutions.labels[self.row])

    def others(self, space: Space) -> list[tuple[BoolArray, int]]:
        return _others(space, self.open, self.fixed, self.labels)


def _others(
    space: Space, is_open: BoolArray, fixed: int, best: IntArray
) -> list[tuple[BoolArray, int]]:
    """A set without its best output, in pieces that do not overlap."""
    pieces, rest = [], is_open.copy()
    for j in range(fixed, space.own):  # the others follow from these
        own = slice(int(space.offsets[j]), int(space.offsets[j + 1]))
        chosen = int(space.offsets[j] + best[j])
        piece = rest.copy()
        piece[chosen] = False
        if piece[own].any():
            pieces.append((piece, j))
        rest[own] = False
        rest[chosen] = True
    return pieces


def _taken(waiting: list[_Best], tie: float) -> _Best:
    top = max(best.value for best in waiting)
    equal = [best for best in waiting if best.value >= top - tie]
    first = min(equal, key=lambda best: tuple(best.labels))
    waiting.remove(first)
    return first
