"""Between which numbers the rows of a space can still end up, while some variables are open.

    low[r]  = what labelled variables add to row r + the least that open ones can add
    high[r] = what labelled variables add to row r + the most that open ones can add

A row is out of reach when low[r] is above what it allows, or high[r] below. A row that is obeyed
whatever the open variables are is not looked at again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.bundles import Graph, RowGroups
from rote.kernels.jit import inlined, kernel, lean
from rote.kernels.outputs import activity_of, added, is_broken
from rote.types import FloatArray, IntArray


class Ranges(NamedTuple):
    """Ranges of rows; and for open variables, which groups of theirs are of rows that matter."""

    low: FloatArray
    high: FloatArray
    seen: IntArray  # per row: the set that touched it last
    begin: IntArray  # per variable
    end: IntArray  # per variable
    groups: IntArray


@kernel
def room_for(rows: RowGroups, variables: int) -> Ranges:
    """Ranges that are not set yet."""
    height, groups = rows.lower.shape[0], rows.row.shape[0]
    return Ranges(
        np.empty(height),
        np.empty(height),
        np.full(height, -1),
        np.empty(variables, np.int64),
        np.empty(variables, np.int64),
        np.empty(groups, np.int64),
    )


@lean
def add_up(graph: Graph, labels: IntArray, activity: FloatArray) -> int:
    """What an output adds to every row; how many rows it breaks."""
    broken = 0
    for r in range(activity.shape[0]):
        activity[r] = activity_of(graph.rows, graph.offsets, r, labels)
        broken += int(is_broken(graph.rows, r, activity[r], activity[r]))
    return broken


@lean
def prune(
    graph: Graph,
    labels: IntArray,
    activity: FloatArray,
    members: IntArray,
    number: int,
    ranges: Ranges,
) -> int:
    """Open the variables of a set; how many of the rows it touches were broken before.

    No two sets have the same ``number``.
    """
    rows, offsets = graph.rows, graph.offsets
    low, high, seen = ranges.low, ranges.high, ranges.seen
    broken = 0
    for j in members:
        for q in range(rows.of_ptr[j], rows.of_ptr[j + 1]):
            g = rows.of[q]
            r = rows.row[g]
            if seen[r] != number:
                seen[r] = number
                low[r] = high[r] = activity[r]
                broken += int(is_broken(rows, r, activity[r], activity[r]))
            now = added(rows, g, offsets[j] + labels[j])
            low[r] += rows.least[g] - now
            high[r] += rows.most[g] - now
    count = 0
    for j in members:
        ranges.begin[j] = count
        for q in range(rows.of_ptr[j], rows.of_ptr[j + 1]):
            r = rows.row[rows.of[q]]
            if low[r] < rows.lower[r] or high[r] > rows.upper[r]:
                ranges.groups[count] = rows.of[q]
                count += 1
        ranges.end[j] = count
    return broken


@inlined
def close_labels(graph: Graph, j: int, ranges: Ranges, belief: FloatArray) -> None:
    """-inf for each label of an open variable that would put a row out of reach."""
    rows, offsets = graph.rows, graph.offsets
    for q in range(ranges.begin[j], ranges.end[j]):
        g = ranges.groups[q]
        r = rows.row[g]
        low, high = ranges.low[r] - rows.least[g], ranges.high[r] - rows.most[g]
        if is_broken(rows, r, low, high):  # and so is it by every label without a column
            for part in range(offsets[j], offsets[j + 1]):
                amount = added(rows, g, part)
                if is_broken(rows, r, low + amount, high + amount):
                    belief[part] = -np.inf
            continue
        for c in range(rows.start[g], rows.start[g + 1]):
            amount = rows.coefficient[c]
            if is_broken(rows, r, low + amount, high + amount):
                belief[rows.column[c]] = -np.inf


@inlined
def settle(rows: RowGroups, part: int, j: int, ranges: Ranges) -> bool:
    """Give an open variable the label of a part; whether all rows are still within reach."""
    within = True
    for q in range(ranges.begin[j], ranges.end[j]):
        g = ranges.groups[q]
        r = rows.row[g]
        amount = added(rows, g, part)
        ranges.low[r] += amount - rows.least[g]
        ranges.high[r] += amount - rows.most[g]
        within = within and not is_broken(rows, r, ranges.low[r], ranges.high[r])
    return within


@inlined
def reopen(rows: RowGroups, part: int, j: int, ranges: Ranges) -> None:
    """Take a label back."""
    for q in range(ranges.begin[j], ranges.end[j]):
        g = ranges.groups[q]
        r = rows.row[g]
        amount = added(rows, g, part)
        ranges.low[r] -= amount - rows.least[g]
        ranges.high[r] -= amount - rows.most[g]
