"""Draws that are a function of what they are for: no state, the same for the same question."""

from __future__ import annotations

import numpy as np

from rote.kernels.jit import kernel
from rote.types import FloatArray, IntArray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # the steps of SplitMix64
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)


@kernel
def mixed(state: np.uint64) -> np.uint64:
    """The finaliser of SplitMix64: every bit of the state moves every bit of the result."""
    state = (state ^ (state >> np.uint64(30))) * FIRST
    state = (state ^ (state >> np.uint64(27))) * SECOND
    return state ^ (state >> np.uint64(31))


@kernel
def draw_subsets(scores: FloatArray, gold: IntArray, k: int, sample: int, seed: int) -> IntArray:
    """``sample`` sets of k of the n variables for each input, one after the other, each sorted.

    Each is drawn as Floyd does: of the first n - k + 1 one, then of one more each time, where a
    variable that is there already stands for the newest.
    """
    m, n = gold.shape
    bits = scores.view(np.int64)
    members = np.empty(m * sample * k, np.int64)
    taken = np.empty(n, np.bool_)
    for i in range(m):
        state = mixed(np.uint64(seed) + GOLDEN)
        for p in range(bits.shape[1]):
            state = mixed(state + GOLDEN + np.uint64(bits[i, p]))
        for j in range(n):
            state = mixed(state + GOLDEN + np.uint64(gold[i, j]))
        for s in range(sample):
            taken[:] = False
            for top in range(n - k, n):
                state += GOLDEN
                # The upper half of the bits, as a share of the numbers up to top.
                share = (mixed(state) >> np.uint64(32)) * np.uint64(top + 1)
                j = int(np.int64(share >> np.uint64(32)))
                taken[top if taken[j] else j] = True
            at = (i * sample + s) * k
            for j in range(n):
                if taken[j]:
                    members[at] = j
                    at += 1
    return members
