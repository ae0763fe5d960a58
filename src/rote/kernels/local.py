"""One pass of perceptrons that decide every variable by itself."""

from __future__ import annotations

import numpy as np

from rote.kernels.jit import kernel
from rote.kernels.structs import Vectors
from rote.types import FloatArray, IntArray


@kernel
def learn_locally(
    weights: FloatArray,
    sums: FloatArray,
    vectors: Vectors,
    ptr: IntArray,
    vector: IntArray,
    origin: IntArray,
    stride: IntArray,
    width: IntArray,
    gold: IntArray,
    importance: FloatArray,
    order: IntArray,
    seen: float,
) -> int:
    """Examples in ``order``, the variables of each in turn; returns the number of mistakes.

    ``sums`` collects every step times the number of decisions before it, ``seen`` at first.
    Of labels that score the same the first is taken.
    """
    widest = 1
    for d in range(width.shape[0]):
        widest = max(widest, width[d])
    scores = np.empty(widest)
    mistakes = 0
    for i in order:
        for d in range(ptr[i], ptr[i + 1]):
            begin, end = vectors.ptr[vector[d]], vectors.ptr[vector[d] + 1]
            scores[: width[d]] = 0.0
            for k in range(begin, end):
                at = origin[d] + vectors.column[k] * stride[d]
                for a in range(width[d]):
                    scores[a] += vectors.value[k] * weights[at + a]
            best = 0
            for a in range(1, width[d]):
                if scores[a] > scores[best]:
                    best = a
            if best != gold[d] and importance[i] > 0.0:
                mistakes += 1
                for k in range(begin, end):
                    at = origin[d] + vectors.column[k] * stride[d]
                    change = importance[i] * vectors.value[k]
                    weights[at + gold[d]] += change
                    weights[at + best] -= change
                    sums[at + gold[d]] += seen * change
                    sums[at + best] -= seen * change
            seen += 1.0
    return mistakes
