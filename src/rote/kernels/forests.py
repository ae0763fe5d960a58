"""Max-sum over sets of variables that hang together as trees, all others as in a given output.

Tables that reach out of a set are cut at its border: the labels outside are known. What is left
between two variables of the set is an edge; where edges close no loop, one pass from the leaves to
the roots and one back find the best labels.
"""

from __future__ import annotations

import numpy as np

from rote.kernels.ascent import load
from rote.kernels.jit import kernel
from rote.kernels.neighbours import entry_at
from rote.kernels.outputs import read_scores
from rote.kernels.structs import Graph
from rote.types import BoolArray, FloatArray, IntArray

SURE = 0  # the only best labels
DOUBTFUL = 1  # others may be within a tie
NONE = 2  # every labelling uses a forbidden entry
LOOP = 3  # not a forest


@kernel
def plant(
    graph: Graph, members: IntArray, rank: IntArray, order: IntArray, parent: IntArray
) -> bool:
    """Order the variables of a set so that parents come first; False where there is a loop.

    ``rank`` is the number of variables for those of the set and -1 elsewhere; afterwards it is
    their place in the order. ``parent`` is -1 for roots.
    """
    tables = graph.tables
    unseen = rank.shape[0]
    count = 0
    for r in range(members.shape[0]):
        if rank[members[r]] < unseen:
            continue
        order[count] = members[r]
        parent[members[r]] = -1
        rank[members[r]] = count
        at = count
        count += 1
        while at < count:
            j = order[at]
            at += 1
            for q in range(tables.place_ptr[j], tables.place_ptr[j + 1]):
                table = tables.place_table[tables.places[q]]
                inside = 0
                other = -1
                for k in range(tables.scope_ptr[table], tables.scope_ptr[table + 1]):
                    if rank[tables.scope[k]] >= 0:
                        inside += 1
                        if tables.scope[k] != j:
                            other = tables.scope[k]
                if inside > 2:
                    return False
                if inside < 2 or other == parent[j] or parent[other] == j:
                    continue
                if rank[other] < unseen:
                    return False
                order[count] = other
                parent[other] = j
                rank[other] = count
                count += 1
    return True


@kernel
def collect(
    graph: Graph,
    theta: FloatArray,
    gold: IntArray,
    rank: IntArray,
    child: int,
    parent: int,
    belief: FloatArray,
    edge: FloatArray,
) -> None:
    """The scores of a child's labels, and of its labels together with its parent's.

    ``edge`` runs over the child's labels first.
    """
    tables = graph.tables
    size, wide = graph.sizes[child], 1 if parent < 0 else graph.sizes[parent]
    for a in range(size):
        belief[graph.offsets[child] + a] += theta[graph.offsets[child] + a]
        for b in range(wide):
            edge[a * wide + b] = 0.0
    for q in range(tables.place_ptr[child], tables.place_ptr[child + 1]):
        own = tables.places[q]
        table = tables.place_table[own]
        step, alone = 0, True
        for k in range(tables.scope_ptr[table], tables.scope_ptr[table + 1]):
            other = tables.scope[k]
            if other != child and rank[other] >= 0:
                alone = False
                if other == parent:
                    step = tables.strides[k]
        if not alone and step == 0:
            continue  # towards a child of its own, which has done this
        at = entry_at(graph, table, gold) - tables.strides[own] * gold[child]
        if alone:
            for a in range(size):
                belief[graph.offsets[child] + a] += theta[at + tables.strides[own] * a]
            continue
        at -= step * gold[parent]
        for a in range(size):
            for b in range(wide):
                edge[a * wide + b] += theta[at + tables.strides[own] * a + step * b]


@kernel
def best_forests(
    scores: FloatArray,
    closed: BoolArray,
    ties: FloatArray,
    gold: IntArray,
    graph: Graph,
    owner: IntArray,
    ptr: IntArray,
    members: IntArray,
) -> tuple[IntArray, IntArray]:
    """For every set, whose input is its ``owner``: the best labels, and what is known of them.

    Owners come in order. Rows are not looked at.
    """
    n = gold.shape[1]
    sets = owner.shape[0]
    work = np.empty(scores.shape[1])
    theta = np.empty(graph.tables.ptr[-1])
    rank = np.full(n, -1)
    order = np.empty(n, np.int64)
    parent = np.full(n, -1)
    belief = np.empty(graph.offsets[-1])
    edge = np.empty(graph.widest * graph.widest)
    choice = np.empty((n, graph.widest), np.int64)  # per child and label of its parent
    doubt = np.empty((n, graph.widest), np.bool_)
    labels = np.empty((sets, n), np.int64)
    known = np.empty(sets, np.int64)
    loaded = -1
    for s in range(sets):
        i = owner[s]
        labels[s] = gold[i]
        known[s] = SURE
        if i != loaded:
            read_scores(scores, closed, i, work)
            load(work, graph.source, theta)
            loaded = i
        mine = members[ptr[s] : ptr[s + 1]]
        count = mine.shape[0]
        for r in range(count):
            rank[mine[r]] = n
        if plant(graph, mine, rank, order, parent):
            for r in range(count):
                for a in range(graph.sizes[mine[r]]):
                    belief[graph.offsets[mine[r]] + a] = 0.0
            for at in range(count - 1, -1, -1):
                child = order[at]
                top = parent[child]
                collect(graph, theta, gold[i], rank, child, top, belief, edge)
                wide = 1 if top < 0 else graph.sizes[top]
                for b in range(wide):
                    best, second, chosen = -np.inf, -np.inf, 0
                    for a in range(graph.sizes[child]):
                        value = belief[graph.offsets[child] + a] + edge[a * wide + b]
                        if value > best:
                            second = best
                            best = value
                            chosen = a
                        elif value > second:
                            second = value
                    choice[child, b] = chosen
                    doubt[child, b] = best > -np.inf and second >= best - ties[i]
                    if top >= 0:
                        belief[graph.offsets[top] + b] += best
                    elif best == -np.inf:
                        known[s] = NONE
            for at in range(count):
                child = order[at]
                b = 0 if parent[child] < 0 else labels[s, parent[child]]
                labels[s, child] = choice[child, b]
                if doubt[child, b] and known[s] == SURE:
                    known[s] = DOUBTFUL
        else:
            known[s] = LOOP
        for r in range(count):
            rank[mine[r]] = -1
            parent[mine[r]] = -1
    return labels, known
