"""What one output is worth and whether it obeys tables and rows."""

from __future__ import annotations

import cython
import numpy as np

from rote.types import BoolArray, FloatArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Layout, Masks, Questions, RowGroups
    from rote.kernels.constants import LARGEST_SCORE
    from rote.kernels.inlined import activity_of, entry_at, is_broken, largest_size, tuple_of


def parts_of(labels: Ints2, layout: Layout) -> IntArray:
    """The parts of each output: one per variable, then one per factor."""
    expect("labels", "columns", layout.sizes.shape[0], labels.shape[1])
    m, n = labels.shape[0], labels.shape[1]
    factors = layout.scope_ptr.shape[0] - 1
    found = np.empty((m, n + factors), np.int64)
    parts: OutInts2 = found
    with cython.nogil:
        for i in range(m):
            for j in range(n):
                parts[i, j] = layout.offsets[j] + labels[i, j]
            for f in range(factors):
                parts[i, n + f] = layout.factor_offsets[f] + tuple_of(layout, f, labels[i])
    return found


def values_of(scores: Floats2, labels: Ints2, layout: Layout) -> FloatArray:
    """The total score of each output, always added in the same order; -inf for labels below 0."""
    expect("labels", "columns", layout.sizes.shape[0], labels.shape[1])
    expect("scores", "rows", labels.shape[0], scores.shape[0])
    last = layout.factor_offsets.shape[0] - 1
    expect_least("scores", "columns", layout.factor_offsets[last], scores.shape[1])
    m, n = labels.shape[0], labels.shape[1]
    totals = np.empty(m)
    values: OutFloats = totals
    with cython.nogil:
        for i in range(m):
            value: float = 0.0
            for j in range(n):
                if labels[i, j] < 0:
                    value = -inf
                    break
                value += scores[i, layout.offsets[j] + labels[i, j]]
            if value > -inf:
                for f in range(layout.scope_ptr.shape[0] - 1):
                    value += scores[i, layout.factor_offsets[f] + tuple_of(layout, f, labels[i])]
            values[i] = value
    return totals


def inside(labels: Ints, masks: Masks) -> bool:
    """Whether one output stays inside domains and tables."""
    for j in range(labels.shape[0]):
        if not masks.allowed[masks.offsets[j] + labels[j]]:
            return False
    for b in range(masks.tables.ptr.shape[0] - 1):
        if not masks.allowed[entry_at(masks.tables, b, labels)]:
            return False
    return True


def is_feasible(labels: Ints, masks: Masks, rows: RowGroups) -> bool:
    """Whether one output stays inside domains, tables and rows."""
    if not inside(labels, masks):
        return False
    for r in range(rows.lower.shape[0]):
        activity = activity_of(rows, masks.offsets, r, labels)
        if is_broken(rows, r, activity, activity):
            return False
    return True


def all_obey(labels: Ints2, masks: Masks, rows: RowGroups) -> BoolArray:
    """`is_feasible` for a batch."""
    expect_least("labels", "columns", masks.tables.reach, labels.shape[1])
    m = labels.shape[0]
    result = flags(m)
    with cython.nogil:
        for i in range(m):
            result[i] = is_feasible(labels[i], masks, rows)
    return np.asarray(result).view(np.bool_)


def first_feasible_output(
    outputs: Ints3, size: Ints, masks: Masks, rows: RowGroups
) -> tuple[IntArray, BoolArray]:
    """Of the first ``size`` outputs of each input, the first that obeys; and where there is one.

    Outputs are of shape (m, most, variables). Where none obeys, it is the first of all.
    """
    expect_least("outputs", "variables", masks.tables.reach, outputs.shape[2])
    expect("size", "entries", outputs.shape[0], size.shape[0])
    m = outputs.shape[0]
    labels: OutInts2 = np.array(outputs[:, 0])
    found: OutFlags = np.zeros(m, np.bool_)
    with cython.nogil:
        for i in range(m):
            for k in range(size[i]):
                if is_feasible(outputs[i, k], masks, rows):
                    copy_into(labels[i], outputs[i, k])
                    found[i] = True
                    break
    return np.asarray(labels), np.asarray(found).view(np.bool_)


def read_scores(questions: Questions, i: Int, work: OutFloats) -> None:
    """The part scores of input i, -inf for closed labels, put where ``work`` begins."""
    for p in range(questions.scores.shape[1]):
        work[p] = questions.scores[i, p]
    if questions.closed.shape[0] > 0:
        for p in range(questions.closed.shape[1]):
            if questions.closed[i, p]:
                work[p] = -inf


def best_by_themselves(questions: Questions, masks: Masks) -> tuple[IntArray, BoolArray]:
    """The best label of every variable, and where they are the answer.

    They are, when nothing but labels is scored and there are no rows, where they stay inside
    every table and none that comes before one of them is within a tie. Elsewhere labels are left
    as they happen to be.
    """
    questions.fit(0, masks.offsets[masks.offsets.shape[0] - 1])
    m, n = questions.scores.shape[0], masks.offsets.shape[0] - 1
    best, settled = np.zeros((m, n), np.int64), np.ones(m, np.bool_)
    labels: OutInts2 = best
    easy: OutFlags = settled
    some_closed: Bool = questions.closed.shape[0] > 0
    with cython.nogil:
        for i in range(m):
            for j in range(n):
                top = -inf
                near = -inf  # the best label before the best
                for e in range(masks.offsets[j], masks.offsets[j + 1]):
                    if not masks.allowed[e] or (some_closed and questions.closed[i, e]):
                        continue
                    if questions.scores[i, e] > top:
                        near = top
                        top = questions.scores[i, e]
                        labels[i, j] = e - masks.offsets[j]
                if near >= top - questions.ties[i]:
                    easy[i] = False
                    break
            easy[i] = easy[i] and inside(labels[i], masks)
    return best, settled


def best_parts(scores: Floats2, closed: Flags2, starts: Ints) -> FloatArray:
    """The best part of each slot, of shape (m, slots), closed labels left out.

    ``starts`` has the first part of each slot, and one more entry.
    """
    if closed.shape[1] > 0:
        expect("closed", "rows", scores.shape[0], closed.shape[0])
    expect_least("scores", "columns", starts[starts.shape[0] - 1], scores.shape[1])
    m, slots = scores.shape[0], starts.shape[0] - 1
    best = floats2(m, slots)
    with cython.nogil:
        for i in range(m):
            for s in range(slots):
                top: float = -inf
                for p in range(starts[s], starts[s + 1]):
                    if p >= closed.shape[1] or not closed[i, p]:
                        top = max(top, scores[i, p])
                best[i, s] = top
    return np.asarray(best)


def ties_of(scores: Floats2, share: float) -> FloatArray:
    """share · max(1, max |score|) of each input.

    inf where a score is infinite, NaN, or so large that a sum of scores may be.
    """
    m = scores.shape[0]
    found = np.empty(m)
    ties: OutFloats = found
    with cython.nogil:
        for i in range(m):
            largest = largest_size(scores, i)
            ties[i] = share * max(1.0, largest) if largest < LARGEST_SCORE else inf
    return found


def all_finite(numbers: Floats) -> bool:
    """Whether no number is infinite or NaN."""
    finite: Bool = True
    for k in range(numbers.shape[0]):
        finite &= abs(numbers[k]) < inf
    return finite
