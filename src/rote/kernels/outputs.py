"""What one output is worth and whether it obeys tables and rows."""

from __future__ import annotations

import numpy as np

from rote.kernels.jit import kernel
from rote.types import BoolArray, FloatArray, IntArray


@kernel
def parts_of(
    labels: IntArray,
    sizes: IntArray,
    offsets: IntArray,
    scope_ptr: IntArray,
    scope: IntArray,
    factor_offsets: IntArray,
) -> IntArray:
    """The parts of each output: one per variable, then one per factor."""
    m, n = labels.shape
    factors = scope_ptr.shape[0] - 1
    parts = np.empty((m, n + factors), np.int64)
    for i in range(m):
        for j in range(n):
            parts[i, j] = offsets[j] + labels[i, j]
        for f in range(factors):
            code = 0
            for k in range(scope_ptr[f], scope_ptr[f + 1]):
                j = scope[k]
                code = code * sizes[j] + labels[i, j]
            parts[i, n + f] = factor_offsets[f] + code
    return parts


@kernel
def values_of(
    scores: FloatArray,
    labels: IntArray,
    sizes: IntArray,
    offsets: IntArray,
    scope_ptr: IntArray,
    scope: IntArray,
    factor_offsets: IntArray,
) -> FloatArray:
    """The total score of each output, always added in the same order; -inf for labels below 0."""
    m, n = labels.shape
    values = np.empty(m)
    for i in range(m):
        value = 0.0
        for j in range(n):
            if labels[i, j] < 0:
                value = -np.inf
                break
            value += scores[i, offsets[j] + labels[i, j]]
        if value > -np.inf:
            for f in range(scope_ptr.shape[0] - 1):
                code = 0
                for k in range(scope_ptr[f], scope_ptr[f + 1]):
                    j = scope[k]
                    code = code * sizes[j] + labels[i, j]
                value += scores[i, factor_offsets[f] + code]
        values[i] = value
    return values


@kernel
def obeys(
    labels: IntArray,
    offsets: IntArray,
    scope_ptr: IntArray,
    scope: IntArray,
    strides: IntArray,
    table_ptr: IntArray,
    allowed: BoolArray,
    row_ptr: IntArray,
    row_columns: IntArray,
    row_data: FloatArray,
    row_lower: FloatArray,
    row_upper: FloatArray,
    column_variable: IntArray,
) -> BoolArray:
    """Whether each output stays inside domains, tables and rows."""
    m, n = labels.shape
    result = np.ones(m, np.bool_)
    for i in range(m):
        good = True
        for j in range(n):
            if not allowed[offsets[j] + labels[i, j]]:
                good = False
                break
        if good:
            for b in range(table_ptr.shape[0] - 1):
                at = table_ptr[b]
                for k in range(scope_ptr[b], scope_ptr[b + 1]):
                    at += strides[k] * labels[i, scope[k]]
                if not allowed[at]:
                    good = False
                    break
        if good:
            for r in range(row_lower.shape[0]):
                total = 0.0
                for k in range(row_ptr[r], row_ptr[r + 1]):
                    column = row_columns[k]
                    j = column_variable[column]
                    if labels[i, j] == column - offsets[j]:
                        total += row_data[k]
                if total < row_lower[r] or total > row_upper[r]:
                    good = False
                    break
        result[i] = good
    return result
