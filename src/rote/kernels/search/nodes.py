"""What happens at one node of branch and bound: labels given and taken back, bounds kept.

Numbers that change live in one vector ``state``: labels' scores, then per variable
its best, per table its best, per row the least and the most it can still add up to,
and last the bound

    Σ_j max_a θ_j(a) + Σ_f max_t θ_f(t) + u·rhs

over what is still open. Every change is written to a trail, and undone from it.
"""

from __future__ import annotations

import numpy as np

from rote.kernels.bundles import Graph, RowGroups, Tables
from rote.kernels.jit import kernel
from rote.types import FloatArray, IntArray


@kernel
def assign(
    sizes: IntArray,
    offsets: IntArray,
    tables: Tables,
    rows: RowGroups,
    theta: FloatArray,
    state: FloatArray,
    free: IntArray,
    labels: IntArray,
    v: int,
    label: int,
    trail_at: IntArray,
    trail_was: FloatArray,
    top: int,
) -> int:
    """Give variable v a label. Returns the new top of the trail, negative at a dead end.

    A dead end is reported as -1 - top, so that what was done can be undone.
    """
    n = sizes.shape[0]
    blocks = tables.ptr.shape[0] - 1
    count = rows.lower.shape[0]
    best_of = offsets[n]
    table_best = best_of + n
    row_least = table_best + blocks
    row_most = row_least + count
    whole = row_most + count
    trail_at[top] = whole
    trail_was[top] = state[whole]
    top += 1
    bound = state[whole] - state[best_of + v] + state[offsets[v] + label]
    labels[v] = label
    dead = False
    for p in range(tables.place_ptr[v], tables.place_ptr[v + 1]):
        b = tables.place_table[tables.places[p]]
        free[b] -= 1
        if dead or free[b] == 0:
            continue
        base = tables.ptr[b]
        if free[b] == 1:
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
            for a in range(sizes[w]):
                e = offsets[w] + a
                trail_at[top] = e
                trail_was[top] = state[e]
                top += 1
                state[e] += theta[base + a * step]
                if state[e] > best:
                    best = state[e]
            trail_at[top] = best_of + w
            trail_was[top] = state[best_of + w]
            top += 1
            trail_at[top] = table_best + b
            trail_was[top] = state[table_best + b]
            top += 1
            bound += best - state[best_of + w] - state[table_best + b]
            state[best_of + w] = best
            state[table_best + b] = 0.0
            if best == -np.inf:
                dead = True
        else:
            best = best_entry(sizes, offsets, tables, theta, state, labels, b)
            trail_at[top] = table_best + b
            trail_was[top] = state[table_best + b]
            top += 1
            bound += best - state[table_best + b]
            state[table_best + b] = best
            if best == -np.inf:
                dead = True
    if not dead:
        for q in range(rows.of_ptr[v], rows.of_ptr[v + 1]):
            g = rows.of[q]
            r = rows.row[g]
            weight = 0.0
            for c in range(rows.start[g], rows.start[g + 1]):
                if rows.column[c] == offsets[v] + label:
                    weight = rows.coefficient[c]
            trail_at[top] = row_least + r
            trail_was[top] = state[row_least + r]
            top += 1
            trail_at[top] = row_most + r
            trail_was[top] = state[row_most + r]
            top += 1
            state[row_least + r] += weight - rows.least[g]
            state[row_most + r] += weight - rows.most[g]
            least, most = state[row_least + r], state[row_most + r]
            if least > rows.upper[r] or most < rows.lower[r]:
                dead = True
                break
            if least >= rows.lower[r] and most <= rows.upper[r]:
                continue
            # Close the labels of other variables that would break the row by themselves.
            for o in range(rows.ptr[r], rows.ptr[r + 1]):
                w = rows.variable[o]
                if labels[w] >= 0:
                    continue
                at = rows.start[o]
                stop = rows.start[o + 1]
                best = -np.inf
                changed = False
                for a in range(sizes[w]):
                    e = offsets[w] + a
                    weight = 0.0
                    if at < stop and rows.column[at] == e:
                        weight = rows.coefficient[at]
                        at += 1
                    if state[e] == -np.inf:
                        continue
                    breaks = (
                        least - rows.least[o] + weight > rows.upper[r]
                        or most - rows.most[o] + weight < rows.lower[r]
                    )
                    if breaks:
                        trail_at[top] = e
                        trail_was[top] = state[e]
                        top += 1
                        state[e] = -np.inf
                        changed = True
                    elif state[e] > best:
                        best = state[e]
                if changed:
                    trail_at[top] = best_of + w
                    trail_was[top] = state[best_of + w]
                    top += 1
                    bound += best - state[best_of + w]
                    state[best_of + w] = best
                    if best == -np.inf:
                        dead = True
                        break
            if dead:
                break
    state[whole] = bound
    return -1 - top if dead else top


@kernel
def best_entry(
    sizes: IntArray,
    offsets: IntArray,
    tables: Tables,
    theta: FloatArray,
    state: FloatArray,
    labels: IntArray,
    b: int,
) -> float:
    """The best entry of table b that fits the labels given and the labels still open."""
    best = -np.inf
    begin, end = tables.scope_ptr[b], tables.scope_ptr[b + 1]
    for e in range(tables.ptr[b], tables.ptr[b + 1]):
        if theta[e] <= best:
            continue
        fits = True
        for k in range(begin, end):
            j = tables.scope[k]
            a = ((e - tables.ptr[b]) // tables.strides[k]) % sizes[j]
            if labels[j] >= 0:
                if labels[j] != a:
                    fits = False
                    break
            elif state[offsets[j] + a] == -np.inf:
                fits = False
                break
        if fits:
            best = theta[e]
    return best


@kernel
def undo(
    tables: Tables,
    state: FloatArray,
    free: IntArray,
    labels: IntArray,
    stack: IntArray,
    height: int,
    low: int,
    trail_at: IntArray,
    trail_was: FloatArray,
    top: int,
    mark: int,
) -> None:
    """Take back the trail down to ``mark`` and the labelled variables down to ``low``."""
    while top > mark:
        top -= 1
        state[trail_at[top]] = trail_was[top]
    while height > low:
        height -= 1
        v = stack[height]
        labels[v] = -1
        for p in range(tables.place_ptr[v], tables.place_ptr[v + 1]):
            free[tables.place_table[tables.places[p]]] += 1


@kernel
def start(graph: Graph, theta: FloatArray, constant: float, state: FloatArray) -> bool:
    """Fill the state of the root; false when some row cannot be met."""
    n = graph.sizes.shape[0]
    blocks = graph.tables.ptr.shape[0] - 1
    rows = graph.rows.lower.shape[0]
    best_of = graph.offsets[n]
    table_best = best_of + n
    row_least = table_best + blocks
    row_most = row_least + rows
    bound = constant
    for j in range(n):
        best = -np.inf
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            state[e] = theta[e]
            best = max(best, theta[e])
        state[best_of + j] = best
        bound += best
    for b in range(blocks):
        best = -np.inf
        for e in range(graph.tables.ptr[b], graph.tables.ptr[b + 1]):
            best = max(best, theta[e])
        state[table_best + b] = best
        bound += best
    feasible = bound > -np.inf
    for r in range(rows):
        least = 0.0
        most = 0.0
        for g in range(graph.rows.ptr[r], graph.rows.ptr[r + 1]):
            least += graph.rows.least[g]
            most += graph.rows.most[g]
        state[row_least + r] = least
        state[row_most + r] = most
        if least > graph.rows.upper[r] or most < graph.rows.lower[r]:
            feasible = False
    state[row_most + rows] = bound
    return feasible


@kernel
def row_loss(
    offsets: IntArray, rows: RowGroups, multipliers: FloatArray, labels: IntArray
) -> float:
    """What a labelling loses to multipliers of rows that it meets with room to spare.

    Σ_r u_r⁺ (upper_r - (Az)_r) + u_r⁻ ((Az)_r - lower_r), or inf when a row breaks.
    """
    lost = 0.0
    for r in range(rows.lower.shape[0]):
        activity = 0.0
        for g in range(rows.ptr[r], rows.ptr[r + 1]):
            j = rows.variable[g]
            for c in range(rows.start[g], rows.start[g + 1]):
                if rows.column[c] == offsets[j] + labels[j]:
                    activity += rows.coefficient[c]
        if activity > rows.upper[r] or activity < rows.lower[r]:
            return np.inf
        if multipliers[r] > 0:
            lost += multipliers[r] * (rows.upper[r] - activity)
        elif multipliers[r] < 0:
            lost += multipliers[r] * (rows.lower[r] - activity)
    return lost


@kernel
def loss(
    graph: Graph,
    theta: FloatArray,
    multipliers: FloatArray,
    state: FloatArray,
    free: IntArray,
    argmax: IntArray,
    slack: float,
) -> float:
    """What the best labels together lose against the bound; inf when more than ``slack``."""
    n = graph.sizes.shape[0]
    table_best = graph.offsets[n] + n
    lost = 0.0
    for b in range(graph.tables.ptr.shape[0] - 1):
        if free[b] > 1:
            e = graph.tables.ptr[b]
            for k in range(graph.tables.scope_ptr[b], graph.tables.scope_ptr[b + 1]):
                e += graph.tables.strides[k] * argmax[graph.tables.scope[k]]
            lost += state[table_best + b] - theta[e]
            if lost > slack:
                return np.inf
    if graph.rows.lower.shape[0] > 0:
        lost += row_loss(graph.offsets, graph.rows, multipliers, argmax)
    return lost if lost <= slack else np.inf


@kernel
def alone(
    sizes: IntArray,
    offsets: IntArray,
    tables: Tables,
    theta: FloatArray,
    state: FloatArray,
    free: IntArray,
    labels: IntArray,
    argmax: IntArray,
    tie: float,
) -> bool:
    """Whether no other output at this node can be within a tie of the bound.

    Such an output uses only labels and table entries within a tie of the best. Labels
    that some table cannot extend with these are struck out until nothing changes; if
    one label is left everywhere, the answer is the only one.
    """
    n = sizes.shape[0]
    best_of = offsets[n]
    table_best = best_of + n
    tight = np.zeros(best_of, np.bool_)
    several = 0
    for j in range(n):
        first = offsets[j]
        if labels[j] >= 0:
            tight[first + labels[j]] = True
            continue
        for a in range(sizes[j]):
            if state[first + a] >= state[best_of + j] - tie:
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
                    if free[b] < 2:
                        continue
                    supported = False
                    for e in range(tables.ptr[b], tables.ptr[b + 1]):
                        if theta[e] < state[table_best + b] - tie:
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
