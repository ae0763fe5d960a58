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

import cython
import numpy as np

from rote.types import FloatArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import FoundBy, Graph, Questions, Reduced, RowGroups, fit_duals
    from rote.kernels.constants import FAR
    from rote.kernels.dp.elimination import Eliminated, backward, forward, total
    from rote.kernels.inlined import weight_at
    from rote.kernels.outputs import read_scores


class Ascent(Bundle):
    """Where dual ascent on one input stands: room, all duals at zero."""

    def __init__(self, graph: Graph) -> None:
        groups = graph.sizes.shape[0] + graph.tables.ptr.shape[0] - 1
        self.theta = floats(
            graph.tables.ptr[graph.tables.ptr.shape[0] - 1]
        )  # reparametrised scores
        self.messages = floats(graph.flow.message_ptr[graph.flow.message_ptr.shape[0] - 1])
        self.multipliers = floats(graph.rows.lower.shape[0])  # per row
        self.marginals = floats(graph.flow.max_marginals)  # room for one visit of a variable
        self.tops = floats(groups)  # room: the best score per variable, then per table
        fill(self.messages, 0.0)
        fill(self.multipliers, 0.0)


def begin(
    questions: Questions, i: Int, reduced: Reduced, memory: Eliminated, theta: OutFloats
) -> float:
    """Eliminate, and load the scores of what is left; what is worth the same in every output."""
    read_scores(questions, i, memory.work)
    forward(memory.work, memory.best, reduced.steps)
    load(memory.work, reduced.graph.source, theta)
    return total(memory.work, reduced.steps)


def complete(reduced: Reduced, memory: Eliminated, found: Ints, labels: OutInts) -> float:
    """The labels of all variables, given those of what was left; returns their margin."""
    for j in range(found.shape[0]):
        if reduced.core[j] < reduced.variables:
            labels[reduced.core[j]] = found[j]
    return backward(labels, memory.work, memory.best, reduced.steps)


def load(scores: Floats, source: FoundBy, theta: OutFloats) -> None:
    """Scores of every entry from the vector they are gathered from; what is not allowed is -inf."""
    for e in range(theta.shape[0]):
        value = 0.0
        if source.allowed[e]:
            for g in range(source.ptr[e], source.ptr[e + 1]):
                value += scores[source.gather[g]]
        else:
            value = -inf
        theta[e] = value


def shift(
    theta: OutFloats, at: Int, stop: Int, inner: Int, amounts: Floats, first: Int, size: Int
) -> None:
    """Subtract amount(a) from every entry of a table whose label at one place is a.

    Along the table, labels of the place take turns every ``inner`` entries. The amounts of its
    ``size`` labels begin at ``first``.
    """
    while at < stop:
        for a in range(first, first + size):
            amount = amounts[a]
            if amount == -inf:
                for e in range(at, at + inner):
                    theta[e] = -inf
            else:
                for e in range(at, at + inner):
                    theta[e] -= amount
            at += inner


def marginalise(
    theta: Floats, at: Int, stop: Int, inner: Int, marginals: OutFloats, first: Int, size: Int
) -> None:
    """marginal(a): the best entry of a table whose label at one place is a; from ``first`` on."""
    for a in range(first, first + size):
        marginals[a] = -inf
    while at < stop:
        for a in range(first, first + size):
            top = marginals[a]
            for e in range(at, at + inner):
                if theta[e] > top:
                    top = theta[e]
            marginals[a] = top
            at += inner


def apply_duals(graph: Graph, ascent: Ascent) -> None:
    """Reparametrise plain scores by given messages and multipliers."""
    theta: OutFloats = ascent.theta
    messages: Floats = ascent.messages
    multipliers: Floats = ascent.multipliers
    for k in range(graph.tables.scope.shape[0]):
        j, b = graph.tables.scope[k], graph.tables.place_table[k]
        size, sent = graph.sizes[j], graph.flow.message_ptr[k]
        for a in range(size):
            theta[graph.offsets[j] + a] += messages[sent + a]
        at, stop, inner = graph.tables.ptr[b], graph.tables.ptr[b + 1], graph.tables.strides[k]
        shift(theta, at, stop, inner, messages, sent, size)
    for r in range(graph.rows.lower.shape[0]):
        if multipliers[r] != 0.0:
            for g in range(graph.rows.ptr[r], graph.rows.ptr[r + 1]):
                for c in range(graph.rows.start[g], graph.rows.start[g + 1]):
                    theta[graph.rows.column[c]] -= multipliers[r] * graph.rows.coefficient[c]


def along_row(
    offsets: Ints, rows: RowGroups, theta: Floats, r: Int, was: float, u: float
) -> tuple[float, float]:
    """The part of the bound that multiplier u of row r touches, and its derivative to the left.

    theta is as multiplier ``was`` left it.
    """
    part = u * rows.upper[r] if u > 0 else u * rows.lower[r] if u < 0 else 0.0
    slope: float = rows.upper[r] if u > 0 or rows.lower[r] == -inf else rows.lower[r]
    for g in range(rows.ptr[r], rows.ptr[r + 1]):
        j, at = rows.variable[g], rows.start[g]
        top, weight = -inf, 0.0
        for e in range(offsets[j], offsets[j + 1]):
            coefficient, at = weight_at(rows, g, at, e)
            value = theta[e] - (u - was) * coefficient
            # Of equal labels take the one with the larger coefficient: the slope to the left.
            if value > top or (value == top and coefficient > weight):
                top, weight = value, coefficient
        part += top
        slope -= weight
    return part, slope


def visit_row(
    offsets: Ints, rows: RowGroups, theta: OutFloats, multipliers: OutFloats, r: Int
) -> None:
    """Move row r's multiplier to where the bound is least along it.

    The bound is convex along it, so a bracket is widened until the slope changes its sign,
    and halved from there. Where it never does, no output obeys the row as things stand.
    """
    was: float = multipliers[r]
    low = 0.0 if rows.lower[r] == -inf else -inf
    high = 0.0 if rows.upper[r] == inf else inf
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


def sweep(graph: Graph, ascent: Ascent, settling: Bool) -> None:
    """Once forwards and once backwards through the variables, then through the rows.

    When ``settling``, only forwards, and nothing is handed on: labels keep what the tables
    can spare, so that they tell good from bad. Before rows are visited, one more turn
    leaves an equal part at every variable: a row can only weigh what it finds at labels.
    """
    theta: OutFloats = ascent.theta
    messages: OutFloats = ascent.messages
    multipliers: OutFloats = ascent.multipliers
    marginals: OutFloats = ascent.marginals
    n = graph.sizes.shape[0]
    table_ptr: Ints = graph.tables.ptr
    message_ptr: Ints = graph.flow.message_ptr
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
                own, sent, inner = (p - begin) * size, message_ptr[k], graph.tables.strides[k]
                marginalise(theta, table_ptr[b], table_ptr[b + 1], inner, marginals, own, size)
                for a in range(size):
                    marginal = marginals[own + a]
                    if marginal == -inf and theta[first + a] > -inf:
                        # No entry supports this label. The messages must say so for good:
                        # far below at the label, and, below, far below in other tables.
                        messages[sent + a] -= FAR * (end - begin + 1)
                    theta[first + a] += marginal
            share: float = 0.0 if settling else graph.flow.share[j]
            if turn == 2:  # every variable keeps an equal part of what passes through it
                share *= (n - 1.0 - step) / (n - step)
            given = 0
            for p in range(begin, end):
                k = graph.tables.places[p]
                b = graph.tables.place_table[k]
                reaches: Bool = graph.flow.down[k] if turn == 1 else graph.flow.up[k]
                own, sent, inner = (p - begin) * size, message_ptr[k], graph.tables.strides[k]
                if reaches:
                    given += 1
                for a in range(size):
                    score = theta[first + a]
                    if score == -inf:
                        if marginals[own + a] > -inf:
                            messages[sent + a] += FAR
                        marginals[own + a] = -inf
                        continue
                    if reaches:
                        marginals[own + a] -= share * score
                    messages[sent + a] += marginals[own + a]
                shift(theta, table_ptr[b], table_ptr[b + 1], inner, marginals, own, size)
            kept = 1.0 - share * given
            for a in range(size):
                if theta[first + a] != -inf:
                    theta[first + a] *= kept
        if turn == 2:
            for r in range(rows):
                visit_row(graph.offsets, graph.rows, theta, multipliers, r)


def row_constant(rows: RowGroups, multipliers: Floats) -> float:
    """What the rows' right-hand sides add to the bound."""
    total = 0.0
    for r in range(rows.lower.shape[0]):
        u = multipliers[r]
        if u > 0:
            total += u * rows.upper[r]
        elif u < 0:
            total += u * rows.lower[r]
    return total


def entries_of(graph: Graph, group: Int) -> tuple[int, int]:
    """Where the labels of a variable, or behind those the entries of a table, begin and end."""
    n = graph.sizes.shape[0]
    if group < n:
        return graph.offsets[group], graph.offsets[group + 1]
    return graph.tables.ptr[group - n], graph.tables.ptr[group - n + 1]


def find_tops(graph: Graph, theta: Floats, constant: float, tops: OutFloats) -> float:
    """The best label of every variable and entry of every table; their sum, after a constant."""
    for k in range(tops.shape[0]):
        top = -inf
        begin, end = entries_of(graph, k)
        for e in range(begin, end):
            if theta[e] > top:
                top = theta[e]
        tops[k] = top
        constant += top
    return constant


def bound_of(graph: Graph, ascent: Ascent) -> float:
    """The bound that reparametrised scores and multipliers give."""
    constant = row_constant(graph.rows, ascent.multipliers)
    return find_tops(graph, ascent.theta, constant, ascent.tops)


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
                ascent.theta[e] = -inf


def ascend(
    questions: Questions,
    graph: Graph,
    messages: OutFloats2,
    multipliers: OutFloats2,
    sweeps: Int,
) -> FloatArray:
    """Improve one row of duals per input, in place, by so many sweeps; returns the bounds."""
    questions.fit(graph.source.reach, 0)
    m, count = questions.scores.shape[0], graph.rows.lower.shape[0]
    fit_duals(messages, multipliers, graph, m, count)
    source, ascent, bounds = floats(questions.scores.shape[1]), Ascent(graph), floats(m)
    with cython.nogil:
        for i in range(m):
            read_scores(questions, i, source)
            load(source, graph.source, ascent.theta)
            copy_into(ascent.messages, messages[i])
            copy_into(ascent.multipliers, multipliers[i])
            apply_duals(graph, ascent)
            for _ in range(sweeps):
                sweep(graph, ascent, False)
            bounds[i] = bound_of(graph, ascent)
            copy_into(messages[i], ascent.messages)
            copy_into(multipliers[i], ascent.multipliers)
    return np.asarray(bounds)
