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

import cython
import numpy as np

if not cython.compiled:
    from math import sqrt

    from rote.kernels.arrays import *
    from rote.kernels.bundles import Slots, Vectors
    from rote.kernels.learning.linear import place_of


class Rows(Bundle):
    """Room for sparse rows φ: row i has ``value[k]`` at ``column[k]``, for k from ``ptr[i]``."""

    def __init__(self, count: Int, entries: Int) -> None:
        self.ptr, self.column, self.value = ints(count + 1), ints(entries), floats(entries)


class Outputs(Bundle):
    """Outputs, and the numbers they are to predict."""

    def __init__(
        self,
        firsts: Ints,  # the first vector of each input
        columns: Ints2,  # (outputs, slots)
        targets: Floats,
    ) -> None:
        expect("firsts", "entries", targets.shape[0], firsts.shape[0])
        expect("columns", "rows", targets.shape[0], columns.shape[0])
        self.firsts = firsts
        self.columns = columns
        self.targets = targets


class Schedule(Bundle):
    """How outputs are learned from."""

    def __init__(
        self,
        step: float,
        passes: Int,
        tolerance: float,  # by which predictions may be wrong, relative to the target
        room: Int,  # features of outputs that are learned from at once
    ) -> None:
        self.step = step
        self.passes = passes
        self.tolerance = tolerance
        self.room = room


def entries_of(vectors: Vectors, slots: Slots, outputs: Outputs, i: Int) -> int:
    """How many features the slots of output i have, all together."""
    total: Int = 0
    for s in range(outputs.columns.shape[1]):
        v, _ = place_of(slots, s, outputs.firsts[i], outputs.columns[i, s])
        total += vectors.ptr[v + 1] - vectors.ptr[v]
    return total


def piece_of(
    vectors: Vectors, slots: Slots, outputs: Outputs, begin: Int, room: Int
) -> tuple[int, int]:
    """Where a piece that begins there ends, so that it has room, and its features; one at least."""
    end, entries = begin, 0
    while end < outputs.targets.shape[0]:
        more = entries_of(vectors, slots, outputs, end)
        if end > begin and entries + more > room:
            break
        end, entries = end + 1, entries + more
    return end, entries


def read_rows(
    rows: Rows, vectors: Vectors, slots: Slots, outputs: Outputs, begin: Int, place: OutInts
) -> None:
    """φ(x, y) of as many outputs as there are rows, from ``begin`` on.

    ``place`` has a zero for every weight, before and after.
    """
    end: Int = 0
    rows.ptr[0] = 0
    for i in range(rows.ptr.shape[0] - 1):
        first = outputs.firsts[begin + i]
        for s in range(outputs.columns.shape[1]):
            v, origin = place_of(slots, s, first, outputs.columns[begin + i, s])
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


def predicted(weights: Floats, rows: Rows, i: Int) -> float:
    """θ · φ for one row."""
    total = 0.0
    for k in range(rows.ptr[i], rows.ptr[i + 1]):
        total += rows.value[k] * weights[rows.column[k]]
    return total


def regress(
    weights: OutFloats, squares: OutFloats, rows: Rows, i: Int, target: float, step: float
) -> None:
    """Learn from one row; AdaGrad where ``squares`` are as many as weights."""
    norm, prediction = 0.0, 0.0
    for k in range(rows.ptr[i], rows.ptr[i + 1]):
        norm += rows.value[k] * rows.value[k]
        prediction += rows.value[k] * weights[rows.column[k]]
    if norm == 0.0:
        return
    error = target - prediction
    if squares.shape[0] == 0:
        share = step * error / norm
        for k in range(rows.ptr[i], rows.ptr[i + 1]):
            weights[rows.column[k]] += share * rows.value[k]
        return
    share = error / sqrt(norm)
    for k in range(rows.ptr[i], rows.ptr[i + 1]):
        gradient = share * rows.value[k]
        if gradient != 0.0:
            at = rows.column[k]
            squares[at] += gradient * gradient
            weights[at] += step * gradient / sqrt(squares[at])


def regress_rows(
    weights: OutFloats,
    squares: OutFloats,
    rows: Rows,
    targets: Floats,
    schedule: Schedule,
    far: OutInts,
) -> int:
    """Learn from the rows whose predictions are wrong, so many times; how many these are."""
    count: Int = 0
    for i in range(rows.ptr.shape[0] - 1):
        wrong = abs(targets[i] - predicted(weights, rows, i))
        if wrong > schedule.tolerance * max(1.0, abs(targets[i])):
            far[count] = i
            count += 1
    for _ in range(schedule.passes):
        for k in range(count):
            regress(weights, squares, rows, far[k], targets[far[k]], schedule.step)
    return count


def regress_all(
    weights: OutFloats,
    squares: OutFloats,
    vectors: Vectors,
    slots: Slots,
    outputs: Outputs,
    schedule: Schedule,
) -> int:
    """Learn from outputs, one after the other, so many times; from how many of them.

    Those are learned from whose prediction is wrong by more than the tolerance.
    """
    if squares.shape[0] > 0:
        expect("squares", "entries", weights.shape[0], squares.shape[0])
    place: OutInts = np.zeros(weights.shape[0], np.int64)
    far = ints(outputs.targets.shape[0])
    begin: Int = 0
    learned: Int = 0
    while begin < outputs.targets.shape[0]:
        with cython.nogil:
            end, entries = piece_of(vectors, slots, outputs, begin, schedule.room)
        rows = Rows(end - begin, entries)
        with cython.nogil:
            read_rows(rows, vectors, slots, outputs, begin, place)
            targets: Floats = outputs.targets[begin:end]
            learned += regress_rows(weights, squares, rows, targets, schedule, far)
        begin = end
    return learned
