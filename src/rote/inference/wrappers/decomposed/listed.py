"""The outputs around a gold one, enumerated: slow, and plain.

This is for problems with a loss term or global features, and for rules that only `Space.holds` can
check.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np

from rote.errors import UnsupportedSpace
from rote.inference.problem import Problem
from rote.kernels.bundles import VariableSets
from rote.kernels.dp.enumeration import outputs_between
from rote.space.space import Space
from rote.types import BoolArray, FloatArray, IntArray, readonly

MOST = 1 << 21  # outputs of one input


def best_listed(
    problem: Problem, golds: IntArray, sets: Sequence[VariableSets], *, settle: bool
) -> tuple[IntArray, BoolArray]:
    """What `rote.kernels.neighbourhood.neighbours.best_neighbours` does, for all sets at once."""
    space = problem.space
    answers = np.full(golds.shape, -1, dtype=np.int64)
    doubtful = np.zeros(len(answers), dtype=np.bool_)
    for i, gold in enumerate(golds):
        outputs = np.concatenate([neighbours(space, gold, around, i) for around in sets])
        known_value = _values(problem.rows(np.array([i])), outputs)
        best = known_value.max(initial=-np.inf)
        if best > -np.inf:
            equal = np.unique(outputs[known_value >= best - problem.ties[i]], axis=0)
            answers[i] = equal[0] if settle else outputs[known_value.argmax()]
            doubtful[i] = len(equal) > 1 and not settle
    return answers, doubtful


def neighbours(space: Space, gold: IntArray, around: VariableSets, i: int) -> IntArray:
    """All outputs that differ from the gold one of input i inside one of its sets.

    They may break rules, and some may be there more than once.
    """
    found = [gold[None]]
    sets = [
        around.members[around.ptr[s] : around.ptr[s + 1]].tolist()
        for s in range(around.begin[i], around.end[i])
    ]
    _check_count(space, sets, around.most)
    for one in sets:
        for members in combinations(one, min(around.most, len(one))):
            sizes = readonly(space.sizes[list(members)])
            labels = outputs_between(0, int(np.prod(sizes)), sizes)
            outputs = np.repeat(gold[None], len(labels), axis=0)
            outputs[:, list(members)] = labels
            found.append(outputs)
    return readonly(np.concatenate(found))


def _check_count(space: Space, sets: Sequence[Sequence[int]], most: int) -> None:
    """Refuse to write out more than fits into memory."""
    largest = float(space.sizes.max(initial=1))
    count = sum(comb(len(one), k) * largest**k for one in sets if (k := min(most, len(one))))
    if count > MOST:
        raise UnsupportedSpace(
            f"there are up to {count:.2g} outputs around a gold one, and no more than {MOST} are "
            "written out, as has to be done for loss terms, global features, and rules with "
            "auxiliary columns; take smaller sets, or sample some"
        )


def _values(problem: Problem, outputs: IntArray) -> FloatArray:
    """The values of outputs for one input; -inf for those that are infeasible."""
    space = problem.space
    scores = readonly(np.broadcast_to(problem.scores, (len(outputs), space.parts)))
    known_value = space.known_value(scores, outputs)
    if not problem.decomposes:
        known_value = known_value + problem.global_value(outputs[None])[0]
    possible = space.holds(outputs)
    if problem.closed is not None:
        possible &= ~problem.closed[0][space.offsets[:-1] + outputs].any(axis=1)
    return np.where(possible, known_value, -np.inf)
