"""What a search learns from its mistakes: the weights of h, as in Pan and Srikumar (2018).

Learning ends an input where no node of the beam can become the output that is gold, or where the
best one at last is another, and moves weights towards the patterns of gold.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import BoolArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.beam.beam import BeamPlan, Nodes, Search, advance
    from rote.kernels.constants import MAX_COUNTED


class Learned(Bundle):
    """The weights w of patterns; their average so far is ``weights - sums / clock``."""

    def __init__(
        self,
        weights: OutFloats,
        sums: OutFloats,
        clock: OutFloats,  # one number: inputs learned from
    ) -> None:
        self.weights = weights
        self.sums = sums
        self.clock = clock


class HeuristicUpdate(Bundle):
    """What learning needs: the weights that it moves, and room for counts of tallies."""

    def __init__(self, learned: Learned, search: Search, gold: Ints2) -> None:
        self.learned = learned
        self.search = search
        self.gold = gold  # (m, variables)
        self.counts = ints(search.plan.counters)


def place_of_pattern(plan: BeamPlan, p: Int, labels: Ints, label: Int) -> int:
    """The weight of a pattern."""
    at: Int = plan.origin[p] + label
    for k in range(2):
        v: Int = plan.other[p, k]
        if v >= 0:
            at += plan.other_stride[p, k] * labels[v]
    return at


def learn_from(update: HeuristicUpdate, labels: Ints, steps: Int, amount: float) -> None:
    """weights += amount · φ of the first ``steps`` labels of an output, and the same for sums."""
    add_patterns(update.learned.weights, update.search.plan, labels, steps, amount, update.counts)
    older = amount * update.learned.clock[0]
    add_patterns(update.learned.sums, update.search.plan, labels, steps, older, update.counts)


def add_patterns(
    weights: OutFloats, plan: BeamPlan, labels: Ints, steps: Int, amount: float, counts: OutInts
) -> None:
    """weights += amount · φ; ``counts`` is room for the tallies."""
    fill(counts, 0)
    for t in range(steps):
        label = labels[plan.order[t]]
        for p in range(plan.pattern_ptr[t], plan.pattern_ptr[t + 1]):
            weights[place_of_pattern(plan, p, labels, label)] += amount
        for k in range(plan.tally_ptr[t], plan.tally_ptr[t + 1]):
            if plan.counted[k, label]:
                q = plan.tally[k]
                weights[plan.tally_origin[k] + min(counts[q], MAX_COUNTED - 1)] += amount
                counts[q] += 1


def is_good(update: HeuristicUpdate, i: Int, node: Int, steps: Int) -> bool:
    """Whether a node can still become the output that is gold."""
    for t in range(steps):
        j = update.search.plan.order[t]
        if update.search.nodes.labels[i, node, j] != update.gold[i, j]:
            return False
    return True


def some_good(update: HeuristicUpdate, i: Int, size: Int, steps: Int) -> bool:
    """Whether one of the nodes of a beam can."""
    good: Bool = False
    for node in range(size):
        good = good or is_good(update, i, node, steps)
    return good


def learn_input(update: HeuristicUpdate, i: Int, step: float) -> bool:
    """Search, and learn from a mistake; whether there was one."""
    n: Int = update.gold.shape[1]
    size: Int = 1
    for t in range(n):
        size = advance(update.search, i, t, size)
        if not some_good(update, i, size, t + 1):
            learn_from(update, update.gold[i], t + 1, step)
            for node in range(size):
                learn_from(update, update.search.nodes.labels[i, node], t + 1, -step / size)
            return True
    if n > 0 and not is_good(update, i, 0, n):
        learn_from(update, update.gold[i], n, step)
        learn_from(update, update.search.nodes.labels[i, 0], n, -step)
        return True
    return False


def learn_beam(
    scores: Floats2,
    shut: Flags2,
    gold: Ints2,
    learned: Learned,
    width: Int,
    step: float,
    plan: BeamPlan,
) -> BoolArray:
    """Algorithm 1 of Pan and Srikumar (2018), one input after the other; where a mistake was made.

    Search ends where no node of the beam is good, and then

        w += step · (φ(v*) - the mean of φ over the beam)    v* = gold, as far as labels were given

    or at a best output that is not gold, and then w += step · (φ(gold) - φ(that output)).
    """
    expect("gold", "columns", plan.order.shape[0], gold.shape[1])
    m = gold.shape[0]
    search = Search(plan, Nodes(m, width, plan))
    search.look_at(scores, shut, learned.weights, inf)
    update = HeuristicUpdate(learned, search, gold)
    wrong: OutFlags = np.zeros(m, np.bool_)
    with cython.nogil:
        for i in range(m):
            learned.clock[0] += 1.0
            wrong[i] = learn_input(update, i, step)
            if wrong[i]:  # weights moved
                fill(search.known, False)
    return np.asarray(wrong).view(np.bool_)
