"""Steps of perceptrons: on chains without leaving the kernel, on prefixes, and per variable."""

from __future__ import annotations

import cython
import numpy as np

from rote.types import IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import ChainPlan, Layout, Questions, Slots, Vectors
    from rote.kernels.constants import LARGEST_SCORE
    from rote.kernels.dp.chains import ChainRoom, label_scores, look_ahead, read_labels
    from rote.kernels.inlined import tuple_of
    from rote.kernels.learning.linear import add_rows, columns_of_tied, move, score_input
    from rote.kernels.outputs import drowns, is_too_coarse, spread_of

    RIGHT, WRONG, NOTHING = 0, 1, 2


class Average(Bundle):
    """Weights, and every step times the number of examples before it, to read an average from."""

    def __init__(self, weights: OutFloats, sums: OutFloats) -> None:
        self.weights = weights
        self.sums = sums


class Example(Bundle):
    """What is learned from."""

    def __init__(
        self,
        first: Int,  # the first vector of its input
        toward: Ints,  # the columns of the right output, which begin with its labels
        step: float,
        age: float,  # examples seen before it
    ) -> None:
        self.first = first
        self.toward = toward
        self.step = step
        self.age = age


class Decisions(Bundle):
    """The variables of all examples, one after the other, each a decision of its own."""

    def __init__(
        self,
        ptr: Ints,  # per example
        vector: Ints,  # per decision, and so on, as in `Slots`
        origin: Ints,
        stride: Ints,
        each: Flags,
        width: Ints,  # how many labels there are
        gold: Ints,
        sample_weight: Floats,  # per example
    ) -> None:
        self.ptr = ptr
        self.vector = vector
        self.origin = origin
        self.stride = stride
        self.each = each
        self.width = width
        self.gold = gold
        self.sample_weight = sample_weight


def move_average(
    average: Average, vectors: Vectors, slots: Slots, example: Example, away: Ints
) -> None:
    """weights += step · (φ(x, toward) - φ(x, away)), and the same times the age for the sums."""
    first, step = example.first, example.step
    move(average.weights, vectors, slots, first, example.toward, away, step)
    move(average.sums, vectors, slots, first, example.toward, away, step * example.age)


class StepRoom(Bundle):
    """Room for `chain_step` on the inputs of one batch."""

    def __init__(self, chain: ChainPlan, layout: Layout, slots: Slots) -> None:
        n, factors = chain.sizes.shape[0], layout.scope_ptr.shape[0] - 1
        self.chain = ChainRoom(chain)
        scores = np.zeros((1, layout.factor_offsets[factors]))
        self.questions = Questions(scores, np.empty((0, 0), np.bool_), np.empty(1))
        self.scores = scores
        self.sums = floats(columns_of_tied(slots))
        self.found = ints(n)
        self.away = ints(n + factors)


def chain_step(
    average: Average,
    vectors: Vectors,
    slots: Slots,
    chain: ChainPlan,
    layout: Layout,
    example: Example,
    share: float,
    room: StepRoom,
) -> int:
    """Learn from one example: RIGHT, WRONG after a step, or NOTHING, where an engine must be asked.

    What `scores_of`, `best_chains` and `move_average` do one after the other.
    """
    scores: OutFloats = room.scores[0]
    fill(scores, 0.0)
    score_input(scores, average.weights, vectors, slots, example.first, room.sums)
    best, widest, size = spread_of(room.questions, 0, layout)
    if not size < LARGEST_SCORE or drowns(layout, widest, size):
        return NOTHING
    label_scores(room.chain.own, room.questions, 0, chain.runs.allowed)
    if look_ahead(room.chain, scores, chain) == -inf:
        return NOTHING
    tie = share * (widest if widest > 0 else max(1.0, size))
    read_labels(room.found, room.chain, scores, tie, chain)
    n = room.found.shape[0]
    right: Bool = True
    value = 0.0
    for j in range(n):
        room.away[j] = room.found[j]
        right = right and room.found[j] == example.toward[j]
        value += scores[layout.offsets[j] + room.found[j]]
    for f in range(layout.scope_ptr.shape[0] - 1):
        room.away[n + f] = tuple_of(layout, f, room.found)
        value += scores[layout.factor_offsets[f] + room.away[n + f]]
    if is_too_coarse(room.questions, 0, layout, widest, best - value):
        return NOTHING
    if right:
        return RIGHT
    move_average(average, vectors, slots, example, room.away)
    return WRONG


def wrong_prefix(
    scores: Floats, starts: Ints, ends: Ints, gold: Ints, found: Ints, early: Bool
) -> IntArray:
    """``found`` inside the prefix to learn from, and ``gold`` elsewhere.

    ``ends`` says for each slot the last variable it speaks of; a prefix of k variables has the
    slots that end before k. ``early`` takes the first prefix with wrong labels whose lead over
    gold is not negative, otherwise the one with the largest lead, the shortest of equals. Where
    no prefix leads, gold comes back whole.
    """
    expect("gold", "entries", ends.shape[0], gold.shape[0])
    expect("found", "entries", ends.shape[0], found.shape[0])
    expect_least("starts", "entries", ends.shape[0], starts.shape[0])
    variables: Int = 0
    for s in range(ends.shape[0]):
        variables = max(variables, ends[s] + 1)
    chosen: Int = -1
    lead: float = 0.0
    most: float = -1.0
    differs: Bool = False
    for last in range(variables):
        for s in range(ends.shape[0]):
            if ends[s] == last and gold[s] != found[s]:
                lead += scores[starts[s] + found[s]] - scores[starts[s] + gold[s]]
                differs = True
        if differs and lead >= 0.0 and lead > most:
            chosen, most = last, lead
            if early:
                break
    result: OutInts = np.array(gold)
    for s in range(ends.shape[0]):
        if ends[s] <= chosen:
            result[s] = found[s]
    return np.asarray(result)


def learn_locally(
    average: Average, vectors: Vectors, decisions: Decisions, order: Ints, seen: float
) -> int:
    """Examples in ``order``, the variables of each in turn; returns the number of mistakes.

    The age of a step is the number of decisions before it, ``seen`` at first.
    Of labels that score the same the first is taken.
    """
    widest: Int = 1
    for d in range(decisions.width.shape[0]):
        widest = max(widest, decisions.width[d])
    scores = floats(widest)
    mistakes: Int = 0
    with cython.nogil:
        for k in range(order.shape[0]):
            i = order[k]
            weight = decisions.sample_weight[i]
            for d in range(decisions.ptr[i], decisions.ptr[i + 1]):
                best = decide(average.weights, vectors, decisions, d, scores)
                if best != decisions.gold[d] and weight > 0.0:
                    mistakes += 1
                    learn_label(average, vectors, decisions, d, decisions.gold[d], weight, seen)
                    learn_label(average, vectors, decisions, d, best, -weight, seen)
                seen += 1.0
    return mistakes


def decide(
    weights: Floats, vectors: Vectors, decisions: Decisions, d: Int, scores: OutFloats
) -> int:
    """The label that scores best, the first of equals; ``scores`` is room for all."""
    vector, origin = decisions.vector[d], decisions.origin[d]
    stride, width = decisions.stride[d], decisions.width[d]
    for a in range(width):
        scores[a] = 0.0
    if decisions.each[d]:
        for a in range(width):
            for k in range(vectors.ptr[vector + a], vectors.ptr[vector + a + 1]):
                scores[a] += vectors.value[k] * weights[origin + vectors.column[k] * stride]
    else:
        add_rows(scores, width, weights, origin, stride, vectors, vector)
    best = 0
    for a in range(1, width):
        if scores[a] > scores[best]:
            best = a
    return best


def learn_label(
    average: Average,
    vectors: Vectors,
    decisions: Decisions,
    d: Int,
    label: Int,
    step: float,
    seen: float,
) -> None:
    """Add the features of a label, times a step, to the weights, and times the age to the sums."""
    vector, first = decisions.vector[d], decisions.origin[d]
    if decisions.each[d]:
        vector += label
    else:
        first += label
    for k in range(vectors.ptr[vector], vectors.ptr[vector + 1]):
        change = step * vectors.value[k]
        at = first + vectors.column[k] * decisions.stride[d]
        average.weights[at] += change
        average.sums[at] += seen * change
