"""Linear scores of the parts of an output, and steps that move the weights behind them.

Slot s of input i has a feature vector v and a place in the weights; its part a scores

    Σ_k value[k] · weights[origin + column[k] · stride + a]     over the entries k of v

Features are stored once per vector, never once per label: a vector's entries are read once
and each adds a run of weights. An output is given by *columns*: one label, or label tuple,
per slot.
"""

from __future__ import annotations

import numpy as np

from rote.kernels.jit import kernel
from rote.kernels.structs import Slots, Vectors
from rote.types import FloatArray, IntArray


@kernel
def vector_of(slots: Slots, slot: int, first: int) -> int:
    """The vector a slot uses, given the first vector of its input."""
    return first + slots.vector[slot] if slots.vector[slot] >= 0 else 0


@kernel
def scores_of(weights: FloatArray, vectors: Vectors, slots: Slots, firsts: IntArray) -> FloatArray:
    """Scores of shape (m, parts) for inputs that share a space, by their first vectors."""
    scores = np.zeros((firsts.shape[0], slots.start[-1]))
    for i in range(firsts.shape[0]):
        for s in range(slots.vector.shape[0]):
            v = vector_of(slots, s, firsts[i])
            begin = slots.start[s]
            width = slots.start[s + 1] - begin
            own = scores[i, begin : begin + width]
            for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
                at = slots.origin[s] + vectors.column[k] * slots.stride[s]
                value = vectors.value[k]
                for a in range(width):
                    own[a] += value * weights[at + a]
    return scores


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
        if toward[s] == away[s]:
            continue
        v = vector_of(slots, s, first)
        for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
            at = slots.origin[s] + vectors.column[k] * slots.stride[s]
            change = step * vectors.value[k]
            weights[at + toward[s]] += change
            weights[at + away[s]] -= change


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


@kernel
def move_both(
    weights: FloatArray,
    sums: FloatArray,
    vectors: Vectors,
    slots: Slots,
    first: int,
    toward: IntArray,
    away: IntArray,
    step: float,
    age: float,
) -> None:
    """`move`, and the same times ``age`` for ``sums``, from which an average is read later."""
    move(weights, vectors, slots, first, toward, away, step)
    move(sums, vectors, slots, first, toward, away, step * age)
