"""The best of the outputs around a given one: all that differ from it inside one of some sets.

Outputs are looked at change by change: at depth d, d variables have other labels than in the
given output, in the order of the set, and nothing is looked at twice within a set. What a label
would add to the output as it stands, its *gain*, is kept up to date: a change costs the tables it
touches, and looking at one more label costs a single addition. Forbidden entries are counted
apart from scores, as are broken rows, since outputs that break a rule may lead to one that does
not.

A change that leads nowhere is not made: no variable ahead can add more than the most that any of
its labels could, whatever the others are. Those that could add most come first, so that a depth
is left as soon as what is left of it is of no use.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import BoolArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import FoundBy, Graph, Questions, VariableSets, fit_outputs
    from rote.kernels.inlined import change_rows, entry_at, is_scored
    from rote.kernels.neighbourhood.ranges import add_up
    from rote.kernels.outputs import read_scores


class Entries(Bundle):
    """The scores of entries, with what is forbidden apart."""

    def __init__(
        self,
        theta: OutFloats,  # 0 where it is forbidden
        forbidden: OutFlags,
    ) -> None:
        self.theta = theta
        self.forbidden = forbidden


def new_entries(graph: Graph) -> Entries:
    """Room for the scores of an input."""
    size = graph.tables.ptr[graph.tables.ptr.shape[0] - 1]
    return Entries(floats(size), flags(size))


class Gains(Bundle):
    """What every label of every variable would add to an output; or to several, one by one."""

    def __init__(self, size: Int) -> None:
        self.score = floats(size)
        self.faults = ints(size)  # forbidden entries


def read_entries(
    questions: Questions,
    i: Int,
    source: FoundBy,
    work: OutFloats,
    theta: OutFloats,
    forbidden: OutFlags,
) -> None:
    """The scores of every entry for one input; what is forbidden scores 0, and is marked."""
    read_scores(questions, i, work)
    add_up_entries(source.ptr, source.gather, source.allowed, work, theta, forbidden)


def add_up_entries(
    ptr: Ints, gather: Ints, allowed: Flags, scores: Floats, theta: OutFloats, forbidden: OutFlags
) -> None:
    """`read_entries`, where the scores of parts have been read."""
    g = ptr[0]
    for e in range(theta.shape[0]):
        end = ptr[e + 1]
        value = 0.0
        while g < end:
            value += scores[gather[g]]
            g += 1
        closed: Bool = (allowed[e] == 0) | (value == -inf)  # both are looked at: no branch
        forbidden[e] = closed
        theta[e] = 0.0 if closed else value


def pass_on(
    graph: Graph,
    entries: Entries,
    labels: Ints,
    variable: Int,
    label: Int,
    rank: Ints,
    gains: Gains,
    base: Int,
) -> None:
    """Bring the gains of all variables of a higher rank up to date, as one gets another label.

    The gains of this output begin at ``base``.
    """
    for q in range(graph.tables.place_ptr[variable], graph.tables.place_ptr[variable + 1]):
        own = graph.tables.places[q]
        table = graph.tables.place_table[own]
        before = entry_at(graph.tables, table, labels)
        after = before + graph.tables.strides[own] * (label - labels[variable])
        closed = faults_between(entries, before, after)
        for k in range(graph.tables.scope_ptr[table], graph.tables.scope_ptr[table + 1]):
            other = graph.tables.scope[k]
            if rank[other] <= rank[variable]:
                continue
            first, step = base + graph.offsets[other], graph.tables.strides[k]
            back, there = before - step * labels[other], after - step * labels[other]
            for at in range(first, first + graph.sizes[other]):
                gains.score[at] += (entries.theta[there] - entries.theta[after]) - (
                    entries.theta[back] - entries.theta[before]
                )
                gains.faults[at] += faults_between(entries, back, there) - closed
                there += step
                back += step


def faults_between(entries: Entries, one: Int, other: Int) -> int:
    """How many more of two entries are forbidden with the other than with the one: -1, 0 or 1."""
    return cython.cast(Int, entries.forbidden[other]) - cython.cast(Int, entries.forbidden[one])


def max_gain(graph: Graph, theta: Floats, variable: Int, label: Int) -> float:
    """The most that another label than this could add, whatever the other variables are."""
    first = graph.offsets[variable]
    best = 0.0
    for a in range(graph.sizes[variable]):
        if a == label:
            continue
        gain = theta[first + a] - theta[first + label]
        for q in range(graph.tables.place_ptr[variable], graph.tables.place_ptr[variable + 1]):
            k = graph.tables.places[q]
            if is_scored(graph, graph.tables.place_table[k]):
                gain += max_difference(graph, theta, k, a, label)
        best = max(best, gain)
    return best


def max_difference(graph: Graph, theta: Floats, place: Int, one: Int, other: Int) -> float:
    """The most by which a table prefers one label at a place to another, the rest being equal."""
    table, inner = graph.tables.place_table[place], graph.tables.strides[place]
    outer = inner * graph.sizes[graph.tables.scope[place]]
    block = graph.tables.ptr[table]
    most = -inf
    while block < graph.tables.ptr[table + 1]:
        for e in range(block, block + inner):
            most = max(most, theta[e + inner * one] - theta[e + inner * other])
        block += outer
    return most


def comes_first(labels: Ints, variable: Int, label: Int, answer: Ints) -> int:
    """-1, 0 or 1: whether an output, one label of which is another, comes before the answer."""
    for j in range(labels.shape[0]):
        own = label if j == variable else labels[j]
        if own != answer[j]:
            return -1 if own < answer[j] else 1
    return 0


class SearchRoom(Bundle):
    """Working memory of a search; by depth: how many variables have another label."""

    def __init__(self, graph: Graph, variables: Int, widest: Int, deepest: Int) -> None:
        self.size = graph.offsets[graph.sizes.shape[0]]  # of the gains at one depth
        depths = ints(4 * deepest)
        self.place = depths[:deepest]  # the rank of what is changed here
        self.choice = depths[deepest : 2 * deepest]  # its label
        self.faults = depths[2 * deepest : 3 * deepest]  # forbidden entries before this change
        self.broken = depths[3 * deepest :]  # broken rows
        self.value = floats(deepest)  # of the output so far
        self.gains = Gains(deepest * self.size)  # what every label would add, depth after depth
        self.ahead = floats2(widest + 1, deepest + 1)  # by rank and changes: the most they add
        self.upper = floats(variables)  # the most that a change could add; -1 where not known yet
        sets = ints(2 * widest)
        self.members = sets[:widest]  # of a set, those that could add most first
        self.merged = sets[widest:]
        outputs = ints(3 * variables)
        self.rank = outputs[:variables]  # of the variables of a set; -1 for others
        self.labels = outputs[variables : 2 * variables]  # the output so far
        self.answer = outputs[2 * variables :]  # the best output so far
        fill(self.rank, -1)
        self.activity = floats(graph.rows.lower.shape[0])  # what the output adds to every row
        self.best = -inf
        self.tie = 0.0
        self.doubtful = False  # others may be within a tie of the best


def look_ahead(room: SearchRoom, count: Int, most: Int) -> None:
    """ahead[r, q]: the most that q variables of the set from rank r on could add.

    Those that could add most come first.
    """
    for r in range(count + 1):
        room.ahead[r, 0] = 0.0
        for q in range(most):
            more = room.upper[room.members[r + q]] if r + q < count else 0.0
            room.ahead[r, q + 1] = room.ahead[r, q] + more


def sort_members(room: SearchRoom, count: Int) -> None:
    """Put those that could add most first, equals as they are: runs are merged, two by two."""
    width = 1
    while width < count:
        begin = 0
        while begin < count:
            middle, end = min(begin + width, count), min(begin + 2 * width, count)
            one, other = begin, middle
            for at in range(begin, end):
                if other >= end or (
                    one < middle
                    and room.upper[room.members[one]] >= room.upper[room.members[other]]
                ):
                    room.merged[at] = room.members[one]
                    one += 1
                else:
                    room.merged[at] = room.members[other]
                    other += 1
            begin = end
        copy_into(room.members, room.merged[:count])
        width *= 2


def take_gains(graph: Graph, entries: Entries, labels: Ints, gains: Gains) -> tuple[float, int]:
    """The score of an output and its forbidden entries; and what every label would add to both."""
    value, faults = 0.0, 0
    for j in range(labels.shape[0]):
        here = graph.offsets[j] + labels[j]
        value += entries.theta[here]
        if entries.forbidden[here]:
            faults += 1
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            gains.score[e] = entries.theta[e] - entries.theta[here]
            gains.faults[e] = faults_between(entries, here, e)
    for b in range(graph.tables.ptr.shape[0] - 1):
        here = entry_at(graph.tables, b, labels)
        value += entries.theta[here]
        if entries.forbidden[here]:
            faults += 1
        for k in range(graph.tables.scope_ptr[b], graph.tables.scope_ptr[b + 1]):
            j = graph.tables.scope[k]
            there = here - graph.tables.strides[k] * labels[j]
            for e in range(graph.offsets[j], graph.offsets[j + 1]):
                gains.score[e] += entries.theta[there] - entries.theta[here]
                gains.faults[e] += faults_between(entries, here, there)
                there += graph.tables.strides[k]
    return value, faults


def offer(
    graph: Graph, room: SearchRoom, depth: Int, j: Int, label: Int, value: float, last: Bool
) -> None:
    """Take the output so far with another label of j, if it obeys the rows and is better.

    The last time, when the best is known, the answer becomes the first within a tie of it.
    """
    change = change_rows(graph, j, room.labels[j], label, room.activity, False)
    if room.broken[depth] + change != 0:
        return
    order = comes_first(room.labels, j, label, room.answer)
    taken: Bool = order < 0
    if not last:
        taken = value > room.best + room.tie or (value > room.best and order != 0)
        if taken or order != 0:
            room.doubtful = value <= room.best + room.tie
        if taken:
            room.best = value
    if taken:
        copy_into(room.answer, room.labels)
        room.answer[j] = label


def go_down(
    graph: Graph, entries: Entries, room: SearchRoom, depth: Int, count: Int, label: Int
) -> None:
    """Change what is looked at on one depth, and stand on the next one."""
    place = room.place[depth]
    j, now, then = room.members[place], depth * room.size, (depth + 1) * room.size
    for r in range(place + 1, count):
        other = room.members[r]
        for e in range(graph.offsets[other], graph.offsets[other + 1]):
            room.gains.score[then + e] = room.gains.score[now + e]
            room.gains.faults[then + e] = room.gains.faults[now + e]
    pass_on(graph, entries, room.labels, j, label, room.rank, room.gains, then)
    at = now + graph.offsets[j] + label
    room.value[depth + 1] = room.value[depth] + room.gains.score[at]
    room.faults[depth + 1] = room.faults[depth] + room.gains.faults[at]
    room.broken[depth + 1] = room.broken[depth] + change_rows(
        graph, j, room.labels[j], label, room.activity, True
    )
    room.labels[j] = label
    room.place[depth + 1] = place + 1
    room.choice[depth + 1] = -1


def search_set(
    graph: Graph,
    entries: Entries,
    gold: Ints,
    count: Int,
    most: Int,
    room: SearchRoom,
    last: Bool,
) -> None:
    """Look for better outputs that differ from gold in at most so many members of a set."""
    depth = 0
    room.place[0] = 0
    room.choice[0] = -1
    while depth >= 0:
        place = room.place[depth]
        floor = room.best - room.tie
        if place == count or room.value[depth] + room.ahead[place, most - depth] < floor:
            depth -= 1
            if depth >= 0:
                j = room.members[room.place[depth]]
                change_rows(graph, j, room.labels[j], gold[j], room.activity, True)
                room.labels[j] = gold[j]
            continue
        j = room.members[place]
        room.choice[depth] += 1
        a = room.choice[depth]
        if a == graph.sizes[j]:
            room.place[depth] += 1
            room.choice[depth] = -1
            continue
        if a == gold[j]:
            continue
        at = depth * room.size + graph.offsets[j] + a
        value = room.value[depth] + room.gains.score[at]
        if value >= floor and room.faults[depth] + room.gains.faults[at] == 0:
            offer(graph, room, depth, j, a, value, last)
        left, later = most - depth - 1, place + 1
        if left == 0 or later == count:
            continue
        if value + room.ahead[later, left] < room.best - room.tie:
            continue
        go_down(graph, entries, room, depth, count, a)
        depth += 1


def order_set(graph: Graph, theta: Floats, around: VariableSets, s: Int, room: SearchRoom) -> int:
    """Put the members of a set in order, by the most they could add; how many they are."""
    count = around.ptr[s + 1] - around.ptr[s]
    for r in range(count):
        j = around.members[around.ptr[s] + r]
        room.members[r] = j
        if room.upper[j] >= 0.0:
            continue
        if around.most > 1:
            room.upper[j] = max_gain(graph, theta, j, room.labels[j])
        else:  # the others are as they are
            most = -inf
            for e in range(graph.offsets[j], graph.offsets[j + 1]):
                most = max(most, room.gains.score[e])
            room.upper[j] = most
    sort_members(room, count)
    for r in range(count):
        room.rank[room.members[r]] = r
    return count


def search_all(
    graph: Graph,
    entries: Entries,
    gold: Ints,
    around: VariableSets,
    i: Int,
    room: SearchRoom,
    last: Bool,
) -> None:
    """`search_set` for all sets of one input."""
    for s in range(around.begin[i], around.end[i]):
        most = min(around.most, around.ptr[s + 1] - around.ptr[s])
        if most == 0:
            continue
        count = order_set(graph, entries.theta, around, s, room)
        look_ahead(room, count, most)
        search_set(graph, entries, gold, count, most, room, last)
        for r in range(count):
            room.rank[room.members[r]] = -1


def best_neighbours(
    questions: Questions, gold: Ints2, graph: Graph, around: VariableSets, settle: Bool
) -> tuple[IntArray, BoolArray]:
    """The best of the outputs that obey the rules and differ from the gold one inside one set.

    Labels are -1 where there is none. Others may be within a tie where this is doubtful; with
    ``settle`` they are not, and the first of them is the answer.
    """
    questions.fit(graph.source.reach, 0)
    fit_outputs("gold", gold, graph, questions.scores.shape[0])
    around.fit(gold.shape[0])
    m, n = gold.shape[0], gold.shape[1]
    widest = 0
    for s in range(around.ptr.shape[0] - 1):
        widest = max(widest, around.ptr[s + 1] - around.ptr[s])
    room = SearchRoom(graph, n, widest, max(1, min(around.most, widest)))
    work, entries = floats(questions.scores.shape[1]), new_entries(graph)
    answers = ints2(m, n)
    doubts: OutFlags = np.zeros(m, np.bool_)
    with cython.nogil:
        for i in range(m):
            read_entries(questions, i, graph.source, work, entries.theta, entries.forbidden)
            copy_into(room.labels, gold[i])
            room.value[0], room.faults[0] = take_gains(graph, entries, room.labels, room.gains)
            room.broken[0] = add_up(graph, room.labels, room.activity)
            is_feasible: Bool = room.faults[0] == 0 and room.broken[0] == 0
            room.best, room.doubtful, room.tie = -inf, False, questions.ties[i]
            fill(room.answer, -1)
            if is_feasible:
                room.best = room.value[0]
                copy_into(room.answer, room.labels)
            fill(room.upper, -1.0)
            search_all(graph, entries, gold[i], around, i, room, False)
            if room.doubtful and settle:  # once more, for the first of equals
                near: Bool = is_feasible and room.value[0] >= room.best - room.tie
                if near and comes_first(room.labels, -1, 0, room.answer) < 0:
                    copy_into(room.answer, room.labels)
                search_all(graph, entries, gold[i], around, i, room, True)
            copy_into(answers[i], room.answer)
            doubts[i] = room.doubtful and not settle
    return np.asarray(answers), np.asarray(doubts).view(np.bool_)


def better(
    answer: OutInts,
    value: float,
    doubtful: Bool,
    tie: float,
    offered: Ints,
    offered_value: float,
    also: Bool,
) -> tuple[float, bool]:
    """Put an output in the place of the answer if it is better: the value then, and its doubt.

    Others are within a tie of what is offered (``also``), and may then be of the best.
    """
    if offered_value < value - 2 * tie:
        return value, doubtful
    if comes_first(offered, -1, 0, answer) == 0:
        return value, doubtful or also
    # What was within a tie of an output may be within two of another.
    near: Bool = offered_value <= value + 2 * tie
    if offered_value > value:
        copy_into(answer, offered)
    return max(offered_value, value), near or also


def take_better(
    answers: OutInts2,
    values: OutFloats,
    doubtful: OutFlags,
    ties: Floats,
    owner: Ints,
    offered: Ints2,
    offered_value: Floats,
    also: Flags,
) -> None:
    """`better`, for many outputs and their owners."""
    m, count = answers.shape[0], owner.shape[0]
    expect("values", "entries", m, values.shape[0])
    expect("doubtful", "entries", m, doubtful.shape[0])
    expect("ties", "entries", m, ties.shape[0])
    expect("offered", "rows", count, offered.shape[0])
    expect("offered", "columns", answers.shape[1], offered.shape[1])
    expect("offered_value", "entries", count, offered_value.shape[0])
    expect("also", "entries", count, also.shape[0])
    with cython.nogil:
        for s in range(owner.shape[0]):
            i = owner[s]
            values[i], doubtful[i] = better(
                answers[i], values[i], doubtful[i], ties[i], offered[s], offered_value[s], also[s]
            )
