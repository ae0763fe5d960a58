"""The dual bound of `rote.inference.exact.duals`, one pass over labels, tables and rows."""

from __future__ import annotations

import numpy as np

from rote.kernels.jit import kernel
from rote.types import BoolArray, FloatArray, IntArray


@kernel
def dual_bounds(
    scores: FloatArray,
    closed: BoolArray,
    messages: FloatArray,
    multipliers: FloatArray,
    own: int,
    offsets: IntArray,
    scope_ptr: IntArray,
    scope: IntArray,
    strides: IntArray,
    sizes: IntArray,
    table_ptr: IntArray,
    allowed: BoolArray,
    gather_ptr: IntArray,
    gather: IntArray,
    message_ptr: IntArray,
    row_ptr: IntArray,
    row_columns: IntArray,
    row_data: FloatArray,
    row_lower: FloatArray,
    row_upper: FloatArray,
    labels: int,
    auxiliary: int,
) -> FloatArray:
    """g(λ, u) per input. ``closed`` has one row per input, or none when no label is closed."""
    m = scores.shape[0]
    blocks = table_ptr.shape[0] - 1
    bounds = np.zeros(m)
    column = np.empty(labels + auxiliary)
    for i in range(m):
        bound = 0.0
        for e in range(labels):
            column[e] = 0.0
            for g in range(gather_ptr[e], gather_ptr[e + 1]):
                column[e] += scores[i, gather[g]]
        for e in range(auxiliary):
            column[labels + e] = 0.0
        for r in range(row_lower.shape[0]):
            u = multipliers[i, r]
            if u > 0:
                bound += u * row_upper[r]
            elif u < 0:
                bound += u * row_lower[r]
            if u != 0.0:
                for k in range(row_ptr[r], row_ptr[r + 1]):
                    column[row_columns[k]] -= u * row_data[k]
        for k in range(scope.shape[0]):
            first = offsets[scope[k]]
            for a in range(sizes[scope[k]]):
                column[first + a] += messages[i, message_ptr[k] + a]
        for j in range(own):
            top = -np.inf
            for e in range(offsets[j], offsets[j + 1]):
                if allowed[e] and not (closed.shape[0] > 0 and closed[i, e]):
                    top = max(top, column[e])
            bound += top
        for e in range(auxiliary):
            bound += max(0.0, column[labels + e])
        for b in range(blocks):
            top = -np.inf
            for e in range(table_ptr[b], table_ptr[b + 1]):
                if not allowed[e]:
                    continue
                value = 0.0
                taken = True
                for g in range(gather_ptr[e], gather_ptr[e + 1]):
                    value += scores[i, gather[g]]
                for k in range(scope_ptr[b], scope_ptr[b + 1]):
                    a = ((e - table_ptr[b]) // strides[k]) % sizes[scope[k]]
                    value -= messages[i, message_ptr[k] + a]
                    label = offsets[scope[k]] + a
                    if not allowed[label] or (closed.shape[0] > 0 and closed[i, label]):
                        taken = False
                if taken:
                    top = max(top, value)
            bound += top
        bounds[i] = bound
    return bounds
