"""What one output is worth and whether it obeys tables and rows."""

from __future__ import annotations

import cython
import numpy as np

from rote.types import BoolArray, FloatArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Layout, Masks, Questions, RowGroups, RuleTrees
    from rote.kernels.constants import BESIDE, LARGEST_SCORE, MOST, NEAR, SUM, TABLE, WIDE
    from rote.kernels.inlined import (
        activity_of,
        entry_at,
        is_broken,
        largest_size,
        range_of,
        tuple_of,
    )


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
    """share · max |score| of each input.

    inf where a score is infinite, NaN, or so large that a sum of scores may be.
    """
    m = scores.shape[0]
    found = np.empty(m)
    ties: OutFloats = found
    with cython.nogil:
        for i in range(m):
            largest = largest_size(scores, i)
            ties[i] = share * largest if largest < LARGEST_SCORE else inf
    return found


def slot_range(questions: Questions, i: Int, first: Int, end: Int) -> tuple[float, float]:
    """The least and the largest score of some parts of input i, closed labels left out."""
    if questions.closed.shape[0] == 0 or first >= questions.closed.shape[1]:
        return range_of(questions.scores, i, first, end)
    least: float = inf
    top: float = -inf
    for p in range(first, end):
        if not questions.closed[i, p]:
            least = min(least, questions.scores[i, p])
            top = max(top, questions.scores[i, p])
    return least, top


def spread_of(questions: Questions, i: Int, layout: Layout) -> tuple[float, float, float]:
    """The best scores of all slots together, the largest loss, and the size of those scores.

    The loss of a part is what its score lacks of the best of its slot, a variable or a factor.
    """
    best, widest, size = 0.0, 0.0, 0.0
    variables = layout.sizes.shape[0]
    for s in range(variables + layout.scope_ptr.shape[0] - 1):
        if s < variables:
            least, top = slot_range(questions, i, layout.offsets[s], layout.offsets[s + 1])
        else:
            f = s - variables
            first, end = layout.factor_offsets[f], layout.factor_offsets[f + 1]
            least, top = slot_range(questions, i, first, end)
        if top >= least:
            best += top
            widest = max(widest, top - least)
            size = max(size, top, -least)
    return best, widest, size


def drowns(layout: Layout, widest: float, size: float) -> bool:
    """Whether scores of such a size blur losses, or losses are larger than engines take."""
    slots = layout.sizes.shape[0] + layout.scope_ptr.shape[0] - 1
    beside = max(16.0, BESIDE / max(1, slots))
    return widest * slots > MOST or (size > beside * widest and widest > 0)


def has_near_labels(questions: Questions, i: Int, layout: Layout, near: float) -> bool:
    """Whether a part lacks something of the best of its slot, but no more than this."""
    variables = layout.sizes.shape[0]
    for s in range(variables + layout.scope_ptr.shape[0] - 1):
        f = s - variables
        first = layout.offsets[s] if f < 0 else layout.factor_offsets[f]
        end = layout.offsets[s + 1] if f < 0 else layout.factor_offsets[f + 1]
        _, top = slot_range(questions, i, first, end)
        for p in range(first, end):
            closed: Bool = (
                questions.closed.shape[0] > 0
                and p < questions.closed.shape[1]
                and questions.closed[i, p]
            )
            if questions.scores[i, p] < top and not closed and questions.scores[i, p] >= top - near:
                return True
    return False


def is_too_coarse(questions: Questions, i: Int, layout: Layout, widest: float, lost: float) -> bool:
    """Whether losses up to the widest are too large to compare outputs with one that lost this.

    Where nothing is lost, all others lose at least what the nearest label does.
    """
    if lost * WIDE >= widest:
        return False
    return lost > NEAR * widest or has_near_labels(questions, i, layout, NEAR * widest)


def spreads(
    questions: Questions, layout: Layout, share: float, numbers: OutFloats2
) -> tuple[bool, bool]:
    """Fill three rows: a share of each input's largest loss, its best scores, and how it is asked.

    An input is asked as losses (1) where scores are large beside them or losses are large, and
    as it is (0) elsewhere. Returns whether all are asked as they are, and whether all scores are
    finite and so small that sums are.
    """
    expect("numbers", "rows", 3, numbers.shape[0])
    expect("numbers", "columns", questions.scores.shape[0], numbers.shape[1])
    questions.fit(
        layout.factor_offsets[layout.factor_offsets.shape[0] - 1],
        layout.offsets[layout.offsets.shape[0] - 1],
    )
    as_they_are: Bool = True
    finite: Bool = True
    with cython.nogil:
        for i in range(questions.scores.shape[0]):
            best, widest, size = spread_of(questions, i, layout)
            if questions.closed.shape[0] > 0:  # closed ones are checked as well
                finite &= largest_size(questions.scores, i) < LARGEST_SCORE
            finite &= size < LARGEST_SCORE
            shifted: Bool = drowns(layout, widest, size)
            as_they_are &= not shifted
            # Where nothing is lost, all outputs are equal whatever a tie is.
            numbers[0, i] = share * (widest if widest > 0 else max(1.0, size))
            numbers[1, i] = best
            numbers[2, i] = shifted
    return as_they_are, finite


def first_too_coarse(
    questions: Questions, layout: Layout, share: float, best: Floats, values: Floats, start: Int
) -> int:
    """The first input, from one on, whose largest losses are too large to compare such values.

    ``best`` are the best scores of all slots together, and ties the share of the largest loss.
    Where there is none, it is the number of inputs.
    """
    m = questions.scores.shape[0]
    expect("values", "entries", m, values.shape[0])
    expect("best", "entries", m, best.shape[0])
    questions.fit(
        layout.factor_offsets[layout.factor_offsets.shape[0] - 1],
        layout.offsets[layout.offsets.shape[0] - 1],
    )
    for i in range(start, m):
        lost = best[i] - values[i]
        widest = questions.ties[i] / share
        if abs(lost) < inf and is_too_coarse(questions, i, layout, widest, lost):
            return i
    return m


def first_that_breaks(labels: Ints2, trees: RuleTrees, start: Int) -> int:
    """The first output, from one on, that breaks a rule; labels below 0 are none.

    Where all obey, it is the number of outputs.
    """
    expect_least("labels", "columns", trees.reach, labels.shape[1])
    m = labels.shape[0]
    state: OutInts = ints(trees.kind.shape[0])
    for i in range(start, m):
        if labels.shape[1] > 0 and labels[i, 0] >= 0 and breaks(labels, i, trees, state):
            return i
    return m


def breaks(labels: Ints2, i: Int, trees: RuleTrees, state: OutInts) -> bool:
    """Whether output i breaks a rule; ``state`` is room for whether each part of one holds."""
    for k in range(trees.kind.shape[0]):
        total: Int = 0
        first, end = trees.ptr[k], trees.ptr[k + 1]
        if trees.kind[k] == SUM:
            for c in range(first, end):
                total += trees.coefficient[c] * state[trees.child[c]]
            holds: Bool = trees.lower[k] <= total and total <= trees.upper[k]
        else:  # of labels
            for c in range(first, end):
                total += trees.coefficient[c] * labels[i, trees.child[c]]
            holds = total == trees.lower[k]
            if trees.kind[k] == TABLE:
                holds = trees.allowed[trees.lower[k] + total]
        if trees.is_rule[k] and not holds:
            return True
        state[k] = holds
    return False


def all_finite(numbers: Floats) -> bool:
    """Whether no number is infinite or NaN."""
    finite: Bool = True
    for k in range(numbers.shape[0]):
        finite &= abs(numbers[k]) < inf
    return finite
