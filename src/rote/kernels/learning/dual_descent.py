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

import cython
import numpy as np

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.learning.working_set import (
        BEFORE,
        STEP,
        Candidates,
        Dual,
        read_atoms,
        shift,
        summed,
    )

    FULL = 1.0 - 1e-12  # of C_i: from here on A_i has no room left
    ROUNDS = 8  # over the candidates of one example in one visit
    ALL_BITS = (1 << 64) - 1


class Desk(Bundle):
    """Room for the candidates of any of some examples, by rank."""

    def __init__(self, candidates: Candidates, examples: Ints) -> None:
        most: Int = 1
        for k in range(examples.shape[0]):
            most = max(most, candidates.size[examples[k]])
        self.ids = ints(most)
        self.gains = floats(most)  # Δ - w · φ
        self.steps = floats(most)  # what each dual was moved by
        self.products = floats2(most, most)  # φ · φ' of each two


def gains_of(dual: Dual, example: Int, desk: Desk) -> int:
    """The candidates of an example by rank, and Δ - w · φ of each; returns how many."""
    read_atoms(dual, example)
    c = dual.candidates.last[example]
    while c >= 0:
        r = dual.candidates.rank[c]
        desk.ids[r] = c
        desk.gains[r] = dual.candidates.loss[c] - summed(dual.candidates, c)
        c = dual.candidates.previous[c]
    return dual.candidates.size[example]


def read_products(candidates: Candidates, desk: Desk, size: Int) -> None:
    """φ · φ' of the candidates at any two ranks."""
    for r in range(size):
        begin = candidates.product_ptr[desk.ids[r]]
        for s in range(r + 1):
            desk.products[r, s] = candidates.products[begin + s]
            desk.products[s, r] = candidates.products[begin + s]


def weakest(candidates: Candidates, desk: Desk, size: Int) -> int:
    """The rank of the candidate with a dual above 0 and the least gain, or -1."""
    chosen: Int = -1
    for r in range(size):
        if candidates.dual[desk.ids[r]] > 0.0 and (
            chosen < 0 or desk.gains[r] < desk.gains[chosen]
        ):
            chosen = r
    return chosen


def projected(dual: Dual, desk: Desk, size: Int, r: Int, example: Int) -> float:
    """How much a candidate would still gain, or lose too much, where its dual can move."""
    cost, total = dual.costs[example], dual.candidates.total[example]
    gain = desk.gains[r]
    if dual.squared:
        gain -= total / (2.0 * cost)
    elif gain > 0.0 and total >= cost * FULL:
        giver = weakest(dual.candidates, desk, size)
        return max(0.0, gain - desk.gains[giver]) if giver >= 0 else 0.0
    return abs(gain) if dual.candidates.dual[desk.ids[r]] > 0.0 else max(0.0, gain)


def take(candidates: Candidates, desk: Desk, size: Int, r: Int, step: float) -> None:
    """α += step, with what it does to the gains of the example."""
    candidates.dual[desk.ids[r]] += step
    desk.steps[r] += step
    for s in range(size):
        desk.gains[s] -= step * desk.products[r, s]


def move_dual(dual: Dual, desk: Desk, size: Int, r: Int, example: Int, own: float) -> None:
    """Move the dual of a candidate, whose projected gain is ``own``, as far as is best."""
    cost, total = dual.costs[example], dual.candidates.total[example]
    alpha, gain = dual.candidates.dual[desk.ids[r]], desk.gains[r]
    norm: float = desk.products[r, r]
    step: float = 0.0
    if dual.squared:
        step = max(-alpha, (gain - total / (2.0 * cost)) / (norm + 0.5 / cost))
    elif gain > 0.0 and total >= cost * FULL:
        giver = weakest(dual.candidates, desk, size)
        both: float = norm + desk.products[giver, giver] - 2.0 * desk.products[r, giver]
        step = dual.candidates.dual[desk.ids[giver]]
        if both > 0.0:
            step = min(step, own / both)
        take(dual.candidates, desk, size, r, step)
        take(dual.candidates, desk, size, giver, -step)
        return
    else:
        # Where φ is 0, w does not mind: α goes as far as it may.
        best = gain / norm if norm > 0.0 else inf if gain > 0.0 else -inf
        step = min(cost - total, max(-alpha, best))
    dual.candidates.total[example] += step
    take(dual.candidates, desk, size, r, step)


def move_weights(dual: Dual, desk: Desk, size: Int, example: Int) -> None:
    """Move the weights by the steps of all duals of an example."""
    for r in range(size):
        if desk.steps[r] != 0.0:
            c = desk.ids[r]
            for k in range(dual.candidates.atom_ptr[c], dual.candidates.atom_ptr[c + 1]):
                dual.candidates.work[dual.candidates.atoms[k], STEP] += desk.steps[r]
    atom: Int = dual.candidates.last_atom[example]
    while atom >= 0:
        step: float = dual.candidates.work[atom, STEP]
        if step != 0.0:
            shift(dual, atom, step)
            dual.candidates.work[atom, STEP] = 0.0
        atom = dual.candidates.atom[atom, BEFORE]


def visit(dual: Dual, desk: Desk, example: Int) -> float:
    """Rounds over the candidates of one example; returns the largest projected gain before."""
    size = gains_of(dual, example, desk)
    before: float = 0.0
    for r in range(size):
        desk.steps[r] = 0.0
        before = max(before, projected(dual, desk, size, r, example))
    if not before > 0.1 * dual.delta:
        return before
    read_products(dual.candidates, desk, size)
    largest = before
    rounds: Int = 0
    while largest > 0.1 * dual.delta and rounds < ROUNDS:
        largest = 0.0
        rounds += 1
        for r in range(size):
            own = projected(dual, desk, size, r, example)
            largest = max(largest, own)
            if own != 0.0:
                move_dual(dual, desk, size, r, example, own)
    move_weights(dual, desk, size, example)
    return before


def shuffle(order: OutInts, active: Int, state: Word) -> int:
    """Put the first of some examples into random order; returns the state of the generator then."""
    for a in range(active):
        state ^= (state << 13) & ALL_BITS
        state ^= state >> 7
        state ^= (state << 17) & ALL_BITS
        b = a + cython.cast(Int, state >> 11) % (active - a)
        order[a], order[b] = order[b], order[a]
    return state


def descend(dual: Dual, examples: Ints, passes: Int, seed: Int) -> int:
    """Passes over examples in random order, until no projected gain is above δ.

    An example that had none above δ rests until the next call (shrinking). Returns the number of
    passes.
    """
    desk = Desk(dual.candidates, examples)
    order: OutInts = np.array(examples)
    active: Int = order.shape[0]
    state: Word = seed | 1  # of a random generator; never 0
    done: Int = 0
    with cython.nogil:
        while done < passes and active > 0:
            state = shuffle(order, active, state)
            a: Int = 0
            while a < active:
                if visit(dual, desk, order[a]) <= dual.delta:
                    active -= 1
                    order[a], order[active] = order[active], order[a]
                else:
                    a += 1
            done += 1
    return done


def largest_gain(dual: Dual) -> float:
    """The largest projected gain of all candidates, none of them moved."""
    largest: float = 0.0
    desk = Desk(dual.candidates, np.arange(dual.costs.shape[0]))
    with cython.nogil:
        for example in range(dual.costs.shape[0]):
            size = gains_of(dual, example, desk)
            for r in range(size):
                largest = max(largest, projected(dual, desk, size, r, example))
    return largest
