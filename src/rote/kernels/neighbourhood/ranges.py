"""Between which numbers the rows of a space can still end up, while some variables are open.

    low[r]  = what labelled variables add to row r + the least that open ones can add
    high[r] = what labelled variables add to row r + the most that open ones can add

A row is out of reach when low[r] is above what it allows, or high[r] below. A row that is obeyed
whatever the open variables are is not looked at again.
"""

from __future__ import annotations

import cython

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Graph, RowGroups
    from rote.kernels.inlined import activity_of, added, is_broken


class Ranges(Bundle):
    """Ranges of rows; and for open variables, which groups of theirs are of rows that matter."""

    def __init__(self, rows: RowGroups, variables: Int) -> None:
        height, groups = rows.lower.shape[0], rows.row.shape[0]
        numbers = floats(2 * height)
        self.low = numbers[:height]
        self.high = numbers[height:]
        places = ints(height + 2 * variables + groups)
        self.seen = places[:height]  # per row: the set that touched it last
        self.begin = places[height : height + variables]
        self.end = places[height + variables : height + 2 * variables]
        self.groups = places[height + 2 * variables :]
        fill(self.seen, -1)


def add_up(graph: Graph, labels: Ints, activity: OutFloats) -> int:
    """What an output adds to every row; how many rows it breaks."""
    broken = 0
    for r in range(activity.shape[0]):
        activity[r] = activity_of(graph.rows, graph.offsets, r, labels)
        if is_broken(graph.rows, r, activity[r], activity[r]):
            broken += 1
    return broken


def prune(
    graph: Graph, labels: Ints, activity: Floats, members: Ints, number: Int, ranges: Ranges
) -> int:
    """Open the variables of a set; how many of the rows it touches were broken before.

    No two sets have the same ``number``.
    """
    broken = 0
    for k in range(members.shape[0]):
        j = members[k]
        for q in range(graph.rows.of_ptr[j], graph.rows.of_ptr[j + 1]):
            g = graph.rows.of[q]
            r = graph.rows.row[g]
            if ranges.seen[r] != number:
                ranges.seen[r] = number
                ranges.low[r] = activity[r]
                ranges.high[r] = activity[r]
                if is_broken(graph.rows, r, activity[r], activity[r]):
                    broken += 1
            now = added(graph.rows, g, graph.offsets[j] + labels[j])
            ranges.low[r] += graph.rows.least[g] - now
            ranges.high[r] += graph.rows.most[g] - now
    count = 0
    for k in range(members.shape[0]):
        j = members[k]
        ranges.begin[j] = count
        for q in range(graph.rows.of_ptr[j], graph.rows.of_ptr[j + 1]):
            r = graph.rows.row[graph.rows.of[q]]
            if ranges.low[r] < graph.rows.lower[r] or ranges.high[r] > graph.rows.upper[r]:
                ranges.groups[count] = graph.rows.of[q]
                count += 1
        ranges.end[j] = count
    return broken


def close_labels(graph: Graph, j: Int, ranges: Ranges, belief: OutFloats) -> None:
    """-inf for each label of an open variable that would put a row out of reach."""
    for q in range(ranges.begin[j], ranges.end[j]):
        g = ranges.groups[q]
        r = graph.rows.row[g]
        low, high = ranges.low[r] - graph.rows.least[g], ranges.high[r] - graph.rows.most[g]
        if is_broken(graph.rows, r, low, high):  # and so is it by every label without a column
            for part in range(graph.offsets[j], graph.offsets[j + 1]):
                amount = added(graph.rows, g, part)
                if is_broken(graph.rows, r, low + amount, high + amount):
                    belief[part] = -inf
            continue
        for c in range(graph.rows.start[g], graph.rows.start[g + 1]):
            amount = graph.rows.coefficient[c]
            if is_broken(graph.rows, r, low + amount, high + amount):
                belief[graph.rows.column[c]] = -inf


def settle(rows: RowGroups, part: Int, j: Int, ranges: Ranges) -> bool:
    """Give an open variable the label of a part; whether all rows are still within reach."""
    within: Bool = True
    for q in range(ranges.begin[j], ranges.end[j]):
        g = ranges.groups[q]
        r = rows.row[g]
        amount = added(rows, g, part)
        ranges.low[r] += amount - rows.least[g]
        ranges.high[r] += amount - rows.most[g]
        within = within and not is_broken(rows, r, ranges.low[r], ranges.high[r])
    return within


def reopen(rows: RowGroups, part: Int, j: Int, ranges: Ranges) -> None:
    """Take a label back."""
    for q in range(ranges.begin[j], ranges.end[j]):
        g = ranges.groups[q]
        r = rows.row[g]
        amount = added(rows, g, part)
        ranges.low[r] -= amount - rows.least[g]
        ranges.high[r] -= amount - rows.most[g]
