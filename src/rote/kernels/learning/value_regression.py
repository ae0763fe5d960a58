"""Online least squares over outputs: θ · φ(x, y) is to predict a number.

One example moves the weights along its own features, by a share of what is missing:

    θ += step · (target - θ · φ) · φ / |φ|²

After a step of 1 the prediction would be right; with less it is nearer, however many features
there are. With AdaGrad, every weight also has a step of its own, the smaller the more it moved:

    θ_k += step · g_k / sqrt(Σ past g_k²),    g = (target - θ · φ) · φ / |φ|

The slots of an output share weights, many of them where nodes are alike. So φ is added up once, to
one number per weight, and all passes read that.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.bundles import Slots, Vectors
from rote.kernels.jit import kernel, lean
from rote.kernels.learning.linear import place_of
from rote.types import FloatArray, IntArray


class Rows(NamedTuple):
    """Sparse rows φ: row i has ``value[k]`` at ``column[k]``, for k from ``ptr[i]``."""

    ptr: IntArray
    column: IntArray
    value: FloatArray


class Outputs(NamedTuple):
    """Outputs, and the numbers they are to predict."""

    firsts: IntArray  # the first vector of each input
    columns: IntArray  # (outputs, slots)
    targets: FloatArray


class Schedule(NamedTuple):
    """How outputs are learned from."""

    step: float
    passes: int
    tolerance: float  # by which predictions may be wrong, relative to the target
    room: int  # features of outputs that are learned from at once


@kernel
def entries_of(vectors: Vectors, slots: Slots, first: int, columns: IntArray) -> int:
    """How many features the slots of an output have, all together."""
    total = 0
    for s in range(columns.shape[0]):
        v = place_of(slots, s, first, columns[s])[0]
        total += vectors.ptr[v + 1] - vectors.ptr[v]
    return total


@kernel
def rows_of(
    vectors: Vectors,
    slots: Slots,
    firsts: IntArray,
    columns: IntArray,
    entries: int,
    place: IntArray,
) -> Rows:
    """φ(x, y) of outputs, given by the label or label tuple of each slot.

    ``entries`` is how many features their slots have, and ``place`` has a zero for every weight,
    before and after.
    """
    count = firsts.shape[0]
    rows = Rows(np.zeros(count + 1, np.int64), np.empty(entries, np.int64), np.empty(entries))
    end = 0
    for i in range(count):
        for s in range(columns.shape[1]):
            v, origin = place_of(slots, s, firsts[i], columns[i, s])
            for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
                at = origin + vectors.column[k] * slots.stride[s]
                if place[at] == 0:
                    rows.column[end] = at
                    rows.value[end] = 0.0
                    end += 1
                    place[at] = end
                rows.value[place[at] - 1] += vectors.value[k]
        for k in range(rows.ptr[i], end):
            place[rows.column[k]] = 0
        rows.ptr[i + 1] = end
    return rows


@lean
def predicted(weights: FloatArray, rows: Rows, i: int) -> float:
    """θ · φ for one row."""
    total = 0.0
    for k in range(rows.ptr[i], rows.ptr[i + 1]):
        total += rows.value[k] * weights[rows.column[k]]
    return total


@lean
def regress(
    weights: FloatArray, squares: FloatArray, rows: Rows, i: int, target: float, step: float
) -> None:
    """Learn from one row; AdaGrad where ``squares`` are as many as weights."""
    norm = 0.0
    for k in range(rows.ptr[i], rows.ptr[i + 1]):
        norm += rows.value[k] * rows.value[k]
    if norm == 0.0:
        return
    error = target - predicted(weights, rows, i)
    if squares.shape[0] == 0:
        for k in range(rows.ptr[i], rows.ptr[i + 1]):
            weights[rows.column[k]] += step * error / norm * rows.value[k]
        return
    for k in range(rows.ptr[i], rows.ptr[i + 1]):
        gradient = error / np.sqrt(norm) * rows.value[k]
        if gradient != 0.0:
            at = rows.column[k]
            squares[at] += gradient * gradient
            weights[at] += step * gradient / np.sqrt(squares[at])


@kernel
def regress_all(
    weights: FloatArray,
    squares: FloatArray,
    vectors: Vectors,
    slots: Slots,
    outputs: Outputs,
    schedule: Schedule,
) -> int:
    """Learn from outputs, one after the other, so many times; from how many of them.

    Those are learned from whose prediction is wrong by more than the tolerance.
    """
    firsts, columns, targets = outputs
    step, passes, tolerance, room = schedule
    place, far = np.zeros(weights.shape[0], np.int64), np.empty(targets.shape[0], np.int64)
    begin, learned = 0, 0
    while begin < targets.shape[0]:
        end, entries = begin, 0
        while end < targets.shape[0]:
            more = entries_of(vectors, slots, firsts[end], columns[end])
            if end > begin and entries + more > room:
                break
            end, entries = end + 1, entries + more
        piece = firsts[begin:end], columns[begin:end]
        rows = rows_of(vectors, slots, piece[0], piece[1], entries, place)
        count = 0
        for i in range(end - begin):
            target = targets[begin + i]
            if abs(target - predicted(weights, rows, i)) > tolerance * max(1.0, abs(target)):
                far[count] = i
                count += 1
        for _ in range(passes):
            for i in far[:count]:
                regress(weights, squares, rows, i, targets[begin + i], step)
        begin, learned = end, learned + count
    return learned
