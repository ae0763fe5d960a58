"""What presolve leaves of an input, as a smaller graph: open labels, tables of a few, rows of many.

Factors keep the entries of open labels; one that is left with a single variable is added to its
labels. A row that may bind becomes a table where its variables have few joint labellings left.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import FloatArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import FoundBy, Graph, SparseRows
    from rote.kernels.inlined import added, entry_at
    from rote.kernels.presolve.linking import linked

    MAX_ENTRIES = 256  # of a table that stands for a row


class Kept(Bundle):
    """What is kept of a graph: sizes of all, and where each thing has gone."""

    def __init__(self, graph: Graph, is_open: Flags) -> None:
        n = graph.sizes.shape[0]
        self.variable = ints(n)  # its new number, or -1 where one label is left
        self.label = ints(graph.offsets[n])  # per label: its new position among its variable's
        self.count = ints(n)  # open labels
        self.first = ints(n)  # the first open one
        self.variables = 0
        self.labels = 0
        for j in range(n):
            self.variable[j] = -1
            self.count[j] = 0
            for e in range(graph.offsets[j], graph.offsets[j + 1]):
                self.label[e] = -1
                if is_open[e]:
                    if self.count[j] == 0:
                        self.first[j] = e
                    self.label[e] = self.count[j]
                    self.count[j] += 1
            if self.count[j] > 1:
                self.variable[j] = self.variables
                self.variables += 1
                self.labels += self.count[j]


def joint(kept: Kept, scope: Ints, begin: Int, end: Int, most: Int) -> tuple[int, int]:
    """How many of some variables are kept, and their joint labellings, or more than ``most``."""
    variables, size = 0, 1
    for k in range(begin, end):
        if kept.variable[scope[k]] >= 0:
            variables += 1
            if size <= most:
                size *= kept.count[scope[k]]
    return variables, size


def remainder(
    graph: Graph, scores: Floats, own: Int, is_open: Flags, live: Flags
) -> tuple[Graph, FloatArray, IntArray, IntArray]:
    """The graph of what is left and its scores, and which variable and label each one was."""
    factors, rows = graph.tables.scope_ptr.shape[0] - 1, graph.rows.lower.shape[0]
    expect_least("scores", "entries", graph.tables.ptr[factors], scores.shape[0])
    expect("is_open", "entries", graph.offsets[graph.sizes.shape[0]], is_open.shape[0])
    expect("live", "entries", rows, live.shape[0])
    kept = Kept(graph, is_open)
    everything = 1 << 62
    # Sizes first: of scored tables, of tables that stand for rows, of rows.
    tables, places, scored = 0, 0, kept.labels
    for f in range(factors):
        variables, size = joint(
            kept,
            graph.tables.scope,
            graph.tables.scope_ptr[f],
            graph.tables.scope_ptr[f + 1],
            everything,
        )
        if variables > 1:
            tables += 1
            places += variables
            scored += size
    entries, long_rows, columns = scored, 0, 0
    as_table = flags(rows)
    for r in range(rows):
        as_table[r] = False
        if not live[r]:
            continue
        variables, size = joint(
            kept, graph.rows.variable, graph.rows.ptr[r], graph.rows.ptr[r + 1], MAX_ENTRIES
        )
        if size <= MAX_ENTRIES:
            as_table[r] = True
            tables += 1
            places += variables
            entries += size
        else:
            long_rows += 1
            columns += graph.rows.start[graph.rows.ptr[r + 1]] - graph.rows.start[graph.rows.ptr[r]]

    n = kept.variables
    sizes, offsets, was, label_was = ints(n), ints(n + 1), ints(n), ints(kept.labels)
    theta = floats(scored)
    offsets[0] = 0
    for j in range(graph.sizes.shape[0]):
        v = kept.variable[j]
        if v < 0:
            continue
        was[v] = j
        sizes[v] = kept.count[j]
        offsets[v + 1] = offsets[v] + sizes[v]
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            if kept.label[e] >= 0:
                label_was[offsets[v] + kept.label[e]] = e - graph.offsets[j]
                theta[offsets[v] + kept.label[e]] = scores[e] if e < own else 0.0

    scope_ptr, scope, strides = ints(tables + 1), ints(places), ints(places)
    table_ptr = ints(tables + 1)
    step = ints(places + 1)  # in the old table, per place; or what labels add to a row
    allowed: OutFlags = np.ones(entries, np.bool_)
    newest: OutInts = np.full(n, -1, np.int64)  # per variable: the table of a row that ends there
    older = ints(tables)  # per table of a row: the one before it that ends there
    scope_ptr[0], table_ptr[0] = 0, kept.labels
    t = 0
    for f in range(factors):
        begin, end = graph.tables.scope_ptr[f], graph.tables.scope_ptr[f + 1]
        at, place, alone = graph.tables.ptr[f], scope_ptr[t], -1
        for k in range(begin, end):
            j = graph.tables.scope[k]
            if kept.variable[j] < 0:
                at += graph.tables.strides[k] * (kept.first[j] - graph.offsets[j])
                continue
            alone = k
            if place < places:
                scope[place] = kept.variable[j]
                step[place] = graph.tables.strides[k]
            place += 1
        if place == scope_ptr[t] + 1:
            v = kept.variable[graph.tables.scope[alone]]
            for e in range(offsets[v], offsets[v + 1]):
                theta[e] += scores[at + graph.tables.strides[alone] * label_was[e]]
        if place < scope_ptr[t] + 2:
            continue
        size = set_strides(sizes, scope, strides, scope_ptr[t], place)
        for x in range(size):
            from_ = at
            for k in range(scope_ptr[t], place):
                v = scope[k]
                from_ += step[k] * label_was[offsets[v] + (x // strides[k]) % sizes[v]]
            theta[table_ptr[t] + x] = scores[from_]
        table_ptr[t + 1] = table_ptr[t] + size
        scope_ptr[t + 1] = place
        t += 1

    row_ptr, column, coefficient = ints(long_rows + 1), ints(columns), floats(columns)
    lower, upper = floats(long_rows), floats(long_rows)
    row_ptr[0] = 0
    row, at = 0, 0
    for r in range(rows):
        if not live[r]:
            continue
        shift, place = 0.0, scope_ptr[t]
        for g in range(graph.rows.ptr[r], graph.rows.ptr[r + 1]):
            j = graph.rows.variable[g]
            if kept.variable[j] < 0:
                shift += added(graph.rows, g, kept.first[j])
            elif as_table[r]:
                scope[place] = kept.variable[j]
                step[place] = g
                place += 1
            else:
                for c in range(graph.rows.start[g], graph.rows.start[g + 1]):
                    e = graph.rows.column[c]
                    if kept.label[e] >= 0:
                        column[at] = offsets[kept.variable[j]] + kept.label[e]
                        coefficient[at] = graph.rows.coefficient[c]
                        at += 1
        if not as_table[r]:
            lower[row], upper[row] = graph.rows.lower[r] - shift, graph.rows.upper[r] - shift
            row += 1
            row_ptr[row] = at
            continue
        size = set_strides(sizes, scope, strides, scope_ptr[t], place)
        home = newest[scope[place - 1]]
        while home >= 0 and not same_scope(
            scope, scope_ptr, home, place - scope_ptr[t], scope_ptr[t]
        ):
            home = older[home]
        first = table_ptr[t if home < 0 else home]
        for x in range(size):
            activity = shift
            for k in range(scope_ptr[t], place):
                v = scope[k]
                label = label_was[offsets[v] + (x // strides[k]) % sizes[v]]
                activity += added(graph.rows, step[k], graph.offsets[was[v]] + label)
            if not graph.rows.lower[r] <= activity <= graph.rows.upper[r]:
                allowed[first + x] = False
        if home >= 0:  # the table of another row over the same variables takes it in
            continue
        older[t] = newest[scope[place - 1]]
        newest[scope[place - 1]] = t
        table_ptr[t + 1] = table_ptr[t] + size
        scope_ptr[t + 1] = place
        t += 1

    entries, places = table_ptr[t], scope_ptr[t]
    gather_ptr, gather = ints(entries + 1), ints(scored)
    for e in range(entries + 1):
        gather_ptr[e] = min(e, scored)
    for e in range(scored):
        gather[e] = e
    smaller = linked(
        sizes,
        offsets,
        scope_ptr[: t + 1],
        scope[:places],
        strides[:places],
        table_ptr[: t + 1],
        FoundBy(allowed[:entries], gather_ptr, gather),
        SparseRows(row_ptr, column[:at], coefficient[:at], lower, upper, kept.labels, 0),
    )
    return smaller, np.asarray(theta), np.asarray(was), np.asarray(label_was)


def same_scope(scope: Ints, scope_ptr: Ints, table: Int, count: Int, first: Int) -> bool:
    """Whether a table is over the variables that are listed from ``first`` on."""
    begin = scope_ptr[table]
    if scope_ptr[table + 1] - begin != count:
        return False
    for k in range(count):
        if scope[begin + k] != scope[first + k]:
            return False
    return True


def set_strides(sizes: Ints, scope: Ints, strides: OutInts, begin: Int, end: Int) -> int:
    """The strides of a table, its last variable fastest; returns how many entries it has."""
    size = 1
    for k in range(end - 1, begin - 1, -1):
        strides[k] = size
        size *= sizes[scope[k]]
    return size


def worth(graph: Graph, scores: Floats, labels: Ints) -> float:
    """The value of an output of what is left."""
    value = 0.0
    for j in range(labels.shape[0]):
        value += scores[graph.offsets[j] + labels[j]]
    for b in range(graph.tables.ptr.shape[0] - 1):
        if graph.tables.ptr[b] < scores.shape[0]:
            value += scores[entry_at(graph.tables, b, labels)]
    return value
