"""Labels that no answer needs are closed, input by input: presolve on rows, labels and tables.

The answer to an input is y*, the lexicographically first of the outputs within one tie of the best
value V. Every label that is closed here keeps two things: y* obeys what is left, and the best value
of what is left is V. So each step starts from a problem with the same answer as the one before, and
however many steps there are, they lose nothing together: no step spends a part of the tie.

*Unit propagation* closes labels that no output has which obeys a row. A row that every output
obeys, given the open labels, cannot bind and is dropped; so is one side of it.

*Label dominance*: label a of a variable is closed if another one, b, breaks no row that a obeys and

    gain = score(b) - score(a) + Σ_tables min over the open rest of (table(b) - table(a))

is at least 0 where b comes before a, and above one tie where it comes later. In the first case an
output with a has another one before it that is worth no less: it is not y*, and if it is worth V,
so is the other. In the second case it is worth less than V minus a tie. The order of auxiliary
variables is no part of the answer, so there a gain of 0 is enough in both directions.

*Group dominance*: a variable leaves label a for its first open label, and in every row that this
may break, other variables (its group) leave for their own first open labels until the row holds
whatever the rest does. Only variables join a group that can always do so without breaking any
row. All of them move to smaller labels. So a is closed if the gain is at least what the group can
lose, each of it

    loss = max(0, max over open labels c of its own gain from the first label to c),

changes being made one after the other; of those that exclude each other by a row, only one loses.

All numbers of rows are whole and exact. Sums of scores are rounded, by less than a millionth of a
tie together; of a step to a larger label a little more than a tie is asked for that reason.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import BoolArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Graph, Questions
    from rote.kernels.inlined import added, is_broken, weight_at

    MAX_ENTRIES = 256  # of a table; labels of variables in larger ones are not compared
    MOST_MOVED = 8  # variables that one row moves
MORE_THAN_A_TIE = 1.0001


class PresolveRoom(Bundle):
    """Where presolve of one input stands."""

    def __init__(self, graph: Graph, parts: Int) -> None:
        # Few arrays are quicker to make than many.
        n, rows = graph.sizes.shape[0], graph.rows.lower.shape[0]
        labels = graph.offsets[n]
        whole, marks = ints(3 * n + 2 * rows), flags(labels + 3 * n + 2 * rows)
        real = floats(n + 3 * rows)
        self.own = parts  # how many labels have scores; those of auxiliary variables are behind
        self.count = whole[:n]  # open labels
        self.first = whole[n : 2 * n]  # the first open label
        self.members = whole[2 * n : 3 * n]  # the group that moves
        self.moved = 0  # how many of them there are
        self.queue = whole[3 * n : 3 * n + rows]
        self.head = 0
        self.waiting = 0  # rows in the queue
        self.tally = whole[3 * n + rows :]  # room, per row
        self.open = marks[:labels]
        self.touched = marks[labels : labels + n]  # something changed since labels were compared
        self.safe = marks[labels + n : labels + 2 * n]  # any label may become the first one
        self.member = marks[labels + 2 * n : labels + 3 * n]
        self.live = marks[labels + 3 * n : labels + 3 * n + rows]  # rows that may bind
        self.queued = marks[labels + 3 * n + rows :]
        self.loss = real[:n]  # of a variable that is safe, at most
        self.least = real[n : n + rows]  # what a row adds up to, when it was last looked at
        self.most = real[n + rows : n + 2 * rows]
        self.dearest = real[n + 2 * rows :]  # room, per row


def close(graph: Graph, room: PresolveRoom, j: Int, e: Int) -> None:
    """Close a label; what hangs on its variable is looked at again."""
    room.open[e] = False
    room.count[j] -= 1
    while room.count[j] > 0 and not room.open[room.first[j]]:
        room.first[j] += 1
    room.touched[j] = True
    for q in range(graph.rows.of_ptr[j], graph.rows.of_ptr[j + 1]):
        enqueue(room, graph.rows.row[graph.rows.of[q]])
    for p in range(graph.tables.place_ptr[j], graph.tables.place_ptr[j + 1]):
        b = graph.tables.place_table[graph.tables.places[p]]
        for k in range(graph.tables.scope_ptr[b], graph.tables.scope_ptr[b + 1]):
            room.touched[graph.tables.scope[k]] = True


def enqueue(room: PresolveRoom, r: Int) -> None:
    """Have a row looked at."""
    if room.live[r] and not room.queued[r]:
        room.queued[r] = True
        at = room.head + room.waiting
        if at >= room.queue.shape[0]:
            at -= room.queue.shape[0]
        room.queue[at] = r
        room.waiting += 1


def span_of(graph: Graph, room: PresolveRoom, g: Int) -> tuple[float, float]:
    """The least and the most that the open labels of a variable add to a row."""
    low, high = inf, -inf
    seen = 0
    for c in range(graph.rows.start[g], graph.rows.start[g + 1]):
        if room.open[graph.rows.column[c]]:
            seen += 1
            low = min(low, graph.rows.coefficient[c])
            high = max(high, graph.rows.coefficient[c])
    if seen < room.count[graph.rows.variable[g]]:
        low = min(low, 0.0)
        high = max(high, 0.0)
    return low, high


def propagate(graph: Graph, room: PresolveRoom) -> bool:
    """Look at all rows that wait; false where one cannot be met."""
    while room.waiting > 0:
        r = room.queue[room.head]
        room.head = room.head + 1 if room.head + 1 < room.queue.shape[0] else 0
        room.waiting -= 1
        room.queued[r] = False
        if not look_at(graph, room, r):
            return False
    return True


def look_at(graph: Graph, room: PresolveRoom, r: Int) -> bool:
    """Close labels that break a row by themselves; false where it cannot be met.

    What the row adds up to is worked out once: closing labels makes it no wider.
    """
    least, most = 0.0, 0.0
    for g in range(graph.rows.ptr[r], graph.rows.ptr[r + 1]):
        low, high = span_of(graph, room, g)
        least += low
        most += high
    if is_broken(graph.rows, r, least, most):
        return False
    below: Bool = least < graph.rows.lower[r]
    above: Bool = most > graph.rows.upper[r]
    if least != room.least[r] or most != room.most[r]:
        room.least[r], room.most[r] = least, most
        for g in range(graph.rows.ptr[r], graph.rows.ptr[r + 1]):
            room.touched[graph.rows.variable[g]] = True
    if not below and not above:
        room.live[r] = False
        return True
    for g in range(graph.rows.ptr[r], graph.rows.ptr[r + 1]):
        v = graph.rows.variable[g]
        if room.count[v] < 2:
            continue
        low, high = span_of(graph, room, g)
        if least + high - low <= graph.rows.upper[r] and most - high + low >= graph.rows.lower[r]:
            continue
        at = graph.rows.start[g]
        for e in range(graph.offsets[v], graph.offsets[v + 1]):
            weight, at = weight_at(graph.rows, g, at, e)
            if room.open[e] and is_broken(
                graph.rows, r, least - low + weight, most - high + weight
            ):
                close(graph, room, v, e)
        if room.count[v] == 0:
            return False
    return True


def score_of(room: PresolveRoom, scores: Floats, e: Int) -> float:
    """The score of a label; auxiliary ones have none."""
    return scores[e] if e < room.own else 0.0


def least_gain(graph: Graph, room: PresolveRoom, scores: Floats, j: Int, a: Int, b: Int) -> float:
    """What exchanging label a for b gains at least, whatever the open rest is."""
    gain = score_of(room, scores, b) - score_of(room, scores, a)
    for p in range(graph.tables.place_ptr[j], graph.tables.place_ptr[j + 1]):
        k = graph.tables.places[p]
        f = graph.tables.place_table[k]
        begin, end = graph.tables.ptr[f], graph.tables.ptr[f + 1]
        if end - begin > MAX_ENTRIES:
            return -inf
        gain += least_difference(graph, room, scores, k, a, b)
    return gain


def least_difference(
    graph: Graph, room: PresolveRoom, scores: Floats, k: Int, a: Int, b: Int
) -> float:
    """The least that a table gains when label a of its variable at place k becomes b."""
    f, j, stride = graph.tables.place_table[k], graph.tables.scope[k], graph.tables.strides[k]
    begin = graph.tables.ptr[f]
    step = stride * graph.sizes[j]
    outer = begin + (a - graph.offsets[j]) * stride
    least = inf
    while outer < graph.tables.ptr[f + 1]:
        for e in range(outer, outer + stride):
            difference = scores[e + (b - a) * stride] - scores[e]
            if difference >= least:
                continue
            there: Bool = True
            for q in range(graph.tables.scope_ptr[f], graph.tables.scope_ptr[f + 1]):
                w = graph.tables.scope[q]
                label = ((e - begin) // graph.tables.strides[q]) % graph.sizes[w]
                if w != j and not room.open[graph.offsets[w] + label]:
                    there = False
            if there:
                least = difference
        outer += step
    return least


def may_break(graph: Graph, room: PresolveRoom, g: Int, a: Int, b: Int) -> bool:
    """Whether a row may break when the label a of its group g becomes b."""
    r = graph.rows.row[g]
    if not room.live[r]:
        return False
    change = added(graph.rows, g, b) - added(graph.rows, g, a)
    if change < 0:
        return (
            room.least[r] < graph.rows.lower[r] and lowest(graph, room, g, b) < graph.rows.lower[r]
        )
    if change > 0:
        return (
            room.most[r] > graph.rows.upper[r] and highest(graph, room, g, b) > graph.rows.upper[r]
        )
    return False


def lowest(graph: Graph, room: PresolveRoom, g: Int, b: Int) -> float:
    """What the row of a group adds up to at least when its variable has label b."""
    low, _ = span_of(graph, room, g)
    return room.least[graph.rows.row[g]] - low + added(graph.rows, g, b)


def highest(graph: Graph, room: PresolveRoom, g: Int, b: Int) -> float:
    """What the row of a group adds up to at most when its variable has label b."""
    _, high = span_of(graph, room, g)
    return room.most[graph.rows.row[g]] - high + added(graph.rows, g, b)


def breaks_none(graph: Graph, room: PresolveRoom, j: Int, a: Int, b: Int) -> bool:
    """Whether label a of a variable can become b without breaking any row."""
    for q in range(graph.rows.of_ptr[j], graph.rows.of_ptr[j + 1]):
        if may_break(graph, room, graph.rows.of[q], a, b):
            return False
    return True


def is_dominated(
    graph: Graph, room: PresolveRoom, scores: Floats, j: Int, a: Int, tie: float
) -> bool:
    """Whether another open label of the variable is always as good as a."""
    free: Bool = graph.offsets[j] >= room.own
    for b in range(graph.offsets[j], graph.offsets[j + 1]):
        if b == a or not room.open[b]:
            continue
        gain = least_gain(graph, room, scores, j, a, b)
        enough: Bool = gain >= 0 if b < a or free else gain > tie
        if enough and breaks_none(graph, room, j, a, b):
            return True
    return False


def close_dominated(graph: Graph, room: PresolveRoom, scores: Floats, tie: float) -> bool:
    """Label dominance where something changed; whether a label was closed."""
    closed: Bool = False
    for j in range(graph.sizes.shape[0]):
        if not room.touched[j]:
            continue
        room.touched[j] = False  # closing a label touches it again
        for a in range(graph.offsets[j + 1] - 1, graph.offsets[j] - 1, -1):
            if room.count[j] < 2:
                break
            if room.open[a] and is_dominated(graph, room, scores, j, a, tie):
                close(graph, room, j, a)
                closed = True
    return closed


def close_by_groups(graph: Graph, room: PresolveRoom, scores: Floats) -> bool:
    """Group dominance of all open labels; whether one was closed."""
    for j in range(graph.sizes.shape[0]):
        room.safe[j] = room.count[j] > 1
        room.loss[j] = 0.0
        for c in range(room.first[j] + 1, graph.offsets[j + 1]):
            if not room.safe[j]:
                break
            if room.open[c]:
                gain = least_gain(graph, room, scores, j, c, room.first[j])
                room.loss[j] = max(room.loss[j], -gain)
                room.safe[j] = room.loss[j] < inf and breaks_none(graph, room, j, c, room.first[j])
    closed: Bool = False
    for j in range(graph.sizes.shape[0]):
        for a in range(graph.offsets[j + 1] - 1, room.first[j], -1):
            if room.open[a] and is_not_repaid(graph, room, scores, j, a):
                close(graph, room, j, a)
                closed = True
    return closed


def is_not_repaid(graph: Graph, room: PresolveRoom, scores: Floats, j: Int, a: Int) -> bool:
    """Whether no group of variables that needs label a is worth what a costs."""
    gain = least_gain(graph, room, scores, j, a, room.first[j])
    if gain < 0:
        return False
    room.moved = 0
    held: Bool = True
    for q in range(graph.rows.of_ptr[j], graph.rows.of_ptr[j + 1]):
        g = graph.rows.of[q]
        if held and may_break(graph, room, g, a, room.first[j]):
            held = held_by_group(graph, room, g, a)
    enough: Bool = held and gain >= loss_of_group(graph, room)
    for i in range(room.moved):
        room.member[room.members[i]] = False
    return enough


def held_by_group(graph: Graph, room: PresolveRoom, g: Int, a: Int) -> bool:
    """Have the group grow until the row of g holds though its variable leaves label a."""
    r, b = graph.rows.row[g], room.first[graph.rows.variable[g]]
    upwards: Bool = added(graph.rows, g, b) > added(graph.rows, g, a)
    # How far the row is from being met in the worst case.
    missing = graph.rows.lower[r] - lowest(graph, room, g, b)
    if upwards:
        missing = highest(graph, room, g, b) - graph.rows.upper[r]
    for o in range(graph.rows.ptr[r], graph.rows.ptr[r + 1]):
        if room.member[graph.rows.variable[o]]:
            missing -= help_of(graph, room, o, upwards)
    for _ in range(MOST_MOVED):
        if missing <= 0:
            return True
        cheapest = -1
        for o in range(graph.rows.ptr[r], graph.rows.ptr[r + 1]):
            v = graph.rows.variable[o]
            if o == g or room.member[v] or not room.safe[v]:
                continue
            if cheapest >= 0 and room.loss[v] >= room.loss[graph.rows.variable[cheapest]]:
                continue
            if help_of(graph, room, o, upwards) > 0:
                cheapest = o
        if cheapest < 0:
            return False
        v = graph.rows.variable[cheapest]
        room.member[v] = True
        room.members[room.moved] = v
        room.moved += 1
        missing -= help_of(graph, room, cheapest, upwards)
    return missing <= 0


def help_of(graph: Graph, room: PresolveRoom, o: Int, upwards: Bool) -> float:
    """By how much a row is nearer to being met, at worst, when a variable has its first label."""
    low, high = span_of(graph, room, o)
    weight = added(graph.rows, o, room.first[graph.rows.variable[o]])
    return high - weight if upwards else weight - low


def loss_of_group(graph: Graph, room: PresolveRoom) -> float:
    """What a group loses at most; of members that exclude each other by a row only one does."""
    for i in range(room.moved):
        v = room.members[i]
        for q in range(graph.rows.of_ptr[v], graph.rows.of_ptr[v + 1]):
            r = graph.rows.row[graph.rows.of[q]]
            room.tally[r] = 0
            room.dearest[r] = 0.0
    for i in range(room.moved):
        v = room.members[i]
        for q in range(graph.rows.of_ptr[v], graph.rows.of_ptr[v + 1]):
            if excludes(graph, room, graph.rows.of[q]):
                room.tally[graph.rows.row[graph.rows.of[q]]] += 1
    loss = 0.0
    for i in range(room.moved):
        v = room.members[i]
        home = -1
        for q in range(graph.rows.of_ptr[v], graph.rows.of_ptr[v + 1]):
            r = graph.rows.row[graph.rows.of[q]]
            if (home < 0 or room.tally[r] > room.tally[home]) and excludes(
                graph, room, graph.rows.of[q]
            ):
                home = r
        if home < 0:
            loss += room.loss[v]
        elif room.loss[v] > room.dearest[home]:
            loss += room.loss[v] - room.dearest[home]
            room.dearest[home] = room.loss[v]
    return loss


def excludes(graph: Graph, room: PresolveRoom, g: Int) -> bool:
    """Whether a row has no room for two groups like this one off their first labels."""
    r, v = graph.rows.row[g], graph.rows.variable[g]
    if not room.live[r] or room.most[r] <= graph.rows.upper[r]:
        return False
    low, _ = span_of(graph, room, g)
    for c in range(room.first[v] + 1, graph.offsets[v + 1]):
        if room.open[c]:
            weight = added(graph.rows, g, c)
            if 2 * (weight - low) <= graph.rows.upper[r] - room.least[r]:
                return False
    return True


def presolve_one(graph: Graph, room: PresolveRoom, scores: Floats, tie: float) -> bool:
    """Close labels until none is left to close; false where there is no output."""
    room.head = 0
    room.waiting = 0
    for j in range(graph.sizes.shape[0]):
        room.touched[j] = True
        room.member[j] = False
        room.count[j] = 0
        room.first[j] = graph.offsets[j + 1]
        for e in range(graph.offsets[j + 1] - 1, graph.offsets[j] - 1, -1):
            if room.open[e]:
                room.count[j] += 1
                room.first[j] = e
        if room.count[j] == 0:
            return False
    for r in range(graph.rows.lower.shape[0]):
        room.least[r] = -inf
        room.most[r] = inf
        room.live[r] = True
        room.queued[r] = False
        enqueue(room, r)
    while True:
        if not propagate(graph, room):
            return False
        if close_dominated(graph, room, scores, tie):
            continue
        if not close_by_groups(graph, room, scores):
            return True


def presolve(
    questions: Questions, graph: Graph, own: Int
) -> tuple[IntArray, IntArray, BoolArray, BoolArray]:
    """Of each input the first open labels, and how many variables have more than one of them.

    Then, which labels are open, and which rows may bind. Where there is no output, labels are -1.
    ``graph`` has all rules as rows, and a table per factor, which begins at its first part; the
    first ``own`` labels have scores.
    """
    m, n = questions.scores.shape[0], graph.sizes.shape[0]
    questions.fit(graph.tables.ptr[graph.tables.ptr.shape[0] - 1], own)
    room = PresolveRoom(graph, own)
    labels, left = ints2(m, n), ints(m)
    still_open, live = flags2(m, graph.offsets[n]), flags2(m, graph.rows.lower.shape[0])
    with cython.nogil:
        for i in range(m):
            fill(room.open, True)
            if questions.closed.shape[0] > 0:
                for e in range(own):
                    room.open[e] = not questions.closed[i, e]
            tie = MORE_THAN_A_TIE * questions.ties[i]
            feasible: Bool = presolve_one(graph, room, questions.scores[i], tie)
            left[i] = 0
            for j in range(n):
                labels[i, j] = room.first[j] - graph.offsets[j] if feasible else -1
                left[i] += feasible and room.count[j] > 1
            copy_into(still_open[i], room.open)
            copy_into(live[i], room.live)
    return (
        np.asarray(labels),
        np.asarray(left),
        np.asarray(still_open).view(np.bool_),
        np.asarray(live).view(np.bool_),
    )
