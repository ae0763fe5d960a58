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

from typing import NamedTuple

import numpy as np

from rote.kernels.bundles import FoundBy, Graph, Questions, Reduced, RowGroups
from rote.kernels.dp.elimination import backward, forward, total
from rote.kernels.jit import inlined, kernel, lean
from rote.kernels.outputs import read_scores, weight_at
from rote.types import FloatArray, IntArray

FAR = 1e9  # stands for infinity in messages


class Ascent(NamedTuple):
    """Where dual ascent on one input stands."""

    theta: FloatArray  # per entry: its reparametrised score
    messages: FloatArray
    multipliers: FloatArray  # per row
    marginals: FloatArray  # room for one visit of a variable
    tops: FloatArray  # room: the best score per variable, then per table


class Eliminated(NamedTuple):
    """Working memory of an elimination; see `rote.kernels.dp.elimination`."""

    work: FloatArray
    best: IntArray


@kernel
def new_ascent(graph: Graph) -> Ascent:
    """Room for an input, all duals at zero."""
    groups = graph.sizes.shape[0] + graph.tables.ptr.shape[0] - 1
    return Ascent(
        np.empty(graph.tables.ptr[-1]),
        np.zeros(graph.flow.message_ptr[-1]),
        np.zeros(graph.rows.lower.shape[0]),
        np.empty(graph.flow.max_marginals),
        np.empty(groups),
    )


@kernel
def new_memory(parts: int, reduced: Reduced) -> Eliminated:
    """Room for what a plan eliminates."""
    entries = reduced.steps.entry_ptr[-1]
    return Eliminated(np.empty(parts + entries), np.empty(entries, np.int64))


@lean
def begin(
    questions: Questions, i: int, reduced: Reduced, memory: Eliminated, theta: FloatArray
) -> float:
    """Eliminate, and load the scores of what is left; what is worth the same in every output."""
    read_scores(questions, i, memory.work)
    forward(memory.work, memory.best, reduced.steps)
    load(memory.work, reduced.graph.source, theta)
    return total(memory.work, reduced.steps)


@lean
def complete(reduced: Reduced, memory: Eliminated, found: IntArray, labels: IntArray) -> float:
    """The labels of all variables, given those of what was left; returns their margin."""
    for j in range(found.shape[0]):
        if reduced.core[j] < reduced.variables:
            labels[reduced.core[j]] = found[j]
    return backward(labels, memory.work, memory.best, reduced.steps)


@lean
def load(scores: FloatArray, source: FoundBy, theta: FloatArray) -> None:
    """Scores of every entry from the vector they are gathered from; what is not allowed is -inf."""
    for e in range(theta.shape[0]):
        value = 0.0
        if source.allowed[e]:
            for g in range(source.ptr[e], source.ptr[e + 1]):
                value += scores[source.gather[g]]
        else:
            value = -np.inf
        theta[e] = value


@lean
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


@lean
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


@lean
def apply_duals(graph: Graph, ascent: Ascent) -> None:
    """Reparametrise plain scores by given messages and multipliers."""
    theta, messages, multipliers, _, _ = ascent
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


@lean
def along_row(
    offsets: IntArray, rows: RowGroups, theta: FloatArray, r: int, was: float, u: float
) -> tuple[float, float]:
    """The part of the bound that multiplier u of row r touches, and its derivative to the left.

    theta is as multiplier ``was`` left it.
    """
    part = u * rows.upper[r] if u > 0 else u * rows.lower[r] if u < 0 else 0.0
    slope = float(rows.upper[r] if u > 0 or rows.lower[r] == -np.inf else rows.lower[r])
    for g in range(rows.ptr[r], rows.ptr[r + 1]):
        j, at = rows.variable[g], rows.start[g]
        top, weight = -np.inf, 0.0
        for e in range(offsets[j], offsets[j + 1]):
            coefficient, at = weight_at(rows, g, at, e)
            value = theta[e] - (u - was) * coefficient
            # Of equal labels take the one with the larger coefficient: the slope to the left.
            if value > top or (value == top and coefficient > weight):
                top, weight = value, coefficient
        part += top
        slope -= weight
    return part, slope


@lean
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
    while right < high and width < FAR and along_row(offsets, rows, theta, r, was, right)[1] < 0:
        left, right = right, min(right + width, high)
        width *= 4.0
    while left > low and width < FAR and along_row(offsets, rows, theta, r, was, left)[1] > 0:
        left, right = max(left - width, low), left
        width *= 4.0
    for _ in range(60):
        middle = 0.5 * (left + right)
        if middle <= left or middle >= right:
            break
        if along_row(offsets, rows, theta, r, was, middle)[1] <= 0:
            left = middle
        else:
            right = middle
    best = 0.5 * (left + right)
    if abs(best) < 1e-12:
        best = 0.0
    before = along_row(offsets, rows, theta, r, was, was)[0]
    if width >= FAR or along_row(offsets, rows, theta, r, was, best)[0] > before:
        return
    for g in range(rows.ptr[r], rows.ptr[r + 1]):
        for c in range(rows.start[g], rows.start[g + 1]):
            theta[rows.column[c]] -= (best - was) * rows.coefficient[c]
    multipliers[r] = best


@lean
def sweep(graph: Graph, ascent: Ascent, settling: bool) -> None:
    """Once forwards and once backwards through the variables, then through the rows.

    When ``settling``, only forwards, and nothing is handed on: labels keep what the tables
    can spare, so that they tell good from bad. Before rows are visited, one more turn
    leaves an equal part at every variable: a row can only weigh what it finds at labels.
    """
    theta, messages, multipliers, marginals, _ = ascent
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


@lean
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


@inlined
def entries_of(graph: Graph, group: int) -> tuple[int, int]:
    """Where the labels of a variable, or behind those the entries of a table, begin and end."""
    n = graph.sizes.shape[0]
    if group < n:
        return graph.offsets[group], graph.offsets[group + 1]
    return graph.tables.ptr[group - n], graph.tables.ptr[group - n + 1]


@lean
def find_tops(graph: Graph, theta: FloatArray, constant: float, tops: FloatArray) -> float:
    """The best label of every variable and entry of every table; their sum, after a constant."""
    for k in range(tops.shape[0]):
        top = -np.inf
        begin, end = entries_of(graph, k)
        for e in range(begin, end):
            if theta[e] > top:
                top = theta[e]
        tops[k] = top
        constant += top
    return constant


@lean
def bound_of(graph: Graph, ascent: Ascent) -> float:
    """The bound that reparametrised scores and multipliers give."""
    constant = row_constant(graph.rows, ascent.multipliers)
    return find_tops(graph, ascent.theta, constant, ascent.tops)


@lean
def close_below(graph: Graph, ascent: Ascent, floor: float) -> None:
    """Close labels and table entries that are in no output worth more than ``floor``.

    An output with an entry that is d below the best of its variable or table is worth at
    most the bound less d.
    """
    room = bound_of(graph, ascent) - floor
    for k in range(ascent.tops.shape[0]):
        begin, end = entries_of(graph, k)
        for e in range(begin, end):
            if ascent.tops[k] - ascent.theta[e] >= room:
                ascent.theta[e] = -np.inf


@kernel
def ascend(
    questions: Questions,
    graph: Graph,
    messages: FloatArray,
    multipliers: FloatArray,
    sweeps: int,
) -> FloatArray:
    """Improve one row of duals per input, in place, by so many sweeps; returns the bounds."""
    m, parts = questions.scores.shape
    source, room, bounds = np.empty(parts), new_ascent(graph), np.empty(m)
    for i in range(m):
        read_scores(questions, i, source)
        load(source, graph.source, room.theta)
        ascent = Ascent(room.theta, messages[i], multipliers[i], room.marginals, room.tops)
        apply_duals(graph, ascent)
        for _ in range(sweeps):
            sweep(graph, ascent, False)
        bounds[i] = bound_of(graph, ascent)
    return bounds
