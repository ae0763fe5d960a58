"""The dual bound of `rote.inference.exact.duals`, one pass over labels, tables and rows.

What adding up may lose is added: the unit of rounding, times the number of additions, times what is
added up in size. So a bound is one whatever digits large duals drown.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import FloatArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import DualRows, Graph, Questions, SparseRows, fit_duals


def dual_bounds(
    questions: Questions, duals: DualRows, graph: Graph, rows: SparseRows, own: Int
) -> FloatArray:
    """g(λ, u) per input; ``own`` variables are the space's, and the others auxiliary."""
    questions.fit(graph.source.reach, 0)
    m, count = questions.scores.shape[0], rows.lower.shape[0]
    fit_duals(duals.messages, duals.multipliers, graph, m, count)
    bounds, column = floats(m), floats(2 * (rows.labels + rows.auxiliary))
    with cython.nogil:
        for i in range(m):
            bounds[i] = dual_bound(questions, i, duals, graph, rows, own, column)
    return np.asarray(bounds)


def dual_bound(
    questions: Questions,
    i: Int,
    duals: DualRows,
    graph: Graph,
    rows: SparseRows,
    own: Int,
    column: OutFloats,
) -> float:
    """The bound of one input; ``column`` is room for labels and auxiliary columns, twice.

    The second time it is for the sizes of what is added up.
    """
    bound: float = 0.0
    size: float = 0.0
    columns = rows.labels + rows.auxiliary
    fill(column, 0.0)
    for e in range(rows.labels):
        for g in range(graph.source.ptr[e], graph.source.ptr[e + 1]):
            column[e] += questions.scores[i, graph.source.gather[g]]
            column[columns + e] += abs(questions.scores[i, graph.source.gather[g]])
    for r in range(rows.lower.shape[0]):
        u: float = duals.multipliers[i, r]
        if u > 0:
            bound += u * rows.upper[r]
            size += abs(u * rows.upper[r])
        elif u < 0:
            bound += u * rows.lower[r]
            size += abs(u * rows.lower[r])
        if u != 0.0:
            for k in range(rows.ptr[r], rows.ptr[r + 1]):
                column[rows.column[k]] -= u * rows.coefficient[k]
                column[columns + rows.column[k]] += abs(u * rows.coefficient[k])
    for k in range(graph.tables.scope.shape[0]):
        first = graph.offsets[graph.tables.scope[k]]
        for a in range(graph.sizes[graph.tables.scope[k]]):
            column[first + a] += duals.messages[i, graph.flow.message_ptr[k] + a]
            column[columns + first + a] += abs(duals.messages[i, graph.flow.message_ptr[k] + a])
    for j in range(own):
        top: float = -inf
        largest: float = 0.0
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            if is_open(questions, i, graph, e):
                top = max(top, column[e])
                largest = max(largest, column[columns + e])
        bound += top
        size += largest
    for e in range(rows.auxiliary):
        bound += max(0.0, column[rows.labels + e])
        size += column[columns + rows.labels + e]
    for b in range(graph.tables.ptr.shape[0] - 1):
        top = -inf
        largest = 0.0
        for e in range(graph.tables.ptr[b], graph.tables.ptr[b + 1]):
            if not graph.source.allowed[e]:
                continue
            value: float = 0.0
            own_size: float = 0.0
            taken: Bool = True
            for g in range(graph.source.ptr[e], graph.source.ptr[e + 1]):
                value += questions.scores[i, graph.source.gather[g]]
                own_size += abs(questions.scores[i, graph.source.gather[g]])
            for k in range(graph.tables.scope_ptr[b], graph.tables.scope_ptr[b + 1]):
                j = graph.tables.scope[k]
                a = ((e - graph.tables.ptr[b]) // graph.tables.strides[k]) % graph.sizes[j]
                value -= duals.messages[i, graph.flow.message_ptr[k] + a]
                own_size += abs(duals.messages[i, graph.flow.message_ptr[k] + a])
                taken = taken and is_open(questions, i, graph, graph.offsets[j] + a)
            if taken:
                top = max(top, value)
                largest = max(largest, own_size)
        bound += top
        size += largest
    additions = 1 + graph.sizes.shape[0] + graph.tables.scope.shape[0] + rows.lower.shape[0]
    return bound + 2.0**-52 * additions * size


def is_open(questions: Questions, i: Int, graph: Graph, e: Int) -> bool:
    """Whether input i may take a label; those of auxiliary variables are never closed."""
    if not graph.source.allowed[e]:
        return False
    if questions.closed.shape[0] == 0 or e >= questions.closed.shape[1]:
        return True
    return not questions.closed[i, e]
