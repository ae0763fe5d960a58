"""Depth-first branch and bound over a network, with bounds from dual ascent.

At the root, dual ascent (`rote.kernels.dual.ascent`) reparametrises the scores so that

    bound = Σ_j max_a θ_j(a) + Σ_f max_t θ_f(t) + u·rhs

is close to the optimum. Below, a table whose variables are all labelled but one is
folded into that one's labels, a table with more left keeps the best entry that fits
the labels given, and the bound is kept up to date by what changed. Every change is
written to a trail and undone on the way back. A node closes when its bound does not
beat the best output known, or when every variable's best label agrees with every
table's best entry: then the bound is reached and nothing below can be better.
"""

from __future__ import annotations

import numpy as np

from rote.kernels.bundles import DualRows, Graph, Questions, Reduced
from rote.kernels.dp.runtime_elimination import eliminate_part
from rote.kernels.dual.ascent import (
    Ascent,
    apply_duals,
    begin,
    bound_of,
    close_below,
    complete,
    new_ascent,
    new_memory,
    row_constant,
    sweep,
)
from rote.kernels.jit import kernel, lean
from rote.kernels.neighbourhood.components import root_of
from rote.kernels.outputs import copy_into
from rote.kernels.search.nodes import Node, alone, assign, loss, new_node, row_loss, start, undo
from rote.types import BoolArray, FloatArray, IntArray

FIRST_NODES = 16  # of the first search; each further one has more sweeps and four times as many
SWEEPS_IN_ORDER = 8
ENTRIES_PER_NODE = 32  # an elimination of so many entries takes about as long as a node
MAX_ENTRIES = 1 << 18  # of all tables of one elimination


@lean
def search(
    graph: Graph,
    ascent: Ascent,
    node: Node,
    floor: float,
    tie: float,
    node_limit: int,
    in_order: bool,
    found: IntArray,
) -> tuple[float, float, float, int]:
    """The best output worth more than ``floor``, written to ``found``.

    Returns its value (or ``floor``), an upper bound on everything, the largest bound of
    anything else that was left aside, and the number of nodes. With ``in_order`` it looks
    for the first output, in lexicographic order, that is worth more than ``floor``.
    """
    n, best_of, whole = graph.sizes.shape[0], node.best_of, node.whole
    theta, multipliers, state, frames = ascent.theta, ascent.multipliers, node.state, node.frames
    labels, argmax, pending = node.labels, node.argmax, node.pending
    slack = 0.0 if in_order else 0.1 * tie
    if not start(graph, theta, row_constant(graph.rows, multipliers), node):
        return floor, -np.inf, -np.inf, 0
    frames.mark[0] = frames.low[0] = 0

    # Dive first, best label after best label: with an output in hand, labels that cannot
    # beat it close at once. It must be found again below, so that its own branch is not
    # taken for another output of the same value.
    diving = not in_order
    count = 0
    if diving:
        count = n
        for j in range(n):
            pending[j] = j
            argmax[j] = -1
    value = floor
    dived = -np.inf
    runner = -np.inf  # the largest bound among what was left aside
    open_bound = -np.inf  # the bound of the node where a limit stopped the search
    depth = 0 if diving else -1
    top, height = frames.mark[0], frames.low[0]
    nodes = 0
    entering = True
    while True:
        closed = not entering
        while not closed:
            for f in range(count):
                v = pending[f]
                label = argmax[v]
                if label < 0:
                    best = -np.inf
                    for a in range(graph.sizes[v]):
                        if state[graph.offsets[v] + a] > best:
                            best = state[graph.offsets[v] + a]
                            label = a
                top = assign(graph, theta, node, v, label, top)
                node.stack[height] = v
                height += 1
                if top < 0:
                    top = -1 - top
                    closed = True
                    break
            if diving:
                if not closed:
                    dived = state[whole] - row_loss(graph, multipliers, labels)
                    if dived > floor:
                        copy_into(found, labels)
                        floor = max(floor, dived - 4 * tie)
                        value = floor
                closed = True
            if closed:
                break
            count = 0
            chosen = -1
            bound = state[whole]
            if bound <= value + slack:
                runner = max(runner, bound)
                closed = True
                break
            if in_order:
                for j in range(n):
                    if labels[j] < 0:
                        chosen = j
                        break
            else:
                # Look at the open variables: best labels, labels without an alternative,
                # and which variable to branch on.
                room = bound - value - slack
                narrow = np.inf
                chosen_score = -np.inf
                for j in range(n):
                    if labels[j] >= 0:
                        argmax[j] = labels[j]
                        continue
                    best = float(state[best_of + j])
                    open_labels = 0
                    second = -np.inf
                    at = -1
                    for a in range(graph.sizes[j]):
                        this = state[graph.offsets[j] + a]
                        if this == best and at < 0:
                            at = a
                        elif this > second:
                            second = this
                        if best - this < room:
                            open_labels += 1
                    argmax[j] = at
                    narrow = min(narrow, best - second)
                    if open_labels == 1:
                        pending[count] = j
                        count += 1
                        runner = max(runner, bound - best + second)
                    elif count == 0:
                        # A large loss for the second label closes branches early.
                        score = (best - second) / open_labels
                        if score > chosen_score:
                            chosen_score = score
                            chosen = j
                lost = loss(graph, theta, multipliers, node, slack)
                if lost < np.inf:
                    if value > floor:
                        runner = max(runner, value)
                    if narrow <= tie and alone(graph, theta, node, 2 * tie):
                        narrow = 2 * tie
                    runner = max(runner, bound - lost - narrow)
                    value = bound - lost
                    copy_into(found, argmax)
                    closed = True
                    break
                if count > 0:
                    continue
            nodes += 1
            if chosen < 0:
                # Every variable has its label; what is left between bound and value is
                # what the rows' multipliers promised too much.
                reached = bound - row_loss(graph, multipliers, labels)
                runner = max(runner, min(reached, value))
                if reached > value:
                    value = reached
                    copy_into(found, labels)
                    if in_order:
                        return value, value, runner, nodes
                closed = True
                break
            if nodes >= node_limit:
                open_bound = bound
                break
            depth += 1
            frames.variable[depth] = chosen
            frames.next[depth] = 0
            frames.mark[depth] = top
            frames.low[depth] = height
            listed = 0
            for a in range(graph.sizes[chosen]):
                child = bound - state[best_of + chosen] + state[graph.offsets[chosen] + a]
                if child == -np.inf:
                    continue
                at = listed
                while not in_order and at > 0 and frames.bound[depth, at - 1] < child:
                    frames.label[depth, at] = frames.label[depth, at - 1]
                    frames.bound[depth, at] = frames.bound[depth, at - 1]
                    at -= 1
                frames.label[depth, at] = a
                frames.bound[depth, at] = child
                listed += 1
            frames.options[depth] = listed
            closed = True
        if open_bound > -np.inf or depth < 0:
            break
        # Back to the last decision, and on to its next label.
        mark, low = frames.mark[depth], frames.low[depth]
        undo(graph, node, height, low, top, mark)
        top, height = mark, low
        entering = False
        if diving:
            diving = False
            depth = -1
            count = 0
            entering = True
        elif frames.next[depth] == frames.options[depth]:
            depth -= 1
        else:
            at = frames.next[depth]
            frames.next[depth] += 1
            if frames.bound[depth, at] <= value + slack:
                runner = max(runner, frames.bound[depth, at])
            else:
                v = frames.variable[depth]
                argmax[v] = frames.label[depth, at]
                pending[0] = v
                count = 1
                entering = True
    if open_bound > -np.inf:  # labels not yet tried are open on every level above
        if value == floor and dived > floor:
            value = dived
        for d in range(depth + 1):
            for at in range(frames.next[d], frames.options[d]):
                open_bound = max(open_bound, frames.bound[d, at])
    return value, max(value, open_bound), runner, nodes


@kernel
def components(graph: Graph, theta: FloatArray, part: IntArray) -> int:
    """Number the parts into which the undecided variables fall; returns how many there are.

    Undecided variables, those with two open labels, are in one part when a table or a row
    joins them. ``part`` is -1 for decided ones.
    """
    n = graph.sizes.shape[0]
    root = np.empty(n, np.int64)
    for j in range(n):
        count = 0
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            if theta[e] > -np.inf:
                count += 1
        root[j] = j if count > 1 else -1
    tables, rows = graph.tables, graph.rows
    groups = tables.ptr.shape[0] - 1 + rows.lower.shape[0]
    for group in range(groups):
        b = group - rows.lower.shape[0]
        begin, end = 0, 0
        if b < 0:
            begin, end = rows.ptr[group], rows.ptr[group + 1]
        else:
            begin, end = tables.scope_ptr[b], tables.scope_ptr[b + 1]
        first = -1
        for k in range(begin, end):
            j = rows.variable[k] if b < 0 else tables.scope[k]
            if root[j] < 0:
                continue
            j = root_of(root, j)
            if first < 0:
                first = j
            else:
                root[max(first, j)] = min(first, j)
                first = min(first, j)
    found = 0
    for j in range(n):
        part[j] = -1
        if root[j] == j:
            part[j] = found
            found += 1
        elif root[j] >= 0:
            part[j] = part[root[j]]  # a root comes before what hangs on it
    return found


@kernel
def search_parts(
    graph: Graph,
    ascent: Ascent,
    node: Node,
    value: float,
    tie: float,
    node_limit: int,
    found: IntArray,
) -> tuple[float, float, float, int]:
    """What `search` does, given an output ``found`` worth ``value``, part by part.

    Undecided variables that nothing joins can be settled one part after the other, the
    rest held at ``found``: their best outputs together are the best of all. Searched
    together, every combination of near-best outputs would be looked at. A part is
    eliminated where its tables stay small, and searched otherwise.
    """
    theta, n = ascent.theta, graph.sizes.shape[0]
    part = np.empty(n, np.int64)
    parts = components(graph, theta, part)
    narrowed = np.empty(theta.shape[0])
    case = Ascent(narrowed, ascent.messages, ascent.multipliers, ascent.marginals, ascent.tops)
    gap, lost, nodes = np.inf, 0.0, 0
    entries = min(ENTRIES_PER_NODE * node_limit, MAX_ENTRIES)
    for c in range(max(1, parts)):
        if parts > 0:
            done, gained, margin = eliminate_part(graph, theta, part, c, entries, found)
            if done:
                value += gained
                gap = min(gap, margin)
                continue
        narrowed[:] = theta
        for j in range(n):
            if part[j] != c:
                for e in range(graph.offsets[j], graph.offsets[j + 1]):
                    if e != graph.offsets[j] + found[j]:
                        narrowed[e] = -np.inf
        better, bound, runner, looked = search(
            graph, case, node, value - 4 * tie, tie, node_limit - nodes, False, found
        )
        nodes += looked
        gap = min(gap, better - runner)
        lost += bound - better
        value = better
        if nodes >= node_limit:
            lost = np.inf
            break
    bound = value + lost
    if bound > value:
        bound = min(bound, bound_of(graph, ascent))
    return value, bound, value - gap, nodes


@kernel
def branch(
    questions: Questions,
    floors: FloatArray,
    reduced: Reduced,
    duals: DualRows,
    node_limit: int,
    in_order: bool,
) -> tuple[IntArray, FloatArray, BoolArray, BoolArray]:
    """Eliminate, bound, search, and read back, for every input of a batch.

    ``duals`` are to start from, if there are any. Returns labels (-1 where nothing beats the
    floor), bounds, whether the search was completed, and whether another output may be within a
    tie. With ``in_order``, the first output in lexicographic order that beats the floor; nothing
    is eliminated then.
    """
    graph = reduced.graph
    m, parts = questions.scores.shape
    memory, ascent, node = new_memory(parts, reduced), new_ascent(graph), new_node(graph)
    labels = np.full((m, reduced.variables), -1, np.int64)
    found = np.empty(graph.sizes.shape[0], np.int64)
    bounds = np.empty(m)
    completed = np.ones(m, np.bool_)
    doubtful = np.zeros(m, np.bool_)
    for i in range(m):
        rest = begin(questions, i, reduced, memory, ascent.theta)
        if rest == -np.inf:
            bounds[i] = rest
            continue
        ascent.messages[:] = 0.0
        ascent.multipliers[:] = 0.0
        if duals.messages.shape[0] > 0:
            ascent.messages[:] = duals.messages[i]
            ascent.multipliers[:] = duals.multipliers[i]
            apply_duals(graph, ascent)
        tie = questions.ties[i]
        value = floors[i] - rest
        known = False
        visited = 0
        sweeps = SWEEPS_IN_ORDER if in_order else 0
        limit = node_limit if in_order else FIRST_NODES
        while True:
            for k in range(sweeps + 1):
                sweep(graph, ascent, k == sweeps)
            limit = min(limit, node_limit - visited)
            if known:
                value, bound, runner, nodes = search_parts(
                    graph, ascent, node, value, tie, limit, found
                )
            else:
                floor = value
                value, bound, runner, nodes = search(
                    graph, ascent, node, floor, tie, limit, in_order, found
                )
                known = value > floor
            visited += nodes
            if bound <= value or visited >= node_limit:
                break
            if known:
                close_below(graph, ascent, value - 4 * tie)
            sweeps = min(max(2, 2 * sweeps), 64)
            limit *= 4
        bounds[i] = bound + rest
        completed[i] = bound <= value
        if known and value + rest > -np.inf:
            margin = complete(reduced, memory, found, labels[i])
            doubtful[i] = runner >= value - tie or margin <= tie
    return labels, bounds, completed, doubtful
