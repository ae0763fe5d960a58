"""One answer among equals, for engines that find some optimum.

Given an optimal output of each input, `lexicographic_first` walks the variables in order and asks
the engine for the best output whose label here is smaller and whose labels before are the same. If
that is within a tie of the optimum it takes its place. What is left at the end has the
lexicographically smallest labels. A search in this order is quicker where bounds are tight:
`first_by_search` tries that before, and asks only where it is not short.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from rote.inference.exact.search import first_of_equals
from rote.inference.problem import Problem
from rote.types import BoolArray, FloatArray, IntArray, readonly

# Of a problem, a floor for each input, and their numbers in the batch whose ties are broken: some
# best output of each, or labels -1 where none has at least the value of the floor.
Better: TypeAlias = Callable[[Problem, FloatArray, IntArray], IntArray]


def first_by_search(problem: Problem, labels: IntArray, better: Better) -> IntArray:
    """Of all outputs within a tie of ``labels``, which are a best one of each input, the first."""
    first = first_of_equals(problem, readonly(labels))
    settled = np.asarray((first >= 0).all(axis=1))
    labels = np.where(settled[:, None], first, labels)
    return lexicographic_first(problem, labels, ~settled, better)


def lexicographic_first(
    problem: Problem, labels: IntArray, doubtful: BoolArray, better: Better
) -> IntArray:
    """``labels`` with ties broken by asking; only inputs that are ``doubtful`` are asked about."""
    rows = np.flatnonzero(doubtful & (labels >= 0).all(axis=1))
    if not len(rows):
        return labels
    space, labels = problem.space, labels.copy()
    part = problem.rows(rows)
    floor = space.known_value(part.scores, labels[rows]) - part.ties
    allowed = part.open_labels()
    for j, (start, end) in enumerate(pairwise(space.offsets.tolist())):
        position = np.arange(end - start)
        asked = np.arange(len(rows))
        while len(asked):
            smaller = allowed[asked]
            smaller[:, start:end] &= position < labels[rows[asked], j, None]
            possible = smaller[:, start:end].any(axis=1)
            asked, smaller = asked[possible], smaller[possible]
            if not len(asked):
                break
            narrowed = part.rows(asked).with_open(smaller)
            found = better(narrowed, floor[asked], rows[asked])
            taken = np.flatnonzero((found >= 0).all(axis=1))
            values = space.known_value(narrowed.scores[taken], found[taken])
            taken = taken[values >= floor[asked[taken]]]
            asked = asked[taken]
            labels[rows[asked]] = found[taken]
        allowed[:, start:end] = position == labels[rows, j, None]
    return labels
