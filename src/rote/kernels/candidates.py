"""Dual coordinate descent over candidate outputs, for the structural SVM.

A candidate c is an output y of an example i, with a dual α ≥ 0. Its direction
φ = φ(x_i, gold) - φ(x_i, y) is kept as *differences*: for every slot where y differs from gold a
feature vector, and where in the weights the right label and the wrong label begin. With
w = Σ α φ and the sum A_i of an example's duals, we minimise

    D(α) = ½ ‖w‖² + Σ_i A_i² / (4 C_i) - Σ Δ α           (squared slacks)
    D(α) = ½ ‖w‖² - Σ Δ α   with  A_i ≤ C_i               (plain slacks)

one α after the other; its gain is -∂D/∂α = Δ - w · φ - A_i / (2 C_i), the last part only for
squared slacks. Where A_i has reached C_i, what one candidate gains another of the same example
must give.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.jit import kernel
from rote.kernels.structs import Slots, Vectors
from rote.types import FloatArray, IntArray


class Candidates(NamedTuple):
    """Candidates and, per example, the sum of its duals and its last candidate."""

    example: IntArray
    digest: IntArray  # of the output, to find it again
    dual: FloatArray
    loss: FloatArray
    norm: FloatArray  # ‖φ‖²
    previous: IntArray  # the candidate of the same example before this one, or -1
    ptr: IntArray  # its differences; one more ends the last
    vector: IntArray  # per difference
    right: IntArray  # per difference: where the weights of the right label begin
    wrong: IntArray
    stride: IntArray
    last: IntArray  # per example, or -1
    total: FloatArray  # per example: A_i


@kernel
def along(weights: FloatArray, vectors: Vectors, candidates: Candidates, c: int) -> float:
    """w · φ of a candidate."""
    value = 0.0
    for d in range(candidates.ptr[c], candidates.ptr[c + 1]):
        v = candidates.vector[d]
        right, wrong, stride = candidates.right[d], candidates.wrong[d], candidates.stride[d]
        for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
            at = vectors.column[k] * stride
            value += vectors.value[k] * (weights[right + at] - weights[wrong + at])
    return value


@kernel
def shift(
    weights: FloatArray, vectors: Vectors, candidates: Candidates, c: int, step: float
) -> None:
    """w += step · φ."""
    for d in range(candidates.ptr[c], candidates.ptr[c + 1]):
        v = candidates.vector[d]
        right, wrong, stride = candidates.right[d], candidates.wrong[d], candidates.stride[d]
        for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
            at = vectors.column[k] * stride
            change = step * vectors.value[k]
            weights[right + at] += change
            weights[wrong + at] -= change


@kernel
def product(
    scratch: FloatArray, vectors: Vectors, candidates: Candidates, c: int, other: int
) -> float:
    """φ · φ' of two candidates. ``scratch`` is as long as the weights, and 0 before and after."""
    shift(scratch, vectors, candidates, c, 1.0)
    value = along(scratch, vectors, candidates, other)
    for d in range(candidates.ptr[c], candidates.ptr[c + 1]):
        v = candidates.vector[d]
        for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
            at = vectors.column[k] * candidates.stride[d]
            scratch[candidates.right[d] + at] = 0.0
            scratch[candidates.wrong[d] + at] = 0.0
    return value


@kernel
def add_candidates(
    candidates: Candidates,
    count: int,
    scratch: FloatArray,
    weights: FloatArray,
    vectors: Vectors,
    slots: Slots,
    members: IntArray,
    firsts: IntArray,
    gold: IntArray,
    found: IntArray,
    digests: IntArray,
    losses: FloatArray,
    slacks: FloatArray,
    costs: FloatArray,
    squared: bool,
    delta: float,
) -> int:
    """Take in the outputs whose gain is above δ and that are not candidates yet.

    ``slacks`` are Δ - w · φ of the outputs, as inference found them. There must be room for all.
    Returns how many candidates there are then.
    """
    for i in range(members.shape[0]):
        example = members[i]
        cost = costs[example]
        if cost <= 0.0:
            continue
        known = False
        bar = candidates.total[example] / (2.0 * cost) if squared else 0.0
        c = candidates.last[example]
        while c >= 0:
            if candidates.digest[c] == digests[i]:
                known = True
                break
            if not squared:
                bar = max(bar, candidates.loss[c] - along(weights, vectors, candidates, c))
            c = candidates.previous[c]
        if known or not slacks[i] > bar + delta:
            continue
        at = candidates.ptr[count]
        for s in range(slots.vector.shape[0]):
            if gold[i, s] == found[i, s]:
                continue
            own = slots.vector[s]
            candidates.vector[at] = firsts[i] + own if own >= 0 else 0
            candidates.right[at] = slots.origin[s] + gold[i, s]
            candidates.wrong[at] = slots.origin[s] + found[i, s]
            candidates.stride[at] = slots.stride[s]
            at += 1
        candidates.ptr[count + 1] = at
        candidates.example[count] = example
        candidates.digest[count] = digests[i]
        candidates.dual[count] = 0.0
        candidates.loss[count] = losses[i]
        candidates.previous[count] = candidates.last[example]
        candidates.last[example] = count
        candidates.norm[count] = product(scratch, vectors, candidates, count, count)
        count += 1
    return count


@kernel
def weakest(
    weights: FloatArray, vectors: Vectors, candidates: Candidates, example: int, but: int
) -> tuple[int, float]:
    """Another candidate of an example with a dual above 0 and the least gain, or -1."""
    chosen, least = -1, np.inf
    c = candidates.last[example]
    while c >= 0:
        if c != but and candidates.dual[c] > 0.0:
            gain = candidates.loss[c] - along(weights, vectors, candidates, c)
            if gain < least:
                chosen, least = c, gain
        c = candidates.previous[c]
    return chosen, least


@kernel
def gain_of(
    weights: FloatArray,
    vectors: Vectors,
    candidates: Candidates,
    c: int,
    cost: float,
    squared: bool,
) -> float:
    """-∂D/∂α."""
    held = candidates.total[candidates.example[c]] / (2.0 * cost) if squared else 0.0
    return float(candidates.loss[c] - along(weights, vectors, candidates, c) - held)


@kernel
def descend(
    weights: FloatArray,
    scratch: FloatArray,
    vectors: Vectors,
    candidates: Candidates,
    chosen: IntArray,
    costs: FloatArray,
    squared: bool,
    passes: int,
    delta: float,
    seed: int,
) -> int:
    """Passes over the chosen candidates in random order, until no projected gain is above δ.

    In later passes a candidate at 0 rests whose gain is below minus the largest projected gain
    of the pass before (shrinking); the next call wakes all. Returns the number of passes.
    """
    order = chosen.copy()
    active = order.shape[0]
    state = np.uint64(seed * 2654435761 + 88172645463325252)
    largest = np.inf
    done = 0
    while done < passes:
        before, largest = largest, 0.0
        for a in range(active):
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            b = a + int(state >> np.uint64(11)) % (active - a)
            order[a], order[b] = order[b], order[a]
        a = 0
        while a < active:
            c = order[a]
            example = candidates.example[c]
            cost = costs[example]
            gain = gain_of(weights, vectors, candidates, c, cost, squared)
            dual = candidates.dual[c]
            if dual == 0.0 and gain < -before:
                active -= 1
                order[a], order[active] = order[active], order[a]
                continue
            a += 1
            if candidates.norm[c] <= 0.0:
                continue
            if squared:
                projected = gain if dual > 0.0 else max(0.0, gain)
                largest = max(largest, abs(projected))
                step = max(-dual, gain / (candidates.norm[c] + 0.5 / cost))
            else:
                room = cost - candidates.total[example]
                if gain > 0.0 and room <= 1e-12 * cost:
                    other, least = weakest(weights, vectors, candidates, example, c)
                    if other < 0 or gain <= least:
                        continue
                    largest = max(largest, gain - least)
                    both = (
                        candidates.norm[c]
                        + candidates.norm[other]
                        - 2.0 * product(scratch, vectors, candidates, c, other)
                    )
                    taken = candidates.dual[other]
                    if both > 0.0:
                        taken = min(taken, (gain - least) / both)
                    candidates.dual[other] -= taken
                    candidates.dual[c] += taken
                    shift(weights, vectors, candidates, other, -taken)
                    shift(weights, vectors, candidates, c, taken)
                    continue
                projected = gain if dual > 0.0 else max(0.0, gain)
                largest = max(largest, abs(projected))
                step = min(room, max(-dual, gain / candidates.norm[c]))
            if step != 0.0:
                candidates.dual[c] = dual + step
                candidates.total[example] += step
                shift(weights, vectors, candidates, c, step)
        done += 1
        if largest <= delta:
            break
    return done


@kernel
def candidates_of(candidates: Candidates, examples: IntArray) -> IntArray:
    """The candidates of some examples."""
    count = 0
    for example in examples:
        c = candidates.last[example]
        while c >= 0:
            count += 1
            c = candidates.previous[c]
    found = np.empty(count, np.int64)
    for example in examples:
        c = candidates.last[example]
        while c >= 0:
            count -= 1
            found[count] = c
            c = candidates.previous[c]
    return found


@kernel
def largest_gain(
    weights: FloatArray,
    vectors: Vectors,
    candidates: Candidates,
    count: int,
    costs: FloatArray,
    squared: bool,
) -> float:
    """The largest projected gain of all candidates, none of them moved."""
    largest = 0.0
    for c in range(count):
        example = candidates.example[c]
        gain = gain_of(weights, vectors, candidates, c, costs[example], squared)
        if not squared and gain > 0.0 and candidates.total[example] >= costs[example] * (1 - 1e-12):
            _, least = weakest(weights, vectors, candidates, example, c)
            gain = max(0.0, gain - least)
        elif candidates.dual[c] == 0.0:
            gain = max(0.0, gain)
        largest = max(largest, abs(gain))
    return largest
