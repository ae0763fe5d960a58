"""What a search learns from its mistakes: the weights of h, as in Pan and Srikumar (2018).

Learning ends an input where no node of the beam can become the output that is gold, or where the
best one at last is another, and moves weights towards the patterns of gold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.beam.beam import (
    MAX_COUNTED,
    BeamPlan,
    advance,
    beam_of,
    first_nodes,
    guide_of,
)
from rote.kernels.jit import inlined, kernel, lean
from rote.types import BoolArray, FloatArray, IntArray


class Learned(NamedTuple):
    """The weights w of patterns; their average so far is ``weights - sums / clock``."""

    weights: FloatArray
    sums: FloatArray
    clock: FloatArray  # one number: inputs learned from


@inlined
def place_of_pattern(course: BeamPlan, p: int, labels: IntArray, label: int) -> int:
    """The weight of a pattern."""
    at: int = course.origin[p] + label
    for k in range(2):
        if course.other[p, k] >= 0:
            at += course.other_stride[p, k] * labels[course.other[p, k]]
    return at


@kernel
def add_patterns(
    weights: FloatArray, course: BeamPlan, labels: IntArray, steps: int, amount: float
) -> None:
    """weights += amount · φ of the first ``steps`` labels of an output."""
    counts = np.zeros(course.counters, np.int64)
    for t in range(steps):
        label = labels[course.order[t]]
        for p in range(course.pattern_ptr[t], course.pattern_ptr[t + 1]):
            weights[place_of_pattern(course, p, labels, label)] += amount
        for k in range(course.tally_ptr[t], course.tally_ptr[t + 1]):
            if course.counted[k, label]:
                q = course.tally[k]
                weights[course.tally_origin[k] + min(counts[q], MAX_COUNTED - 1)] += amount
                counts[q] += 1


@lean
def is_good(course: BeamPlan, labels: IntArray, gold: IntArray, steps: int) -> bool:
    """Whether a node can still become the output that is gold."""
    good = True
    for t in range(steps):
        good = good and labels[course.order[t]] == gold[course.order[t]]
    return good


@inlined
def learn_from(
    learned: Learned, course: BeamPlan, labels: IntArray, steps: int, amount: float
) -> None:
    """weights += amount · φ, and the same for the sums that averages come from."""
    add_patterns(learned.weights, course, labels, steps, amount)
    add_patterns(learned.sums, course, labels, steps, amount * learned.clock[0])


@kernel
def learn_beam(
    scores: FloatArray,
    shut: BoolArray,
    gold: IntArray,
    learned: Learned,
    width: int,
    step: float,
    course: BeamPlan,
) -> BoolArray:
    """Algorithm 1 of Pan and Srikumar (2018), one input after the other; where a mistake was made.

    Search ends where no node of the beam is good, and then

        w += step · (φ(v*) - the mean of φ over the beam)    v* = gold, as far as labels were given

    or at a best output that is not gold, and then w += step · (φ(gold) - φ(that output)).
    """
    m, n = gold.shape
    nodes = first_nodes(m, width, course)
    guide = guide_of(course, learned.weights, np.inf, width)
    wrong = np.zeros(m, np.bool_)
    for i in range(m):
        learned.clock[0] += 1.0
        beam, size = beam_of(nodes, i, scores[i], shut[i]), 1
        for t in range(n):
            size = advance(guide, t, beam, size)
            good = False
            for node in range(size):
                good = good or is_good(course, beam.labels[node], gold[i], t + 1)
            if not good:
                wrong[i] = True
                learn_from(learned, course, gold[i], t + 1, step)
                for node in range(size):
                    learn_from(learned, course, beam.labels[node], t + 1, -step / size)
                break
        if not wrong[i] and n > 0 and not is_good(course, beam.labels[0], gold[i], n):
            wrong[i] = True
            learn_from(learned, course, gold[i], n, step)
            learn_from(learned, course, beam.labels[0], n, -step)
        if wrong[i]:  # weights moved
            guide.found.known[:] = False
    return wrong
