"""Many pairs of few labels: branch and bound on batches whose tables are equal, for `Exact`.

In most models what a pair of labels is worth does not depend on the input: all inputs of a batch
have the same tables over pairs, and differ in the scores of labels alone. They share one tree
(`rote.kernels.search.shared_tree`), which bounds, orders and folds tables once for all of them.
Where inputs have too little in common, or tables of their own, each has its own tree.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from rote.inference.exact.search import Found
from rote.inference.exact.tables import once_per_space
from rote.inference.problem import Problem
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.kernels.search.shared_tree import shared_tree
from rote.space.space import Space
from rote.types import FloatArray, IntArray, readonly

MAX_LABELS = 4  # of a variable
MAX_VARIABLES = 64
MAX_TOGETHER = 256  # inputs of a tree: more have nothing to gain, and take memory
NO_FLOORS = readonly(np.empty(0))


@once_per_space
def is_dense(space: Space) -> bool:
    """Whether a space is made for this: few labels, at least half of all pairs, nothing else."""
    network = space.network
    n = network.variables
    return (
        network.is_plain
        and not len(network.rows)
        and network.blocks > 0
        and len(network.scope) == 2 * network.blocks
        and 4 * network.blocks >= n * (n - 1)
        and n <= MAX_VARIABLES
        and int(network.sizes.max()) <= MAX_LABELS
    )


def solve_together(problem: Problem, visit_limit: int) -> Solutions:
    """The best output of each input of a dense space, with so many nodes for an input.

    Where that is not enough, also to tell which of equal outputs comes first, an answer is feasible
    and not proved optimal.
    """
    found = _search(problem, NO_FLOORS, visit_limit)
    labels, complete = found.labels, found.complete
    doubtful = np.flatnonzero(found.doubtful & complete)
    rows = doubtful[labels[doubtful].min(axis=1, initial=0) >= 0]
    if len(rows):
        part = problem.rows(rows)
        floors = problem.space.known_value(part.scores, readonly(labels[rows])) - part.ties
        first = _search(part, readonly(floors), visit_limit)
        labels[rows] = np.where(first.labels >= 0, first.labels, labels[rows])
        complete[rows] = first.complete
    if complete.all():
        return Solutions.of(problem, labels, FoundBy.SHARED_TREE)
    there = (labels >= 0).all(axis=1)
    status = np.select(
        [complete & there, complete], [Status.OPTIMAL, Status.INFEASIBLE], Status.FEASIBLE
    )
    return Solutions.of(problem, labels, FoundBy.SHARED_TREE, bound=found.bound, status=status)


def _search(problem: Problem, floors: FloatArray, visit_limit: int) -> Found:
    """The best outputs, or the first that beat their floors."""
    groups = _alike(problem)
    if len(groups) == 1:
        return _grow(problem, floors, visit_limit)
    m = len(problem)
    found = Found(
        np.empty((m, len(problem.space.variables)), np.int64),
        np.empty(m),
        np.empty(m, np.bool_),
        np.empty(m, np.bool_),
    )
    for rows in groups:
        _put(found, rows, _grow(problem.rows(rows), _some(floors, rows), visit_limit))
    return found


def _grow(problem: Problem, floors: FloatArray, visit_limit: int) -> Found:
    """One tree for inputs with equal tables, and one for each that it does not finish."""
    m, graph = len(problem), problem.space.network.graph
    found = Found(*shared_tree(problem.questions, floors, graph, visit_limit * m))
    if m > 1:
        for row in np.flatnonzero(~found.complete)[:, None]:
            _put(found, row, _grow(problem.rows(row), _some(floors, row), visit_limit))
    return found


def _some(floors: FloatArray, rows: IntArray) -> FloatArray:
    return readonly(floors[rows]) if len(floors) else floors


def _put(found: Found, rows: IntArray, answers: Found) -> None:
    for array, new in zip(found, answers, strict=True):
        array[rows] = new


def _alike(problem: Problem) -> list[IntArray]:
    """Inputs whose tables have equal scores, and whose largest scores are of one magnitude.

    The mean of larger scores would drown the digits of smaller ones.
    """
    m = len(problem)
    if m < 2:
        return [np.arange(1)] * m
    tables = problem.scores[:, problem.space.labels :]
    magnitude = np.frexp(problem.ties)[1] // 4
    groups = defaultdict(list)
    if (magnitude == magnitude[0]).all() and (tables == tables[0]).all():
        groups[0, b""] = list(range(m))
    else:
        for i, table in enumerate(tables):
            groups[int(magnitude[i]), table.tobytes()].append(i)
    every = (np.array(rows) for rows in groups.values())
    return [rows[k : k + MAX_TOGETHER] for rows in every for k in range(0, len(rows), MAX_TOGETHER)]
