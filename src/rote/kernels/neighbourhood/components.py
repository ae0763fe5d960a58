"""Connected components of a gold output, and whether they may change by themselves."""

from __future__ import annotations

import numpy as np

from rote.kernels.bundles import Graph, Layout, RowGroups, VariableSets
from rote.kernels.jit import kernel, lean
from rote.kernels.outputs import added, entry_at
from rote.types import BoolArray, IntArray

DIFFERENT, UNKNOWN, SAME = -1, 0, 1  # of factors; anything else is absent


@lean
def root_of(parent: IntArray, j: int) -> int:
    """The first variable of a component; paths are halved on the way."""
    while parent[j] != j:
        parent[j] = parent[parent[j]]
        j = parent[j]
    return j


@kernel
def signed_components(
    gold: IntArray, layout: Layout, states: IntArray, signs: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Per input: its first component; per component: its first variable; and the variables.

    A factor joins its variables if its sign is unknown, or agrees with the states of its two.
    """
    offsets, scope_ptr, scope = layout.offsets, layout.scope_ptr, layout.scope
    m, n = gold.shape
    parent = np.empty(n, np.int64)
    number = np.empty(n, np.int64)
    first = np.zeros(m + 1, np.int64)
    sizes = np.zeros(m * n + 1, np.int64)
    members = np.empty(m * n, np.int64)
    for i in range(m):
        for j in range(n):
            parent[j] = j
        for f in range(scope_ptr.shape[0] - 1):
            u = scope[scope_ptr[f]]
            if signs[f] == SAME or signs[f] == DIFFERENT:
                v = scope[scope_ptr[f] + 1]
                same = states[offsets[u] + gold[i, u]] == states[offsets[v] + gold[i, v]]
                if same != (signs[f] == SAME):
                    continue
            elif signs[f] != UNKNOWN:
                continue
            for k in range(scope_ptr[f] + 1, scope_ptr[f + 1]):
                a, b = root_of(parent, u), root_of(parent, scope[k])
                # The smaller one leads, so that components come in the order of their first.
                parent[max(a, b)] = min(a, b)
        count = 0
        for j in range(n):
            if parent[j] == j:
                number[j] = count
                count += 1
        first[i + 1] = first[i] + count
        at = i * n
        for c in range(count):
            for j in range(n):
                if number[root_of(parent, j)] == c:
                    members[at] = j
                    at += 1
                    sizes[first[i] + c + 1] += 1
    return first, np.cumsum(sizes[: first[m] + 1]), members


@lean
def table_allows(
    graph: Graph, allowed: BoolArray, table: int, gold: IntArray, inside: BoolArray
) -> bool:
    """Whether all that a table allows of a set it allows with the others as they are."""
    tables = graph.tables
    here = entry_at(tables, table, gold)
    for e in range(tables.ptr[table], tables.ptr[table + 1]):
        if not allowed[e]:
            continue
        rest, moved = e - tables.ptr[table], here
        for k in range(tables.scope_ptr[table], tables.scope_ptr[table + 1]):
            label = rest // tables.strides[k]
            rest -= label * tables.strides[k]
            j = tables.scope[k]
            if not allowed[graph.offsets[j] + label]:
                moved = -1
                break
            if inside[j]:
                moved += tables.strides[k] * (label - gold[j])
        if moved >= 0 and not allowed[moved]:
            return False
    return True


@lean
def row_allows(
    rows: RowGroups, offsets: IntArray, row: int, gold: IntArray, inside: BoolArray
) -> bool:
    """Whether no possible labels of a set break a row that others do not break.

    Inside, a row adds up to something between its least and its most; of that, only what the
    others could make good is possible at all.
    """
    least = most = 0.0  # inside
    low = high = now = 0.0  # outside: what is possible, and what there is
    for g in range(rows.ptr[row], rows.ptr[row + 1]):
        j = rows.variable[g]
        if inside[j]:
            least += rows.least[g]
            most += rows.most[g]
            continue
        low += rows.least[g]
        high += rows.most[g]
        now += added(rows, g, offsets[j] + gold[j])
    from_above: bool = min(most, rows.upper[row] - low) <= rows.upper[row] - now
    from_below: bool = max(least, rows.lower[row] - high) >= rows.lower[row] - now
    return from_above and from_below


@kernel
def may_swap(gold: IntArray, graph: Graph, allowed: BoolArray, around: VariableSets) -> BoolArray:
    """For which inputs every rule by itself lets every set have any labels that are possible."""
    m, n = gold.shape
    inside = np.zeros(n, np.bool_)
    may = np.ones(m, np.bool_)
    for i in range(m):
        for s in range(around.begin[i], around.end[i]):
            members = around.members[around.ptr[s] : around.ptr[s + 1]]
            if members.shape[0] == n or not may[i]:
                continue
            for j in members:
                inside[j] = True
            for j in range(n):
                may[i] = may[i] and (inside[j] or allowed[graph.offsets[j] + gold[i, j]])
            for b in range(graph.tables.ptr.shape[0] - 1):
                may[i] = may[i] and table_allows(graph, allowed, b, gold[i], inside)
            for r in range(graph.rows.lower.shape[0]):
                may[i] = may[i] and row_allows(graph.rows, graph.offsets, r, gold[i], inside)
            for j in members:
                inside[j] = False
    return may
