"""All outputs in lexicographic order, the last variable turning fastest.

Output number c of the order has the labels that are its digits in the mixed radix
``sizes``. What is feasible is one bit per output, the first in the highest bit.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.bundles import Questions
from rote.kernels.jit import kernel
from rote.types import AnyArray, IntArray


@kernel
def outputs_between(first: int, end: int, sizes: IntArray) -> IntArray:
    """The labels of the outputs numbered first .. end-1."""
    n = sizes.shape[0]
    labels = np.empty((end - first, n), np.int64)
    for c in range(first, end):
        rest = c
        for back in range(n):
            j = n - 1 - back
            labels[c - first, j] = rest % sizes[j]
            rest //= sizes[j]
    return labels


class EndingFactors(NamedTuple):
    """The factors of a space, sorted by their last variable."""

    ptr: IntArray  # per variable: the factors whose last one it is
    first: IntArray  # per factor: its first part
    scope_ptr: IntArray
    scope: IntArray
    strides: IntArray


@kernel
def best_outputs(
    questions: Questions,
    feasible: AnyArray,
    sizes: IntArray,
    offsets: IntArray,
    factors: EndingFactors,
) -> IntArray:
    """The first output within one tie of the best; labels are -1 where nothing is feasible.

    A prefix of labels is worth the labels and factors it settles, so turning variable j
    changes only what comes from j on. A first round finds the best value, a second
    one the first output close to it.
    """
    scores, closed, ties = questions
    m = scores.shape[0]
    n = sizes.shape[0]
    result = np.full((m, n), -1, np.int64)
    labels = np.zeros(n, np.int64)
    known_value = np.zeros(n + 1)
    for i in range(m):
        best = -np.inf
        for search in range(2):
            labels[:] = 0
            c = 0
            turned = 0
            while turned >= 0:
                for j in range(turned, n):
                    part = offsets[j] + labels[j]
                    value = known_value[j] + scores[i, part]
                    if closed.shape[0] > 0 and closed[i, part]:
                        value = -np.inf
                    for f in range(factors.ptr[j], factors.ptr[j + 1]):
                        part = factors.first[f]
                        for k in range(factors.scope_ptr[f], factors.scope_ptr[f + 1]):
                            part += factors.strides[k] * labels[factors.scope[k]]
                        value += scores[i, part]
                    known_value[j + 1] = value
                if (feasible[c >> 3] >> (7 - (c & 7))) & 1:
                    if search == 0:
                        best = max(best, float(known_value[n]))
                    elif known_value[n] >= best - ties[i]:
                        result[i] = labels
                        break
                c += 1
                turned = n - 1
                while turned >= 0 and labels[turned] == sizes[turned] - 1:
                    labels[turned] = 0
                    turned -= 1
                if turned >= 0:
                    labels[turned] += 1
            if best == -np.inf:
                break
    return result
