"""One step of the perceptron on a chain, from scores to weights, without leaving the kernel."""

from __future__ import annotations

import numpy as np

from rote.kernels.bundles import Slots, Vectors, Windows
from rote.kernels.dp.chains import best_chains
from rote.kernels.jit import kernel
from rote.kernels.learning.linear import move_both, scores_of
from rote.kernels.outputs import all_finite, ties_of
from rote.types import FloatArray, IntArray

RIGHT, WRONG, NOTHING = 0, 1, 2


@kernel
def chain_step(
    weights: FloatArray,
    sums: FloatArray,
    vectors: Vectors,
    slots: Slots,
    chain: Windows,
    scope_ptr: IntArray,
    scope: IntArray,
    first: int,
    toward: IntArray,
    share: float,
    step: float,
    age: float,
) -> int:
    """Learn from one example: RIGHT, WRONG after a step, or NOTHING: no output, or no score.

    What `scores_of`, `best_chains` and `move_both` do one after the other. ``toward`` are the
    columns of the right output, which begin with its labels.
    """
    scores = scores_of(weights, vectors, slots, np.full(1, first))
    if not all_finite(scores):
        return NOTHING
    ties = ties_of(scores, share)
    found = best_chains(scores, np.empty((0, 0), np.bool_), ties, chain)[0]
    n = found.shape[0]
    away = np.empty(toward.shape[0], np.int64)
    away[:n] = found
    if n > 0 and found[0] < 0:
        return NOTHING
    right = True
    for j in range(n):
        right = right and found[j] == toward[j]
    if right:
        return RIGHT
    for f in range(scope_ptr.shape[0] - 1):
        code = 0
        for k in range(scope_ptr[f], scope_ptr[f + 1]):
            code = code * chain.sizes[scope[k]] + found[scope[k]]
        away[n + f] = code
    move_both(weights, sums, vectors, slots, first, toward, away, step, age)
    return WRONG
