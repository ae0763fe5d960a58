"""What one output is worth and whether it obeys tables and rows."""

from __future__ import annotations

import numpy as np

from rote.kernels.jit import kernel
from rote.kernels.structs import Masks, RowGroups
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
def inside(labels: IntArray, masks: Masks) -> bool:
    """Whether one output stays inside domains and tables."""
    offsets, tables, allowed = masks.offsets, masks.tables, masks.allowed
    for j in range(labels.shape[0]):
        if not allowed[offsets[j] + labels[j]]:
            return False
    for b in range(tables.ptr.shape[0] - 1):
        at = tables.ptr[b]
        for k in range(tables.scope_ptr[b], tables.scope_ptr[b + 1]):
            at += tables.strides[k] * labels[tables.scope[k]]
        if not allowed[at]:
            return False
    return True


@kernel
def obeys(labels: IntArray, masks: Masks, rows: RowGroups) -> bool:
    """Whether one output stays inside domains, tables and rows."""
    if not inside(labels, masks):
        return False
    offsets = masks.offsets
    for r in range(rows.lower.shape[0]):
        activity = 0.0
        for g in range(rows.ptr[r], rows.ptr[r + 1]):
            j = rows.variable[g]
            for c in range(rows.start[g], rows.start[g + 1]):
                if rows.column[c] == offsets[j] + labels[j]:
                    activity += rows.coefficient[c]
        if activity < rows.lower[r] or activity > rows.upper[r]:
            return False
    return True


@kernel
def all_obey(labels: IntArray, masks: Masks, rows: RowGroups) -> BoolArray:
    """`obeys` for a batch."""
    result = np.empty(labels.shape[0], np.bool_)
    for i in range(labels.shape[0]):
        result[i] = obeys(labels[i], masks, rows)
    return result


@kernel
def is_easy(scores: FloatArray, masks: Masks, tie: float, labels: IntArray) -> bool:
    """Whether the best label of every variable, written to ``labels``, is the answer.

    That is so when nothing but labels is scored, there are no rows, the labels stay inside
    every table, and none that comes before one of them is within a tie. A label that scores
    -inf is closed.
    """
    for j in range(labels.shape[0]):
        top = -np.inf
        near = -np.inf  # the best label before the best
        for e in range(masks.offsets[j], masks.offsets[j + 1]):
            if masks.allowed[e] and scores[e] > top:
                near = top
                top = scores[e]
                labels[j] = e - masks.offsets[j]
        if near >= top - tie:
            return False
    return inside(labels, masks)
