"""Online least squares over outputs: θ · φ(x, y) is to predict a number.

One example moves the weights along its own features, by a share of what is missing:

    θ += step · (target - θ · φ) · φ / |φ|²

After a step of 1 the prediction would be right; with less it is nearer, however many features
there are. With AdaGrad, every weight also has a step of its own, the smaller the more it moved:

    θ_k += step · g_k / sqrt(Σ past g_k²),    g = (target - θ · φ) · φ / |φ|
"""

from __future__ import annotations

import numpy as np

from rote.kernels.jit import kernel
from rote.kernels.linear import add_label, place_of
from rote.kernels.structs import Slots, Vectors
from rote.types import FloatArray, IntArray


@kernel
def predicted(
    weights: FloatArray, vectors: Vectors, slots: Slots, first: int, columns: IntArray
) -> float:
    """weights · φ(x, y), for an output given by the label or label tuple of each slot."""
    total = 0.0
    for s in range(columns.shape[0]):
        v, origin = place_of(slots, s, first, columns[s])
        for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
            total += vectors.value[k] * weights[origin + vectors.column[k] * slots.stride[s]]
    return total


@kernel
def predictions(
    weights: FloatArray, vectors: Vectors, slots: Slots, firsts: IntArray, columns: IntArray
) -> FloatArray:
    """`predicted` for every output of a batch, each of an input of its own."""
    found = np.empty(firsts.shape[0])
    for i in range(firsts.shape[0]):
        found[i] = predicted(weights, vectors, slots, firsts[i], columns[i])
    return found


@kernel
def add_output(
    weights: FloatArray,
    vectors: Vectors,
    slots: Slots,
    first: int,
    columns: IntArray,
    step: float,
) -> None:
    """weights += step · φ(x, y)."""
    for s in range(columns.shape[0]):
        add_label(weights, vectors, slots, s, first, columns[s], step)


@kernel
def adapt(
    weights: FloatArray,
    squares: FloatArray,
    features: FloatArray,
    vectors: Vectors,
    slots: Slots,
    first: int,
    columns: IntArray,
    step: float,
    error: float,
) -> None:
    """A step of AdaGrad; ``features`` holds φ, and nothing afterwards."""
    for s in range(columns.shape[0]):
        v, origin = place_of(slots, s, first, columns[s])
        for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
            at = origin + vectors.column[k] * slots.stride[s]
            gradient = error * features[at]
            features[at] = 0.0  # a weight that several slots use is moved once
            if gradient != 0.0:
                squares[at] += gradient * gradient
                weights[at] += step * gradient / np.sqrt(squares[at])


@kernel
def regress(
    weights: FloatArray,
    squares: FloatArray,
    features: FloatArray,
    vectors: Vectors,
    slots: Slots,
    firsts: IntArray,
    columns: IntArray,
    targets: FloatArray,
    step: float,
    passes: int,
) -> float:
    """Learn from examples, one after the other, so many times; the mean square error of the first.

    AdaGrad where ``squares`` are as many as weights. ``features`` are zeros, before and after.
    """
    total = 0.0
    adaptive = squares.shape[0] > 0
    norms = np.empty(targets.shape[0])
    for turn in range(passes):
        for i in range(targets.shape[0]):
            error = targets[i] - predicted(weights, vectors, slots, firsts[i], columns[i])
            if turn == 0:
                total += error * error
            if turn == 0 or adaptive:
                add_output(features, vectors, slots, firsts[i], columns[i], 1.0)
                norms[i] = predicted(features, vectors, slots, firsts[i], columns[i])
                if adaptive and norms[i] > 0.0:
                    scaled = error / np.sqrt(norms[i])
                    adapt(
                        weights,
                        squares,
                        features,
                        vectors,
                        slots,
                        firsts[i],
                        columns[i],
                        step,
                        scaled,
                    )
                    continue
                clear(features, vectors, slots, firsts[i], columns[i])
            if norms[i] > 0.0:
                share = step * error / norms[i]
                add_output(weights, vectors, slots, firsts[i], columns[i], share)
    mean: float = total / max(1, targets.shape[0])
    return mean


@kernel
def clear(
    features: FloatArray, vectors: Vectors, slots: Slots, first: int, columns: IntArray
) -> None:
    """Zeros where an output has features."""
    for s in range(columns.shape[0]):
        v, origin = place_of(slots, s, first, columns[s])
        for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
            features[origin + vectors.column[k] * slots.stride[s]] = 0.0
