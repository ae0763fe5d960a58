"""Draws that are a function of what they are for: no state, the same for the same question."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.jit import inlined, kernel, lean
from rote.types import BoolArray, FloatArray, IntArray

GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # the steps of SplitMix64
FIRST = np.uint64(0xBF58476D1CE4E5B9)
SECOND = np.uint64(0x94D049BB133111EB)


@lean
def mixed(state: np.uint64) -> np.uint64:
    """The finaliser of SplitMix64: every bit of the state moves every bit of the result."""
    state = (state ^ (state >> np.uint64(30))) * FIRST
    state = (state ^ (state >> np.uint64(27))) * SECOND
    return state ^ (state >> np.uint64(31))


@inlined
def folded(state: np.uint64, bits: np.uint64) -> np.uint64:
    """A state that has taken in some bits; the upper ones, which a product moves, come down."""
    state = (state ^ bits) * FIRST
    return state ^ (state >> np.uint64(32))


@kernel
def seed_of(scores: FloatArray, i: int, seed: int) -> np.uint64:
    """Where the draws for an input begin: a function of its scores and the seed."""
    bits = scores.view(np.uint64)[i]
    # Every part goes into one of four states: a multiplication need not wait for the one before.
    a = np.uint64(seed) + GOLDEN
    b, c, d = a + GOLDEN, a ^ FIRST, a ^ SECOND
    end = bits.shape[0] // 4 * 4
    for p in range(0, end, 4):
        a, b = folded(a, bits[p]), folded(b, bits[p + 1])
        c, d = folded(c, bits[p + 2]), folded(d, bits[p + 3])
    for p in range(end, bits.shape[0]):
        a = folded(a, bits[p])
    return mixed(mixed(mixed(mixed(a) + b) + c) + d)


@inlined
def below(state: np.uint64, top: int) -> int:
    """A number from 0 to top - 1, from a state: the upper half of its bits, as a share."""
    share = (mixed(state) >> np.uint64(32)) * np.uint64(top)
    return int(np.int64(share >> np.uint64(32)))


@kernel
def draw_subsets(scores: FloatArray, gold: IntArray, k: int, sample: int, seed: int) -> IntArray:
    """``sample`` sets of k of the n variables for each input, one after the other, each sorted.

    Each is drawn as Floyd does: of the first n - k + 1 one, then of one more each time, where a
    variable that is there already stands for the newest.
    """
    m, n = gold.shape
    members = np.empty(m * sample * k, np.int64)
    taken = np.empty(n, np.bool_)
    for i in range(m):
        state = seed_of(scores, i, seed)
        for j in range(n):
            state = mixed(state + GOLDEN + np.uint64(gold[i, j]))
        for s in range(sample):
            taken[:] = False
            for top in range(n - k, n):
                state += GOLDEN
                j = below(state, top + 1)
                taken[top if taken[j] else j] = True
            at = (i * sample + s) * k
            for j in range(n):
                if taken[j]:
                    members[at] = j
                    at += 1
    return members


@lean
def hash_labels(labels: IntArray) -> int:
    """A number that tells outputs apart: two have the same by a chance of one in 2^64."""
    state = GOLDEN
    for j in range(labels.shape[0]):
        state = mixed(state + np.uint64(labels[j]) + GOLDEN)
    return int(np.int64(state))


class Draw(NamedTuple):
    """Room for starts."""

    order: IntArray  # variables, those drawn first
    labels: IntArray  # the start
    seen: IntArray  # the prints of starts before


@kernel
def new_draw(variables: int, starts: int) -> Draw:
    """Room for so many starts."""
    order, labels = np.empty(variables, np.int64), np.empty(variables, np.int64)
    return Draw(order, labels, np.empty(starts, np.int64))


@inlined
def redraw(
    offsets: IntArray, forbidden: BoolArray, state: np.uint64, n_resampled: int, draw: Draw
) -> np.uint64:
    """Give so many variables, drawn at random, a label drawn at random of those they may have.

    The variables are the first of ``order`` afterwards. The state that draws go on from.
    """
    order, labels, n = draw.order, draw.labels, draw.labels.shape[0]
    for k in range(n):
        order[k] = k
    for k in range(n_resampled):
        state += GOLDEN
        other = k + below(state, n - k)
        order[k], order[other] = order[other], order[k]
        j = order[k]
        free = 0
        for e in range(offsets[j], offsets[j + 1]):
            free += int(not forbidden[e])
        if free == 0:
            continue
        state += GOLDEN
        left = below(state, free)
        for e in range(offsets[j], offsets[j + 1]):
            if not forbidden[e]:
                if left == 0:
                    labels[j] = e - offsets[j]
                left -= 1
    return state


@inlined
def draw_start(
    offsets: IntArray,
    forbidden: BoolArray,
    state: np.uint64,
    n_resampled: int,
    initial: IntArray,
    draw: Draw,
    count: int,
) -> int:
    """A guess of which so many variables are drawn anew, that is none of ``count`` starts before.

    A start that was there before would be climbed from in vain. So twice as many variables are
    drawn, again and again; when all are, the start is taken as it is. How many were drawn: they are
    the first of ``order``. The prints of starts take in this one.
    """
    labels, seen, n = draw.labels, draw.seen, draw.labels.shape[0]
    while True:
        labels[:] = initial
        state = redraw(offsets, forbidden, state, n_resampled, draw)
        own = hash_labels(labels)
        if n_resampled == n or not (seen[:count] == own).any():
            seen[count] = own
            return n_resampled
        n_resampled = min(n, max(1, 2 * n_resampled))


@kernel
def seeds_of(scores: FloatArray, seed: int) -> IntArray:
    """`seed_of` for every input, as whole numbers with a sign."""
    seeds = np.empty(scores.shape[0], np.uint64)
    for i in range(scores.shape[0]):
        seeds[i] = seed_of(scores, i, seed)
    return seeds.view(np.int64)


@kernel
def draw_starts(
    seeds: IntArray,
    forbidden: BoolArray,
    initial: IntArray,
    offsets: IntArray,
    n_resampled: int,
    seen: IntArray,
    restart: int,
) -> IntArray:
    """The starts of one restart of greedy search; ``forbidden`` is of shape (m, labels).

    ``seen`` has the prints of earlier starts in its first columns, and takes in these.
    """
    starts = initial.copy()
    order = np.empty(initial.shape[1], np.int64)
    for i in range(initial.shape[0]):
        state = mixed(np.uint64(seeds[i]) + np.uint64(restart))
        draw = Draw(order, starts[i], seen[i])
        draw_start(offsets, forbidden[i], state, n_resampled, initial[i], draw, restart)
    return starts


@kernel
def note_starts(starts: IntArray, seen: IntArray, restart: int) -> BoolArray:
    """Whether starts are none of those before; ``seen`` takes in their prints."""
    new = np.empty(starts.shape[0], np.bool_)
    for i in range(starts.shape[0]):
        own = hash_labels(starts[i])
        new[i] = not (seen[i, :restart] == own).any()
        seen[i, restart] = own
    return new
