"""One answer among equals, for engines that find some optimum.

Given an optimal output of each input, `lexicographic_first` walks the variables in order and
asks the engine for the best output whose label here is smaller and whose labels
before are the same. If that is within a tie of the optimum it takes its place.
What is left at the end has the lexicographically smallest labels.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from rote.inference.problem import Problem
from rote.types import BoolArray, FloatArray, IntArray


class Better(Protocol):
    """Some best output of each input, or labels -1 where none is worth ``floor``.

    ``rows`` are the numbers of the inputs in the batch whose ties are broken.
    """

    def __call__(self, problem: Problem, floor: FloatArray, rows: IntArray, /) -> IntArray: ...


def lexicographic_first(
    problem: Problem, labels: IntArray, doubtful: BoolArray, better: Better
) -> IntArray:
    """``labels`` with ties broken; only inputs that are ``doubtful`` are asked about."""
    rows = np.flatnonzero(doubtful & (labels >= 0).all(axis=1))
    if not len(rows):
        return labels
    space, labels = problem.space, labels.copy()
    part = problem.rows(rows)
    floor = space.value(part.scores, labels[rows]) - part.ties
    allowed = part.open_labels()
    for j, size in enumerate(space.sizes):
        own = slice(int(space.offsets[j]), int(space.offsets[j + 1]))
        position = np.arange(size)
        asked = np.arange(len(rows))
        while len(asked):
            smaller = allowed[asked]
            smaller[:, own] &= position < labels[rows[asked], j, None]
            possible = smaller[:, own].any(axis=1)
            asked, smaller = asked[possible], smaller[possible]
            if not len(asked):
                break
            narrowed = part.rows(asked).with_open(smaller)
            found = better(narrowed, floor[asked], rows[asked])
            taken: BoolArray = np.asarray((found >= 0).all(axis=1))
            taken[taken] &= space.value(narrowed.scores[taken], found[taken]) >= floor[asked][taken]
            labels[rows[asked[taken]]] = found[taken]
            asked = asked[taken]
        allowed[:, own] = position == labels[rows, j, None]
    return labels
