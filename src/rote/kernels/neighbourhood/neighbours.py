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

from typing import NamedTuple

import numpy as np

from rote.kernels.bundles import Graph, Questions, VariableSets
from rote.kernels.jit import inlined, kernel, lean
from rote.kernels.neighbourhood.ranges import add_up
from rote.kernels.outputs import copy_into, entry_at, read_scores
from rote.types import BoolArray, FloatArray, IntArray


@inlined
def is_scored(graph: Graph, table: int) -> bool:
    """Whether a table has scores, and is not a rule alone."""
    source, ptr = graph.source, graph.tables.ptr
    scored: bool = source.ptr[ptr[table]] < source.ptr[ptr[table + 1]]
    return scored


class Entries(NamedTuple):
    """The scores of entries, with what is forbidden apart."""

    theta: FloatArray  # 0 where it is forbidden
    forbidden: BoolArray


class Gains(NamedTuple):
    """What every label of every variable would add to an output."""

    score: FloatArray
    faults: IntArray  # forbidden entries


@lean
def read_entries(
    questions: Questions, i: int, graph: Graph, work: FloatArray, entries: Entries
) -> None:
    """The scores of every entry for one input; what is forbidden scores 0, and is marked."""
    source, theta, forbidden = graph.source, entries.theta, entries.forbidden
    read_scores(questions, i, work)
    for e in range(theta.shape[0]):
        value = 0.0
        for g in range(source.ptr[e], source.ptr[e + 1]):
            value += work[source.gather[g]]
        forbidden[e] = not source.allowed[e] or value == -np.inf
        theta[e] = 0.0 if forbidden[e] else value


@kernel
def new_entries(graph: Graph) -> Entries:
    """Room for the scores of an input."""
    return Entries(np.empty(graph.tables.ptr[-1]), np.empty(graph.tables.ptr[-1], np.bool_))


@inlined
def pass_on(
    graph: Graph,
    entries: Entries,
    labels: IntArray,
    variable: int,
    label: int,
    rank: IntArray,
    gains: Gains,
) -> None:
    """Bring the gains of all variables of a higher rank up to date, as one gets another label."""
    tables, theta, forbidden = graph.tables, entries.theta, entries.forbidden
    score, faults = gains
    for q in range(tables.place_ptr[variable], tables.place_ptr[variable + 1]):
        own = tables.places[q]
        table = tables.place_table[own]
        before = entry_at(tables, table, labels)
        after = before + tables.strides[own] * (label - labels[variable])
        for k in range(tables.scope_ptr[table], tables.scope_ptr[table + 1]):
            other = tables.scope[k]
            if rank[other] <= rank[variable]:
                continue
            first, now = graph.offsets[other], labels[other]
            for a in range(graph.sizes[other]):
                move = tables.strides[k] * (a - now)
                there, back = after + move, before + move
                score[first + a] += (theta[there] - theta[after]) - (theta[back] - theta[before])
                wrong = int(forbidden[there]) - int(forbidden[after])
                faults[first + a] += wrong - (int(forbidden[back]) - int(forbidden[before]))


@lean
def max_gain(graph: Graph, theta: FloatArray, variable: int, label: int) -> float:
    """The most that another label than this could add, whatever the other variables are."""
    first, tables = graph.offsets[variable], graph.tables
    best = 0.0
    for a in range(graph.sizes[variable]):
        if a == label:
            continue
        gain = theta[first + a] - theta[first + label]
        for q in range(tables.place_ptr[variable], tables.place_ptr[variable + 1]):
            k = tables.places[q]
            table, inner = tables.place_table[k], tables.strides[k]
            if not is_scored(graph, table):
                continue
            most = -np.inf
            outer = inner * graph.sizes[variable]
            for block in range(tables.ptr[table], tables.ptr[table + 1], outer):
                for e in range(block, block + inner):
                    most = max(most, theta[e + inner * a] - theta[e + inner * label])
            gain += most
        best = max(best, gain)
    return best


@inlined
def change_rows(
    graph: Graph, variable: int, before: int, after: int, activity: FloatArray, keep: bool
) -> int:
    """By how much the number of broken rows changes; ``keep`` enters the change."""
    rows, offsets, change = graph.rows, graph.offsets, 0
    for q in range(rows.of_ptr[variable], rows.of_ptr[variable + 1]):
        g = rows.of[q]
        r = rows.row[g]
        was = now = activity[r]
        for c in range(rows.start[g], rows.start[g + 1]):
            if rows.column[c] == offsets[variable] + before:
                now -= rows.coefficient[c]
            elif rows.column[c] == offsets[variable] + after:
                now += rows.coefficient[c]
        change += int(now < rows.lower[r] or now > rows.upper[r])
        change -= int(was < rows.lower[r] or was > rows.upper[r])
        if keep:
            activity[r] = now
    return change


@inlined
def comes_first(labels: IntArray, variable: int, label: int, answer: IntArray) -> int:
    """-1, 0 or 1: whether an output, one label of which is another, comes before the answer."""
    for j in range(labels.shape[0]):
        own = label if j == variable else labels[j]
        if own != answer[j]:
            return -1 if own < answer[j] else 1
    return 0


@lean
def look_ahead(upper: FloatArray, members: IntArray, most: int, ahead: FloatArray) -> None:
    """ahead[r, q]: the most that q variables of the set from rank r on could add.

    Those that could add most come first.
    """
    count = members.shape[0]
    for r in range(count + 1):
        ahead[r, 0] = 0.0
        for q in range(most):
            more = upper[members[r + q]] if r + q < count else 0.0
            ahead[r, q + 1] = ahead[r, q] + more


class Incumbent(NamedTuple):
    """The best output so far."""

    labels: IntArray
    value: float
    doubtful: bool  # others may be within a tie
    tie: float


class Room(NamedTuple):
    """Working memory of a search; by depth: how many variables have another label."""

    place: IntArray  # the rank of what is changed here
    choice: IntArray  # its label
    value: FloatArray  # of the output so far, before this change
    faults: IntArray  # its forbidden entries
    broken: IntArray  # its broken rows
    gains: FloatArray  # what every label would add
    gained: IntArray  # how many forbidden entries that would add
    ahead: FloatArray  # by rank and number of changes: the most they could add
    rank: IntArray  # of the variables of a set; -1 for others
    labels: IntArray  # the output so far
    activity: FloatArray  # what it adds to every row


@inlined
def gains_at(room: Room, depth: int) -> Gains:
    """What labels would add at some depth; not a copy."""
    return Gains(room.gains[depth], room.gained[depth])


@lean
def take_gains(graph: Graph, entries: Entries, labels: IntArray, gains: Gains) -> tuple[float, int]:
    """The score of an output and its forbidden entries; and what every label would add to both."""
    tables, offsets = graph.tables, graph.offsets
    theta, forbidden = entries
    value, faults = 0.0, 0
    for j in range(labels.shape[0]):
        here = offsets[j] + labels[j]
        value += theta[here]
        faults += int(forbidden[here])
        for e in range(offsets[j], offsets[j + 1]):
            gains.score[e] = theta[e] - theta[here]
            gains.faults[e] = int(forbidden[e]) - int(forbidden[here])
    for b in range(tables.ptr.shape[0] - 1):
        here = entry_at(tables, b, labels)
        value += theta[here]
        faults += int(forbidden[here])
        for k in range(tables.scope_ptr[b], tables.scope_ptr[b + 1]):
            j = tables.scope[k]
            there = here - tables.strides[k] * labels[j]
            for e in range(offsets[j], offsets[j + 1]):
                gains.score[e] += theta[there] - theta[here]
                gains.faults[e] += int(forbidden[there]) - int(forbidden[here])
                there += tables.strides[k]
    return value, faults


@lean
def search_set(
    graph: Graph,
    entries: Entries,
    gold: IntArray,
    members: IntArray,
    most: int,
    room: Room,
    last: bool,
    known: Incumbent,
) -> tuple[float, bool]:
    """Better outputs that differ from gold in at most so many members: the best, and its doubt.

    The last time, when the best is known, the answer becomes the first within a tie of it.
    """
    labels, activity, offsets, count = room.labels, room.activity, graph.offsets, members.shape[0]
    answer, best, doubtful, tie = known
    depth = 0
    room.place[0], room.choice[0] = 0, -1
    while depth >= 0:
        place = room.place[depth]
        if place == count or room.value[depth] + room.ahead[place, most - depth] < best - tie:
            depth -= 1
            if depth >= 0:
                j = members[room.place[depth]]
                change_rows(graph, j, labels[j], gold[j], activity, True)
                labels[j] = gold[j]
            continue
        j = members[place]
        room.choice[depth] += 1
        a = room.choice[depth]
        if a == graph.sizes[j]:
            room.place[depth] += 1
            room.choice[depth] = -1
            continue
        if a == gold[j]:
            continue
        value = room.value[depth] + room.gains[depth, offsets[j] + a]
        faults = room.faults[depth] + room.gained[depth, offsets[j] + a]
        if value >= best - tie and faults == 0:
            change = change_rows(graph, j, gold[j], a, activity, False)
            if room.broken[depth] + change == 0:
                order = comes_first(labels, j, a, answer)
                if last:
                    taken = order < 0
                else:
                    taken = value > best + tie or (value > best and order != 0)
                    if taken or order != 0:
                        doubtful = value <= best + tie
                    best = value if taken else best
                if taken:
                    copy_into(answer, labels)
                    answer[j] = a
        left, later = most - depth - 1, place + 1
        if left == 0 or later == count or value + room.ahead[later, left] < best - tie:
            continue
        for r in range(later, count):
            for e in range(offsets[members[r]], offsets[members[r] + 1]):
                room.gains[depth + 1, e] = room.gains[depth, e]
                room.gained[depth + 1, e] = room.gained[depth, e]
        pass_on(graph, entries, labels, j, a, room.rank, gains_at(room, depth + 1))
        room.value[depth + 1] = value
        room.faults[depth + 1] = faults
        room.broken[depth + 1] = room.broken[depth] + change_rows(
            graph, j, gold[j], a, activity, True
        )
        labels[j] = a
        depth += 1
        room.place[depth], room.choice[depth] = later, -1
    return best, doubtful


@kernel
def best_neighbours(
    questions: Questions, gold: IntArray, graph: Graph, around: VariableSets, settle: bool
) -> tuple[IntArray, BoolArray]:
    """The best of the outputs that obey the rules and differ from the gold one inside one set.

    Labels are -1 where there is none. Others may be within a tie where this is doubtful; with
    ``settle`` they are not, and the first of them is the answer.
    """
    m, n = gold.shape
    size, ties = graph.offsets[-1], questions.ties
    widest = 0
    for s in range(around.ptr.shape[0] - 1):
        widest = max(widest, around.ptr[s + 1] - around.ptr[s])
    deepest = max(1, min(around.most, widest))
    room = Room(
        np.empty(deepest, np.int64),
        np.empty(deepest, np.int64),
        np.empty(deepest),
        np.empty(deepest, np.int64),
        np.empty(deepest, np.int64),
        np.empty((deepest, size)),
        np.empty((deepest, size), np.int64),
        np.empty((widest + 1, deepest + 1)),
        np.full(n, -1),
        np.empty(n, np.int64),
        np.empty(graph.rows.lower.shape[0]),
    )
    work = np.empty(questions.scores.shape[1])
    entries = new_entries(graph)
    labels, upper = room.labels, np.empty(n)
    answers = np.full((m, n), -1)
    doubts = np.zeros(m, np.bool_)
    for i in range(m):
        read_entries(questions, i, graph, work, entries)
        labels[:] = gold[i]
        room.value[0], room.faults[0] = take_gains(graph, entries, labels, gains_at(room, 0))
        room.broken[0] = add_up(graph, labels, room.activity)
        best, doubtful = -np.inf, False
        is_feasible = room.faults[0] == 0 and room.broken[0] == 0
        if is_feasible:
            best = room.value[0]
            answers[i] = labels
        upper[:] = -1.0  # not known yet
        # Once for the best value, and once more for the first of equals where there are some.
        for last in range(2):
            if last == 1:
                if not (doubtful and settle):
                    break
                near = is_feasible and room.value[0] >= best - ties[i]
                if near and comes_first(labels, -1, 0, answers[i]) < 0:
                    answers[i] = labels
            for s in range(around.begin[i], around.end[i]):
                members = around.members[around.ptr[s] : around.ptr[s + 1]]
                most = min(around.most, members.shape[0])
                if most == 0:
                    continue
                for j in members:
                    if upper[j] >= 0.0:
                        continue
                    if around.most > 1:
                        upper[j] = max_gain(graph, entries.theta, j, labels[j])
                    else:  # the others are as they are
                        gains = room.gains[0, graph.offsets[j] : graph.offsets[j + 1]]
                        upper[j] = gains.max()
                members = members[np.argsort(-upper[members], kind="mergesort")]
                for r in range(members.shape[0]):
                    room.rank[members[r]] = r
                look_ahead(upper, members, most, room.ahead)
                known = Incumbent(answers[i], best, doubtful, ties[i])
                best, doubtful = search_set(
                    graph, entries, gold[i], members, most, room, last == 1, known
                )
                for j in members:
                    room.rank[j] = -1
        doubts[i] = doubtful and not settle
    return answers, doubts


@lean
def better(
    known: Incumbent, offered: IntArray, known_value: float, also: bool
) -> tuple[float, bool]:
    """Put an output in the place of the answer if it is better: the value then, and its doubt.

    Others are within a tie of what is offered (``also``), and may then be of the best.
    """
    answer, value, doubtful, tie = known
    if known_value < value - 2 * tie:
        return value, doubtful
    if comes_first(offered, -1, 0, answer) == 0:
        return value, doubtful or also
    # What was within a tie of an output may be within two of another.
    near = known_value <= value + 2 * tie
    if known_value > value:
        copy_into(answer, offered)
    return max(known_value, value), near or also


@kernel
def take_better(
    answers: IntArray,
    values: FloatArray,
    doubtful: BoolArray,
    ties: FloatArray,
    owner: IntArray,
    offered: IntArray,
    known_value: FloatArray,
    also: BoolArray,
) -> None:
    """`better`, for many outputs and their owners."""
    for s in range(owner.shape[0]):
        i = owner[s]
        known = Incumbent(answers[i], values[i], doubtful[i], ties[i])
        values[i], doubtful[i] = better(known, offered[s], known_value[s], also[s])
