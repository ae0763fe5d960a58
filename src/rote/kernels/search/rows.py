"""Outputs that break linear rows, and the two halves of what is left of a set around one.

A set of outputs is a list of closed labels. Where the best output of a set breaks a row, one
variable of the row parts the set: in one half it adds more to the row than in the other. What the
rows rule out in a half is closed there at once.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import BoolArray, FloatArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Questions, RowGroups
    from rote.kernels.inlined import activity_of, added, is_broken, weight_at


def most_broken(labels: Ints, offsets: Ints, rows: RowGroups) -> tuple[int, float]:
    """The row that an output misses by most, or -1 where it obeys all, and by how much all."""
    worst = 0.0
    total = 0.0
    chosen = -1
    for r in range(rows.lower.shape[0]):
        activity = activity_of(rows, offsets, r, labels)
        missed = max(activity - rows.upper[r], rows.lower[r] - activity)
        total += max(0.0, missed)
        if missed > worst:
            worst = missed
            chosen = r
    return chosen, total


def broken_rows(labels: Ints2, offsets: Ints, rows: RowGroups) -> tuple[IntArray, FloatArray]:
    """Of each output the row that it misses by most, and by how much it misses all together.

    The row is -1 where the output obeys all, or is none itself.
    """
    expect("labels", "columns", offsets.shape[0] - 1, labels.shape[1])
    m = labels.shape[0]
    broken: OutInts = np.full(m, -1, np.int64)
    missed: OutFloats = np.zeros(m)
    with cython.nogil:
        for i in range(m):
            if labels.shape[1] > 0 and labels[i, 0] >= 0:
                broken[i], missed[i] = most_broken(labels[i], offsets, rows)
    return np.asarray(broken), np.asarray(missed)


def split_group(
    values: Floats, closed: Flags, labels: Ints, row: Int, offsets: Ints, rows: RowGroups
) -> tuple[int, float, float]:
    """The group of a broken row whose variable is to part a set, what it loses, and the others.

    A variable loses the difference between the ``values`` of its label and of the best one that
    adds less to a row with too much, or more to a row with too little. Where the row has too much,
    the variable that loses most is taken, otherwise the one that loses least; of the others it is
    said how little any of them loses. The group is -1 where none can change.
    """
    too_much: Bool = activity_of(rows, offsets, row, labels) > rows.upper[row]
    chosen = -1
    taken = inf
    least = inf  # loss of all groups, and of all but that one
    second = inf
    for g in range(rows.ptr[row], rows.ptr[row + 1]):
        v = rows.variable[g]
        own = added(rows, g, offsets[v] + labels[v])
        other = -inf
        at = rows.start[g]
        for e in range(offsets[v], offsets[v + 1]):
            weight, at = weight_at(rows, g, at, e)
            better: Bool = weight < own if too_much else weight > own
            if better and not closed[e]:
                other = max(other, values[e])
        if other == -inf:
            continue
        lost = values[offsets[v] + labels[v]] - other
        if chosen < 0 or (lost > taken if too_much else lost < taken):
            chosen = g
            taken = lost
        if lost < least:
            second = least
            least = lost
        elif lost < second:
            second = lost
    return chosen, taken, second if taken == least else least


def propagate(closed: OutFlags, offsets: Ints, rows: RowGroups, open_weights: OutFloats) -> bool:
    """Close the labels that no output can have; whether there may be an output.

    ``open_weights`` is room for the least and the most of each group.
    """
    groups = rows.variable.shape[0]
    changed: Bool = True
    while changed:
        changed = False
        for r in range(rows.lower.shape[0]):
            low = 0.0
            high = 0.0
            for g in range(rows.ptr[r], rows.ptr[r + 1]):
                v = rows.variable[g]
                least = inf
                most = -inf
                at = rows.start[g]
                for e in range(offsets[v], offsets[v + 1]):
                    weight, at = weight_at(rows, g, at, e)
                    if not closed[e]:
                        least = min(least, weight)
                        most = max(most, weight)
                if least == inf:
                    return False
                open_weights[g] = least
                open_weights[groups + g] = most
                low += least
                high += most
            if is_broken(rows, r, low, high):
                return False
            if low >= rows.lower[r] and high <= rows.upper[r]:
                continue
            for g in range(rows.ptr[r], rows.ptr[r + 1]):
                v = rows.variable[g]
                at = rows.start[g]
                rest_low = low - open_weights[g]
                rest_high = high - open_weights[groups + g]
                for e in range(offsets[v], offsets[v + 1]):
                    weight, at = weight_at(rows, g, at, e)
                    if closed[e]:
                        continue
                    if is_broken(rows, r, rest_low + weight, rest_high + weight):
                        closed[e] = True
                        changed = True
    return True


def halves(
    questions: Questions, labels: Ints2, broken: Ints, offsets: Ints, rows: RowGroups
) -> tuple[BoolArray, FloatArray]:
    """The closed labels of the two halves of each set, of shape (2 m, labels), and their losses.

    Set i has ``questions.closed[i]``, its output breaks the row ``broken[i]``, and a variable parts
    it by what it adds to that row. Half 2 i + 1 is where this is better than in the output, and
    half 2 i where it is not, so that it must be for another variable. Losses are those of
    `split_group`, in terms of ``questions.scores``; inf for a half that has no output.
    """
    m, n, count = questions.scores.shape[0], offsets.shape[0] - 1, questions.closed.shape[1]
    questions.fit(0, offsets[n])
    expect("closed", "rows", m, questions.closed.shape[0])
    expect("labels", "rows", m, labels.shape[0])
    expect("labels", "columns", n, labels.shape[1])
    expect("broken", "entries", m, broken.shape[0])
    closed = flags2(2 * m, count)
    losses: OutFloats = np.full(2 * m, inf)
    room = floats(2 * rows.variable.shape[0])
    with cython.nogil:
        for i in range(m):
            r = broken[i]
            g, taken, others = split_group(
                questions.scores[i], questions.closed[i], labels[i], r, offsets, rows
            )
            if g < 0:
                continue
            too_much: Bool = activity_of(rows, offsets, r, labels[i]) > rows.upper[r]
            v = rows.variable[g]
            own = added(rows, g, offsets[v] + labels[i, v])
            for half in range(2):
                for e in range(count):
                    closed[2 * i + half, e] = questions.closed[i, e]
                at = rows.start[g]
                for e in range(offsets[v], offsets[v + 1]):
                    weight, at = weight_at(rows, g, at, e)
                    better: Bool = weight < own if too_much else weight > own
                    if better == (half == 0):
                        closed[2 * i + half, e] = True
                if propagate(closed[2 * i + half], offsets, rows, room):
                    losses[2 * i + half] = taken if half == 1 else others
    return np.asarray(closed).view(np.bool_), np.asarray(losses)
