"""Beam search that obeys: after every label, what can no longer be is taken out.

*Arc consistency*: a label stays open while every table has an allowed entry with it and open labels
alone, and no row would be broken whatever the others are. Labels are closed until nothing changes;
a node one of whose variables has no label left is dead, and is never kept. What is left may still
have no output: then all nodes of a beam can die, and the input has none.

A table or a row is looked at again only when it is *due*: a label of one of its variables has been
closed since.
"""

from __future__ import annotations

import cython
import numpy as np

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.beam.beam import BeamPlan, Nodes, Search, expand, keep_best, take
    from rote.kernels.bundles import Graph
    from rote.kernels.inlined import is_broken, weight_at


class Domains(Bundle):
    """Which labels are open in each of some nodes, and room to find out which stay so."""

    def __init__(self, graph: Graph, nodes: Int) -> None:
        labels = graph.offsets[graph.sizes.shape[0]]
        self.open = flags2(nodes, labels)
        self.seen = flags(labels)
        self.table_due = flags(graph.tables.ptr.shape[0] - 1)
        self.row_due = flags(graph.rows.lower.shape[0])


def make_due(graph: Graph, domains: Domains, j: Int) -> None:
    """The tables and rows of a variable, of which a label was closed."""
    for p in range(graph.tables.place_ptr[j], graph.tables.place_ptr[j + 1]):
        domains.table_due[graph.tables.place_table[graph.tables.places[p]]] = True
    for q in range(graph.rows.of_ptr[j], graph.rows.of_ptr[j + 1]):
        domains.row_due[graph.rows.row[graph.rows.of[q]]] = True


def find_supported(graph: Graph, domains: Domains, node: Int, b: Int) -> None:
    """Which labels of its variables a table has an allowed entry for, in ``seen``."""
    begin, end = graph.tables.scope_ptr[b], graph.tables.scope_ptr[b + 1]
    for k in range(begin, end):
        j = graph.tables.scope[k]
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            domains.seen[e] = False
    for e in range(graph.tables.ptr[b], graph.tables.ptr[b + 1]):
        if not graph.source.allowed[e]:
            continue
        fits: Bool = True
        for k in range(begin, end):
            j = graph.tables.scope[k]
            a = ((e - graph.tables.ptr[b]) // graph.tables.strides[k]) % graph.sizes[j]
            if not domains.open[node, graph.offsets[j] + a]:
                fits = False
                break
        if fits:
            for k in range(begin, end):
                j = graph.tables.scope[k]
                a = ((e - graph.tables.ptr[b]) // graph.tables.strides[k]) % graph.sizes[j]
                domains.seen[graph.offsets[j] + a] = True


def close_in_table(graph: Graph, domains: Domains, node: Int, b: Int) -> int:
    """Close what no entry of a table supports; how many labels, or -1 if a variable has none."""
    find_supported(graph, domains, node, b)
    closed: Int = 0
    for k in range(graph.tables.scope_ptr[b], graph.tables.scope_ptr[b + 1]):
        j = graph.tables.scope[k]
        left: Int = 0
        before = closed
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            if domains.open[node, e]:
                if domains.seen[e]:
                    left += 1
                else:
                    domains.open[node, e] = False
                    closed += 1
        if left == 0:
            return -1
        if closed > before:
            make_due(graph, domains, j)
    domains.table_due[b] = False  # what it supports, it still does
    return closed


def extremes(graph: Graph, domains: Domains, node: Int, g: Int) -> tuple[float, float]:
    """The least and the most that the open labels of one variable of a row add to it."""
    j, at = graph.rows.variable[g], graph.rows.start[g]
    least, most = inf, -inf
    for e in range(graph.offsets[j], graph.offsets[j + 1]):
        weight, at = weight_at(graph.rows, g, at, e)
        if domains.open[node, e]:
            least = min(least, weight)
            most = max(most, weight)
    return least, most


def close_in_row(graph: Graph, domains: Domains, node: Int, r: Int) -> int:
    """Close what would break a row whatever the others are; how many, or -1 at a dead end."""
    domains.row_due[r] = False
    least, most = 0.0, 0.0
    for g in range(graph.rows.ptr[r], graph.rows.ptr[r + 1]):
        low, high = extremes(graph, domains, node, g)
        least += low
        most += high
    if is_broken(graph.rows, r, least, most):
        return -1
    closed: Int = 0
    for g in range(graph.rows.ptr[r], graph.rows.ptr[r + 1]):
        low, high = extremes(graph, domains, node, g)
        j, at = graph.rows.variable[g], graph.rows.start[g]
        left: Int = 0
        before = closed
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            weight, at = weight_at(graph.rows, g, at, e)
            if not domains.open[node, e]:
                continue
            if is_broken(graph.rows, r, least - low + weight, most - high + weight):
                domains.open[node, e] = False
                closed += 1
            else:
                left += 1
        if left == 0:
            return -1
        if closed > before:
            make_due(graph, domains, j)
    return closed


def make_consistent(graph: Graph, domains: Domains, node: Int, changed: Int) -> bool:
    """Close labels until nothing changes; false at a dead end.

    A node that was consistent before labels of one variable were closed says which, others -1.
    """
    fill(domains.table_due, changed < 0)
    fill(domains.row_due, changed < 0)
    if changed >= 0:
        make_due(graph, domains, changed)
    again: Bool = True
    while again:
        again = False
        for b in range(domains.table_due.shape[0]):
            if domains.table_due[b]:
                closed = close_in_table(graph, domains, node, b)
                if closed < 0:
                    return False
                again = again or closed > 0
        for r in range(domains.row_due.shape[0]):
            if domains.row_due[r]:
                closed = close_in_row(graph, domains, node, r)
                if closed < 0:
                    return False
                again = again or closed > 0
    return True


def give_label(
    graph: Graph, before: Domains, node: Int, after: Domains, to: Int, j: Int, label: Int
) -> bool:
    """Make node ``to`` as another one was, with a label for variable j; false at a dead end."""
    first = graph.offsets[j]
    if not before.open[node, first + label]:
        return False
    for e in range(before.open.shape[1]):
        after.open[to, e] = before.open[node, e]
    for e in range(first, graph.offsets[j + 1]):
        after.open[to, e] = e == first + label
    return make_consistent(graph, after, to, j)


def step_consistently(
    search: Search, graph: Graph, before: Domains, after: Domains, i: Int, t: Int, size: Int
) -> int:
    """Take a step by g + h that keeps no dead node; how many nodes the beam has then."""
    j, width, alive = search.plan.order[t], search.nodes.score.shape[1], 0
    labels = search.plan.sizes[j]
    expand(search, i, t, size, True)
    for k in range(keep_best(search, size, labels, size * labels)):
        if alive == width:
            break
        node, label = search.node[k], search.label[k]
        if give_label(graph, before, node, after, alive, j, label):
            search.node[alive] = node
            search.label[alive] = label
            alive += 1
    take(search, i, t, size, alive)
    for node in range(alive):
        for e in range(before.open.shape[1]):
            before.open[node, e] = after.open[node, e]
    return alive


def search_consistently(
    scores: Floats2, shut: Flags2, weights: Floats, width: Int, plan: BeamPlan, graph: Graph
) -> Nodes:
    """The last beams of a search that keeps no dead node; some may be empty."""
    expect("shut", "rows", scores.shape[0], shut.shape[0])
    m, n, nodes = scores.shape[0], plan.order.shape[0], Nodes(scores.shape[0], width, plan)
    # Closed labels are never open, and need not be looked at again.
    search = Search(plan, nodes)
    search.look_at(scores, np.empty((0, 0), np.bool_), weights, inf)
    before, after = Domains(graph, width), Domains(graph, width)
    with cython.nogil:
        for i in range(m):
            for e in range(before.open.shape[1]):
                before.open[0, e] = graph.source.allowed[e]
            for e in range(shut.shape[1]):
                before.open[0, e] = before.open[0, e] and not shut[i, e]
            size: Int = 1 if make_consistent(graph, before, 0, -1) else 0
            for t in range(n):
                size = step_consistently(search, graph, before, after, i, t, size)
            nodes.size[i] = size
    return nodes
