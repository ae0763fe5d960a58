"""Block-coordinate ascent on the dual of a network.

``theta`` holds reparametrised scores of all entries: labels, then tables. Moving
an amount m(a) from table f to label a of its variable (λ_fj(a) += m(a)) changes no
output's value but may lower the bound Σ_j max θ_j + Σ_f max θ_f + u·rhs. A step at
variable j first collects, from every table f, the max-marginal
m_f(a) = max_{t: t_j = a} θ_f(t), and then hands its labels' scores on to the tables
that reach further in the sweep's direction, in equal shares. Sweeping to and fro is
the sequential scheme of tree-reweighted message passing, for tables of any arity.
A step at a row minimises the bound along its own multiplier, exactly.
The bound never rises.
"""

from __future__ import annotations

import numpy as np

from rote.kernels.bundles import Graph, RowGroups, Source
from rote.kernels.jit import kernel
from rote.kernels.outputs import read_scores
from rote.types import BoolArray, FloatArray, IntArray

FAR = 1e9  # stands for infinity in messages


@kernel
def load(scores: FloatArray, source: Source, theta: FloatArray) -> None:
    """Scores of every entry from the vector they are gathered from; what is not allowed is -inf."""
    for e in range(theta.shape[0]):
        value = 0.0
        if source.allowed[e]:
            for g in range(source.ptr[e], source.ptr[e + 1]):
                value += scores[source.gather[g]]
        else:
            value = -np.inf
        theta[e] = value


@kernel
def shift(theta: FloatArray, at: int, stop: int, inner: int, amount: FloatArray) -> None:
    """Subtract amount(a) from every entry of a table whose label at one place is a.

    Along the table, labels of the place take turns every ``inner`` entries.
    """
    while at < stop:
        for a in range(amount.shape[0]):
            if amount[a] == -np.inf:
                theta[at : at + inner] = -np.inf
            else:
                for e in range(at, at + inner):
                    theta[e] -= amount[a]
            at += inner


@kernel
def marginalise(theta: FloatArray, at: int, stop: int, inner: int, marginal: FloatArray) -> None:
    """marginal(a): the best entry of a table whose label at one place is a."""
    marginal[:] = -np.inf
    while at < stop:
        for a in range(marginal.shape[0]):
            top = marginal[a]
            for e in range(at, at + inner):
                if theta[e] > top:
                    top = theta[e]
            marginal[a] = top
            at += inner


@kernel
def apply_duals(
    graph: Graph, theta: FloatArray, messages: FloatArray, multipliers: FloatArray
) -> None:
    """Reparametrise plain scores by given messages and multipliers."""
    for k in range(graph.tables.scope.shape[0]):
        j, b = graph.tables.scope[k], graph.tables.place_table[k]
        sent = messages[graph.flow.message_ptr[k] : graph.flow.message_ptr[k + 1]]
        for a in range(graph.sizes[j]):
            theta[graph.offsets[j] + a] += sent[a]
        shift(theta, graph.tables.ptr[b], graph.tables.ptr[b + 1], graph.tables.strides[k], sent)
    for r in range(graph.rows.lower.shape[0]):
        if multipliers[r] != 0.0:
            for g in range(graph.rows.ptr[r], graph.rows.ptr[r + 1]):
                for c in range(graph.rows.start[g], graph.rows.start[g + 1]):
                    theta[graph.rows.column[c]] -= multipliers[r] * graph.rows.coefficient[c]


@kernel
def slope(
    offsets: IntArray, rows: RowGroups, theta: FloatArray, r: int, was: float, u: float
) -> float:
    """Derivative of the bound at multiplier u of row r; theta is as ``was`` left it."""
    total = float(rows.upper[r] if u > 0 or rows.lower[r] == -np.inf else rows.lower[r])
    for g in range(rows.ptr[r], rows.ptr[r + 1]):
        j = rows.variable[g]
        at = rows.start[g]
        stop = rows.start[g + 1]
        top = -np.inf
        weight = 0.0
        for e in range(offsets[j], offsets[j + 1]):
            coefficient = 0.0
            if at < stop and rows.column[at] == e:
                coefficient = rows.coefficient[at]
                at += 1
            value = theta[e] - (u - was) * coefficient
            # Of equal labels take the one with the larger coefficient: the slope to the left.
            if value > top or (value == top and coefficient > weight):
                top = value
                weight = coefficient
        total -= weight
    return total


@kernel
def visit_row(
    offsets: IntArray, rows: RowGroups, theta: FloatArray, multipliers: FloatArray, r: int
) -> None:
    """Move row r's multiplier to where the bound is least along it.

    The bound is convex along it, so a bracket is widened until the slope changes its sign,
    and halved from there. Where it never does, no output obeys the row as things stand.
    """
    was = float(multipliers[r])
    low = 0.0 if rows.lower[r] == -np.inf else -np.inf
    high = 0.0 if rows.upper[r] == np.inf else np.inf
    left, right, width = was, was, 1.0
    while right < high and width < FAR and slope(offsets, rows, theta, r, was, right) < 0:
        left, right = right, min(right + width, high)
        width *= 4.0
    while left > low and width < FAR and slope(offsets, rows, theta, r, was, left) > 0:
        left, right = max(left - width, low), left
        width *= 4.0
    for _ in range(60):
        middle = 0.5 * (left + right)
        if middle <= left or middle >= right:
            break
        if slope(offsets, rows, theta, r, was, middle) <= 0:
            left = middle
        else:
            right = middle
    best = 0.5 * (left + right)
    if abs(best) < 1e-12:
        best = 0.0
    before = row_part(offsets, rows, theta, r, 0.0, was)
    if width >= FAR or row_part(offsets, rows, theta, r, best - was, best) > before:
        return
    for g in range(rows.ptr[r], rows.ptr[r + 1]):
        for c in range(rows.start[g], rows.start[g + 1]):
            theta[rows.column[c]] -= (best - was) * rows.coefficient[c]
    multipliers[r] = best


@kernel
def row_part(
    offsets: IntArray, rows: RowGroups, theta: FloatArray, r: int, step: float, u: float
) -> float:
    """The part of the bound that row r's multiplier u touches."""
    total = 0.0
    if u > 0:
        total = u * rows.upper[r]
    elif u < 0:
        total = u * rows.lower[r]
    for g in range(rows.ptr[r], rows.ptr[r + 1]):
        j = rows.variable[g]
        at = rows.start[g]
        stop = rows.start[g + 1]
        top = -np.inf
        for e in range(offsets[j], offsets[j + 1]):
            value = theta[e]
            if at < stop and rows.column[at] == e:
                value -= step * rows.coefficient[at]
                at += 1
            top = max(top, value)
        total += top
    return total


@kernel
def sweep(
    graph: Graph,
    theta: FloatArray,
    messages: FloatArray,
    multipliers: FloatArray,
    marginals: FloatArray,
    settling: bool,
) -> None:
    """Once forwards and once backwards through the variables, then through the rows.

    When ``settling``, only forwards, and nothing is handed on: labels keep what the tables
    can spare, so that they tell good from bad. Before rows are visited, one more turn
    leaves an equal part at every variable: a row can only weigh what it finds at labels.
    """
    n = graph.sizes.shape[0]
    table_ptr = graph.tables.ptr
    rows = graph.rows.lower.shape[0]
    turns = 2
    if settling:
        turns = 1
    elif rows > 0:
        turns = 3
    for turn in range(turns):
        for step in range(n):
            j = n - 1 - step if turn == 1 else step
            size, first = graph.sizes[j], graph.offsets[j]
            begin, end = graph.tables.place_ptr[j], graph.tables.place_ptr[j + 1]
            for p in range(begin, end):
                k = graph.tables.places[p]
                b = graph.tables.place_table[k]
                marginal = marginals[(p - begin) * size : (p - begin + 1) * size]
                inner = graph.tables.strides[k]
                marginalise(theta, table_ptr[b], table_ptr[b + 1], inner, marginal)
                for a in range(size):
                    if marginal[a] == -np.inf and theta[first + a] > -np.inf:
                        # No entry supports this label. The messages must say so for good:
                        # far below at the label, and, below, far below in other tables.
                        messages[graph.flow.message_ptr[k] + a] -= FAR * (end - begin + 1)
                    theta[first + a] += marginal[a]
            share = 0.0 if settling else graph.flow.share[j]
            if turn == 2:  # every variable keeps an equal part of what passes through it
                share *= (n - 1.0 - step) / (n - step)
            given = 0
            for p in range(begin, end):
                k = graph.tables.places[p]
                b = graph.tables.place_table[k]
                reaches = graph.flow.down[k] if turn == 1 else graph.flow.up[k]
                marginal = marginals[(p - begin) * size : (p - begin + 1) * size]
                if reaches:
                    given += 1
                for a in range(size):
                    own = theta[first + a]
                    if own == -np.inf:
                        if marginal[a] > -np.inf:
                            messages[graph.flow.message_ptr[k] + a] += FAR
                        marginal[a] = -np.inf
                        continue
                    if reaches:
                        marginal[a] -= share * own
                    messages[graph.flow.message_ptr[k] + a] += marginal[a]
                shift(theta, table_ptr[b], table_ptr[b + 1], graph.tables.strides[k], marginal)
            kept = 1.0 - share * given
            for a in range(size):
                if theta[first + a] != -np.inf:
                    theta[first + a] *= kept
        if turn == 2:
            for r in range(rows):
                visit_row(graph.offsets, graph.rows, theta, multipliers, r)


@kernel
def row_constant(rows: RowGroups, multipliers: FloatArray) -> float:
    """What the rows' right-hand sides add to the bound."""
    total = 0.0
    for r in range(rows.lower.shape[0]):
        u = multipliers[r]
        if u > 0:
            total += u * rows.upper[r]
        elif u < 0:
            total += u * rows.lower[r]
    return total


@kernel
def bound_of(graph: Graph, theta: FloatArray, multipliers: FloatArray) -> float:
    """The bound that reparametrised scores and multipliers give."""
    total = row_constant(graph.rows, multipliers)
    for j in range(graph.sizes.shape[0]):
        top = -np.inf
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            top = max(top, theta[e])
        total += top
    for b in range(graph.tables.ptr.shape[0] - 1):
        top = -np.inf
        for e in range(graph.tables.ptr[b], graph.tables.ptr[b + 1]):
            top = max(top, theta[e])
        total += top
    return total


@kernel
def close_below(graph: Graph, theta: FloatArray, multipliers: FloatArray, floor: float) -> None:
    """Close labels and table entries that are in no output worth more than ``floor``.

    An output with an entry that is d below the best of its variable or table is worth at
    most the bound less d.
    """
    room = bound_of(graph, theta, multipliers) - floor
    for j in range(graph.sizes.shape[0]):
        top = -np.inf
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            top = max(top, theta[e])
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            if top - theta[e] >= room:
                theta[e] = -np.inf
    for b in range(graph.tables.ptr.shape[0] - 1):
        top = -np.inf
        for e in range(graph.tables.ptr[b], graph.tables.ptr[b + 1]):
            top = max(top, theta[e])
        for e in range(graph.tables.ptr[b], graph.tables.ptr[b + 1]):
            if top - theta[e] >= room:
                theta[e] = -np.inf


@kernel
def ascend(
    scores: FloatArray,
    closed: BoolArray,
    graph: Graph,
    messages: FloatArray,
    multipliers: FloatArray,
    sweeps: int,
) -> FloatArray:
    """Improve one row of duals per input, in place, by so many sweeps; returns the bounds."""
    m = scores.shape[0]
    source = np.empty(scores.shape[1])
    theta = np.empty(graph.tables.ptr[-1])
    marginals = np.empty(graph.flow.most_marginals)
    bounds = np.empty(m)
    for i in range(m):
        read_scores(scores, closed, i, source)
        load(source, graph.source, theta)
        apply_duals(graph, theta, messages[i], multipliers[i])
        for _ in range(sweeps):
            sweep(graph, theta, messages[i], multipliers[i], marginals, False)
        bounds[i] = bound_of(graph, theta, multipliers[i])
    return bounds
