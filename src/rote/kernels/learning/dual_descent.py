"""Dual coordinate descent over candidate outputs, for the structural SVM.

With w = Σ α φ over candidates (`rote.kernels.learning.working_set`), and the sum A_i of the duals
of an example, we minimise

    D(α) = ½ ‖w‖² + Σ_i A_i² / (4 C_i) - Σ Δ α           (squared slacks)
    D(α) = ½ ‖w‖² - Σ Δ α   with  A_i ≤ C_i               (plain slacks)

one α after the other; its gain is -∂D/∂α = Δ - w · φ - A_i / (2 C_i), the last part only for
squared slacks. Where A_i has reached C_i, what one candidate gains another of the same example
must give.

A visit of an example reads the weights once per atom, takes its steps with the products φ · φ' of
its candidates, and writes the weights once per atom.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.jit import kernel, lean
from rote.kernels.learning.working_set import (
    BEFORE,
    STEP,
    Candidates,
    Dual,
    read_atoms,
    shift,
    summed,
)
from rote.types import FloatArray, IntArray

FULL = 1.0 - 1e-12  # of C_i: from here on A_i has no room left
ROUNDS = 8  # over the candidates of one example in one visit


class Desk(NamedTuple):
    """Room for the candidates of one example, by rank."""

    ids: IntArray
    gains: FloatArray  # Δ - w · φ
    steps: FloatArray  # what each dual was moved by
    products: FloatArray  # φ · φ' of each two


@kernel
def desk_for(candidates: Candidates, examples: IntArray) -> Desk:
    """Room for the candidates of any of the examples."""
    most = 1
    for example in examples:
        most = max(most, candidates.size[example])
    return Desk(np.empty(most, np.int64), np.empty(most), np.empty(most), np.empty((most, most)))


@lean
def gains_of(dual: Dual, example: int, desk: Desk) -> int:
    """The candidates of an example by rank, and Δ - w · φ of each; returns how many."""
    candidates = dual.candidates
    read_atoms(dual.weights, dual.vectors, candidates, example)
    size = candidates.size[example]
    c = candidates.last[example]
    while c >= 0:
        r = candidates.rank[c]
        desk.ids[r] = c
        desk.gains[r] = candidates.loss[c] - summed(candidates, c)
        c = candidates.previous[c]
    return int(size)


@lean
def product_of(candidates: Candidates, ids: IntArray, r: int, s: int) -> float:
    """φ · φ' of the candidates at two ranks."""
    if r < s:
        r, s = s, r
    return float(candidates.products[candidates.product_ptr[ids[r]] + s])


@lean
def weakest(candidates: Candidates, desk: Desk, size: int) -> int:
    """The rank of the candidate with a dual above 0 and the least gain, or -1."""
    ids, gains = desk.ids, desk.gains
    chosen = -1
    for r in range(size):
        if candidates.dual[ids[r]] > 0.0 and (chosen < 0 or gains[r] < gains[chosen]):
            chosen = r
    return chosen


@lean
def projected(dual: Dual, desk: Desk, size: int, r: int, example: int) -> float:
    """How much a candidate would still gain, or lose too much, where its dual can move."""
    candidates, gains, cost = dual.candidates, desk.gains, dual.costs[example]
    own, total = candidates.dual[desk.ids[r]], candidates.total[example]
    if dual.squared:
        gain = gains[r] - total / (2.0 * cost)
    else:
        gain = gains[r]
        if gain > 0.0 and total >= cost * FULL:
            giver = weakest(candidates, desk, size)
            return max(0.0, float(gain - gains[giver])) if giver >= 0 else 0.0
    return abs(float(gain)) if own > 0.0 else max(0.0, float(gain))


@lean
def take(candidates: Candidates, desk: Desk, size: int, r: int, step: float) -> None:
    """α += step, with what it does to the gains of the example."""
    candidates.dual[desk.ids[r]] += step
    desk.steps[r] += step
    products = desk.products[r]
    for s in range(size):
        desk.gains[s] -= step * products[s]


@lean
def visit(dual: Dual, desk: Desk, example: int) -> float:
    """Rounds over the candidates of one example; returns the largest projected gain before."""
    weights, vectors, candidates, costs, squared, delta = dual
    ids, gains, cost = desk.ids, desk.gains, costs[example]
    size = gains_of(dual, example, desk)
    before = 0.0
    for r in range(size):
        desk.steps[r] = 0.0
        for s in range(size):
            desk.products[r, s] = product_of(candidates, ids, r, s)
        own = projected(dual, desk, size, r, example)
        before = max(before, own)
    largest = before
    rounds = 0
    while largest > 0.1 * delta and rounds < ROUNDS:
        largest = 0.0
        rounds += 1
        for r in range(size):
            own = projected(dual, desk, size, r, example)
            largest = max(largest, own)
            norm = desk.products[r, r]
            if own == 0.0:
                continue
            alpha, total = candidates.dual[ids[r]], candidates.total[example]
            if squared:
                gain = gains[r] - total / (2.0 * cost)
                step = max(-alpha, gain / (norm + 0.5 / cost))
                candidates.total[example] += step
                take(candidates, desk, size, r, step)
            elif gains[r] > 0.0 and total >= cost * FULL:
                giver = weakest(candidates, desk, size)
                both = norm + desk.products[giver, giver] - 2.0 * desk.products[r, giver]
                step = candidates.dual[ids[giver]]
                if both > 0.0:
                    step = min(step, own / both)
                take(candidates, desk, size, r, step)
                take(candidates, desk, size, giver, -step)
            else:
                # Where φ is 0, w does not mind: α goes as far as it may.
                best = gains[r] / norm if norm > 0.0 else np.copysign(np.inf, gains[r])
                step = min(cost - total, max(-alpha, best))
                candidates.total[example] += step
                take(candidates, desk, size, r, step)
    for r in range(size):
        if desk.steps[r] != 0.0:
            c = ids[r]
            for k in range(candidates.atom_ptr[c], candidates.atom_ptr[c + 1]):
                candidates.work[candidates.atoms[k], STEP] += desk.steps[r]
    atom = candidates.last_atom[example]
    while atom >= 0:
        if candidates.work[atom, STEP] != 0.0:
            shift(weights, vectors, candidates, atom, candidates.work[atom, STEP])
            candidates.work[atom, STEP] = 0.0
        atom = candidates.atom[atom, BEFORE]
    return before


@kernel
def descend(dual: Dual, examples: IntArray, passes: int, seed: int) -> int:
    """Passes over examples in random order, until no projected gain is above δ.

    An example that had none above δ rests until the next call (shrinking). Returns the number of
    passes.
    """
    desk = desk_for(dual.candidates, examples)
    order = examples.copy()
    active = order.shape[0]
    state = np.uint64(seed) | np.uint64(1)  # of a random generator; never 0
    done = 0
    while done < passes and active > 0:
        for a in range(active):
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            b = a + int(state >> np.uint64(11)) % (active - a)
            order[a], order[b] = order[b], order[a]
        a = 0
        while a < active:
            example = order[a]
            if visit(dual, desk, example) <= dual.delta:
                active -= 1
                order[a], order[active] = order[active], order[a]
            else:
                a += 1
        done += 1
    return done


@kernel
def largest_gain(dual: Dual) -> float:
    """The largest projected gain of all candidates, none of them moved."""
    count, largest = dual.costs.shape[0], 0.0
    desk = desk_for(dual.candidates, np.arange(count))
    for example in range(count):
        size = gains_of(dual, example, desk)
        for r in range(size):
            largest = max(largest, projected(dual, desk, size, r, example))
    return largest
