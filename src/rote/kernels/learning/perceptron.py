"""Steps of perceptrons: on chains without leaving the kernel, on prefixes, and per variable."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.bundles import ChainPlan, Layout, Questions, Slots, Vectors
from rote.kernels.dp.chains import best_chains
from rote.kernels.jit import kernel
from rote.kernels.learning.linear import move, scores_of
from rote.kernels.outputs import all_finite, ties_of, tuple_of
from rote.types import BoolArray, FloatArray, IntArray

RIGHT, WRONG, NOTHING = 0, 1, 2


class Average(NamedTuple):
    """Weights, and every step times the number of examples before it, to read an average from."""

    weights: FloatArray
    sums: FloatArray


class Example(NamedTuple):
    """What is learned from."""

    first: int  # the first vector of its input
    toward: IntArray  # the columns of the right output, which begin with its labels
    step: float
    age: float  # examples seen before it


class Decisions(NamedTuple):
    """The variables of all examples, one after the other, each a decision of its own."""

    ptr: IntArray  # per example
    vector: IntArray  # per decision, and so on, as in `Slots`
    origin: IntArray
    stride: IntArray
    each: BoolArray
    width: IntArray  # how many labels there are
    gold: IntArray
    sample_weight: FloatArray  # per example


@kernel
def move_average(
    average: Average, vectors: Vectors, slots: Slots, example: Example, away: IntArray
) -> None:
    """weights += step · (φ(x, toward) - φ(x, away)), and the same times the age for the sums."""
    first, toward, step, age = example
    move(average.weights, vectors, slots, first, toward, away, step)
    move(average.sums, vectors, slots, first, toward, away, step * age)


@kernel
def chain_step(
    average: Average,
    vectors: Vectors,
    slots: Slots,
    chain: ChainPlan,
    layout: Layout,
    example: Example,
    share: float,
) -> int:
    """Learn from one example: RIGHT, WRONG after a step, or NOTHING: no output, or no score.

    What `scores_of`, `best_chains` and `move_average` do one after the other.
    """
    scores = scores_of(average.weights, vectors, slots, np.full(1, example.first))
    if not all_finite(scores):
        return NOTHING
    questions = Questions(scores, np.empty((0, 0), np.bool_), ties_of(scores, share))
    found = best_chains(questions, chain)[0]
    n = found.shape[0]
    if n > 0 and found[0] < 0:
        return NOTHING
    right = True
    for j in range(n):
        right = right and found[j] == example.toward[j]
    if right:
        return RIGHT
    away = np.empty(example.toward.shape[0], np.int64)
    away[:n] = found
    for f in range(layout.scope_ptr.shape[0] - 1):
        away[n + f] = tuple_of(layout, f, found)
    move_average(average, vectors, slots, example, away)
    return WRONG


@kernel
def wrong_prefix(
    scores: FloatArray,
    starts: IntArray,
    ends: IntArray,
    gold: IntArray,
    found: IntArray,
    early: bool,
) -> IntArray:
    """``found`` inside the prefix to learn from, and ``gold`` elsewhere.

    ``ends`` says for each slot the last variable it speaks of; a prefix of k variables has the
    slots that end before k. ``early`` takes the first prefix with wrong labels whose lead over
    gold is not negative, otherwise the one with the largest lead, the shortest of equals. Where
    no prefix leads, gold comes back whole.
    """
    variables = 0
    for s in range(ends.shape[0]):
        variables = max(variables, ends[s] + 1)
    chosen, lead, most = -1, 0.0, -1.0
    differs = False
    for last in range(variables):
        for s in range(ends.shape[0]):
            if ends[s] == last and gold[s] != found[s]:
                lead += scores[starts[s] + found[s]] - scores[starts[s] + gold[s]]
                differs = True
        if differs and lead >= 0.0 and lead > most:
            chosen, most = last, lead
            if early:
                break
    result = gold.copy()
    for s in range(ends.shape[0]):
        if ends[s] <= chosen:
            result[s] = found[s]
    return result


@kernel
def learn_locally(
    average: Average, vectors: Vectors, decisions: Decisions, order: IntArray, seen: float
) -> int:
    """Examples in ``order``, the variables of each in turn; returns the number of mistakes.

    The age of a step is the number of decisions before it, ``seen`` at first.
    Of labels that score the same the first is taken.
    """
    weights, sums = average
    widest = 1
    for d in range(decisions.width.shape[0]):
        widest = max(widest, decisions.width[d])
    scores = np.empty(widest)
    mistakes = 0
    for i in order:
        sample_weight = decisions.sample_weight[i]
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
            if best != gold and sample_weight > 0.0:
                mistakes += 1
                for label, step in ((gold, sample_weight), (best, -sample_weight)):
                    v = vector + label if each else vector
                    first = origin if each else origin + label
                    for k in range(vectors.ptr[v], vectors.ptr[v + 1]):
                        change = step * vectors.value[k]
                        weights[first + vectors.column[k] * stride] += change
                        sums[first + vectors.column[k] * stride] += seen * change
            seen += 1.0
    return mistakes
