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

import cython
import numpy as np

from rote.types import BoolArray, FloatArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Graph, Questions, VariableSets, fit_outputs
    from rote.kernels.dp.trees import best_across
    from rote.kernels.dual.ascent import load
    from rote.kernels.inlined import entry_at, is_scored
    from rote.kernels.neighbourhood.neighbours import better
    from rote.kernels.neighbourhood.ranges import (
        Ranges,
        add_up,
        close_labels,
        prune,
        reopen,
        settle,
    )
    from rote.kernels.outputs import read_scores

    SURE = 0  # the only best labels
    DOUBTFUL = 1  # others may be within a tie
    NONE = 2  # none that obeys the rules and is as good as what is known
    OPEN = 3  # given up


class Forest(Bundle):
    """A set, from its roots on, and what max-sum tells of its labels; no variable is in it yet."""

    def __init__(self, graph: Graph, variables: Int, edges: Int) -> None:
        n, labels = variables, graph.offsets[graph.sizes.shape[0]]
        places = ints(5 * n)
        self.rank = places[:n]  # per variable: its place in the order, -1 outside of the set
        self.order = places[n : 2 * n]
        self.parent = places[2 * n : 3 * n]  # per variable, -1 for roots
        self.edge_ptr = places[3 * n : 4 * n]
        self.labels = places[4 * n :]  # the way down so far
        fill(self.rank, -1)
        fill(self.parent, -1)
        numbers = floats(labels + graph.widest + 2 * n)
        self.belief = numbers[:labels]  # per label: itself, the border, and the best below it
        self.message = numbers[labels : labels + graph.widest]  # what is told to a parent
        # By depth: the most there can be before a label is chosen here; the worth of the first one.
        self.bound = numbers[labels + graph.widest : labels + graph.widest + n]
        self.first = numbers[labels + graph.widest + n :]
        self.edges = floats(edges)  # per variable: its labels with each one of its parent
        self.theta = floats(graph.tables.ptr[graph.tables.ptr.shape[0] - 1])  # per entry
        self.activity = floats(graph.rows.lower.shape[0])  # what the gold output adds to rows
        self.checks = flags(n)  # whether tables are left to be checked with a variable
        self.ranges = Ranges(graph.rows, n)


def reach(graph: Graph, forest: Forest, table: Int, j: Int) -> tuple[int, int]:
    """How many variables of a set a table is over, and the last of them that is not j."""
    inside, other = 0, -1
    for k in range(graph.tables.scope_ptr[table], graph.tables.scope_ptr[table + 1]):
        if forest.rank[graph.tables.scope[k]] >= 0:
            inside += 1
            if graph.tables.scope[k] != j:
                other = graph.tables.scope[k]
    return inside, other


def is_last(graph: Graph, forest: Forest, table: Int, j: Int) -> bool:
    """Whether a variable is the last in order of those of its set that a table is over."""
    for k in range(graph.tables.scope_ptr[table], graph.tables.scope_ptr[table + 1]):
        if forest.rank[graph.tables.scope[k]] > forest.rank[j]:
            return False
    return True


def put_below(forest: Forest, j: Int, parent: Int, count: Int) -> int:
    """Give a variable the next place in the order; how many places are taken then."""
    forest.order[count] = j
    forest.parent[j] = parent
    forest.rank[j] = count
    return count + 1


def plant(graph: Graph, members: Ints, forest: Forest) -> bool:
    """Order the variables of a set so that parents come first; False where there is a loop.

    Tables with scores go first. One without may join what they leave apart, and closes no loop: if
    it would, it is checked later. The rank is the number of variables for those of the set and -1
    elsewhere; afterwards it is their place in the order.
    """
    unseen = forest.rank.shape[0]
    count = 0
    for place in range(members.shape[0]):
        root = members[place]
        if forest.rank[root] < unseen:
            continue
        at, behind = count, count  # whose tables with scores, and without, come next
        count = put_below(forest, root, -1, count)
        while behind < count:
            scored: Bool = at < count
            j = forest.order[at] if scored else forest.order[behind]
            before = count
            for q in range(graph.tables.place_ptr[j], graph.tables.place_ptr[j + 1]):
                table = graph.tables.place_table[graph.tables.places[q]]
                if is_scored(graph, table) != scored:
                    continue
                inside, other = reach(graph, forest, table, j)
                if inside < 2:
                    continue
                if inside == 2 and (other == forest.parent[j] or forest.parent[other] == j):
                    continue
                if inside == 2 and forest.rank[other] == unseen:
                    count = put_below(forest, other, j, count)
                    if not scored:
                        break  # its tables with scores go first
                elif scored:
                    return False
            if scored:
                at += 1
            elif count == before:
                behind += 1
    return True


def worth_of(graph: Graph, theta: Floats, labels: Ints) -> tuple[float, int]:
    """The score of an output, and how many forbidden entries it has, which are not in it."""
    value, faults = 0.0, 0
    for j in range(labels.shape[0]):
        here = theta[graph.offsets[j] + labels[j]]
        if here == -inf:
            faults += 1
        else:
            value += here
    for b in range(graph.tables.ptr.shape[0] - 1):
        here = theta[entry_at(graph.tables, b, labels)]
        if here == -inf:
            faults += 1
        else:
            value += here
    return value, faults


def width_above(graph: Graph, forest: Forest, child: Int) -> int:
    """How many labels the parent of a variable has; 1 for roots."""
    return 1 if forest.parent[child] < 0 else graph.sizes[forest.parent[child]]


def collect(graph: Graph, gold: Ints, forest: Forest, child: Int) -> tuple[float, int]:
    """The scores of a child's labels, and of its labels together with its parent's.

    Returns what gold gets here: scores, and forbidden entries.
    """
    parent, first, edge = forest.parent[child], graph.offsets[child], forest.edge_ptr[child]
    size, wide = graph.sizes[child], width_above(graph, forest, child)
    for k in range(edge, edge + size * wide):
        forest.edges[k] = 0.0
    forest.checks[child] = False
    value, faults = 0.0, 0
    here = forest.theta[first + gold[child]]
    if here == -inf:
        faults = 1
    else:
        value = here
    for a in range(size):
        forest.belief[first + a] += forest.theta[first + a]
    for q in range(graph.tables.place_ptr[child], graph.tables.place_ptr[child + 1]):
        own = graph.tables.places[q]
        table = graph.tables.place_table[own]
        if not is_last(graph, forest, table, child):
            continue  # another one's
        inside, other = reach(graph, forest, table, child)
        at = entry_at(graph.tables, table, gold)
        if forest.theta[at] == -inf:
            faults += 1
        else:
            value += forest.theta[at]
        if inside > 2 or (inside == 2 and other != parent):
            forest.checks[child] = True
            continue
        own_step = graph.tables.strides[own]
        at -= own_step * gold[child]
        if inside == 1:
            for a in range(size):
                forest.belief[first + a] += forest.theta[at + own_step * a]
            continue
        step = 0
        for k in range(graph.tables.scope_ptr[table], graph.tables.scope_ptr[table + 1]):
            if graph.tables.scope[k] == parent:
                step = graph.tables.strides[k]
        at -= step * gold[parent]
        for a in range(size):
            for b in range(wide):
                forest.edges[edge + a * wide + b] += forest.theta[at + own_step * a + step * b]
    return value, faults


def next_label(
    graph: Graph, forest: Forest, child: Int, above: Int, last: Int
) -> tuple[int, float]:
    """The best label after the last one (the very best after -1), or -1; and its worth.

    That is the best that a label, with this one of the parent above it, and all below can add.
    """
    first, wide = graph.offsets[child], width_above(graph, forest, child)
    edge = forest.edge_ptr[child] + above
    limit = inf
    if last >= 0:
        limit = forest.belief[first + last] + forest.edges[edge + last * wide]
    best, chosen = -inf, -1
    for a in range(graph.sizes[child]):
        value = forest.belief[first + a] + forest.edges[edge + a * wide]
        if value > best and (value < limit or (value == limit and a > last)):
            best = value
            chosen = a
    return chosen, best


def passes(graph: Graph, forest: Forest, child: Int) -> bool:
    """Whether the tables that are checked with a variable allow what is chosen so far."""
    for q in range(graph.tables.place_ptr[child], graph.tables.place_ptr[child + 1]):
        table = graph.tables.place_table[graph.tables.places[q]]
        last: Bool = is_last(graph, forest, table, child)
        if last and forest.theta[entry_at(graph.tables, table, forest.labels)] == -inf:
            return False
    return True


def descend(
    graph: Graph,
    forest: Forest,
    count: Int,
    top: float,
    floor: float,
    tie: float,
    nodes: Int,
    answer: OutInts,
) -> tuple[int, float]:
    """The best labels of a planted set, of at least the ``floor``: what is known, and their worth.

    ``top`` is the most there can be. The labels go where the set is in the ``answer``.
    """
    known, best = NONE, -inf
    if count == 0:
        return known, best
    depth, tried = 0, 0
    forest.bound[0] = top
    forest.labels[forest.order[0]] = -1
    while depth >= 0:
        child = forest.order[depth]
        last = forest.labels[child]
        above = 0 if forest.parent[child] < 0 else forest.labels[forest.parent[child]]
        chosen, reached = next_label(graph, forest, child, above, last)
        if last >= 0:
            reopen(graph.rows, graph.offsets[child] + last, child, forest.ranges)
        else:
            forest.first[depth] = reached
        forest.labels[child] = chosen
        value = -inf
        if chosen >= 0:
            value = forest.bound[depth] - (forest.first[depth] - reached)
        if chosen < 0 or value < max(best, floor) - tie:
            depth -= 1
            continue
        tried += 1
        if tried > nodes:
            return OPEN, best
        if not settle(graph.rows, graph.offsets[child] + chosen, child, forest.ranges):
            continue
        if forest.checks[child] and not passes(graph, forest, child):
            continue
        if depth + 1 < count:
            depth += 1
            forest.bound[depth] = value
            forest.labels[forest.order[depth]] = -1
            continue
        known = SURE if known == NONE or value > best + tie else DOUBTFUL
        if value > best:
            best = value
            for r in range(count):
                answer[forest.order[r]] = forest.labels[forest.order[r]]
        if known == DOUBTFUL and best >= top:
            break  # nothing is better, and it is known that there are others
    return known, best


def pass_up(graph: Graph, gold: Ints, forest: Forest, members: Ints) -> tuple[float, float, int]:
    """Max-sum over a planted set, from its leaves on: the most it can add; and what gold gets."""
    at = 0
    for k in range(members.shape[0]):
        forest.edge_ptr[members[k]] = at
        at += graph.sizes[members[k]] * width_above(graph, forest, members[k])
    top, value, faults = 0.0, 0.0, 0
    for r in range(members.shape[0] - 1, -1, -1):
        child = forest.order[r]
        own, wrong = collect(graph, gold, forest, child)
        value += own
        faults += wrong
        parent, first = forest.parent[child], graph.offsets[child]
        edge, wide = forest.edge_ptr[child], width_above(graph, forest, child)
        best_across(
            forest.message[:wide],
            forest.belief[first : first + graph.sizes[child]],
            forest.edges,
            edge,
            wide,
            1,
        )
        if parent < 0:
            top += forest.message[0]
        else:
            for b in range(wide):
                forest.belief[graph.offsets[parent] + b] += forest.message[b]
    return top, value, faults


def open_set(graph: Graph, gold: Ints, forest: Forest, members: Ints, number: Int) -> int:
    """Open the labels of a planted set that rows allow; how many rows it touches were broken."""
    broken = prune(graph, gold, forest.activity, members, number, forest.ranges)
    for k in range(members.shape[0]):
        for e in range(graph.offsets[members[k]], graph.offsets[members[k] + 1]):
            forest.belief[e] = 0.0
        close_labels(graph, members[k], forest.ranges, forest.belief)
    return broken


def most_edges(graph: Graph, around: VariableSets) -> int:
    """Room for the labels of every variable of a set with those of its parent, for any set."""
    most = 0
    for s in range(around.ptr.shape[0] - 1):
        size = 0
        for k in range(around.ptr[s], around.ptr[s + 1]):
            size += graph.sizes[around.members[k]]
        most = max(most, size * graph.widest)
    return most


def best_forests(
    questions: Questions,
    gold: Ints2,
    graph: Graph,
    around: VariableSets,
    floors: Floats,
    nodes: Int,
) -> tuple[IntArray, BoolArray, FloatArray]:
    """The best of the gold output and of what differs from it inside one set that is a forest.

    Labels are -1 where nothing obeys the rules and is worth as much as the ``floors``. Others may
    be within a tie where this is doubtful. Last come the bounds of sets that are not settled: inf
    for those that are no forest, and what max-sum says where ``nodes`` labels were not enough.
    Settled sets have -inf.
    """
    questions.fit(graph.source.reach, 0)
    fit_outputs("gold", gold, graph, questions.scores.shape[0])
    around.fit(gold.shape[0])
    expect("floors", "entries", gold.shape[0], floors.shape[0])
    m, n = gold.shape[0], gold.shape[1]
    forest = Forest(graph, n, most_edges(graph, around))
    work, found = floats(questions.scores.shape[1]), ints(n)
    answers, bounds = ints2(m, n), floats(around.ptr.shape[0] - 1)
    doubts: OutFlags = np.zeros(m, np.bool_)
    fill(bounds, -inf)
    with cython.nogil:
        for i in range(m):
            read_scores(questions, i, work)
            load(work, graph.source, forest.theta)
            tie = questions.ties[i]
            fill(answers[i], -1)
            total, faults = worth_of(graph, forest.theta, gold[i])
            broken = add_up(graph, gold[i], forest.activity)
            best: float = floors[i]
            doubtful: Bool = False
            if faults == 0 and broken == 0 and total >= best - tie:
                best = max(best, total)
                copy_into(answers[i], gold[i])
            copy_into(forest.labels, gold[i])
            for s in range(around.begin[i], around.end[i]):
                members: Ints = around.members[around.ptr[s] : around.ptr[s + 1]]
                for k in range(members.shape[0]):
                    forest.rank[members[k]] = n
                if plant(graph, members, forest):
                    broke = open_set(graph, gold[i], forest, members, s)
                    top, own, wrong = pass_up(graph, gold[i], forest, members)
                    fixed = total - own
                    if faults == wrong and broken == broke and fixed + top >= best - tie:
                        copy_into(found, gold[i])
                        known, value = descend(
                            graph, forest, members.shape[0], top, best - fixed, tie, nodes, found
                        )
                        if value > -inf:
                            best, doubtful = better(
                                answers[i],
                                best,
                                doubtful,
                                tie,
                                found,
                                value + fixed,
                                known == DOUBTFUL,
                            )
                        if known == OPEN:
                            bounds[s] = fixed + top
                else:
                    bounds[s] = inf
                for k in range(members.shape[0]):
                    forest.rank[members[k]] = -1
                    forest.parent[members[k]] = -1
                    forest.labels[members[k]] = gold[i, members[k]]
            doubts[i] = doubtful
    return np.asarray(answers), np.asarray(doubts).view(np.bool_), np.asarray(bounds)
