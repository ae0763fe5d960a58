"""Looking through what is remembered: the best remembered output, and conditions on its problems.

An *entry* is a solved problem: scores c_p and its best output y_p. Entries are grouped by output:
those of output k are ``order[ptr[k]:ptr[k + 1]]``.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import FloatArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *


def best_remembered(scores: Floats2, closed: Flags2, parts: Ints2, variables: Int) -> IntArray:
    """For each input, the output worth most among those whose ``parts`` are given (eq. 9).

    -1 where there is none, all having a closed label. ``closed`` has one row per input or none.
    """
    if closed.shape[0] > 0:
        expect("closed", "rows", scores.shape[0], closed.shape[0])
    m = scores.shape[0]
    found: OutInts = np.full(m, -1, np.int64)
    with cython.nogil:
        for i in range(m):
            best = -inf
            for k in range(parts.shape[0]):
                value: float = 0.0
                for s in range(parts.shape[1]):
                    value += scores[i, parts[k, s]]
                if value > best and may_be_taken(closed, i, parts, k, variables):
                    best = value
                    found[i] = k
    return np.asarray(found)


def may_be_taken(closed: Flags2, i: Int, parts: Ints2, k: Int, variables: Int) -> bool:
    """Whether output k has no label that is closed to input i."""
    if closed.shape[0] > 0:
        for s in range(variables):
            if closed[i, parts[k, s]]:
                return False
    return True


def is_same(scores: Floats2, i: Int, remembered: Floats2) -> bool:
    """Whether the scores of input i are those remembered, to the bit but for the sign of zero."""
    expect("remembered", "columns", scores.shape[1], remembered.shape[1])
    expect("remembered", "rows", 1, remembered.shape[0])
    expect_least("scores", "rows", i + 1, scores.shape[0])
    for part in range(scores.shape[1]):
        if scores[i, part] != remembered[0, part]:
            return False
    return True


class Memory(Bundle):
    """Outputs and entries."""

    def __init__(
        self,
        parts: Ints2,  # (outputs, slots)
        slots: Ints,  # where the parts of each slot start; one more ends the last
        scores: Floats2,  # (entries, parts)
        margins: Floats,  # per entry
        ptr: Ints,  # per output
        order: Ints,
    ) -> None:
        self.parts = parts
        self.slots = slots
        self.scores = scores
        self.margins = margins
        self.ptr = ptr
        self.order = order


def first_that_holds(
    scores: Floats2,
    outputs: Ints,
    memory: Memory,
    least: Floats,
    epsilon: Floats,
    relative: Bool,
    absolute: Bool,
) -> tuple[IntArray, FloatArray]:
    """For each input q, the first entry p that has output y = ``outputs[i]`` and meets eq. (4).

        (2 z_p - 1) (c_p - c_q) <= ε |c_q|      in every part

    where z_p is 1 for the parts of y; ``relative`` compares scores less that of y's own part in
    the same slot, and ``absolute`` compares with ε alone. With ε = 0, entries whose margin is not
    above ``least`` are passed over.

    Returns the entries, -1 for none, and the most that any output can be worth more than y, over
    ε: Σ_slots |c_q(y)| + max |c_q|, or Σ_slots 2.
    """
    m = scores.shape[0]
    expect("scores", "columns", memory.scores.shape[1], scores.shape[1])
    expect("outputs", "entries", m, outputs.shape[0])
    expect("least", "entries", m, least.shape[0])
    expect("epsilon", "entries", m, epsilon.shape[0])
    m = scores.shape[0]
    found: OutInts = np.full(m, -1, np.int64)
    sums: OutFloats = np.zeros(m)
    with cython.nogil:
        for i in range(m):
            k = outputs[i]
            if k < 0:
                continue
            for at in range(memory.ptr[k], memory.ptr[k + 1]):
                p = memory.order[at]
                if epsilon[i] == 0.0 and memory.margins[p] <= least[i]:
                    continue
                if holds(scores, i, memory, k, p, epsilon[i], relative, absolute):
                    found[i] = p
                    sums[i] = 2.0 * (memory.slots.shape[0] - 1)
                    if not absolute:
                        sums[i] = worth_more(scores, i, memory, k, relative)
                    break
    return np.asarray(found), np.asarray(sums)


def holds(
    scores: Floats2,
    i: Int,
    memory: Memory,
    k: Int,
    p: Int,
    epsilon: float,
    relative: Bool,
    absolute: Bool,
) -> bool:
    """Whether entry p, whose output is k, meets the condition for input i."""
    for s in range(memory.slots.shape[0] - 1):
        own: Int = memory.parts[k, s]
        zero_q: float = scores[i, own] if relative else 0.0
        zero_p: float = memory.scores[p, own] if relative else 0.0
        for part in range(memory.slots[s], memory.slots[s + 1]):
            new: float = scores[i, part] - zero_q
            change: float = new - (memory.scores[p, part] - zero_p)
            if part == own:
                change = -change
            if change > (epsilon if absolute else epsilon * abs(new)):
                return False
    return True


def worth_more(scores: Floats2, i: Int, memory: Memory, k: Int, relative: Bool) -> float:
    """Σ_slots |c_q(y)| + max |c_q| for output y = k."""
    total: float = 0.0
    for s in range(memory.slots.shape[0] - 1):
        own: Int = memory.parts[k, s]
        zero: float = scores[i, own] if relative else 0.0
        largest: float = 0.0
        for part in range(memory.slots[s], memory.slots[s + 1]):
            largest = max(largest, abs(scores[i, part] - zero))
        total += largest + abs(scores[i, own] - zero)
    return total
