"""Beam search that obeys: after every label, what can no longer be is taken out.

*Arc consistency*: a label stays open while every table has an allowed entry with it and open labels
alone, and no row would be broken whatever the others are. Labels are closed until nothing changes;
a node one of whose variables has no label left is dead, and is never kept. What is left may still
have no output: then all nodes of a beam can die, and the input has none.
"""

from __future__ import annotations

import numpy as np

from rote.kernels.beam.beam import (
    BeamPlan,
    Nodes,
    beam_of,
    expand,
    first_nodes,
    guide_of,
    keep_best,
    take,
)
from rote.kernels.bundles import Graph
from rote.kernels.jit import kernel, lean
from rote.kernels.outputs import is_broken, weight_at
from rote.types import BoolArray, FloatArray


@lean
def close_in_table(graph: Graph, b: int, is_open: BoolArray, seen: BoolArray) -> int:
    """Close what no entry of a table supports; how many labels, or -1 if a variable has none.

    ``seen`` is room for the labels of all variables.
    """
    tables, allowed = graph.tables, graph.source.allowed
    begin, end = tables.scope_ptr[b], tables.scope_ptr[b + 1]
    for k in range(begin, end):
        j = tables.scope[k]
        seen[graph.offsets[j] : graph.offsets[j + 1]] = False
    for e in range(tables.ptr[b], tables.ptr[b + 1]):
        if not allowed[e]:
            continue
        fits = True
        for k in range(begin, end):
            j = tables.scope[k]
            a = ((e - tables.ptr[b]) // tables.strides[k]) % graph.sizes[j]
            if not is_open[graph.offsets[j] + a]:
                fits = False
                break
        if fits:
            for k in range(begin, end):
                j = tables.scope[k]
                a = ((e - tables.ptr[b]) // tables.strides[k]) % graph.sizes[j]
                seen[graph.offsets[j] + a] = True
    closed = 0
    for k in range(begin, end):
        j, left = tables.scope[k], 0
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            if is_open[e] and not seen[e]:
                is_open[e] = False
                closed += 1
            left += int(is_open[e])
        if left == 0:
            return -1
    return closed


@lean
def extremes(graph: Graph, g: int, is_open: BoolArray) -> tuple[float, float]:
    """The least and the most that the open labels of one variable of a row add to it."""
    rows = graph.rows
    j, at = rows.variable[g], rows.start[g]
    least, most = np.inf, -np.inf
    for e in range(graph.offsets[j], graph.offsets[j + 1]):
        weight, at = weight_at(rows, g, at, e)
        if is_open[e]:
            least, most = min(least, weight), max(most, weight)
    return least, most


@lean
def close_in_row(graph: Graph, r: int, is_open: BoolArray) -> int:
    """Close what would break a row whatever the others are; how many, or -1 at a dead end."""
    rows = graph.rows
    least, most = 0.0, 0.0
    for g in range(rows.ptr[r], rows.ptr[r + 1]):
        low, high = extremes(graph, g, is_open)
        least += low
        most += high
    if is_broken(rows, r, least, most):
        return -1
    closed = 0
    for g in range(rows.ptr[r], rows.ptr[r + 1]):
        low, high = extremes(graph, g, is_open)
        j, at, left = rows.variable[g], rows.start[g], 0
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            weight, at = weight_at(rows, g, at, e)
            if not is_open[e]:
                continue
            if is_broken(rows, r, least - low + weight, most - high + weight):
                is_open[e] = False
                closed += 1
            else:
                left += 1
        if left == 0:
            return -1
    return closed


@lean
def make_consistent(graph: Graph, is_open: BoolArray, seen: BoolArray) -> bool:
    """Close labels until nothing changes; false at a dead end."""
    changed = True
    while changed:
        changed = False
        for b in range(graph.tables.ptr.shape[0] - 1):
            closed = close_in_table(graph, b, is_open, seen)
            if closed < 0:
                return False
            changed = changed or closed > 0
        for r in range(graph.rows.lower.shape[0]):
            closed = close_in_row(graph, r, is_open)
            if closed < 0:
                return False
            changed = changed or closed > 0
    return True


@kernel
def search_consistently(
    scores: FloatArray,
    shut: BoolArray,
    weights: FloatArray,
    width: int,
    course: BeamPlan,
    graph: Graph,
) -> Nodes:
    """The last beams of a search that keeps no dead node; some may be empty."""
    m, n = scores.shape[0], course.order.shape[0]
    nodes, guide = first_nodes(m, width, course), guide_of(course, weights, np.inf, width)
    found = guide.found
    labels = graph.offsets[-1]
    is_open = np.empty((width, labels), np.bool_)
    after = np.empty((width, labels), np.bool_)
    seen = np.empty(labels, np.bool_)
    everything = np.zeros(course.offsets[-1], np.bool_)
    for i in range(m):
        is_open[0] = graph.source.allowed[:labels]
        is_open[0, : shut.shape[1]] &= ~shut[i]
        if not make_consistent(graph, is_open[0], seen):
            nodes.size[i] = 0
        beam, size = beam_of(nodes, i, scores[i], everything), nodes.size[i]
        for t in range(n):
            j = course.order[t]
            expand(guide, t, beam, size, True)
            count = keep_best(found, size, course.sizes[j], size * course.sizes[j])
            alive = 0
            for k in range(count):
                if alive == width:
                    break
                node, label = found.node[k], found.label[k]
                if not is_open[node, graph.offsets[j] + label]:
                    continue
                after[alive] = is_open[node]
                after[alive, graph.offsets[j] : graph.offsets[j + 1]] = False
                after[alive, graph.offsets[j] + label] = True
                if make_consistent(graph, after[alive], seen):
                    found.node[alive], found.label[alive] = node, label
                    alive += 1
            take(guide, t, beam, size, alive)
            size = alive
            is_open[:size] = after[:size]
        nodes.size[i] = size
    return nodes
