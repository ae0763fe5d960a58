"""What one output is worth and whether it obeys tables and rows."""

from __future__ import annotations

import numpy as np

from rote.kernels.bundles import Layout, Masks, Questions, RowGroups, Tables
from rote.kernels.jit import inlined, kernel, lean
from rote.types import AnyArray, BoolArray, FloatArray, IntArray

LARGEST_SCORE = 2.0**1000  # exclusive: millions of scores below add up to a finite number
UNSIGNED = (1 << 63) - 1  # all bits of a number but its sign


@lean
def copy_into(target: AnyArray, source: AnyArray) -> None:
    """target[:] = source, without making room for what may overlap."""
    for k in range(source.shape[0]):
        target[k] = source[k]


@inlined
def tuple_of(layout: Layout, f: int, labels: IntArray) -> int:
    """The number of the label tuple that an output has at a factor."""
    code = 0
    for k in range(layout.scope_ptr[f], layout.scope_ptr[f + 1]):
        code = code * layout.sizes[layout.scope[k]] + labels[layout.scope[k]]
    return code


@kernel
def parts_of(labels: IntArray, layout: Layout) -> IntArray:
    """The parts of each output: one per variable, then one per factor."""
    m, n = labels.shape
    factors = layout.scope_ptr.shape[0] - 1
    parts = np.empty((m, n + factors), np.int64)
    for i in range(m):
        for j in range(n):
            parts[i, j] = layout.offsets[j] + labels[i, j]
        for f in range(factors):
            parts[i, n + f] = layout.factor_offsets[f] + tuple_of(layout, f, labels[i])
    return parts


@kernel
def values_of(scores: FloatArray, labels: IntArray, layout: Layout) -> FloatArray:
    """The total score of each output, always added in the same order; -inf for labels below 0."""
    m, n = labels.shape
    values = np.empty(m)
    for i in range(m):
        value = 0.0
        for j in range(n):
            if labels[i, j] < 0:
                value = -np.inf
                break
            value += scores[i, layout.offsets[j] + labels[i, j]]
        if value > -np.inf:
            for f in range(layout.scope_ptr.shape[0] - 1):
                value += scores[i, layout.factor_offsets[f] + tuple_of(layout, f, labels[i])]
        values[i] = value
    return values


@inlined
def entry_at(tables: Tables, b: int, labels: IntArray) -> int:
    """The entry of a table that an output chooses."""
    at: int = tables.ptr[b]
    for k in range(tables.scope_ptr[b], tables.scope_ptr[b + 1]):
        at += tables.strides[k] * labels[tables.scope[k]]
    return at


@inlined
def added(rows: RowGroups, group: int, part: int) -> float:
    """What a label adds to the row of a group."""
    amount = 0.0
    for c in range(rows.start[group], rows.start[group + 1]):
        if rows.column[c] == part:
            amount += rows.coefficient[c]
    return amount


@inlined
def weight_at(rows: RowGroups, group: int, at: int, part: int) -> tuple[float, int]:
    """What a label adds, and the next column; columns are read from ``at`` on, labels in order."""
    weight = 0.0
    if at < rows.start[group + 1] and rows.column[at] == part:
        weight = rows.coefficient[at]
        at += 1
    return weight, at


@inlined
def is_broken(rows: RowGroups, row: int, low: float, high: float) -> bool:
    """Whether a row that ends up between two numbers is broken for sure."""
    broken: bool = low > rows.upper[row] or high < rows.lower[row]
    return broken


@inlined
def activity_of(rows: RowGroups, offsets: IntArray, row: int, labels: IntArray) -> float:
    """What an output adds to a row."""
    activity = 0.0
    for g in range(rows.ptr[row], rows.ptr[row + 1]):
        activity += added(rows, g, offsets[rows.variable[g]] + labels[rows.variable[g]])
    return activity


@lean
def inside(labels: IntArray, masks: Masks) -> bool:
    """Whether one output stays inside domains and tables."""
    offsets, tables, allowed = masks.offsets, masks.tables, masks.allowed
    for j in range(labels.shape[0]):
        if not allowed[offsets[j] + labels[j]]:
            return False
    good = True
    for b in range(tables.ptr.shape[0] - 1):
        good = good and allowed[entry_at(tables, b, labels)]
    return good


@lean
def is_feasible(labels: IntArray, masks: Masks, rows: RowGroups) -> bool:
    """Whether one output stays inside domains, tables and rows."""
    if not inside(labels, masks):
        return False
    for r in range(rows.lower.shape[0]):
        activity = activity_of(rows, masks.offsets, r, labels)
        if is_broken(rows, r, activity, activity):
            return False
    return True


@kernel
def all_obey(labels: IntArray, masks: Masks, rows: RowGroups) -> BoolArray:
    """`is_feasible` for a batch."""
    result = np.empty(labels.shape[0], np.bool_)
    for i in range(labels.shape[0]):
        result[i] = is_feasible(labels[i], masks, rows)
    return result


@kernel
def first_feasible_output(
    outputs: IntArray, size: IntArray, masks: Masks, rows: RowGroups
) -> tuple[IntArray, BoolArray]:
    """Of the first ``size`` outputs of each input, the first that obeys; and where there is one.

    Outputs are of shape (m, most, variables). Where none obeys, it is the first of all.
    """
    labels, found = outputs[:, 0].copy(), np.zeros(outputs.shape[0], np.bool_)
    for i in range(outputs.shape[0]):
        for k in range(size[i]):
            if is_feasible(outputs[i, k], masks, rows):
                labels[i] = outputs[i, k]
                found[i] = True
                break
    return labels, found


@lean
def read_scores(questions: Questions, i: int, work: FloatArray) -> None:
    """The part scores of input i, -inf for closed labels, put where ``work`` begins."""
    scores, closed = questions.scores, questions.closed
    for p in range(scores.shape[1]):
        work[p] = scores[i, p]
    if closed.shape[0] > 0:
        for p in range(closed.shape[1]):
            if closed[i, p]:
                work[p] = -np.inf


@kernel
def best_by_themselves(
    questions: Questions, masks: Masks
) -> tuple[IntArray, FloatArray, BoolArray]:
    """The best label of every variable, what they add up to, and where they are the answer.

    They are, when nothing but labels is scored and there are no rows, where they stay inside
    every table and none that comes before one of them is within a tie. Elsewhere labels and
    values are left as they happen to be.
    """
    scores, closed, ties = questions
    m = scores.shape[0]
    n = masks.offsets.shape[0] - 1
    labels = np.zeros((m, n), np.int64)
    values = np.zeros(m)
    easy = np.ones(m, np.bool_)
    for i in range(m):
        for j in range(n):
            top = -np.inf
            near = -np.inf  # the best label before the best
            for e in range(masks.offsets[j], masks.offsets[j + 1]):
                open_here = masks.allowed[e] and not (closed.shape[0] > 0 and closed[i, e])
                if open_here and scores[i, e] > top:
                    near = top
                    top = scores[i, e]
                    labels[i, j] = e - masks.offsets[j]
            values[i] += top
            if near >= top - ties[i]:
                easy[i] = False
                break
        easy[i] = easy[i] and inside(labels[i], masks)
    return labels, values, easy


@kernel
def best_parts(scores: FloatArray, closed: BoolArray, starts: IntArray) -> FloatArray:
    """The best part of each slot, of shape (m, slots), closed labels left out.

    ``starts`` has the first part of each slot, and one more entry.
    """
    m, slots = scores.shape[0], starts.shape[0] - 1
    best = np.empty((m, slots))
    for i in range(m):
        for s in range(slots):
            top = -np.inf
            for p in range(starts[s], starts[s + 1]):
                if p >= closed.shape[1] or not closed[i, p]:
                    top = max(top, scores[i, p])
            best[i, s] = top
    return best


@kernel
def ties_of(scores: FloatArray, share: float) -> FloatArray:
    """share · max(1, max |score|) of each input."""
    ties = np.empty(scores.shape[0])
    # Without its sign, a finite number is larger where its bits are; and unlike numbers, whose NaN
    # stands in the way, bits are compared several at a time.
    bits = scores.view(np.int64)
    for i in range(scores.shape[0]):
        largest = 0
        for k in range(scores.shape[1]):
            largest = max(largest, bits[i, k] & UNSIGNED)
        ties[i] = share * max(1.0, np.int64(largest).view(np.float64))
    return ties


@kernel
def all_finite(scores: FloatArray) -> bool:
    """Whether no score is infinite, NaN, or so large that a sum of scores may be."""
    for row in scores:
        for score in row:
            if not abs(score) < LARGEST_SCORE:
                return False
    return True
