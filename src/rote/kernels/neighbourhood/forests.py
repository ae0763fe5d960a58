"""The best labels of sets of variables that hang together as trees, all others as in an output.

Tables that reach out of a set are cut at its border: the labels outside are known. What is left
between two variables of the set is an edge; where edges close no loop, one pass of max-sum from
the leaves to the roots tells for every label the best that the variables below it can add.

Labels that would break a row whatever the others are, are left out of it. Then labels are chosen
from the roots to the leaves, the best first, and what was passed up bounds all that is still to be
chosen: a choice costs what it is worse than the best one. Without rows the first way down is the
best of all; with rows, ways that break one are left, and taken up again with the next label.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.bundles import Graph, Questions, VariableSets
from rote.kernels.dp.trees import best_across
from rote.kernels.dual.ascent import load
from rote.kernels.jit import inlined, kernel, lean
from rote.kernels.neighbourhood.neighbours import Incumbent, better, is_scored
from rote.kernels.neighbourhood.ranges import (
    Ranges,
    add_up,
    close_labels,
    prune,
    reopen,
    room_for,
    settle,
)
from rote.kernels.outputs import entry_at, read_scores
from rote.types import BoolArray, FloatArray, IntArray

SURE = 0  # the only best labels
DOUBTFUL = 1  # others may be within a tie
NONE = 2  # none that obeys the rules and is as good as what is known
OPEN = 3  # given up


@inlined
def reach(graph: Graph, rank: IntArray, table: int, j: int) -> tuple[int, int]:
    """How many variables of a set a table is over, and the last of them that is not j."""
    tables = graph.tables
    inside, other = 0, -1
    for k in range(tables.scope_ptr[table], tables.scope_ptr[table + 1]):
        if rank[tables.scope[k]] >= 0:
            inside += 1
            if tables.scope[k] != j:
                other = tables.scope[k]
    return inside, other


@inlined
def is_last(graph: Graph, rank: IntArray, table: int, j: int) -> bool:
    """Whether a variable is the last in order of those of its set that a table is over."""
    tables = graph.tables
    for k in range(tables.scope_ptr[table], tables.scope_ptr[table + 1]):
        if rank[tables.scope[k]] > rank[j]:
            return False
    return True


@lean
def plant(graph: Graph, members: IntArray, forest: Forest) -> bool:
    """Order the variables of a set so that parents come first; False where there is a loop.

    Tables with scores go first. One without may join what they leave apart, and closes no loop: if
    it would, it is checked later. The rank is the number of variables for those of the set and -1
    elsewhere; afterwards it is their place in the order.
    """
    tables, rank, order, parent = graph.tables, forest.rank, forest.order, forest.parent
    unseen = rank.shape[0]
    count = 0
    for root in members:
        if rank[root] < unseen:
            continue
        at = behind = count  # whose tables with scores, and without, come next
        order[count] = root
        parent[root] = -1
        rank[root] = count
        count += 1
        while behind < count:
            scored = at < count
            j = order[at] if scored else order[behind]
            before = count
            for q in range(tables.place_ptr[j], tables.place_ptr[j + 1]):
                table = tables.place_table[tables.places[q]]
                if is_scored(graph, table) != scored:
                    continue
                inside, other = reach(graph, rank, table, j)
                if inside < 2 or (inside == 2 and (other == parent[j] or parent[other] == j)):
                    continue
                if inside == 2 and rank[other] == unseen:
                    order[count] = other
                    parent[other] = j
                    rank[other] = count
                    count += 1
                    if not scored:
                        break  # its tables with scores go first
                elif scored:
                    return False
            if scored:
                at += 1
            elif count == before:
                behind += 1
    return True


@lean
def worth_of(graph: Graph, theta: FloatArray, labels: IntArray) -> tuple[float, int]:
    """The score of an output, and how many forbidden entries it has, which are not in it."""
    value, faults = 0.0, 0
    for j in range(labels.shape[0]):
        here = theta[graph.offsets[j] + labels[j]]
        faults += int(here == -np.inf)
        value += 0.0 if here == -np.inf else here
    for b in range(graph.tables.ptr.shape[0] - 1):
        here = theta[entry_at(graph.tables, b, labels)]
        faults += int(here == -np.inf)
        value += 0.0 if here == -np.inf else here
    return value, faults


class Forest(NamedTuple):
    """A set, from its roots on, and what max-sum tells of its labels."""

    rank: IntArray  # per variable: its place in the order, -1 outside of the set
    order: IntArray
    parent: IntArray  # per variable, -1 for roots
    belief: FloatArray  # per label: itself, the border, and the best below it
    edge_ptr: IntArray  # per variable
    edges: FloatArray  # per variable: its labels with each one of its parent
    checks: BoolArray  # per variable: whether tables are left to be checked with it
    theta: FloatArray  # per entry
    message: FloatArray  # room for what a variable tells its parent
    ranges: Ranges
    bound: FloatArray  # by depth: the most there can be before a label is chosen here
    first: FloatArray  # by depth: the worth of the first label chosen here
    labels: IntArray  # per variable: the way down so far


@kernel
def new_forest(graph: Graph, variables: int, edges: int) -> Forest:
    """Room for a set, no variable being in it yet."""
    return Forest(
        np.full(variables, -1),
        np.empty(variables, np.int64),
        np.full(variables, -1),
        np.empty(graph.offsets[-1]),
        np.empty(variables, np.int64),
        np.empty(edges),
        np.empty(variables, np.bool_),
        np.empty(graph.tables.ptr[-1]),
        np.empty(graph.widest),
        room_for(graph.rows, variables),
        np.empty(variables),
        np.empty(variables),
        np.empty(variables, np.int64),
    )


@inlined
def collect(graph: Graph, gold: IntArray, forest: Forest, child: int) -> tuple[float, int]:
    """The scores of a child's labels, and of its labels together with its parent's.

    Returns what gold gets here: scores, and forbidden entries.
    """
    tables, rank, belief, theta = graph.tables, forest.rank, forest.belief, forest.theta
    parent = forest.parent[child]
    size, wide = graph.sizes[child], 1 if parent < 0 else graph.sizes[parent]
    edge = forest.edges[forest.edge_ptr[child] : forest.edge_ptr[child] + size * wide]
    edge[:] = 0.0
    forest.checks[child] = False
    here = theta[graph.offsets[child] + gold[child]]
    faults = int(here == -np.inf)
    value = 0.0 if faults else here
    for a in range(size):
        belief[graph.offsets[child] + a] += theta[graph.offsets[child] + a]
    for q in range(tables.place_ptr[child], tables.place_ptr[child + 1]):
        own = tables.places[q]
        table = tables.place_table[own]
        if not is_last(graph, rank, table, child):
            continue  # another one's
        inside, other = reach(graph, rank, table, child)
        at = entry_at(graph.tables, table, gold)
        if theta[at] == -np.inf:
            faults += 1
        else:
            value += theta[at]
        if inside > 2 or (inside == 2 and other != parent):
            forest.checks[child] = True
            continue
        at -= tables.strides[own] * gold[child]
        if inside == 1:
            for a in range(size):
                belief[graph.offsets[child] + a] += theta[at + tables.strides[own] * a]
            continue
        step = 0
        for k in range(tables.scope_ptr[table], tables.scope_ptr[table + 1]):
            if tables.scope[k] == parent:
                step = tables.strides[k]
        at -= step * gold[parent]
        for a in range(size):
            for b in range(wide):
                edge[a * wide + b] += theta[at + tables.strides[own] * a + step * b]
    return value, faults


@inlined
def worth_below(graph: Graph, forest: Forest, child: int, label: int, above: int) -> float:
    """The best that a label, with this one of the parent above it, and all below can add."""
    top = forest.parent[child]
    wide = 1 if top < 0 else graph.sizes[top]
    edge = forest.edges[forest.edge_ptr[child] + label * wide + above]
    known_value: float = forest.belief[graph.offsets[child] + label] + edge
    return known_value


@inlined
def next_label(
    graph: Graph, forest: Forest, child: int, above: int, last: int
) -> tuple[int, float]:
    """The best label after the last one (the very best after -1), or -1; and its worth."""
    limit = np.inf
    if last >= 0:
        limit = worth_below(graph, forest, child, last, above)
    best, chosen = -np.inf, -1
    for a in range(graph.sizes[child]):
        known_value = worth_below(graph, forest, child, a, above)
        if known_value > best and (known_value < limit or (known_value == limit and a > last)):
            best = known_value
            chosen = a
    return chosen, best


@inlined
def passes(graph: Graph, forest: Forest, child: int) -> bool:
    """Whether the tables that are checked with a variable allow what is chosen so far."""
    tables = graph.tables
    for q in range(tables.place_ptr[child], tables.place_ptr[child + 1]):
        table = tables.place_table[tables.places[q]]
        last = is_last(graph, forest.rank, table, child)
        if last and forest.theta[entry_at(tables, table, forest.labels)] == -np.inf:
            return False
    return True


@lean
def descend(
    graph: Graph,
    forest: Forest,
    count: int,
    top: float,
    floor: float,
    tie: float,
    nodes: int,
    answer: IntArray,
) -> tuple[int, float]:
    """The best labels of a planted set, of at least the ``floor``: what is known, and their worth.

    ``top`` is the most there can be. The labels go where the set is in the ``answer``.
    """
    rows, offsets, order = graph.rows, graph.offsets, forest.order
    labels, ranges = forest.labels, forest.ranges
    known, best = NONE, -np.inf
    if count == 0:
        return known, best
    depth, tried = 0, 0
    forest.bound[0], labels[order[0]] = top, -1
    while depth >= 0:
        child, last = order[depth], labels[order[depth]]
        above = 0 if forest.parent[child] < 0 else labels[forest.parent[child]]
        chosen, known_value = next_label(graph, forest, child, above, last)
        if last >= 0:
            reopen(rows, offsets[child] + last, child, ranges)
        else:
            forest.first[depth] = known_value
        labels[child] = chosen
        value = (
            forest.bound[depth] - (forest.first[depth] - known_value) if chosen >= 0 else -np.inf
        )
        if chosen < 0 or value < max(best, floor) - tie:
            depth -= 1
            continue
        tried += 1
        if tried > nodes:
            return OPEN, best
        if not settle(rows, offsets[child] + chosen, child, ranges):
            continue
        if forest.checks[child] and not passes(graph, forest, child):
            continue
        if depth + 1 < count:
            depth += 1
            forest.bound[depth], labels[order[depth]] = value, -1
            continue
        known = SURE if known == NONE or value > best + tie else DOUBTFUL
        if value > best:
            best = value
            for r in range(count):
                answer[order[r]] = labels[order[r]]
        if known == DOUBTFUL and best >= top:
            break  # nothing is better, and it is known that there are others
    return known, best


@lean
def pass_up(
    graph: Graph, gold: IntArray, forest: Forest, members: IntArray
) -> tuple[float, float, int]:
    """Max-sum over a planted set, from its leaves on: the most it can add; and what gold gets."""
    belief, parent = forest.belief, forest.parent
    at = 0
    for j in members:
        forest.edge_ptr[j] = at
        at += graph.sizes[j] * (1 if parent[j] < 0 else graph.sizes[parent[j]])
    top, value, faults = 0.0, 0.0, 0
    for r in range(members.shape[0] - 1, -1, -1):
        child = forest.order[r]
        own, wrong = collect(graph, gold, forest, child)
        value += own
        faults += wrong
        size, wide = graph.sizes[child], 1 if parent[child] < 0 else graph.sizes[parent[child]]
        values = belief[graph.offsets[child] : graph.offsets[child] + size]
        first, message = forest.edge_ptr[child], forest.message[:wide]
        best_across(message, values, forest.edges[first : first + size * wide], wide, 1)
        if parent[child] < 0:
            top += message[0]
        else:
            for b in range(wide):
                belief[graph.offsets[parent[child]] + b] += message[b]
    return top, value, faults


@kernel
def best_forests(
    questions: Questions,
    gold: IntArray,
    graph: Graph,
    around: VariableSets,
    floors: FloatArray,
    nodes: int,
) -> tuple[IntArray, BoolArray, FloatArray]:
    """The best of the gold output and of what differs from it inside one set that is a forest.

    Labels are -1 where nothing obeys the rules and is worth as much as the ``floors``. Others may
    be within a tie where this is doubtful. Last come the bounds of sets that are not settled: inf
    for those that are no forest, and what max-sum says where ``nodes`` labels were not enough.
    Settled sets have -inf.
    """
    m, n = gold.shape
    sets, ties = around.ptr.shape[0] - 1, questions.ties
    most = 0
    for s in range(sets):
        size = 0
        for k in range(around.ptr[s], around.ptr[s + 1]):
            size += graph.sizes[around.members[k]]
        most = max(most, size * graph.widest)
    work, found = np.empty(questions.scores.shape[1]), np.empty(n, np.int64)
    forest = new_forest(graph, n, most)
    activity = np.empty(graph.rows.lower.shape[0])
    answers = np.full((m, n), -1)
    doubts = np.zeros(m, np.bool_)
    bounds = np.full(sets, -np.inf)
    for i in range(m):
        read_scores(questions, i, work)
        load(work, graph.source, forest.theta)
        total, faults = worth_of(graph, forest.theta, gold[i])
        broken = add_up(graph, gold[i], activity)
        best, doubtful = floors[i], False
        if faults == 0 and broken == 0 and total >= best - ties[i]:
            best = max(best, total)
            answers[i] = gold[i]
        for s in range(around.begin[i], around.end[i]):
            members = around.members[around.ptr[s] : around.ptr[s + 1]]
            for j in members:
                forest.rank[j] = n
            if plant(graph, members, forest):
                broke = prune(graph, gold[i], activity, members, s, forest.ranges)
                for j in members:
                    forest.belief[graph.offsets[j] : graph.offsets[j + 1]] = 0.0
                    close_labels(graph, j, forest.ranges, forest.belief)
                top, own, wrong = pass_up(graph, gold[i], forest, members)
                fixed = total - own
                if faults == wrong and broken == broke and fixed + top >= best - ties[i]:
                    forest.labels[:] = gold[i]
                    found[:] = gold[i]
                    size = members.shape[0]
                    known, known_value = descend(
                        graph, forest, size, top, best - fixed, ties[i], nodes, found
                    )
                    if known_value > -np.inf:
                        best, doubtful = better(
                            Incumbent(answers[i], best, doubtful, ties[i]),
                            found,
                            known_value + fixed,
                            known == DOUBTFUL,
                        )
                    if known == OPEN:
                        bounds[s] = fixed + top
            else:
                bounds[s] = np.inf
            for j in members:
                forest.rank[j] = -1
                forest.parent[j] = -1
        doubts[i] = doubtful
    return answers, doubts, bounds
