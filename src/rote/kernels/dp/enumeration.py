"""All outputs in lexicographic order, the last variable turning fastest.

Output number c of the order has the labels that are its digits in the mixed radix
``sizes``. What is feasible is one bit per output, the first in the highest bit.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Questions
    from rote.kernels.inlined import parts_reached


def outputs_between(first: Int, end: Int, sizes: Ints) -> IntArray:
    """The labels of the outputs numbered first .. end-1."""
    n = sizes.shape[0]
    labels = ints2(end - first, n)
    with cython.nogil:
        for c in range(first, end):
            rest = c
            for back in range(n):
                j = n - 1 - back
                labels[c - first, j] = rest % sizes[j]
                rest //= sizes[j]
    return np.asarray(labels)


class EndingFactors(Bundle):
    """The factors of a space, sorted by their last variable."""

    def __init__(
        self,
        ptr: Ints,  # per variable: the factors whose last one it is
        first: Ints,  # per factor: its first part
        scope_ptr: Ints,
        scope: Ints,
        strides: Ints,
    ) -> None:
        self.ptr = ptr
        self.first = first
        self.scope_ptr = scope_ptr
        self.scope = scope
        self.strides = strides


def best_outputs(
    questions: Questions, feasible: Flags, sizes: Ints, offsets: Ints, factors: EndingFactors
) -> IntArray:
    """The first output within one tie of the best; labels are -1 where nothing is feasible.

    A prefix of labels is worth the labels and factors it settles, so turning variable j
    changes only what comes from j on. A first round finds the best value, a second
    one the first output close to it.
    """
    n = sizes.shape[0]
    reach = parts_reached(factors.first, factors.scope_ptr, factors.scope, factors.strides, sizes)
    questions.fit(reach, offsets[n])
    outputs = 1
    for j in range(n):
        outputs *= sizes[j]
    expect_least("feasible", "bytes", (outputs + 7) // 8, feasible.shape[0])
    m, n = questions.scores.shape[0], sizes.shape[0]
    result: OutInts2 = np.full((m, n), -1, np.int64)
    labels, known = ints(n), floats(n + 1)
    known[0] = 0.0
    with cython.nogil:
        for i in range(m):
            best = turn(questions, i, feasible, sizes, offsets, factors, labels, known, inf)
            if best > -inf:
                least = best - questions.ties[i]
                turn(questions, i, feasible, sizes, offsets, factors, labels, known, least)
                copy_into(result[i], labels)
    return np.asarray(result)


def turn(
    questions: Questions,
    i: Int,
    feasible: Flags,
    sizes: Ints,
    offsets: Ints,
    factors: EndingFactors,
    labels: OutInts,
    known: OutFloats,
    enough: float,
) -> float:
    """Go through the outputs until one has the value ``enough``; returns the best value seen.

    ``known`` has the values of the prefixes of ``labels``.
    """
    n = sizes.shape[0]
    fill(labels, 0)
    best: float = -inf
    c, turned = 0, 0
    while turned >= 0:
        for j in range(turned, n):
            part = offsets[j] + labels[j]
            value: float = known[j] + questions.scores[i, part]
            if questions.closed.shape[0] > 0 and questions.closed[i, part]:
                value = -inf
            for f in range(factors.ptr[j], factors.ptr[j + 1]):
                part = factors.first[f]
                for k in range(factors.scope_ptr[f], factors.scope_ptr[f + 1]):
                    part += factors.strides[k] * labels[factors.scope[k]]
                value += questions.scores[i, part]
            known[j + 1] = value
        if (feasible[c >> 3] >> (7 - (c & 7))) & 1:
            best = max(best, known[n])
            if known[n] >= enough:
                break
        c += 1
        turned = n - 1
        while turned >= 0 and labels[turned] == sizes[turned] - 1:
            labels[turned] = 0
            turned -= 1
        if turned >= 0:
            labels[turned] += 1
    return best
