"""One answer among equals, for engines that find some optimum.

Given an optimal output of each input, `lexicographic_first` looks for the lexicographically first
output within a tie of it. A search in this order is short where bounds are tight. Where it is not,
we walk the variables in order and ask the engine for the best output whose label here is smaller
and whose labels before are the same. If that is within a tie of the optimum it takes its place.
What is left at the end has the lexicographically smallest labels.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Protocol

import numpy as np

from rote.inference.exact.search import first_of_equals
from rote.inference.problem import Problem
from rote.types import FloatArray, IntArray, readonly


class Better(Protocol):
    """Some best output of each input, or labels -1 where none has at least the value ``floor``.

    ``rows`` are the numbers of the inputs in the batch whose ties are broken.
    """

    def __call__(self, problem: Problem, floor: FloatArray, rows: IntArray, /) -> IntArray: ...


def lexicographic_first(problem: Problem, labels: IntArray, better: Better) -> IntArray:
    """Of the outputs within a tie of ``labels``, which are a best one of each input, the first."""
    first = first_of_equals(problem, readonly(labels))
    settled = (first >= 0).all(axis=1)
    labels = np.where(settled[:, None], first, labels)
    every = np.flatnonzero(~settled)
    if not len(every):
        return labels
    space = problem.space
    floor = space.value(problem.scores, labels) - problem.ties
    allowed = problem.open_labels()
    for j, (start, end) in enumerate(pairwise(space.offsets.tolist())):
        position = np.arange(end - start)
        asked = every
        while len(asked):
            smaller = allowed[asked]
            smaller[:, start:end] &= position < labels[asked, j, None]
            possible = smaller[:, start:end].any(axis=1)
            asked, smaller = asked[possible], smaller[possible]
            if not len(asked):
                break
            narrowed = problem.rows(asked).with_open(smaller)
            found = better(narrowed, floor[asked], asked)
            taken = np.flatnonzero((found >= 0).all(axis=1))
            values = space.value(narrowed.scores[taken], found[taken])
            taken = taken[values >= floor[asked[taken]]]
            asked = asked[taken]
            labels[asked] = found[taken]
        allowed[:, start:end] = position == labels[:, j, None]
    return labels
