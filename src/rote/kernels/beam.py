"""Search over partial outputs: variables get labels one after the other, and a beam is kept.

A node v has labels for the first variables of an order. Nodes with as many labels compete by

    g(v) + h(v)     g(v) = the score of the parts that lie in v,    h(v) = w · φ(v)

The counts φ(v) are of *patterns*: the label tuples of variables that a factor or a rule ties
together, and how many variables of a long rule already count in it. They do not look at the input.

With a threshold θ, a step whose last node kept is ahead of the first one dropped by more than θ, by
h alone, is decided by h alone: then nothing of the input is looked at, and g stays as it was.

Of equals, the node that comes first is kept: that of the better parent, and of the smaller label.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.jit import inlined, kernel
from rote.types import BoolArray, FloatArray, IntArray

MOST_COUNTED = 4  # values of a tally: none, one, two, or more before


class Course(NamedTuple):
    """The order in which the variables of a space get labels, and what is known after each step.

    A pattern belongs to the step that labels the last of its variables. Its value is the weight at
    ``origin + stride · label + Σ other_stride · label of another variable``.
    """

    order: IntArray  # per step: its variable
    sizes: IntArray  # per variable
    offsets: IntArray  # per variable: the part of its first label
    factor_ptr: IntArray  # per step: the factors that are whole then
    factor_part: IntArray  # per factor: the part of its first label tuple
    scope_ptr: IntArray  # per factor
    scope: IntArray
    scope_stride: IntArray
    pattern_ptr: IntArray  # per step
    origin: IntArray  # per pattern
    stride: IntArray
    other: IntArray  # (patterns, 2): variables labelled before, or -1
    other_stride: IntArray
    tally_ptr: IntArray  # per step
    tally: IntArray  # which counter
    tally_origin: IntArray
    counted: BoolArray  # (tallies of steps, labels): whether a label counts
    counters: int


class Nodes(NamedTuple):
    """The beams of some inputs."""

    labels: IntArray  # (m, width, variables): -1 where there is none yet
    score: FloatArray  # (m, width): g
    habit: FloatArray  # (m, width): h
    counts: IntArray  # (m, width, counters)
    size: IntArray  # (m,): nodes in the beam


class Learned(NamedTuple):
    """The weights w of patterns; their average so far is ``weights - sums / clock``."""

    weights: FloatArray
    sums: FloatArray
    clock: FloatArray  # one number: inputs learned from


class Candidates(NamedTuple):
    """The successors of the nodes of one beam."""

    node: IntArray
    label: IntArray
    score: FloatArray
    habit: FloatArray
    rank: FloatArray
    kept: IntArray  # those of the next beam, the best first


@kernel
def first_nodes(inputs: int, width: int, course: Course) -> Nodes:
    """Beams with the empty node alone."""
    n = course.order.shape[0]
    return Nodes(
        np.full((inputs, width, n), -1),
        np.zeros((inputs, width)),
        np.zeros((inputs, width)),
        np.zeros((inputs, width, course.counters), np.int64),
        np.ones(inputs, np.int64),
    )


@kernel
def room_for(width: int, course: Course) -> Candidates:
    """Room for the successors of a beam."""
    most = 1
    for j in range(course.sizes.shape[0]):
        most = max(most, course.sizes[j])
    most *= width
    return Candidates(
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most),
        np.empty(most),
        np.empty(most),
        np.empty(width + 1, np.int64),
    )


@inlined
def score_of(course: Course, scores: FloatArray, t: int, labels: IntArray, label: int) -> float:
    """What the parts score that a label makes whole."""
    j = course.order[t]
    total: float = scores[course.offsets[j] + label]
    for f in range(course.factor_ptr[t], course.factor_ptr[t + 1]):
        part = course.factor_part[f]
        for k in range(course.scope_ptr[f], course.scope_ptr[f + 1]):
            own = label if course.scope[k] == j else labels[course.scope[k]]
            part += course.scope_stride[k] * own
        total += scores[part]
    return total


@inlined
def place_of_pattern(course: Course, p: int, labels: IntArray, label: int) -> int:
    """The weight of a pattern."""
    at: int = course.origin[p] + course.stride[p] * label
    for k in range(2):
        if course.other[p, k] >= 0:
            at += course.other_stride[p, k] * labels[course.other[p, k]]
    return at


@inlined
def habit_of(
    course: Course, weights: FloatArray, t: int, labels: IntArray, counts: IntArray, label: int
) -> float:
    """What a label adds to h."""
    total = 0.0
    for p in range(course.pattern_ptr[t], course.pattern_ptr[t + 1]):
        total += weights[place_of_pattern(course, p, labels, label)]
    for k in range(course.tally_ptr[t], course.tally_ptr[t + 1]):
        if course.counted[k, label]:
            total += weights[
                course.tally_origin[k] + min(counts[course.tally[k]], MOST_COUNTED - 1)
            ]
    return total


@kernel
def keep_best(rank: FloatArray, count: int, most: int, kept: IntArray) -> int:
    """The places of the largest numbers, the largest first; of equals the first. How many."""
    size = 0
    for k in range(count):
        at = size
        while at > 0 and rank[k] > rank[kept[at - 1]]:
            at -= 1
        if at >= most:
            continue
        if size < most:
            size += 1
        for other in range(size - 1, at, -1):
            kept[other] = kept[other - 1]
        kept[at] = k
    return size


@kernel
def expand(
    course: Course,
    weights: FloatArray,
    shut: BoolArray,
    t: int,
    nodes: Nodes,
    i: int,
    found: Candidates,
) -> int:
    """The successors of a beam with their h; how many. ``shut`` says which labels are closed."""
    j, count = course.order[t], 0
    for node in range(nodes.size[i]):
        for label in range(course.sizes[j]):
            if shut[course.offsets[j] + label]:
                continue
            found.node[count] = node
            found.label[count] = label
            found.habit[count] = nodes.habit[i, node] + habit_of(
                course, weights, t, nodes.labels[i, node], nodes.counts[i, node], label
            )
            count += 1
    return count


@kernel
def by_habit(found: Candidates, count: int, width: int, theta: float) -> bool:
    """Whether h alone decides the next beam; its nodes are the first of ``kept`` then."""
    if count <= width:
        return False
    keep_best(found.habit, count, width + 1, found.kept)
    gap = found.habit[found.kept[width - 1]] - found.habit[found.kept[width]]
    return bool(gap > theta)


@kernel
def by_score(
    course: Course,
    scores: FloatArray,
    t: int,
    nodes: Nodes,
    i: int,
    found: Candidates,
    count: int,
    width: int,
) -> int:
    """Put the best by g + h into ``kept``; how many."""
    for k in range(count):
        node = found.node[k]
        own = score_of(course, scores, t, nodes.labels[i, node], found.label[k])
        found.score[k] = nodes.score[i, node] + own
        found.rank[k] = found.score[k] + found.habit[k]
    return keep_best(found.rank, count, width, found.kept)


@kernel
def take(
    course: Course, t: int, nodes: Nodes, i: int, found: Candidates, size: int, scored: bool
) -> None:
    """Make the candidates that are kept the next beam."""
    j, width = course.order[t], nodes.labels.shape[1]
    # A parent may be needed after its own place has another node.
    labels, counts = nodes.labels[i].copy(), nodes.counts[i].copy()
    score = nodes.score[i].copy()
    for at in range(min(size, width)):
        k = found.kept[at]
        node, label = found.node[k], found.label[k]
        nodes.labels[i, at] = labels[node]
        nodes.labels[i, at, j] = label
        nodes.counts[i, at] = counts[node]
        for q in range(course.tally_ptr[t], course.tally_ptr[t + 1]):
            if course.counted[q, label]:
                nodes.counts[i, at, course.tally[q]] += 1
        nodes.score[i, at] = found.score[k] if scored else score[node]
        nodes.habit[i, at] = found.habit[k]
    nodes.size[i] = size


@kernel
def search_beam(
    scores: FloatArray,
    shut: BoolArray,
    weights: FloatArray,
    width: int,
    theta: float,
    course: Course,
) -> tuple[Nodes, IntArray]:
    """The last beams, and how many steps of each input h decided alone.

    ``shut`` is of shape (m, labels). An input one of whose variables has no label has no nodes.
    """
    m, n = scores.shape[0], course.order.shape[0]
    nodes, found = first_nodes(m, width, course), room_for(width, course)
    skipped = np.zeros(m, np.int64)
    for i in range(m):
        for t in range(n):
            count = expand(course, weights, shut[i], t, nodes, i, found)
            if by_habit(found, count, width, theta):
                skipped[i] += 1
                take(course, t, nodes, i, found, width, False)
            else:
                size = by_score(course, scores[i], t, nodes, i, found, count, width)
                take(course, t, nodes, i, found, size, True)
    return nodes, skipped


@kernel
def propose(
    shut: BoolArray, weights: FloatArray, theta: float, course: Course, t: int, nodes: Nodes
) -> BoolArray:
    """Take a step with those inputs whose h decides it alone; which others need their scores."""
    m, width = nodes.size.shape[0], nodes.labels.shape[1]
    found, needed = room_for(width, course), np.zeros(m, np.bool_)
    for i in range(m):
        count = expand(course, weights, shut[i], t, nodes, i, found)
        if by_habit(found, count, width, theta):
            take(course, t, nodes, i, found, width, False)
        else:
            needed[i] = True
    return needed


@kernel
def decide(
    scores: FloatArray,
    shut: BoolArray,
    weights: FloatArray,
    course: Course,
    t: int,
    nodes: Nodes,
    members: IntArray,
) -> None:
    """Take a step with ``members``, whose scores for it are there, a row for each."""
    width = nodes.labels.shape[1]
    found = room_for(width, course)
    for k in range(members.shape[0]):
        i = members[k]
        count = expand(course, weights, shut[i], t, nodes, i, found)
        size = by_score(course, scores[k], t, nodes, i, found, count, width)
        take(course, t, nodes, i, found, size, True)


@kernel
def add_patterns(
    weights: FloatArray, course: Course, labels: IntArray, steps: int, amount: float
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
                weights[course.tally_origin[k] + min(counts[q], MOST_COUNTED - 1)] += amount
                counts[q] += 1


@kernel
def is_good(course: Course, labels: IntArray, gold: IntArray, steps: int) -> bool:
    """Whether a node can still become the output that is gold."""
    good = True
    for t in range(steps):
        good = good and labels[course.order[t]] == gold[course.order[t]]
    return good


@inlined
def learn_from(
    learned: Learned, course: Course, labels: IntArray, steps: int, amount: float
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
    course: Course,
) -> BoolArray:
    """Algorithm 1 of Pan and Srikumar (2018), one input after the other; where a mistake was made.

    Search ends where no node of the beam is good, and then

        w += step · (φ(v*) - the mean of φ over the beam)    v* = gold, as far as labels were given

    or at a best output that is not gold, and then w += step · (φ(gold) - φ(that output)).
    """
    m, n = gold.shape
    nodes, found = first_nodes(m, width, course), room_for(width, course)
    wrong = np.zeros(m, np.bool_)
    for i in range(m):
        learned.clock[0] += 1.0
        for t in range(n):
            count = expand(course, learned.weights, shut[i], t, nodes, i, found)
            size = by_score(course, scores[i], t, nodes, i, found, count, width)
            take(course, t, nodes, i, found, size, True)
            good = False
            for node in range(size):
                good = good or is_good(course, nodes.labels[i, node], gold[i], t + 1)
            if not good:
                wrong[i] = True
                learn_from(learned, course, gold[i], t + 1, step)
                for node in range(size):
                    learn_from(learned, course, nodes.labels[i, node], t + 1, -step / size)
                break
        if not wrong[i] and n > 0 and not is_good(course, nodes.labels[i, 0], gold[i], n):
            wrong[i] = True
            learn_from(learned, course, gold[i], n, step)
            learn_from(learned, course, nodes.labels[i, 0], n, -step)
    return wrong
