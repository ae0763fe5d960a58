"""Branch and bound that starts from an output, such as the last answer to a similar question.

After single changes the output is the incumbent, and often close to the best. So most labels are
closed before anything is searched: a label whose loss, when its variable has collected what its
tables can spare, is more than the bound is above the incumbent is in no better output. What is
still open falls into parts, of which most are eliminated. A few more sweeps close labels of the
others, and then they are searched.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import BoolArray, FloatArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Graph, Questions, Reduced
    from rote.kernels.dp.elimination import Eliminated
    from rote.kernels.dp.runtime_elimination import eliminate_part
    from rote.kernels.dual.ascent import (
        Ascent,
        begin,
        bound_of,
        complete,
        marginalise,
        shift,
        sweep,
    )
    from rote.kernels.search.branch import Parts, components, search_parts
    from rote.kernels.search.nodes import Node

    ROUNDS = 4  # of sweeps before anything is searched
    SWEEPS = 2  # of a round
    MOVES = 3  # times that every variable may change its label
    FIRST_NODES = 16  # of the first search; each further one has more sweeps and four times as many
    ENTRIES = 1 << 13  # of one elimination before a search


class Incumbent(Bundle):
    """The best output known of one input, and room to find a better one."""

    def __init__(self, graph: Graph) -> None:
        n = graph.sizes.shape[0]
        self.losses = floats(graph.offsets[n])
        self.trial, self.found = ints(n), ints(n)
        self.gain = floats(graph.widest)


def value_of(graph: Graph, theta: Floats, labels: Ints) -> float:
    """What an output is worth; -inf where it has a closed label or entry."""
    value = 0.0
    for j in range(graph.sizes.shape[0]):
        value += theta[graph.offsets[j] + labels[j]]
    for b in range(graph.tables.ptr.shape[0] - 1):
        e = graph.tables.ptr[b]
        for k in range(graph.tables.scope_ptr[b], graph.tables.scope_ptr[b + 1]):
            e += graph.tables.strides[k] * labels[graph.tables.scope[k]]
        value += theta[e]
    return value


def single_changes(graph: Graph, theta: Floats, room: Incumbent, decoding: Bool) -> bool:
    """Give each variable of ``room.trial`` the label that is best, the others as they are.

    Returns whether one has changed. With ``decoding`` the labels that were there do not count, and
    tables with a variable that comes later say nothing.
    """
    labels: OutInts = room.trial
    gain: OutFloats = room.gain
    moved: Bool = False
    for j in range(graph.sizes.shape[0]):
        size = graph.sizes[j]
        for a in range(size):
            gain[a] = theta[graph.offsets[j] + a]
        for p in range(graph.tables.place_ptr[j], graph.tables.place_ptr[j + 1]):
            k = graph.tables.places[p]
            b = graph.tables.place_table[k]
            e = graph.tables.ptr[b]
            speaks: Bool = True
            for q in range(graph.tables.scope_ptr[b], graph.tables.scope_ptr[b + 1]):
                w = graph.tables.scope[q]
                if w != j:
                    e += graph.tables.strides[q] * labels[w]
                if decoding and w > j:
                    speaks = False
            if speaks:
                for a in range(size):
                    gain[a] += theta[e + a * graph.tables.strides[k]]
        best = 0 if decoding else labels[j]
        for a in range(size):
            if gain[a] > gain[best]:
                best = a
        if best != labels[j]:
            labels[j] = best
            moved = True
    return moved


def consider(graph: Graph, theta: Floats, room: Incumbent, value: float) -> float:
    """Take ``room.trial`` as the incumbent if it is better after single changes; its value."""
    for _ in range(MOVES):
        if not single_changes(graph, theta, room, False):
            break
    reached = value_of(graph, theta, room.trial)
    if reached > value:
        copy_into(room.found, room.trial)
        return reached
    return value


def collect(graph: Graph, ascent: Ascent, losses: OutFloats) -> None:
    """A sweep forwards; what each label loses when its variable has collected all it can."""
    theta: OutFloats = ascent.theta
    marginals: OutFloats = ascent.marginals
    ptr: Ints = graph.tables.ptr
    for j in range(graph.sizes.shape[0]):
        size, first = graph.sizes[j], graph.offsets[j]
        begin, end = graph.tables.place_ptr[j], graph.tables.place_ptr[j + 1]
        for p in range(begin, end):
            k = graph.tables.places[p]
            b = graph.tables.place_table[k]
            own = (p - begin) * size
            marginalise(theta, ptr[b], ptr[b + 1], graph.tables.strides[k], marginals, own, size)
            for a in range(size):
                theta[first + a] += marginals[own + a]
        top = -inf
        for a in range(size):
            top = max(top, theta[first + a])
        for a in range(size):
            losses[first + a] = top - theta[first + a]
        share: float = graph.flow.share[j]
        given = 0
        for p in range(begin, end):
            k = graph.tables.places[p]
            b = graph.tables.place_table[k]
            own = (p - begin) * size
            if graph.flow.up[k]:
                given += 1
            for a in range(size):
                score = theta[first + a]
                if score == -inf:
                    marginals[own + a] = -inf
                elif graph.flow.up[k]:
                    marginals[own + a] -= share * score
            shift(theta, ptr[b], ptr[b + 1], graph.tables.strides[k], marginals, own, size)
        kept = 1.0 - share * given
        for a in range(size):
            if theta[first + a] != -inf:
                theta[first + a] *= kept


def hold(graph: Graph, theta: OutFloats, parts: Parts, c: Int, found: Ints) -> None:
    """Close all labels of a part but those found."""
    for j in range(graph.sizes.shape[0]):
        if parts.part[j] == c:
            for a in range(graph.sizes[j]):
                if a != found[j]:
                    theta[graph.offsets[j] + a] = -inf


def restart(
    graph: Graph,
    ascent: Ascent,
    node: Node,
    parts: Parts,
    room: Incumbent,
    value: float,
    tie: float,
    node_limit: Int,
) -> tuple[float, float, float]:
    """The best output, given one worth ``value`` in ``room.found``, or -inf without one.

    Returns its value, a bound on everything, and the largest bound of anything that was left aside.
    """
    runner, limit, visited, rounds = -inf, FIRST_NODES, 0, ROUNDS
    if not parts.made:
        parts.reserve(graph)
    while True:
        for _ in range(SWEEPS):
            sweep(graph, ascent, False)
        bound = bound_of(graph, ascent)
        if bound == -inf:
            return value, value, runner
        single_changes(graph, ascent.theta, room, True)
        value = consider(graph, ascent.theta, room, value)
        if value == -inf:
            return value, inf, inf
        collect(graph, ascent, room.losses)
        for e in range(room.losses.shape[0]):
            if room.losses[e] > bound - value + 4 * tie:
                ascent.theta[e] = -inf
        runner = max(runner, value - 4 * tie)
        left = 0
        for c in range(components(graph, ascent.theta, parts.root, parts.part)):
            done, gained, margin = eliminate_part(
                graph, ascent.theta, parts.part, c, ENTRIES, parts.elimination, room.found
            )
            if done:
                value += gained
                runner = max(runner, value - margin)
                hold(graph, ascent.theta, parts, c, room.found)
            else:
                left += 1
        if left == 0:
            return value, value, runner
        rounds -= 1
        if rounds > 0:
            continue
        sweep(graph, ascent, True)
        limit = min(limit, node_limit - visited)
        value, bound, most, nodes = search_parts(
            graph, ascent, node, parts, value, tie, limit, room.found
        )
        runner = max(runner, most)
        visited += nodes
        if bound <= value or visited >= node_limit:
            return value, bound, runner
        limit *= 4
        rounds = 2


def branch_from(
    questions: Questions, incumbents: Ints2, reduced: Reduced, node_limit: Int
) -> tuple[IntArray, FloatArray, BoolArray, BoolArray]:
    """What `branch` returns of graphs without rows, given outputs to start from.

    An output that is not allowed, or has labels out of range, is a poor start and does no harm.
    """
    graph = reduced.graph
    m, n = questions.scores.shape[0], graph.sizes.shape[0]
    expect_least("scores", "columns", reduced.steps.parts, questions.scores.shape[1])
    expect("incumbents", "rows", m, incumbents.shape[0])
    expect("incumbents", "columns", reduced.variables, incumbents.shape[1])
    memory = Eliminated(questions.scores.shape[1], reduced.steps)
    ascent, node, parts, room = Ascent(graph), Node(graph), Parts(), Incumbent(graph)
    labels: OutInts2 = np.full((m, reduced.variables), -1, np.int64)
    bounds: OutFloats = np.full(m, -inf)
    completed: OutFlags = np.ones(m, np.bool_)
    doubtful: OutFlags = np.zeros(m, np.bool_)
    with cython.nogil:
        for i in range(m):
            rest = begin(questions, i, reduced, memory, ascent.theta)
            if rest == -inf:
                continue
            for j in range(n):
                v = reduced.core[j]
                label = incumbents[i, v] if v < reduced.variables else 0
                room.trial[j] = label if 0 <= label < graph.sizes[j] else 0
            tie = questions.ties[i]
            value = consider(graph, ascent.theta, room, -inf)
            value, bound, runner = restart(graph, ascent, node, parts, room, value, tie, node_limit)
            bounds[i] = bound + rest
            completed[i] = bound <= value
            if value > -inf:
                margin = complete(reduced, memory, room.found, labels[i])
                doubtful[i] = runner >= value - tie or margin <= tie
    return (
        np.asarray(labels),
        np.asarray(bounds),
        np.asarray(completed).view(np.bool_),
        np.asarray(doubtful).view(np.bool_),
    )
