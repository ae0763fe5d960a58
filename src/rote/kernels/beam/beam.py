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

from rote.kernels.jit import inlined, kernel, lean
from rote.types import BoolArray, FloatArray, IntArray

MAX_COUNTED = 4  # values of a tally: none, one, two, or more before


class BeamPlan(NamedTuple):
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
    scores: FloatArray  # of its parts
    shut: BoolArray  # its labels that are closed


class Guide(NamedTuple):
    """What a search goes by, and room for its successors."""

    course: BeamPlan
    weights: FloatArray  # of h
    theta: float  # by how much h alone has to decide
    found: Successors


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
    known_value: FloatArray  # (width, labels): what is added to g
    more: FloatArray  # to both, -inf if the label is closed
    top: FloatArray  # per row: the most that a label adds to what ranks nodes
    node: IntArray  # those that are kept, the best first
    label: IntArray
    rank: FloatArray
    parents: Nodes  # room for the nodes themselves, as those of one input


@kernel
def first_nodes(inputs: int, width: int, course: BeamPlan) -> Nodes:
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
def beam_of(nodes: Nodes, i: int, scores: FloatArray, shut: BoolArray) -> OneBeam:
    """That of one input, which is not a copy, with its scores and closed labels."""
    return OneBeam(nodes.labels[i], nodes.score[i], nodes.habit[i], nodes.counts[i], scores, shut)


@kernel
def guide_of(course: BeamPlan, weights: FloatArray, theta: float, width: int) -> Guide:
    """What a search with beams of some width goes by."""
    return Guide(course, weights, theta, room_for(width, course))


@kernel
def room_for(width: int, course: BeamPlan) -> Successors:
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
        first_nodes(1, width, course),
    )


@inlined
def find_twins(guide: Guide, t: int, beam: OneBeam, size: int) -> None:
    """The first node of a beam that is as each one in all that a step looks at."""
    course, found = guide.course, guide.found
    for node in range(size):
        code = course.apart[t] * node
        for k in range(course.read_ptr[t], course.read_ptr[t + 1]):
            code += course.read_stride[k] * beam.labels[node, course.read[k]]
        for c in range(course.tally_ptr[t], course.tally_ptr[t + 1]):
            before = min(beam.counts[node, course.tally[c]], MAX_COUNTED - 1)
            code += course.tally_stride[c] * before
        found.code[node] = code
        twin = 0
        while found.code[twin] != code:
            twin += 1
        found.twin[node] = twin


@inlined
def find_gains(guide: Guide, t: int, beam: OneBeam, size: int) -> None:
    """What labels add to the h of nodes that are their own twins."""
    course, weights, found = guide.course, guide.weights, guide.found
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
                        before = min(beam.counts[node, course.tally[c]], MAX_COUNTED - 1)
                        gain += weights[course.tally_origin[c] + before]
                found.gain[row, a] = gain
            found.known[row] = row < course.rows


@inlined
def expand(guide: Guide, t: int, beam: OneBeam, size: int, scored: bool) -> None:
    """What labels add to h, and if ``scored`` to g as well; what ranks nodes and successors."""
    course, found, scores = guide.course, guide.found, beam.scores
    find_twins(guide, t, beam, size)
    find_gains(guide, t, beam, size)
    j = course.order[t]
    for node in range(size):
        found.base[node] = beam.habit[node] + (beam.score[node] if scored else 0.0)
        if found.twin[node] == node:
            row, top = found.row[node], -np.inf
            for a in range(course.sizes[j]):
                found.known_value[node, a] = scores[course.offsets[j] + a] if scored else 0.0
            for f in range(course.factor_ptr[t], course.factor_ptr[t + 1] if scored else 0):
                part, stride = course.factor_part[f], 0
                for k in range(course.scope_ptr[f], course.scope_ptr[f + 1]):
                    if course.scope[k] == j:
                        stride += course.scope_stride[k]
                    else:
                        part += course.scope_stride[k] * beam.labels[node, course.scope[k]]
                for a in range(course.sizes[j]):
                    found.known_value[node, a] += scores[part + stride * a]
            for a in range(course.sizes[j]):
                more = found.gain[row, a] + found.known_value[node, a]
                if beam.shut[course.offsets[j] + a]:
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
def take(guide: Guide, t: int, beam: OneBeam, size: int, kept: int) -> None:
    """Make the successors that are kept, so many, the next beam."""
    course, found = guide.course, guide.found
    j, n, parents = course.order[t], course.order.shape[0], found.parents
    moved = False
    for at in range(kept):
        moved = moved or found.node[at] != at
    # A parent may be needed after its own place has another node.
    for node in range(size):
        parents.score[0, node] = beam.score[node]
        parents.habit[0, node] = beam.habit[node]
        if moved:
            for v in range(n):
                parents.labels[0, node, v] = beam.labels[node, v]
            for c in range(course.counters):
                parents.counts[0, node, c] = beam.counts[node, c]
    for at in range(kept):
        node, label = found.node[at], found.label[at]
        if node != at:
            for v in range(n):
                beam.labels[at, v] = parents.labels[0, node, v]
            for c in range(course.counters):
                beam.counts[at, c] = parents.counts[0, node, c]
        beam.labels[at, j] = label
        for q in range(course.tally_ptr[t], course.tally_ptr[t + 1]):
            if course.counted[q, label]:
                beam.counts[at, course.tally[q]] += 1
        twin = found.twin[node]
        beam.score[at] = parents.score[0, node] + found.known_value[twin, label]
        beam.habit[at] = parents.habit[0, node] + found.gain[found.row[twin], label]


@inlined
def advance(guide: Guide, t: int, beam: OneBeam, size: int) -> int:
    """Take a step by g + h; how many nodes the beam has then."""
    course = guide.course
    expand(guide, t, beam, size, True)
    kept = keep_best(guide.found, size, course.sizes[course.order[t]], beam.score.shape[0])
    take(guide, t, beam, size, kept)
    return kept


@lean
def is_decided(guide: Guide, t: int, beam: OneBeam, size: int) -> bool:
    """Whether h alone decides a step."""
    course, rank, width = guide.course, guide.found.rank, beam.score.shape[0]
    expand(guide, t, beam, size, False)
    kept = keep_best(guide.found, size, course.sizes[course.order[t]], width + 1)
    decided: bool = kept > width and rank[width - 1] - rank[width] > guide.theta
    return decided


@lean
def leap(guide: Guide, t: int, beam: OneBeam, size: int) -> bool:
    """Take a step by h alone, if it decides; whether it did. The beam is full then."""
    decided = is_decided(guide, t, beam, size)
    if decided:
        take(guide, t, beam, size, beam.score.shape[0])
    return decided


@kernel
def search_beam(
    scores: FloatArray,
    shut: BoolArray,
    weights: FloatArray,
    width: int,
    theta: float,
    course: BeamPlan,
) -> tuple[Nodes, IntArray]:
    """The last beams, and how many steps of each input h decided alone.

    ``shut`` is of shape (m, labels). An input one of whose variables has no label has no nodes.
    """
    m, n = scores.shape[0], course.order.shape[0]
    nodes, guide = first_nodes(m, width, course), guide_of(course, weights, theta, width)
    skipped = np.zeros(m, np.int64)
    for i in range(m):
        beam, size = beam_of(nodes, i, scores[i], shut[i]), 1
        for t in range(n):
            if theta < np.inf and leap(guide, t, beam, size):
                size = width
                skipped[i] += 1
            else:
                size = advance(guide, t, beam, size)
        nodes.size[i] = size
    return nodes, skipped


class Progress(NamedTuple):
    """How far inputs have come."""

    nodes: Nodes
    there: BoolArray  # (m, steps): whether the step has its scores
    steps: IntArray  # (m,): to which step an input has come
    skipped: IntArray  # (m,): steps that h decided alone


@kernel
def proceed(
    scores: FloatArray,
    shut: BoolArray,
    weights: FloatArray,
    theta: float,
    course: BeamPlan,
    progress: Progress,
) -> BoolArray:
    """Go on with each input until a step needs scores that are not there; which are wanted then.

    Wanted, of shape (m, steps), is the step
    that an input waits at, and with a beam of one node all others that h can already be seen not
    to decide.
    """
    nodes, there, steps, skipped = progress
    m, n, width = steps.shape[0], course.order.shape[0], nodes.score.shape[1]
    guide, wanted = guide_of(course, weights, theta, width), np.zeros((m, n), np.bool_)
    for i in range(m):
        beam, size, t = beam_of(nodes, i, scores[i], shut[i]), nodes.size[i], steps[i]
        waits = False
        while t < n and not waits:
            if leap(guide, t, beam, size):
                size = width
                skipped[i] += 1
                t += 1
            elif there[i, t]:
                size = advance(guide, t, beam, size)
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
                    wanted[i, u] = not is_decided(guide, u, beam, size)
    return wanted
