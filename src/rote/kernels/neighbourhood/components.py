"""Connected components of a gold output, and whether they may change by themselves."""

from __future__ import annotations

import cython
import numpy as np

from rote.types import BoolArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Graph, Layout, VariableSets, fit_outputs
    from rote.kernels.inlined import added, entry_at, root_of

    DIFFERENT, UNKNOWN, SAME = -1, 0, 1  # of factors; anything else is absent


def joins(layout: Layout, f: Int, states: Ints, sign: Int, gold: Ints) -> bool:
    """Whether a factor joins its variables: its sign is unknown, or agrees with their states."""
    if sign != SAME and sign != DIFFERENT:
        return sign == UNKNOWN
    u, v = layout.scope[layout.scope_ptr[f]], layout.scope[layout.scope_ptr[f] + 1]
    one, other = states[layout.offsets[u] + gold[u]], states[layout.offsets[v] + gold[v]]
    return (one == other) == (sign == SAME)


def signed_components(
    gold: Ints2, layout: Layout, states: Ints, signs: Ints
) -> tuple[IntArray, IntArray, IntArray]:
    """Per input: its first component; per component: its first variable; and the variables.

    A factor joins its variables if its sign is unknown, or agrees with the states of its two.
    """
    expect("gold", "columns", layout.sizes.shape[0], gold.shape[1])
    expect("signs", "entries", layout.scope_ptr.shape[0] - 1, signs.shape[0])
    expect("states", "entries", layout.offsets[layout.sizes.shape[0]], states.shape[0])
    m, n = gold.shape[0], gold.shape[1]
    room = ints(3 * n)
    parent: OutInts = room[:n]
    number: OutInts = room[n : 2 * n]
    place: OutInts = room[2 * n :]
    first: OutInts = np.zeros(m + 1, np.int64)
    ptr: OutInts = np.zeros(m * n + 1, np.int64)
    members = ints(m * n)
    with cython.nogil:
        for i in range(m):
            for j in range(n):
                parent[j] = j
            for f in range(layout.scope_ptr.shape[0] - 1):
                if not joins(layout, f, states, signs[f], gold[i]):
                    continue
                u = layout.scope[layout.scope_ptr[f]]
                for k in range(layout.scope_ptr[f] + 1, layout.scope_ptr[f + 1]):
                    a, b = root_of(parent, u), root_of(parent, layout.scope[k])
                    # The smaller one leads, so that components come in the order of their first.
                    parent[max(a, b)] = min(a, b)
            count = 0
            for j in range(n):
                root = root_of(parent, j)
                if root == j:
                    number[j] = count
                    place[count] = 0
                    count += 1
                place[number[root]] += 1
            first[i + 1] = first[i] + count
            at = i * n
            for c in range(count):
                size = place[c]
                place[c] = at
                at += size
                ptr[first[i] + c + 1] = at
            for j in range(n):
                c = number[root_of(parent, j)]
                members[place[c]] = j
                place[c] += 1
    return np.asarray(first), np.asarray(ptr)[: first[m] + 1], np.asarray(members)


class Swap(Bundle):
    """What labels are allowed, and a set of an input whose labels may change."""

    def __init__(self, allowed: Flags, variables: Int) -> None:
        self.allowed = allowed  # per entry
        self.gold = ints(variables)
        self.inside = np.zeros(variables, np.bool_)  # per variable


def table_allows(graph: Graph, swap: Swap, table: Int) -> bool:
    """Whether all that a table allows of a set it allows with the others as they are."""
    here = entry_at(graph.tables, table, swap.gold)
    for e in range(graph.tables.ptr[table], graph.tables.ptr[table + 1]):
        if not swap.allowed[e]:
            continue
        rest, moved = e - graph.tables.ptr[table], here
        for k in range(graph.tables.scope_ptr[table], graph.tables.scope_ptr[table + 1]):
            label = rest // graph.tables.strides[k]
            rest -= label * graph.tables.strides[k]
            j = graph.tables.scope[k]
            if not swap.allowed[graph.offsets[j] + label]:
                moved = -1
                break
            if swap.inside[j]:
                moved += graph.tables.strides[k] * (label - swap.gold[j])
        if moved >= 0 and not swap.allowed[moved]:
            return False
    return True


def row_allows(graph: Graph, swap: Swap, row: Int) -> bool:
    """Whether no possible labels of a set break a row that others do not break.

    Inside, a row adds up to something between its least and its most; of that, only what the
    others could make good is possible at all.
    """
    least, most = 0.0, 0.0  # inside
    low, high, now = 0.0, 0.0, 0.0  # outside: what is possible, and what there is
    for g in range(graph.rows.ptr[row], graph.rows.ptr[row + 1]):
        j = graph.rows.variable[g]
        if swap.inside[j]:
            least += graph.rows.least[g]
            most += graph.rows.most[g]
            continue
        low += graph.rows.least[g]
        high += graph.rows.most[g]
        now += added(graph.rows, g, graph.offsets[j] + swap.gold[j])
    upper, lower = graph.rows.upper[row], graph.rows.lower[row]
    return min(most, upper - low) <= upper - now and max(least, lower - high) >= lower - now


def set_may_swap(graph: Graph, swap: Swap) -> bool:
    """Whether every rule by itself lets a set have any labels that are possible."""
    for j in range(swap.gold.shape[0]):
        if not swap.inside[j] and not swap.allowed[graph.offsets[j] + swap.gold[j]]:
            return False
    for b in range(graph.tables.ptr.shape[0] - 1):
        if not table_allows(graph, swap, b):
            return False
    may: Bool = True
    for r in range(graph.rows.lower.shape[0]):
        may = may and row_allows(graph, swap, r)
    return may


def may_swap(gold: Ints2, graph: Graph, allowed: Flags, around: VariableSets) -> BoolArray:
    """For which inputs every rule by itself lets every set have any labels that are possible."""
    fit_outputs("gold", gold, graph, gold.shape[0])
    around.fit(gold.shape[0])
    expect_least("allowed", "entries", graph.source.allowed.shape[0], allowed.shape[0])
    m, n = gold.shape[0], gold.shape[1]
    swap = Swap(allowed, n)
    may: OutFlags = np.ones(m, np.bool_)
    with cython.nogil:
        for i in range(m):
            copy_into(swap.gold, gold[i])
            for s in range(around.begin[i], around.end[i]):
                begin, end = around.ptr[s], around.ptr[s + 1]
                if end - begin == n or not may[i]:
                    continue
                for k in range(begin, end):
                    swap.inside[around.members[k]] = True
                may[i] = set_may_swap(graph, swap)
                for k in range(begin, end):
                    swap.inside[around.members[k]] = False
    return np.asarray(may).view(np.bool_)
