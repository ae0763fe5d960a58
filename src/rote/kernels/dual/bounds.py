"""The dual bound of `rote.inference.exact.duals`, one pass over labels, tables and rows."""

from __future__ import annotations

import numpy as np

from rote.kernels.bundles import DualRows, Graph, Questions, SparseRows
from rote.kernels.jit import kernel
from rote.types import FloatArray


@kernel
def dual_bounds(
    questions: Questions, duals: DualRows, graph: Graph, rows: SparseRows, own: int
) -> FloatArray:
    """g(λ, u) per input; ``own`` variables are the space's, and the others auxiliary."""
    scores, closed, _ = questions
    offsets, sizes, tables, source = graph.offsets, graph.sizes, graph.tables, graph.source
    m, labels, auxiliary = scores.shape[0], rows.labels, rows.auxiliary
    bounds, column = np.zeros(m), np.empty(labels + auxiliary)
    for i in range(m):
        messages = duals.messages[i]
        bound = 0.0
        for e in range(labels):
            column[e] = 0.0
            for g in range(source.ptr[e], source.ptr[e + 1]):
                column[e] += scores[i, source.gather[g]]
        for e in range(auxiliary):
            column[labels + e] = 0.0
        for r in range(rows.lower.shape[0]):
            u = duals.multipliers[i, r]
            if u > 0:
                bound += u * rows.upper[r]
            elif u < 0:
                bound += u * rows.lower[r]
            if u != 0.0:
                for k in range(rows.ptr[r], rows.ptr[r + 1]):
                    column[rows.column[k]] -= u * rows.coefficient[k]
        for k in range(tables.scope.shape[0]):
            first = offsets[tables.scope[k]]
            for a in range(sizes[tables.scope[k]]):
                column[first + a] += messages[graph.flow.message_ptr[k] + a]
        for j in range(own):
            top = -np.inf
            for e in range(offsets[j], offsets[j + 1]):
                if source.allowed[e] and not (closed.shape[0] > 0 and closed[i, e]):
                    top = max(top, column[e])
            bound += top
        for e in range(auxiliary):
            bound += max(0.0, column[labels + e])
        for b in range(tables.ptr.shape[0] - 1):
            top = -np.inf
            for e in range(tables.ptr[b], tables.ptr[b + 1]):
                if not source.allowed[e]:
                    continue
                value = 0.0
                taken = True
                for g in range(source.ptr[e], source.ptr[e + 1]):
                    value += scores[i, source.gather[g]]
                for k in range(tables.scope_ptr[b], tables.scope_ptr[b + 1]):
                    j = tables.scope[k]
                    a = ((e - tables.ptr[b]) // tables.strides[k]) % sizes[j]
                    value -= messages[graph.flow.message_ptr[k] + a]
                    label = offsets[j] + a
                    if not source.allowed[label] or (closed.shape[0] > 0 and closed[i, label]):
                        taken = False
                if taken:
                    top = max(top, value)
            bound += top
        bounds[i] = bound
    return bounds
