"""What happens at one node of branch and bound: labels given and taken back, bounds kept.

Numbers that change live in one vector ``state``: labels' scores, then per variable
its best, per table its best, per row the least and the most it can still add up to,
and last the bound

    Σ_j max_a θ_j(a) + Σ_f max_t θ_f(t) + u·rhs

over what is still open. Every change is written to a trail, and undone from it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.bundles import Graph
from rote.kernels.dual.ascent import find_tops
from rote.kernels.jit import inlined, kernel, lean
from rote.kernels.outputs import activity_of, added, copy_into, entry_at, is_broken, weight_at
from rote.types import BoolArray, FloatArray, IntArray


class Frames(NamedTuple):
    """The decisions on the way to a node, by depth."""

    variable: IntArray
    options: IntArray  # labels to try
    next: IntArray  # which one comes next
    mark: IntArray  # of the trail before it
    low: IntArray  # of the stack before it
    label: IntArray  # (depth, labels)
    bound: FloatArray  # (depth, labels)


class Node(NamedTuple):
    """Where a search stands. Places are of what begins there in ``state``."""

    state: FloatArray
    free: IntArray  # per table: how many of its variables have no label
    labels: IntArray  # -1 where there is none
    argmax: IntArray  # the best labels
    stack: IntArray  # labelled variables, in the order they were labelled
    pending: IntArray  # variables to be labelled next
    trail_at: IntArray
    trail_was: FloatArray
    tight: BoolArray  # room, per label
    frames: Frames
    best_of: int
    table_best: int
    row_least: int
    row_most: int
    whole: int


@kernel
def new_node(graph: Graph) -> Node:
    """Room for a search."""
    n, blocks = graph.sizes.shape[0], graph.tables.ptr.shape[0] - 1
    rows, labels = graph.rows.lower.shape[0], int(graph.offsets[n])
    return Node(
        np.zeros(labels + n + blocks + 2 * rows + 1),
        np.empty(blocks, np.int64),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty(n + 1, np.int64),
        np.empty(n + 1, np.int64),
        np.empty(graph.trail, np.int64),
        np.empty(graph.trail),
        np.empty(labels, np.bool_),
        Frames(
            np.empty(n + 1, np.int64),
            np.zeros(n + 1, np.int64),
            np.zeros(n + 1, np.int64),
            np.zeros(n + 1, np.int64),
            np.zeros(n + 1, np.int64),
            np.empty((n + 1, graph.widest), np.int64),
            np.empty((n + 1, graph.widest)),
        ),
        labels,
        labels + n,
        labels + n + blocks,
        labels + n + blocks + rows,
        labels + n + blocks + 2 * rows,
    )


@inlined
def put(node: Node, place: int, value: float, top: int) -> int:
    """Change a number of the state; returns the new top of the trail."""
    node.trail_at[top] = place
    node.trail_was[top] = node.state[place]
    node.state[place] = value
    return top + 1


@inlined
def close_in_row(graph: Graph, node: Node, r: int, top: int) -> int:
    """Close the labels of open variables that would break a row by themselves.

    Returns the new top of the trail, or -1 - top at a dead end.
    """
    rows, offsets, state, best_of = graph.rows, graph.offsets, node.state, node.best_of
    least, most = state[node.row_least + r], state[node.row_most + r]
    dead = False
    for o in range(rows.ptr[r], rows.ptr[r + 1]):
        w, at = rows.variable[o], rows.start[o]
        if dead or node.labels[w] >= 0:
            continue
        best = -np.inf
        changed = False
        for e in range(offsets[w], offsets[w + 1]):
            weight, at = weight_at(rows, o, at, e)
            if state[e] == -np.inf:
                continue
            if is_broken(rows, r, least - rows.least[o] + weight, most - rows.most[o] + weight):
                top = put(node, e, -np.inf, top)
                changed = True
            elif state[e] > best:
                best = state[e]
        if changed:
            state[node.whole] += best - state[best_of + w]
            top = put(node, best_of + w, best, top)
            dead = best == -np.inf
    return -1 - top if dead else top


@lean
def assign(graph: Graph, theta: FloatArray, node: Node, v: int, label: int, top: int) -> int:
    """Give variable v a label. Returns the new top of the trail, negative at a dead end.

    A dead end is reported as -1 - top, so that what was done can be undone.
    """
    tables, rows, offsets, labels = graph.tables, graph.rows, graph.offsets, node.labels
    state, free, best_of, table_best = node.state, node.free, node.best_of, node.table_best
    bound = state[node.whole] - state[best_of + v] + state[offsets[v] + label]
    top = put(node, node.whole, bound, top)
    labels[v] = label
    dead = False
    for p in range(tables.place_ptr[v], tables.place_ptr[v + 1]):
        b = tables.place_table[tables.places[p]]
        free[b] -= 1
        if dead or free[b] == 0:
            continue
        if free[b] == 1:
            base = tables.ptr[b]
            w = -1
            step = 0
            for k in range(tables.scope_ptr[b], tables.scope_ptr[b + 1]):
                j = tables.scope[k]
                if labels[j] < 0:
                    w = j
                    step = tables.strides[k]
                else:
                    base += tables.strides[k] * labels[j]
            best = -np.inf
            for a in range(graph.sizes[w]):
                e = offsets[w] + a
                top = put(node, e, state[e] + theta[base + a * step], top)
                if state[e] > best:
                    best = state[e]
            state[node.whole] += best - state[best_of + w] - state[table_best + b]
            top = put(node, best_of + w, best, top)
            top = put(node, table_best + b, 0.0, top)
        else:
            best = best_entry(graph, theta, node, b)
            state[node.whole] += best - state[table_best + b]
            top = put(node, table_best + b, best, top)
        dead = best == -np.inf
    for q in range(rows.of_ptr[v], rows.of_ptr[v + 1]):
        if dead:
            break
        g = rows.of[q]
        r = rows.row[g]
        weight = added(rows, g, offsets[v] + label)
        least = state[node.row_least + r] + (weight - rows.least[g])
        most = state[node.row_most + r] + (weight - rows.most[g])
        top = put(node, node.row_least + r, least, top)
        top = put(node, node.row_most + r, most, top)
        if is_broken(rows, r, least, most):
            dead = True
        elif least < rows.lower[r] or most > rows.upper[r]:
            top = close_in_row(graph, node, r, top)
            if top < 0:
                dead, top = True, -1 - top
    return -1 - top if dead else top


@lean
def best_entry(graph: Graph, theta: FloatArray, node: Node, b: int) -> float:
    """The best entry of table b that fits the labels given and the labels still open."""
    tables, labels = graph.tables, node.labels
    best = -np.inf
    for e in range(tables.ptr[b], tables.ptr[b + 1]):
        if theta[e] <= best:
            continue
        fits = True
        for k in range(tables.scope_ptr[b], tables.scope_ptr[b + 1]):
            j = tables.scope[k]
            a = ((e - tables.ptr[b]) // tables.strides[k]) % graph.sizes[j]
            is_open = node.state[graph.offsets[j] + a] > -np.inf
            fits = fits and (labels[j] == a if labels[j] >= 0 else is_open)
        if fits:
            best = theta[e]
    return best


@lean
def undo(graph: Graph, node: Node, height: int, low: int, top: int, mark: int) -> None:
    """Take back the trail down to ``mark`` and the labelled variables down to ``low``."""
    tables = graph.tables
    while top > mark:
        top -= 1
        node.state[node.trail_at[top]] = node.trail_was[top]
    while height > low:
        height -= 1
        v = node.stack[height]
        node.labels[v] = -1
        for p in range(tables.place_ptr[v], tables.place_ptr[v + 1]):
            node.free[tables.place_table[tables.places[p]]] += 1


@lean
def start(graph: Graph, theta: FloatArray, constant: float, node: Node) -> bool:
    """Stand at the root; false when some row cannot be met."""
    rows, state = graph.rows, node.state
    node.labels[:] = -1
    for b in range(node.free.shape[0]):
        node.free[b] = graph.tables.scope_ptr[b + 1] - graph.tables.scope_ptr[b]
    copy_into(state, theta[: node.best_of])
    tops = state[node.best_of : node.row_least]
    state[node.whole] = find_tops(graph, theta, constant, tops)
    feasible = bool(state[node.whole] > -np.inf)
    for r in range(rows.lower.shape[0]):
        least = 0.0
        most = 0.0
        for g in range(rows.ptr[r], rows.ptr[r + 1]):
            least += rows.least[g]
            most += rows.most[g]
        state[node.row_least + r] = least
        state[node.row_most + r] = most
        feasible = feasible and not is_broken(rows, r, least, most)
    return feasible


@lean
def row_loss(graph: Graph, multipliers: FloatArray, labels: IntArray) -> float:
    """What a labelling loses to multipliers of rows that it meets with room to spare.

    Σ_r u_r⁺ (upper_r - (Az)_r) + u_r⁻ ((Az)_r - lower_r), or inf when a row breaks.
    """
    rows, lost = graph.rows, 0.0
    for r in range(rows.lower.shape[0]):
        activity = activity_of(rows, graph.offsets, r, labels)
        if is_broken(rows, r, activity, activity):
            return np.inf
        if multipliers[r] > 0:
            lost += multipliers[r] * (rows.upper[r] - activity)
        elif multipliers[r] < 0:
            lost += multipliers[r] * (rows.lower[r] - activity)
    return lost


@lean
def loss(
    graph: Graph, theta: FloatArray, multipliers: FloatArray, node: Node, slack: float
) -> float:
    """What the best labels together lose against the bound; inf when more than ``slack``."""
    lost = 0.0
    for b in range(node.free.shape[0]):
        if node.free[b] > 1:
            entry = entry_at(graph.tables, b, node.argmax)
            lost += node.state[node.table_best + b] - theta[entry]
            if lost > slack:
                return np.inf
    if graph.rows.lower.shape[0] > 0:
        lost += row_loss(graph, multipliers, node.argmax)
    return lost if lost <= slack else np.inf


@lean
def alone(graph: Graph, theta: FloatArray, node: Node, tie: float) -> bool:
    """Whether no other output at this node can be within a tie of the bound.

    Such an output uses only labels and table entries within a tie of the best. Labels
    that some table cannot extend with these are struck out until nothing changes; if
    one label is left everywhere, the answer is the only one.
    """
    tables, offsets, sizes = graph.tables, graph.offsets, graph.sizes
    state, labels, argmax, tight = node.state, node.labels, node.argmax, node.tight
    n = sizes.shape[0]
    tight[:] = False
    several = 0
    for j in range(n):
        first = offsets[j]
        if labels[j] >= 0:
            tight[first + labels[j]] = True
            continue
        for a in range(sizes[j]):
            if state[first + a] >= state[node.best_of + j] - tie:
                tight[first + a] = True
                if a != argmax[j]:
                    several += 1
    changed = True
    while changed and several > 0:
        changed = False
        for j in range(n):
            if labels[j] >= 0:
                continue
            for a in range(sizes[j]):
                if a == argmax[j] or not tight[offsets[j] + a]:
                    continue
                for p in range(tables.place_ptr[j], tables.place_ptr[j + 1]):
                    k = tables.places[p]
                    b = tables.place_table[k]
                    if node.free[b] < 2:
                        continue
                    supported = False
                    for e in range(tables.ptr[b], tables.ptr[b + 1]):
                        if theta[e] < state[node.table_best + b] - tie:
                            continue
                        if ((e - tables.ptr[b]) // tables.strides[k]) % sizes[j] != a:
                            continue
                        fits = True
                        for q in range(tables.scope_ptr[b], tables.scope_ptr[b + 1]):
                            w = tables.scope[q]
                            at = ((e - tables.ptr[b]) // tables.strides[q]) % sizes[w]
                            if not tight[offsets[w] + at]:
                                fits = False
                                break
                        if fits:
                            supported = True
                            break
                    if not supported:
                        tight[offsets[j] + a] = False
                        several -= 1
                        changed = True
                        break
    return several == 0
