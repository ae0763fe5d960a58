"""Draws that are a function of what they are for: no state, the same for the same question."""

from __future__ import annotations

import cython
import numpy as np

from rote.types import BoolArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.constants import FIRST_FACTOR, GOLDEN, SECOND_FACTOR, WORD
    from rote.kernels.inlined import below, bits_of, folded, mixed, signed


def seed_of(scores: Floats2, i: Int, seed: Int) -> Word:
    """Where the draws for an input begin: a function of its scores and the seed."""
    # Every part goes into one of four states: a multiplication need not wait for the one before.
    a = (cython.cast(Word, seed) + GOLDEN) & WORD
    b, c, d = (a + GOLDEN) & WORD, a ^ FIRST_FACTOR, a ^ SECOND_FACTOR
    end = scores.shape[1] // 4 * 4
    for p in range(0, end, 4):
        a = folded(a, bits_of(scores[i, p]))
        b = folded(b, bits_of(scores[i, p + 1]))
        c = folded(c, bits_of(scores[i, p + 2]))
        d = folded(d, bits_of(scores[i, p + 3]))
    for p in range(end, scores.shape[1]):
        a = folded(a, bits_of(scores[i, p]))
    return mixed((mixed((mixed((mixed(a) + b) & WORD) + c) & WORD) + d) & WORD)


def draw_subsets(scores: Floats2, gold: Ints2, k: Int, sample: Int, seed: Int) -> IntArray:
    """``sample`` sets of k of the n variables for each input, one after the other, each sorted.

    Each is drawn as Floyd does: of the first n - k + 1 one, then of one more each time, where a
    variable that is there already stands for the newest.
    """
    expect("scores", "rows", gold.shape[0], scores.shape[0])
    m, n = gold.shape[0], gold.shape[1]
    sets = np.empty(m * sample * k, np.int64)
    members: OutInts = sets
    taken = flags(n)
    fill(taken, False)
    with cython.nogil:
        for i in range(m):
            state = seed_of(scores, i, seed)
            for j in range(n):
                state = mixed((state + GOLDEN + cython.cast(Word, gold[i, j])) & WORD)
            for s in range(sample):
                for top in range(n - k, n):
                    state = (state + GOLDEN) & WORD
                    drawn = below(state, top + 1)
                    taken[top if taken[drawn] else drawn] = True
                at, variable = (i * sample + s) * k, 0
                for place in range(at, at + k):
                    while not taken[variable]:
                        variable += 1
                    taken[variable] = False  # for the next set
                    members[place] = variable
    return sets


def hash_labels(labels: Ints) -> int:
    """A number that tells outputs apart: two have the same by a chance of one in 2^64."""
    state: Word = GOLDEN
    for j in range(labels.shape[0]):
        state = mixed((state + cython.cast(Word, labels[j]) + GOLDEN) & WORD)
    return signed(state)


class Draw(Bundle):
    """Room for so many starts."""

    def __init__(self, variables: Int, starts: Int) -> None:
        room = ints(2 * variables + starts)
        self.order = room[:variables]  # variables, those drawn first
        self.labels = room[variables : 2 * variables]  # the start
        self.seen = room[2 * variables :]  # the prints of starts before


def redraw(offsets: Ints, forbidden: Flags, state: Word, n_resampled: Int, draw: Draw) -> Word:
    """Give so many variables, drawn at random, a label drawn at random of those they may have.

    The variables are the first of ``order`` afterwards. The state that draws go on from.
    """
    n = draw.labels.shape[0]
    for k in range(n):
        draw.order[k] = k
    for k in range(n_resampled):
        state = (state + GOLDEN) & WORD
        other = k + below(state, n - k)
        j = draw.order[other]
        draw.order[other] = draw.order[k]
        draw.order[k] = j
        free = 0
        for e in range(offsets[j], offsets[j + 1]):
            if not forbidden[e]:
                free += 1
        if free == 0:
            continue
        state = (state + GOLDEN) & WORD
        left = below(state, free)
        for e in range(offsets[j], offsets[j + 1]):
            if not forbidden[e]:
                if left == 0:
                    draw.labels[j] = e - offsets[j]
                    break
                left -= 1
    return state


def is_among(numbers: Ints, count: Int, number: Int) -> bool:
    """Whether a number is one of the first so many."""
    found: Bool = False
    for k in range(count):
        found = found or numbers[k] == number
    return found


def draw_start(
    offsets: Ints,
    forbidden: Flags,
    state: Word,
    n_resampled: Int,
    initial: Ints,
    draw: Draw,
    count: Int,
) -> int:
    """A guess of which so many variables are drawn anew, that is none of ``count`` starts before.

    A start that was there before would be climbed from in vain. So twice as many variables are
    drawn, again and again; when all are, the start is taken as it is. How many were drawn: they are
    the first of ``order``. The prints of starts take in this one.
    """
    n = draw.labels.shape[0]
    while True:
        copy_into(draw.labels, initial)
        state = redraw(offsets, forbidden, state, n_resampled, draw)
        own = hash_labels(draw.labels)
        if n_resampled == n or not is_among(draw.seen, count, own):
            draw.seen[count] = own
            return n_resampled
        n_resampled = min(n, max(1, 2 * n_resampled))


def seeds_of(scores: Floats2, seed: Int) -> IntArray:
    """`seed_of` for every input, as whole numbers with a sign."""
    m = scores.shape[0]
    seeds = np.empty(m, np.int64)
    words: OutInts = seeds
    with cython.nogil:
        for i in range(m):
            words[i] = signed(seed_of(scores, i, seed))
    return seeds


def draw_starts(
    seeds: Ints,
    forbidden: Flags2,
    initial: Ints2,
    offsets: Ints,
    n_resampled: Int,
    seen: OutInts2,
    restart: Int,
) -> IntArray:
    """The starts of one restart of greedy search; ``forbidden`` is of shape (m, labels).

    ``seen`` has the prints of earlier starts in its first columns, and takes in these.
    """
    m = initial.shape[0]
    expect("seeds", "entries", m, seeds.shape[0])
    expect("forbidden", "rows", m, forbidden.shape[0])
    expect("initial", "columns", offsets.shape[0] - 1, initial.shape[1])
    expect_least("forbidden", "columns", offsets[offsets.shape[0] - 1], forbidden.shape[1])
    expect("seen", "rows", m, seen.shape[0])
    expect_least("seen", "columns", restart + 1, seen.shape[1])
    m, n = initial.shape[0], initial.shape[1]
    starts = np.empty((m, n), np.int64)
    labels: OutInts2 = starts
    draw = Draw(n, seen.shape[1])
    with cython.nogil:
        for i in range(m):
            state = mixed((cython.cast(Word, seeds[i]) + cython.cast(Word, restart)) & WORD)
            copy_into(draw.seen, seen[i])
            draw_start(offsets, forbidden[i], state, n_resampled, initial[i], draw, restart)
            copy_into(labels[i], draw.labels)
            seen[i, restart] = draw.seen[restart]
    return starts


def note_starts(starts: Ints2, seen: OutInts2, restart: Int) -> BoolArray:
    """Whether starts are none of those before; ``seen`` takes in their prints."""
    expect("seen", "rows", starts.shape[0], seen.shape[0])
    expect_least("seen", "columns", restart + 1, seen.shape[1])
    m = starts.shape[0]
    new = np.empty(m, np.bool_)
    is_new: OutFlags = new
    with cython.nogil:
        for i in range(m):
            own = hash_labels(starts[i])
            is_new[i] = not is_among(seen[i], restart, own)
            seen[i, restart] = own
    return new
