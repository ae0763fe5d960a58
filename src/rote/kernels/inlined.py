"""Small steps of innermost loops, which Cython takes in where they are called.

Compiled kernels have them from ``inlined.pxd``, body by body the same but for bits; this module is
never compiled.
"""

from __future__ import annotations

import numpy as np

from rote.kernels.arrays import (
    Bool,
    Floats,
    Floats2,
    Int,
    Ints,
    OutFloats,
    OutInts,
    OutInts2,
    Word,
    inf,
)
from rote.kernels.bundles import Graph, Layout, RowGroups, Tables
from rote.kernels.constants import FIRST_FACTOR, SECOND_FACTOR, WORD


def max_plus(x: Floats, first: Int, y: Floats, other: Int, n: Int) -> float:
    """max_k x[first + k] + y[other + k] over n numbers, -inf over none."""
    sums = x[first : first + n] + y[other : other + n]
    return float(sums.max(initial=-inf))


def largest_size(numbers: Floats2, i: Int) -> float:
    """The largest absolute value of row i, inf where one of its numbers is NaN."""
    largest = float(np.abs(numbers[i]).max(initial=0.0))
    return inf if np.isnan(largest) else largest


def range_of(numbers: Floats2, i: Int, first: Int, end: Int) -> tuple[float, float]:
    """The least and the largest of some numbers of row i; infinite where one is NaN."""
    some = numbers[i, first:end]
    return (-inf, inf) if np.isnan(some).any() else (float(some.min()), float(some.max()))


def tuple_of(layout: Layout, f: Int, labels: Ints) -> int:
    """The number of the label tuple that an output has at a factor."""
    code = 0
    for k in range(layout.scope_ptr[f], layout.scope_ptr[f + 1]):
        code = code * layout.sizes[layout.scope[k]] + labels[layout.scope[k]]
    return code


def parts_reached(first: Ints, scope_ptr: Ints, scope: Ints, strides: Ints, sizes: Ints) -> int:
    """One more than the last part of any factor, given the first of each."""
    reach = 0
    for f in range(first.shape[0]):
        last = first[f]
        for k in range(scope_ptr[f], scope_ptr[f + 1]):
            last += strides[k] * (sizes[scope[k]] - 1)
        reach = max(reach, last + 1)
    return reach


def entry_at(tables: Tables, b: Int, labels: Ints) -> int:
    """The entry of a table that an output chooses."""
    at = tables.ptr[b]
    for k in range(tables.scope_ptr[b], tables.scope_ptr[b + 1]):
        at += tables.strides[k] * labels[tables.scope[k]]
    return at


def added(rows: RowGroups, group: Int, part: Int) -> float:
    """What a label adds to the row of a group."""
    amount = 0.0
    for c in range(rows.start[group], rows.start[group + 1]):
        if rows.column[c] == part:
            amount += rows.coefficient[c]
    return amount


def weight_at(rows: RowGroups, group: Int, at: Int, part: Int) -> tuple[float, int]:
    """What a label adds, and the next column; columns are read from ``at`` on, labels in order."""
    weight = 0.0
    if at < rows.start[group + 1] and rows.column[at] == part:
        weight = rows.coefficient[at]
        at += 1
    return weight, at


def is_broken(rows: RowGroups, row: Int, low: float, high: float) -> bool:
    """Whether a row that ends up between two numbers is broken for sure."""
    return low > rows.upper[row] or high < rows.lower[row]


def activity_of(rows: RowGroups, offsets: Ints, row: Int, labels: Ints) -> float:
    """What an output adds to a row."""
    activity = 0.0
    for g in range(rows.ptr[row], rows.ptr[row + 1]):
        activity += added(rows, g, offsets[rows.variable[g]] + labels[rows.variable[g]])
    return activity


def root_of(parent: OutInts, j: Int) -> int:
    """The first variable of a component; paths are halved on the way."""
    while parent[j] != j:
        parent[j] = parent[parent[j]]
        j = parent[j]
    return j


def repeat_row(numbers: OutInts2, row: Int) -> None:
    """Put the numbers of the row before there once more."""
    numbers[row] = numbers[row - 1]


def is_scored(graph: Graph, table: Int) -> bool:
    """Whether a table has scores, and is not a rule alone."""
    first, end = graph.tables.ptr[table], graph.tables.ptr[table + 1]
    return graph.source.ptr[first] < graph.source.ptr[end]


def change_rows(
    graph: Graph, variable: Int, before: Int, after: Int, activity: OutFloats, keep: Bool
) -> int:
    """By how much the number of broken rows changes; ``keep`` enters the change."""
    change = 0
    for q in range(graph.rows.of_ptr[variable], graph.rows.of_ptr[variable + 1]):
        g = graph.rows.of[q]
        r = graph.rows.row[g]
        now = activity[r]
        if is_broken(graph.rows, r, now, now):
            change -= 1
        for c in range(graph.rows.start[g], graph.rows.start[g + 1]):
            if graph.rows.column[c] == graph.offsets[variable] + before:
                now -= graph.rows.coefficient[c]
            elif graph.rows.column[c] == graph.offsets[variable] + after:
                now += graph.rows.coefficient[c]
        if is_broken(graph.rows, r, now, now):
            change += 1
        if keep:
            activity[r] = now
    return change


def bits_of(number: float) -> int:
    """The bits of a number, as a word."""
    return int(np.float64(number).view(np.uint64))


def signed(word: Word) -> int:
    """A word as a whole number with a sign."""
    return word - (word >> 63 << 64)


def mixed(state: Word) -> int:
    """The finaliser of SplitMix64: every bit of the state moves every bit of the result."""
    state = (state ^ (state >> 30)) * FIRST_FACTOR & WORD
    state = (state ^ (state >> 27)) * SECOND_FACTOR & WORD
    return state ^ (state >> 31)


def folded(state: Word, bits: Word) -> int:
    """A state that has taken in some bits; the upper ones, which a product moves, come down."""
    state = (state ^ bits) * FIRST_FACTOR & WORD
    return state ^ (state >> 32)


def below(state: Word, top: Int) -> int:
    """A number from 0 to top - 1, from a state: the upper half of its bits, as a share."""
    return (mixed(state) >> 32) * top >> 32
