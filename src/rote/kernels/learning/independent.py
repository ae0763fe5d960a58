"""One pass of perceptrons that decide every variable by itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.bundles import Vectors
from rote.kernels.jit import kernel
from rote.types import BoolArray, FloatArray, IntArray


class Decisions(NamedTuple):
    """The variables of all examples, one after the other, each a decision of its own."""

    ptr: IntArray  # per example
    vector: IntArray  # per decision, and so on, as in `Slots`
    origin: IntArray
    stride: IntArray
    each: BoolArray
    width: IntArray  # how many labels there are
    gold: IntArray
    importance: FloatArray  # per example


@kernel
def learn_locally(
    weights: FloatArray,
    sums: FloatArray,
    vectors: Vectors,
    decisions: Decisions,
    order: IntArray,
    seen: float,
) -> int:
    """Examples in ``order``, the variables of each in turn; returns the number of mistakes.

    ``sums`` collects every step times the number of decisions before it, ``seen`` at first.
    Of labels that score the same the first is taken.
    """
    widest = 1
    for d in range(decisions.width.shape[0]):
        widest = max(widest, decisions.width[d])
    scores = np.empty(widest)
    mistakes = 0
    for i in order:
        importance = decisions.importance[i]
        for d in range(decisions.ptr[i], decisions.ptr[i + 1]):
            vector, origin = decisions.vector[d], decisions.origin[d]
            stride, each = decisions.stride[d], decisions.each[d]
            width, gold = decisions.width[d], decisions.gold[d]
            scores[:width] = 0.0
            for a in range(width if each else 1):
                for k in range(vectors.ptr[vector + a], vectors.ptr[vector + a + 1]):
                    at = origin + vectors.column[k] * stride
                    if each:
                        scores[a] += vectors.value[k] * weights[at]
                    else:
                        run = weights[at : at + width]
                        for b in range(run.shape[0]):
                            scores[b] += vectors.value[k] * run[b]
            best = 0
            for a in range(1, width):
                if scores[a] > scores[best]:
                    best = a
            if best != gold and importance > 0.0:
                mistakes += 1
                for label, step in ((gold, importance), (best, -importance)):
                    v = vector + label if each else vector
                    first = origin if each else origin + label
                    for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
                        change = step * vectors.value[k]
                        weights[first + vectors.column[k] * stride] += change
                        sums[first + vectors.column[k] * stride] += seen * change
            seen += 1.0
    return mistakes
