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
    ``origin + label + Σ other_stride · label of another variable``.
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
    other: IntArray  # (patterns, 2): variables labelled before, or -1
    other_stride: IntArray
    read_ptr: IntArray  # per step
    read: IntArray  # the earlier variables that its patterns and factors look at
    read_stride: IntArray  # what their labels count in the code of a node
    tally_ptr: IntArray  # per step
    tally: IntArray  # which counter
    tally_origin: IntArray
    tally_stride: IntArray
    apart: IntArray  # per step: 1 where no code tells nodes apart, being too large; 0 elsewhere
    row: IntArray  # per step: that of code 0 in the table of h, which alike steps share; or -1
    rows: int  # of that table
    counted: BoolArray  # (tallies of steps, labels): whether a label counts
    counters: int


class Nodes(NamedTuple):
    """The beams of some inputs."""

    labels: IntArray  # (m, width, variables): -1 where there is none yet
    score: FloatArray  # (m, width): g
    habit: FloatArray  # (m, width): h
    counts: IntArray  # (m, width, counters)
    size: IntArray  # (m,): nodes in the beam


class OneBeam(NamedTuple):
    """That of one input."""

    labels: IntArray
    score: FloatArray
    habit: FloatArray
    counts: IntArray


class Successors(NamedTuple):
    """Those of the nodes of one beam, and which of them are kept.

    Most nodes of a beam are alike in all that a step looks at: *twins*, to whom a label adds the
    same. They have the same *code*, and what a label adds stands in the row of the first of them.

    What it adds to h depends on the code alone, whatever the input. So it is worked out once for
    a code, as long as weights stay as they are, in a table that has a row for each code of a step.
    Steps with too many codes use the rows after those, one for each node.
    """

    code: IntArray  # per node
    twin: IntArray  # per node
    row: IntArray  # per node: which one of ``gain`` is its own
    known: BoolArray  # per row of ``gain``: whether it was worked out, and stays
    gain: FloatArray  # (rows, labels): what is added to h
    place: IntArray  # per pattern of a step: its weight for the first label
    base: FloatArray  # per node: what ranks it
    worth: FloatArray  # (width, labels): what is added to g
    more: FloatArray  # to both, -inf if the label is closed
    top: FloatArray  # per row: the most that a label adds to what ranks nodes
    node: IntArray  # those that are kept, the best first
    label: IntArray
    rank: FloatArray
    parents: OneBeam  # room for the nodes themselves


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


@inlined
def beam_of(nodes: Nodes, i: int) -> OneBeam:
    """That of one input, which is not a copy."""
    return OneBeam(nodes.labels[i], nodes.score[i], nodes.habit[i], nodes.counts[i])


@kernel
def room_for(width: int, course: Course) -> Successors:
    """Room for the successors of a beam."""
    labels = 1
    for j in range(course.sizes.shape[0]):
        labels = max(labels, course.sizes[j])
    most = width * labels + 1
    return Successors(
        np.empty(width, np.int64),
        np.empty(width, np.int64),
        np.empty(width, np.int64),
        np.zeros(course.rows + width, np.bool_),
        np.empty((course.rows + width, labels)),
        np.empty(course.origin.shape[0], np.int64),
        np.empty(width),
        np.empty((width, labels)),
        np.empty((width, labels)),
        np.empty(width),
        np.empty(most, np.int64),
        np.empty(most, np.int64),
        np.empty(most),
        beam_of(first_nodes(1, width, course), 0),
    )


@inlined
def find_twins(course: Course, t: int, beam: OneBeam, size: int, found: Successors) -> None:
    """The first node of a beam that is as each one in all that a step looks at."""
    for node in range(size):
        code = course.apart[t] * node
        for k in range(course.read_ptr[t], course.read_ptr[t + 1]):
            code += course.read_stride[k] * beam.labels[node, course.read[k]]
        for c in range(course.tally_ptr[t], course.tally_ptr[t + 1]):
            before = min(beam.counts[node, course.tally[c]], MOST_COUNTED - 1)
            code += course.tally_stride[c] * before
        found.code[node] = code
        twin = 0
        while found.code[twin] != code:
            twin += 1
        found.twin[node] = twin


@inlined
def find_gains(
    course: Course, weights: FloatArray, t: int, beam: OneBeam, size: int, found: Successors
) -> None:
    """What labels add to the h of nodes that are their own twins."""
    first, last = course.pattern_ptr[t], course.pattern_ptr[t + 1]
    for node in range(size):
        row = course.rows + node
        if course.row[t] >= 0:
            row = course.row[t] + found.code[node]
        found.row[node] = row
        if found.twin[node] == node and not found.known[row]:
            for p in range(first, last):
                at = course.origin[p]
                for k in range(2):
                    if course.other[p, k] >= 0:
                        at += course.other_stride[p, k] * beam.labels[node, course.other[p, k]]
                found.place[p - first] = at
            for a in range(course.sizes[course.order[t]]):
                gain = 0.0
                for p in range(last - first):
                    gain += weights[found.place[p] + a]
                for c in range(course.tally_ptr[t], course.tally_ptr[t + 1]):
                    if course.counted[c, a]:
                        before = min(beam.counts[node, course.tally[c]], MOST_COUNTED - 1)
                        gain += weights[course.tally_origin[c] + before]
                found.gain[row, a] = gain
            found.known[row] = row < course.rows


@inlined
def expand(
    course: Course,
    weights: FloatArray,
    shut: BoolArray,
    scores: FloatArray,
    t: int,
    beam: OneBeam,
    size: int,
    found: Successors,
    scored: bool,
) -> None:
    """What labels add to h, and if ``scored`` to g as well; what ranks nodes and successors.

    ``shut`` says which labels are closed.
    """
    find_twins(course, t, beam, size, found)
    find_gains(course, weights, t, beam, size, found)
    j = course.order[t]
    for node in range(size):
        found.base[node] = beam.habit[node] + (beam.score[node] if scored else 0.0)
        if found.twin[node] == node:
            row, top = found.row[node], -np.inf
            for a in range(course.sizes[j]):
                found.worth[node, a] = scores[course.offsets[j] + a] if scored else 0.0
            for f in range(course.factor_ptr[t], course.factor_ptr[t + 1] if scored else 0):
                part, stride = course.factor_part[f], 0
                for k in range(course.scope_ptr[f], course.scope_ptr[f + 1]):
                    if course.scope[k] == j:
                        stride += course.scope_stride[k]
                    else:
                        part += course.scope_stride[k] * beam.labels[node, course.scope[k]]
                for a in range(course.sizes[j]):
                    found.worth[node, a] += scores[part + stride * a]
            for a in range(course.sizes[j]):
                more = found.gain[row, a] + found.worth[node, a]
                if shut[course.offsets[j] + a]:
                    more = -np.inf
                found.more[node, a] = more
                top = max(top, more)
            found.top[node] = top


@inlined
def keep_best(found: Successors, size: int, labels: int, most: int) -> int:
    """Keep the successors of so many nodes that rank highest, at most ``most``; how many.

    Ranks are ``base + more``. Of equals, the first is ahead; closed labels are never kept.
    """
    floor = -np.inf
    if size == most:  # every node has a best successor, and what is below these is not kept
        floor = np.inf
        for node in range(size):
            floor = min(floor, found.base[node] + found.top[found.twin[node]])
    kept = 0
    for node in range(size):
        twin, base = found.twin[node], found.base[node]
        if kept == most and base + found.top[twin] <= found.rank[most - 1]:
            continue
        for a in range(labels):
            rank = base + found.more[twin, a]
            if rank < floor or rank == -np.inf:
                continue
            full = kept == most
            if full and rank <= found.rank[most - 1]:
                continue
            at = most - 1 if full else kept
            kept = min(kept + 1, most)
            while at > 0 and rank > found.rank[at - 1]:
                found.rank[at] = found.rank[at - 1]
                found.node[at] = found.node[at - 1]
                found.label[at] = found.label[at - 1]
                at -= 1
            found.rank[at] = rank
            found.node[at] = node
            found.label[at] = a
    return kept


@inlined
def take(course: Course, t: int, beam: OneBeam, size: int, found: Successors, kept: int) -> None:
    """Make the successors that are kept, so many, the next beam."""
    j, n, parents = course.order[t], course.order.shape[0], found.parents
    moved = False
    for at in range(kept):
        moved = moved or found.node[at] != at
    # A parent may be needed after its own place has another node.
    for node in range(size):
        parents.score[node] = beam.score[node]
        parents.habit[node] = beam.habit[node]
        if moved:
            for v in range(n):
                parents.labels[node, v] = beam.labels[node, v]
            for c in range(course.counters):
                parents.counts[node, c] = beam.counts[node, c]
    for at in range(kept):
        node, label = found.node[at], found.label[at]
        if node != at:
            for v in range(n):
                beam.labels[at, v] = parents.labels[node, v]
            for c in range(course.counters):
                beam.counts[at, c] = parents.counts[node, c]
        beam.labels[at, j] = label
        for q in range(course.tally_ptr[t], course.tally_ptr[t + 1]):
            if course.counted[q, label]:
                beam.counts[at, course.tally[q]] += 1
        twin = found.twin[node]
        beam.score[at] = parents.score[node] + found.worth[twin, label]
        beam.habit[at] = parents.habit[node] + found.gain[found.row[twin], label]


@inlined
def advance(
    course: Course,
    weights: FloatArray,
    shut: BoolArray,
    scores: FloatArray,
    t: int,
    beam: OneBeam,
    size: int,
    found: Successors,
) -> int:
    """Take a step by g + h; how many nodes the beam has then."""
    expand(course, weights, shut, scores, t, beam, size, found, True)
    kept = keep_best(found, size, course.sizes[course.order[t]], beam.score.shape[0])
    take(course, t, beam, size, found, kept)
    return kept


@kernel
def is_decided(
    course: Course,
    weights: FloatArray,
    shut: BoolArray,
    theta: float,
    t: int,
    beam: OneBeam,
    size: int,
    found: Successors,
) -> bool:
    """Whether h alone decides a step."""
    width = beam.score.shape[0]
    expand(course, weights, shut, beam.score, t, beam, size, found, False)  # no scores are read
    kept = keep_best(found, size, course.sizes[course.order[t]], width + 1)
    decided: bool = kept > width and found.rank[width - 1] - found.rank[width] > theta
    return decided


@kernel
def leap(
    course: Course,
    weights: FloatArray,
    shut: BoolArray,
    theta: float,
    t: int,
    beam: OneBeam,
    size: int,
    found: Successors,
) -> bool:
    """Take a step by h alone, if it decides; whether it did. The beam is full then."""
    decided = is_decided(course, weights, shut, theta, t, beam, size, found)
    if decided:
        take(course, t, beam, size, found, beam.score.shape[0])
    return decided


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
        beam, size, own, closed = beam_of(nodes, i), 1, scores[i], shut[i]
        for t in range(n):
            if theta < np.inf and leap(course, weights, closed, theta, t, beam, size, found):
                size = width
                skipped[i] += 1
            else:
                size = advance(course, weights, closed, own, t, beam, size, found)
        nodes.size[i] = size
    return nodes, skipped


@kernel
def proceed(
    scores: FloatArray,
    there: BoolArray,
    shut: BoolArray,
    weights: FloatArray,
    theta: float,
    course: Course,
    nodes: Nodes,
    steps: IntArray,
    skipped: IntArray,
) -> BoolArray:
    """Go on with each input until a step needs scores that are not there; which are wanted then.

    ``there`` says of each input which steps have their scores, and ``steps`` to which it has come.
    Steps that h decides alone are counted in ``skipped``. Wanted, of shape (m, steps), is the step
    that an input waits at, and with a beam of one node all others that h can already be seen not
    to decide.
    """
    m, n, width = steps.shape[0], course.order.shape[0], nodes.score.shape[1]
    found, wanted = room_for(width, course), np.zeros((m, n), np.bool_)
    for i in range(m):
        beam, size, own, closed, t = beam_of(nodes, i), nodes.size[i], scores[i], shut[i], steps[i]
        waits = False
        while t < n and not waits:
            if leap(course, weights, closed, theta, t, beam, size, found):
                size = width
                skipped[i] += 1
                t += 1
            elif there[i, t]:
                size = advance(course, weights, closed, own, t, beam, size, found)
                t += 1
            else:
                waits = True
        nodes.size[i], steps[i] = size, t
        if waits:
            wanted[i, t] = True
            for u in range(t + 1, n if width == 1 and size == 1 else 0):
                # All that the step looks at has to be known, whatever comes in between.
                ready = not there[i, u] and course.tally_ptr[u] == course.tally_ptr[u + 1]
                for k in range(course.read_ptr[u], course.read_ptr[u + 1]):
                    ready = ready and beam.labels[0, course.read[k]] >= 0
                if ready:
                    decided = is_decided(course, weights, closed, theta, u, beam, size, found)
                    wanted[i, u] = not decided
    return wanted
