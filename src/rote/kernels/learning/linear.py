"""Linear scores of the parts of an output, and steps that move the weights behind them.

Slot s of input i has a feature vector v and a place in the weights; its part a scores

    Σ_k value[k] · weights[origin + column[k] · stride + a]     over the entries k of v

Features are stored once per vector, never once per label: a vector's entries are read once
and each adds a run of weights. An output is given by *columns*: one label, or label tuple,
per slot. A slot whose labels each have a vector of their own (a mention and its antecedents)
has one weight per feature instead, and labels that are tied share their weights.
"""

from __future__ import annotations

import numpy as np

from rote.kernels.bundles import Slots, Vectors
from rote.kernels.jit import inlined, kernel
from rote.types import FloatArray, IntArray


@kernel
def place_of(slots: Slots, slot: int, first: int, label: int) -> tuple[int, int]:
    """The vector and the first weight of a label, given the first vector of its input."""
    own = slots.vector[slot]
    vector = first + own if own >= 0 else 0
    if slots.each[slot]:
        return vector + label, slots.origin[slot]
    if slots.tied[slot] >= 0:
        return vector, slots.origin[slot] + slots.column[slots.tied[slot] + label]
    return vector, slots.origin[slot] + label


@kernel
def columns_of_tied(slots: Slots) -> int:
    """The most columns that the labels of a tied slot share."""
    return 1 + slots.column.max() if slots.column.shape[0] else 0


@inlined
def add_scores(
    weights: FloatArray,
    vectors: Vectors,
    slots: Slots,
    slot: int,
    v: int,
    own: FloatArray,
    sums: FloatArray,
) -> None:
    """Add the scores of the parts of one slot, whose first vector is ``v``, to ``own``.

    ``sums`` is room for the columns that tied labels share.
    """
    begin, width, origin = slots.tied[slot], own.shape[0], slots.origin[slot]
    if slots.each[slot]:
        for a in range(width):
            for k in range(vectors.ptr[v + a], vectors.ptr[v + a + 1]):
                at = origin + vectors.column[k] * slots.stride[slot]
                own[a] += vectors.value[k] * weights[at]
    elif begin >= 0:  # tied: few columns are added up, and then dealt out to many labels
        count = slots.column[begin : begin + width].max() + 1
        sums[:count] = 0.0
        for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
            at = origin + vectors.column[k] * slots.stride[slot]
            for c in range(count):
                sums[c] += vectors.value[k] * weights[at + c]
        for a in range(width):
            own[a] = sums[slots.column[begin + a]]
    else:
        for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
            at = origin + vectors.column[k] * slots.stride[slot]
            value = vectors.value[k]
            run = weights[at : at + width]  # a slice of its own lets the loop be vectorised
            for a in range(width):
                own[a] += value * run[a]


@kernel
def scores_of(weights: FloatArray, vectors: Vectors, slots: Slots, firsts: IntArray) -> FloatArray:
    """Scores of shape (m, parts) for inputs that share a space, by their first vectors."""
    scores = np.zeros((firsts.shape[0], slots.start[-1]))
    sums = np.empty(columns_of_tied(slots))
    for i in range(firsts.shape[0]):
        for s in range(slots.vector.shape[0]):
            own = scores[i, slots.start[s] : slots.start[s + 1]]
            v = firsts[i] + slots.vector[s] if slots.vector[s] >= 0 else 0
            add_scores(weights, vectors, slots, s, v, own, sums)
    return scores


@kernel
def score_some(
    weights: FloatArray,
    vectors: Vectors,
    slots: Slots,
    inputs: IntArray,
    chosen: IntArray,
    places: IntArray,
    scores: FloatArray,
) -> None:
    """Put the scores of some slots, each of an input and with its first vector, into ``scores``."""
    sums = np.empty(columns_of_tied(slots))
    for k in range(inputs.shape[0]):
        s = chosen[k]
        own = scores[inputs[k], slots.start[s] : slots.start[s + 1]]
        own[:] = 0.0
        add_scores(weights, vectors, slots, s, places[k], own, sums)


@kernel
def add_label(
    weights: FloatArray,
    vectors: Vectors,
    slots: Slots,
    slot: int,
    first: int,
    label: int,
    step: float,
) -> None:
    """weights += step · the features of one label of one slot."""
    v, origin = place_of(slots, slot, first, label)
    for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
        weights[origin + vectors.column[k] * slots.stride[slot]] += step * vectors.value[k]


@kernel
def move(
    weights: FloatArray,
    vectors: Vectors,
    slots: Slots,
    first: int,
    toward: IntArray,
    away: IntArray,
    step: float,
) -> None:
    """weights += step · (φ(x, toward) - φ(x, away)), for one input."""
    for s in range(slots.vector.shape[0]):
        if toward[s] != away[s]:
            add_label(weights, vectors, slots, s, first, toward[s], step)
            add_label(weights, vectors, slots, s, first, away[s], -step)


@kernel
def move_each(
    weights: FloatArray,
    vectors: Vectors,
    slots: Slots,
    firsts: IntArray,
    toward: IntArray,
    away: IntArray,
    steps: FloatArray,
) -> None:
    """`move` for every input of a batch, each with its own step."""
    for i in range(firsts.shape[0]):
        move(weights, vectors, slots, firsts[i], toward[i], away[i], steps[i])
