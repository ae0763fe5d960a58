"""Linear scores of the parts of an output, and steps that move the weights behind them.

Slot s of input i has a feature vector v and a place in the weights; its part a scores

    Σ_k value[k] · weights[origin + column[k] · stride + a]     over the entries k of v

Features are stored once per vector, never once per label: a vector's entries are read once
and each adds a run of weights. An output is given by *columns*: one label, or label tuple,
per slot. A slot whose labels each have a vector of their own (a mention and its antecedents)
has one weight per feature instead, and labels that are tied share their weights.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import FloatArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Slots, Vectors, past_all

    def add_rows(
        to: OutFloats,
        width: Int,
        weights: Floats,
        origin: Int,
        stride: Int,
        vectors: Vectors,
        v: Int,
    ) -> None:
        """Add the weights of the entries of a vector, ``width`` columns of each, to sums."""
        for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
            at = origin + vectors.column[k] * stride
            to[:width] += vectors.value[k] * weights[at : at + width]


def place_of(slots: Slots, slot: Int, first: Int, label: Int) -> tuple[int, int]:
    """The vector and the first weight of a label, given the first vector of its input."""
    own = slots.vector[slot]
    vector = first + own if own >= 0 else 0
    if slots.each[slot]:
        return vector + label, slots.origin[slot]
    if slots.tied[slot] >= 0:
        return vector, slots.origin[slot] + slots.column[slots.tied[slot] + label]
    return vector, slots.origin[slot] + label


def columns_of_tied(slots: Slots) -> int:
    """The most columns that the labels of a tied slot share."""
    return most_columns(slots, 0, slots.column.shape[0])


def most_columns(slots: Slots, begin: Int, end: Int) -> int:
    """How many columns some labels of tied slots share."""
    count = 0
    for k in range(begin, end):
        count = max(count, slots.column[k] + 1)
    return count


def add_scores(
    weights: Floats,
    vectors: Vectors,
    slots: Slots,
    slot: Int,
    v: Int,
    own: OutFloats,
    sums: OutFloats,
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
        count = most_columns(slots, begin, begin + width)
        for c in range(count):
            sums[c] = 0.0
        add_rows(sums, count, weights, origin, slots.stride[slot], vectors, v)
        for a in range(width):
            own[a] += sums[slots.column[begin + a]]
    else:
        add_rows(own, width, weights, origin, slots.stride[slot], vectors, v)


def scores_of(weights: Floats, vectors: Vectors, slots: Slots, firsts: Ints) -> FloatArray:
    """Scores of shape (m, parts) for inputs that share a space, by their first vectors."""
    m = firsts.shape[0]
    found = np.zeros((m, slots.start[slots.start.shape[0] - 1]))
    scores: OutFloats2 = found
    sums = floats(columns_of_tied(slots))
    with cython.nogil:
        for i in range(m):
            score_input(scores[i], weights, vectors, slots, firsts[i], sums)
    return found


def score_input(
    scores: OutFloats,
    weights: Floats,
    vectors: Vectors,
    slots: Slots,
    first: Int,
    sums: OutFloats,
) -> None:
    """Add the scores of all parts of one input, by its first vector, to ``scores``."""
    for s in range(slots.vector.shape[0]):
        own: OutFloats = scores[slots.start[s] : slots.start[s + 1]]
        v = first + slots.vector[s] if slots.vector[s] >= 0 else 0
        add_scores(weights, vectors, slots, s, v, own, sums)


def score_some(
    weights: Floats,
    vectors: Vectors,
    slots: Slots,
    inputs: Ints,
    chosen: Ints,
    places: Ints,
    scores: OutFloats2,
) -> None:
    """Put the scores of some slots, each of an input and with its first vector, into ``scores``."""
    expect("chosen", "entries", inputs.shape[0], chosen.shape[0])
    expect("places", "entries", inputs.shape[0], places.shape[0])
    expect_least("scores", "rows", past_all(inputs), scores.shape[0])
    expect("scores", "columns", slots.start[slots.start.shape[0] - 1], scores.shape[1])
    sums = floats(columns_of_tied(slots))
    with cython.nogil:
        for k in range(inputs.shape[0]):
            s = chosen[k]
            own: OutFloats = scores[inputs[k], slots.start[s] : slots.start[s + 1]]
            fill(own, 0.0)
            add_scores(weights, vectors, slots, s, places[k], own, sums)


def add_label(
    weights: OutFloats,
    vectors: Vectors,
    slots: Slots,
    slot: Int,
    first: Int,
    label: Int,
    step: float,
) -> None:
    """weights += step · the features of one label of one slot."""
    v, origin = place_of(slots, slot, first, label)
    for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
        weights[origin + vectors.column[k] * slots.stride[slot]] += step * vectors.value[k]


def move(
    weights: OutFloats,
    vectors: Vectors,
    slots: Slots,
    first: Int,
    toward: Ints,
    away: Ints,
    step: float,
) -> None:
    """weights += step · (φ(x, toward) - φ(x, away)), for one input."""
    for s in range(slots.vector.shape[0]):
        if toward[s] != away[s]:
            add_label(weights, vectors, slots, s, first, toward[s], step)
            add_label(weights, vectors, slots, s, first, away[s], -step)


def move_each(
    weights: OutFloats,
    vectors: Vectors,
    slots: Slots,
    firsts: Ints,
    toward: Ints2,
    away: Ints2,
    steps: Floats,
) -> None:
    """`move` for every input of a batch, each with its own step."""
    count, columns = firsts.shape[0], slots.vector.shape[0]
    expect("toward", "rows", count, toward.shape[0])
    expect("toward", "columns", columns, toward.shape[1])
    expect("away", "rows", count, away.shape[0])
    expect("away", "columns", columns, away.shape[1])
    expect("steps", "entries", count, steps.shape[0])
    with cython.nogil:
        for i in range(firsts.shape[0]):
            move(weights, vectors, slots, firsts[i], toward[i], away[i], steps[i])
