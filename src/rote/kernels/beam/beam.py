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

import cython
import numpy as np

from rote.types import BoolArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.constants import MAX_COUNTED
    from rote.kernels.inlined import parts_reached


class BeamPlan(Bundle):
    """The order in which the variables of a space get labels, and what is known after each step.

    A pattern belongs to the step that labels the last of its variables. Its value is the weight at
    ``origin + label + Σ other_stride · label of another variable``.
    """

    def __init__(
        self,
        order: Ints,  # per step: its variable
        sizes: Ints,  # per variable
        offsets: Ints,  # per variable: the part of its first label
        factor_ptr: Ints,  # per step: the factors that are whole then
        factor_part: Ints,  # per factor: the part of its first label tuple
        scope_ptr: Ints,  # per factor
        scope: Ints,
        scope_stride: Ints,
        pattern_ptr: Ints,  # per step
        origin: Ints,  # per pattern
        other: Ints2,  # (patterns, 2): variables labelled before, or -1
        other_stride: Ints2,
        read_ptr: Ints,  # per step
        read: Ints,  # the earlier variables that its patterns and factors look at
        read_stride: Ints,  # what their labels count in the code of a node
        tally_ptr: Ints,  # per step
        tally: Ints,  # which counter
        tally_origin: Ints,
        tally_stride: Ints,
        apart: Ints,  # per step: 1 where no code tells nodes apart, being too large; 0 elsewhere
        row: Ints,  # per step: that of code 0 in the table of h, which alike steps share; or -1
        rows: Int,  # of that table
        counted: Flags2,  # (tallies of steps, labels): whether a label counts
        counters: Int,
    ) -> None:
        self.order = order
        self.sizes = sizes
        self.offsets = offsets
        self.factor_ptr = factor_ptr
        self.factor_part = factor_part
        self.scope_ptr = scope_ptr
        self.scope = scope
        self.scope_stride = scope_stride
        self.pattern_ptr = pattern_ptr
        self.origin = origin
        self.other = other
        self.other_stride = other_stride
        self.read_ptr = read_ptr
        self.read = read
        self.read_stride = read_stride
        self.tally_ptr = tally_ptr
        self.tally = tally
        self.tally_origin = tally_origin
        self.tally_stride = tally_stride
        self.apart = apart
        self.row = row
        self.rows = rows
        self.counted = counted
        self.counters = counters


class Nodes(Bundle):
    """The beams of some inputs; at first each has the empty node alone."""

    def __init__(self, inputs: Int, width: Int, plan: BeamPlan) -> None:
        n = plan.order.shape[0]
        self.labels = np.full((inputs, width, n), -1, np.int64)  # -1 where there is none yet
        self.score = np.zeros((inputs, width))  # g
        self.heuristic = np.zeros((inputs, width))  # h
        self.counts = np.zeros((inputs, width, plan.counters), np.int64)
        self.size = np.ones(inputs, np.int64)  # nodes in the beam


class Search(Bundle):
    """What a search goes by, and room for the successors of one beam after the other.

    Most nodes of a beam are alike in all that a step looks at: *twins*, to whom a label adds the
    same. They have the same *code*, and what a label adds stands in the row of the first of them.

    What it adds to h depends on the code alone, whatever the input. So it is worked out once for
    a code, as long as weights stay as they are, in a table that has a row for each code of a step.
    Steps with too many codes use the rows after those, one for each node.
    """

    def __init__(self, plan: BeamPlan, nodes: Nodes) -> None:
        self.plan = plan
        self.nodes = nodes
        width: Int = nodes.score.shape[1]
        labels: Int = 1
        for j in range(plan.sizes.shape[0]):
            labels = max(labels, plan.sizes[j])
        n, most = plan.order.shape[0], width * labels + 1
        # Few arrays, each of several things: making one takes as long as a step.
        whole: OutInts = ints(3 * width + 2 * most + plan.origin.shape[0] + n)
        self.code = whole[:width]  # per node
        self.twin = whole[width : 2 * width]  # per node
        self.row = whole[2 * width : 3 * width]  # per node: which one of ``gain`` is its own
        whole = whole[3 * width :]
        self.node = whole[:most]  # those that are kept, the best first
        self.label = whole[most : 2 * most]
        self.reach = whole[2 * most : 2 * most + n]  # per step: no label before it from here on
        self.place = whole[2 * most + n :]  # per pattern of a step: the weight of the first label
        room: OutFloats = floats(4 * width + most)
        self.base = room[:width]  # per node: what ranks it
        self.top = room[width : 2 * width]  # per node: the most that a label adds to that
        self.parent_score = room[2 * width : 3 * width]  # nodes as they were before a step
        self.parent_heuristic = room[3 * width : 4 * width]
        self.rank = room[4 * width :]
        self.parents = ints2(width, n + plan.counters)  # their labels, then their counts
        rows = plan.rows + width
        table: OutFloats2 = floats2(rows + 2 * width, labels)
        self.gain = table[:rows]  # what is added to h
        self.added = table[rows : rows + width]  # per node: to g
        self.more = table[rows + width :]  # per node: to both, -inf if the label is closed
        self.known = np.zeros(rows, np.bool_)  # per row of ``gain``: worked out, and stays
        reach: Int = 0
        for t in range(n):
            self.reach[t] = reach
            reach = max(reach, plan.order[t] + 1)

    def look_at(self, scores: Floats2, shut: Flags2, weights: Floats, theta: float) -> None:
        """Go by these: views are handed over faster so than to be made with."""
        plan, inputs = self.plan, self.nodes.size.shape[0]
        labels = plan.offsets[plan.sizes.shape[0]]
        expect("scores", "rows", inputs, scores.shape[0])
        reach = parts_reached(
            plan.factor_part, plan.scope_ptr, plan.scope, plan.scope_stride, plan.sizes
        )
        expect_least("scores", "columns", max(reach, labels), scores.shape[1])
        if shut.shape[0] > 0:
            expect("shut", "rows", inputs, shut.shape[0])
            expect_least("shut", "columns", labels, shut.shape[1])
        self.scores = scores  # (m, parts)
        self.shut = shut  # (m, labels): those that are closed, or no row at all when none is
        self.weights = weights  # of h
        self.theta = theta  # by how much h alone has to decide


def counted_before(search: Search, i: Int, node: Int, c: Int) -> int:
    """How many labels of a node already count in a tally, as far as it tells."""
    return min(search.nodes.counts[i, node, search.plan.tally[c]], MAX_COUNTED - 1)


def find_twins(search: Search, i: Int, t: Int, size: Int) -> None:
    """The first node of beam i that is as each one in all that step t looks at."""
    for node in range(size):
        code: Int = search.plan.apart[t] * node
        for k in range(search.plan.read_ptr[t], search.plan.read_ptr[t + 1]):
            label: Int = search.nodes.labels[i, node, search.plan.read[k]]
            code += search.plan.read_stride[k] * label
        for c in range(search.plan.tally_ptr[t], search.plan.tally_ptr[t + 1]):
            code += search.plan.tally_stride[c] * counted_before(search, i, node, c)
        search.code[node] = code
        twin: Int = 0
        while search.code[twin] != code:
            twin += 1
        search.twin[node] = twin


def find_gains(search: Search, i: Int, t: Int, size: Int) -> None:
    """What labels add to the h of nodes that are their own twins."""
    for node in range(size):
        row: Int = search.plan.rows + node
        if search.plan.row[t] >= 0:
            row = search.plan.row[t] + search.code[node]
        search.row[node] = row
        if search.twin[node] == node and not search.known[row]:
            work_out_gains(search, i, t, node)
            search.known[row] = row < search.plan.rows


def work_out_gains(search: Search, i: Int, t: Int, node: Int) -> None:
    """What labels add to the h of one node, in its row."""
    row, first = search.row[node], search.plan.pattern_ptr[t]
    patterns = search.plan.pattern_ptr[t + 1] - first
    for p in range(patterns):
        at: Int = search.plan.origin[first + p]
        for k in range(2):
            v: Int = search.plan.other[first + p, k]
            if v >= 0:
                at += search.plan.other_stride[first + p, k] * search.nodes.labels[i, node, v]
        search.place[p] = at
    for a in range(search.plan.sizes[search.plan.order[t]]):
        gain = 0.0
        for p in range(patterns):
            gain += search.weights[search.place[p] + a]
        for c in range(search.plan.tally_ptr[t], search.plan.tally_ptr[t + 1]):
            if search.plan.counted[c, a]:
                before = counted_before(search, i, node, c)
                gain += search.weights[search.plan.tally_origin[c] + before]
        search.gain[row, a] = gain


def score_labels(search: Search, i: Int, t: Int, node: Int) -> None:
    """What labels add to the g of one node."""
    j = search.plan.order[t]
    width, first = search.plan.sizes[j], search.plan.offsets[j]
    for a in range(width):
        search.added[node, a] = search.scores[i, first + a]
    for f in range(search.plan.factor_ptr[t], search.plan.factor_ptr[t + 1]):
        part: Int = search.plan.factor_part[f]
        stride: Int = 0
        for k in range(search.plan.scope_ptr[f], search.plan.scope_ptr[f + 1]):
            v = search.plan.scope[k]
            if v == j:
                stride += search.plan.scope_stride[k]
            else:
                part += search.plan.scope_stride[k] * search.nodes.labels[i, node, v]
        for a in range(width):
            search.added[node, a] += search.scores[i, part + stride * a]


def expand(search: Search, i: Int, t: Int, size: Int, scored: Bool) -> None:
    """What labels add to h, and if ``scored`` to g as well; what ranks nodes and successors."""
    find_twins(search, i, t, size)
    find_gains(search, i, t, size)
    j = search.plan.order[t]
    width, first = search.plan.sizes[j], search.plan.offsets[j]
    some_shut: Bool = search.shut.shape[0] > 0
    for node in range(size):
        known: float = search.nodes.score[i, node] if scored else 0.0
        search.base[node] = search.nodes.heuristic[i, node] + known
        if search.twin[node] != node:
            continue
        if scored:
            score_labels(search, i, t, node)
        else:
            for a in range(width):
                search.added[node, a] = 0.0
        row = search.row[node]
        top: float = -inf
        for a in range(width):
            more: float = search.gain[row, a] + search.added[node, a]
            if some_shut and search.shut[i, first + a]:
                more = -inf
            search.more[node, a] = more
            top = max(top, more)
        search.top[node] = top


def keep_best(search: Search, size: Int, labels: Int, most: Int) -> int:
    """Keep the successors of so many nodes that rank highest, at most ``most``; how many.

    Ranks are ``base + more``. Of equals, the first is ahead; closed labels are never kept.
    """
    floor = -inf
    if size == most:  # every node has a best successor, and what is below these is not kept
        floor = inf
        for node in range(size):
            floor = min(floor, search.base[node] + search.top[search.twin[node]])
    kept: Int = 0
    for node in range(size):
        twin, base = search.twin[node], search.base[node]
        if kept == most and base + search.top[twin] <= search.rank[most - 1]:
            continue
        for a in range(labels):
            rank: float = base + search.more[twin, a]
            if rank < floor or rank == -inf:
                continue
            if kept == most and rank <= search.rank[most - 1]:
                continue
            kept = min(kept + 1, most)
            at = kept - 1
            while at > 0 and rank > search.rank[at - 1]:
                search.rank[at] = search.rank[at - 1]
                search.node[at] = search.node[at - 1]
                search.label[at] = search.label[at - 1]
                at -= 1
            search.rank[at] = rank
            search.node[at] = node
            search.label[at] = a
    return kept


def keep_parents(search: Search, i: Int, t: Int, size: Int, kept: Int) -> None:
    """Copy what successors need: a parent may be needed after its own place has another node."""
    n, moved = search.plan.order.shape[0], 0
    for at in range(kept):
        if search.node[at] != at:
            moved = max(moved, search.node[at] + 1)
    for node in range(size):
        search.parent_score[node] = search.nodes.score[i, node]
        search.parent_heuristic[node] = search.nodes.heuristic[i, node]
    for node in range(moved):
        for v in range(search.reach[t]):
            search.parents[node, v] = search.nodes.labels[i, node, v]
        for c in range(search.plan.counters):
            search.parents[node, n + c] = search.nodes.counts[i, node, c]


def take(search: Search, i: Int, t: Int, size: Int, kept: Int) -> None:
    """Make the successors that are kept, so many, the next beam."""
    n, j = search.plan.order.shape[0], search.plan.order[t]
    keep_parents(search, i, t, size, kept)
    for at in range(kept):
        node, label = search.node[at], search.label[at]
        if node != at:
            for v in range(search.reach[t]):
                search.nodes.labels[i, at, v] = search.parents[node, v]
            for c in range(search.plan.counters):
                search.nodes.counts[i, at, c] = search.parents[node, n + c]
        search.nodes.labels[i, at, j] = label
        for q in range(search.plan.tally_ptr[t], search.plan.tally_ptr[t + 1]):
            if search.plan.counted[q, label]:
                search.nodes.counts[i, at, search.plan.tally[q]] += 1
        twin = search.twin[node]
        search.nodes.score[i, at] = search.parent_score[node] + search.added[twin, label]
        gain: float = search.gain[search.row[twin], label]
        search.nodes.heuristic[i, at] = search.parent_heuristic[node] + gain


def advance(search: Search, i: Int, t: Int, size: Int) -> int:
    """Take a step by g + h; how many nodes the beam has then."""
    labels = search.plan.sizes[search.plan.order[t]]
    expand(search, i, t, size, True)
    kept = keep_best(search, size, labels, search.nodes.score.shape[1])
    take(search, i, t, size, kept)
    return kept


def is_decided(search: Search, i: Int, t: Int, size: Int) -> bool:
    """Whether h alone decides a step."""
    labels, width = search.plan.sizes[search.plan.order[t]], search.nodes.score.shape[1]
    expand(search, i, t, size, False)
    kept = keep_best(search, size, labels, width + 1)
    return kept > width and search.rank[width - 1] - search.rank[width] > search.theta


def leap(search: Search, i: Int, t: Int, size: Int) -> bool:
    """Take a step by h alone, if it decides; whether it did. The beam is full then."""
    decided: Bool = is_decided(search, i, t, size)
    if decided:
        take(search, i, t, size, search.nodes.score.shape[1])
    return decided


def search_beam(
    scores: Floats2, shut: Flags2, weights: Floats, width: Int, theta: float, plan: BeamPlan
) -> tuple[Nodes, IntArray]:
    """The last beams, and how many steps of each input h decided alone.

    ``shut`` is of shape (m, labels). An input one of whose variables has no label has no nodes.
    """
    m, n = scores.shape[0], plan.order.shape[0]
    nodes = Nodes(m, width, plan)
    search = Search(plan, nodes)
    search.look_at(scores, shut, weights, theta)
    skipped: OutInts = np.zeros(m, np.int64)
    with cython.nogil:
        for i in range(m):
            size: Int = 1
            for t in range(n):
                if theta < inf and leap(search, i, t, size):
                    size = width
                    skipped[i] += 1
                else:
                    size = advance(search, i, t, size)
            nodes.size[i] = size
    return nodes, np.asarray(skipped)


class Progress(Bundle):
    """How far inputs have come."""

    def __init__(
        self,
        nodes: Nodes,
        there: Flags2,  # (m, steps): whether the step has its scores
        steps: OutInts,  # (m,): to which step an input has come
        skipped: OutInts,  # (m,): steps that h decided alone
    ) -> None:
        expect("there", "rows", nodes.size.shape[0], there.shape[0])
        expect("steps", "entries", nodes.size.shape[0], steps.shape[0])
        expect("skipped", "entries", nodes.size.shape[0], skipped.shape[0])
        self.nodes = nodes
        self.there = there
        self.steps = steps
        self.skipped = skipped


def go_on(search: Search, progress: Progress, i: Int) -> bool:
    """Go on with input i until a step needs scores that are not there; whether one does."""
    size, t = search.nodes.size[i], progress.steps[i]
    waits: Bool = False
    while t < search.plan.order.shape[0] and not waits:
        if leap(search, i, t, size):
            size = search.nodes.score.shape[1]
            progress.skipped[i] += 1
            t += 1
        elif progress.there[i, t]:
            size = advance(search, i, t, size)
            t += 1
        else:
            waits = True
    search.nodes.size[i] = size
    progress.steps[i] = t
    return waits


def is_ready(search: Search, progress: Progress, i: Int, u: Int) -> bool:
    """Whether all that step u looks at is known, whatever comes in between, but no scores."""
    if progress.there[i, u] or search.plan.tally_ptr[u] < search.plan.tally_ptr[u + 1]:
        return False
    for k in range(search.plan.read_ptr[u], search.plan.read_ptr[u + 1]):
        if search.nodes.labels[i, 0, search.plan.read[k]] < 0:
            return False
    return True


def proceed(
    scores: Floats2,
    shut: Flags2,
    weights: Floats,
    theta: float,
    plan: BeamPlan,
    progress: Progress,
) -> BoolArray:
    """Go on with each input until a step needs scores that are not there; which are wanted then.

    Wanted, of shape (m, steps), is the step that an input waits at, and with a beam of one node
    all others that h can already be seen not to decide.
    """
    m, n = progress.steps.shape[0], plan.order.shape[0]
    search = Search(plan, progress.nodes)
    search.look_at(scores, shut, weights, theta)
    wanted: OutFlags2 = np.zeros((m, n), np.bool_)
    with cython.nogil:
        for i in range(m):
            if not go_on(search, progress, i):
                continue
            t = progress.steps[i]
            wanted[i, t] = True
            if search.nodes.score.shape[1] > 1 or search.nodes.size[i] != 1:
                continue
            for u in range(t + 1, n):
                if is_ready(search, progress, i, u):
                    wanted[i, u] = not is_decided(search, i, u, 1)
    return np.asarray(wanted).view(np.bool_)
