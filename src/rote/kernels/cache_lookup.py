"""Looking through what is remembered: the best remembered output, and conditions on its problems.

An *entry* is a solved problem: scores c_p and its best output y_p. Entries are grouped by output:
those of output k are ``order[ptr[k]:ptr[k + 1]]``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.jit import kernel
from rote.types import BoolArray, FloatArray, IntArray


@kernel
def best_remembered(
    scores: FloatArray, closed: BoolArray, parts: IntArray, variables: int
) -> IntArray:
    """For each input, the output worth most among those whose ``parts`` are given (eq. 9).

    -1 where there is none, all having a closed label. ``closed`` has one row per input or none.
    """
    m = scores.shape[0]
    found = np.full(m, -1, np.int64)
    for i in range(m):
        best = -np.inf
        for k in range(parts.shape[0]):
            value = 0.0
            for s in range(parts.shape[1]):
                value += scores[i, parts[k, s]]
            if value > best:
                taken = True
                if closed.shape[0] > 0:
                    for s in range(variables):
                        if closed[i, parts[k, s]]:
                            taken = False
                            break
                if taken:
                    best = value
                    found[i] = k
    return found


class Memory(NamedTuple):
    """Outputs and entries."""

    parts: IntArray  # (outputs, slots)
    slots: IntArray  # where the parts of each slot start; one more ends the last
    scores: FloatArray  # (entries, parts)
    margins: FloatArray  # per entry
    ptr: IntArray  # per output
    order: IntArray


@kernel
def first_that_holds(
    scores: FloatArray,
    outputs: IntArray,
    memory: Memory,
    least: FloatArray,
    epsilon: FloatArray,
    relative: bool,
) -> tuple[IntArray, FloatArray]:
    """For each input q, the first entry p that has output y = ``outputs[i]`` and meets eq. (4).

        (2 z_p - 1) (c_p - c_q) <= ε |c_q|      in every part

    where z_p is 1 for the parts of y; ``relative`` compares scores less that of y's own part in
    the same slot. With ε = 0, entries whose margin is not above ``least`` are passed over.

    Returns the entries, -1 for none, and the most that any output can be worth more than y, over
    ε: Σ_slots |c_q(y)| + max |c_q|.
    """
    parts, slots = memory.parts, memory.slots
    m = scores.shape[0]
    found = np.full(m, -1, np.int64)
    sums = np.zeros(m)
    for i in range(m):
        k = outputs[i]
        if k < 0:
            continue
        for at in range(memory.ptr[k], memory.ptr[k + 1]):
            p = memory.order[at]
            if epsilon[i] == 0.0 and memory.margins[p] <= least[i]:
                continue
            holds = True
            for s in range(slots.shape[0] - 1):
                own = parts[k, s]
                zero_q = scores[i, own] if relative else 0.0
                zero_p = memory.scores[p, own] if relative else 0.0
                for part in range(slots[s], slots[s + 1]):
                    new = scores[i, part] - zero_q
                    change = new - (memory.scores[p, part] - zero_p)
                    if part == own:
                        change = -change
                    if change > epsilon[i] * abs(new):
                        holds = False
                        break
                if not holds:
                    break
            if holds:
                found[i] = p
                break
        if found[i] >= 0:
            for s in range(slots.shape[0] - 1):
                own = parts[k, s]
                zero_q = scores[i, own] if relative else 0.0
                largest = 0.0
                for part in range(slots[s], slots[s + 1]):
                    largest = max(largest, abs(scores[i, part] - zero_q))
                sums[i] += largest + abs(scores[i, own] - zero_q)
    return found, sums
