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

import cython
import numpy as np

from rote.types import BoolArray, FloatArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import DualRows, Graph, Questions, Reduced
    from rote.kernels.dp.elimination import Eliminated
    from rote.kernels.dp.runtime_elimination import PartRoom, eliminate_part
    from rote.kernels.dual.ascent import (
        Ascent,
        apply_duals,
        begin,
        bound_of,
        close_below,
        complete,
        row_constant,
        sweep,
    )
    from rote.kernels.inlined import root_of
    from rote.kernels.search.nodes import Node, alone, assign, loss, row_loss, start, undo

    FIRST_NODES = 16  # of the first search; each further one has more sweeps and four times as many
    SWEEPS_IN_ORDER = 8
    ENTRIES_PER_NODE = 32  # an elimination of so many entries takes about as long as a node
    MAX_ENTRIES = 1 << 18  # of all tables of one elimination


def search(
    graph: Graph,
    ascent: Ascent,
    node: Node,
    floor: float,
    tie: float,
    node_limit: Int,
    in_order: Bool,
    found: OutInts,
) -> tuple[float, float, float, int]:
    """The best output worth more than ``floor``, written to ``found``.

    Returns its value (or ``floor``), an upper bound on everything, the largest bound of
    anything else that was left aside, and the number of nodes. With ``in_order`` it looks
    for the first output, in lexicographic order, that is worth more than ``floor``.
    """
    n: Int = graph.sizes.shape[0]
    best_of, whole = node.best_of, node.whole
    theta: Floats = ascent.theta
    multipliers: Floats = ascent.multipliers
    state: OutFloats = node.state
    labels: OutInts = node.labels
    argmax: OutInts = node.argmax
    pending: OutInts = node.pending
    slack = 0.0 if in_order else 0.01 * tie
    if not start(graph, theta, row_constant(graph.rows, multipliers), node):
        return floor, -inf, -inf, 0
    node.frames.mark[0] = 0
    node.frames.low[0] = 0

    # Dive first, best label after best label: with an output in hand, labels that cannot
    # beat it close at once. It must be found again below, so that its own branch is not
    # taken for another output of the same value.
    diving: Bool = not in_order
    count = 0
    if diving:
        count = n
        for j in range(n):
            pending[j] = j
            argmax[j] = -1
    value = floor
    dived = -inf
    runner: float = -inf  # the largest bound among what was left aside
    open_bound: float = -inf  # the bound of the node where a limit stopped the search
    depth = 0 if diving else -1
    top, height = node.frames.mark[0], node.frames.low[0]
    nodes = 0
    entering: Bool = True
    while True:
        closed: Bool = not entering
        while not closed:
            for f in range(count):
                v = pending[f]
                label = argmax[v]
                if label < 0:
                    best = -inf
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
                narrow = inf
                chosen_score = -inf
                for j in range(n):
                    if labels[j] >= 0:
                        argmax[j] = labels[j]
                        continue
                    best = float(state[best_of + j])
                    open_labels = 0
                    second = -inf
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
                if lost < inf:
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
            node.frames.variable[depth] = chosen
            node.frames.next[depth] = 0
            node.frames.mark[depth] = top
            node.frames.low[depth] = height
            listed = 0
            for a in range(graph.sizes[chosen]):
                child = bound - state[best_of + chosen] + state[graph.offsets[chosen] + a]
                if child == -inf:
                    continue
                at = listed
                while not in_order and at > 0 and node.frames.bound[depth, at - 1] < child:
                    node.frames.label[depth, at] = node.frames.label[depth, at - 1]
                    node.frames.bound[depth, at] = node.frames.bound[depth, at - 1]
                    at -= 1
                node.frames.label[depth, at] = a
                node.frames.bound[depth, at] = child
                listed += 1
            node.frames.options[depth] = listed
            closed = True
        if open_bound > -inf or depth < 0:
            break
        # Back to the last decision, and on to its next label.
        mark, low = node.frames.mark[depth], node.frames.low[depth]
        undo(graph, node, height, low, top, mark)
        top, height = mark, low
        entering = False
        if diving:
            diving = False
            depth = -1
            count = 0
            entering = True
        elif node.frames.next[depth] == node.frames.options[depth]:
            depth -= 1
        else:
            at = node.frames.next[depth]
            node.frames.next[depth] += 1
            if node.frames.bound[depth, at] <= value + slack:
                runner = max(runner, node.frames.bound[depth, at])
            else:
                v = node.frames.variable[depth]
                argmax[v] = node.frames.label[depth, at]
                pending[0] = v
                count = 1
                entering = True
    if open_bound > -inf:  # labels not yet tried are open on every level above
        if value == floor and dived > floor:
            value = dived
        for d in range(depth + 1):
            for at in range(node.frames.next[d], node.frames.options[d]):
                open_bound = max(open_bound, node.frames.bound[d, at])
    return value, max(value, open_bound), runner, nodes


class Parts(Bundle):
    """Room for a search part by part, made when the first search needs it."""

    def __init__(self) -> None:
        self.made = False

    def reserve(self, graph: Graph) -> None:
        """Make the room."""
        self.made = True
        self.root = ints(graph.sizes.shape[0])
        self.part = ints(graph.sizes.shape[0])
        self.narrowed = Ascent(graph)
        self.elimination = PartRoom()


def components(graph: Graph, theta: Floats, root: OutInts, part: OutInts) -> int:
    """Number the parts into which the undecided variables fall; returns how many there are.

    Undecided variables, those with two open labels, are in one part when a table or a row
    joins them. ``part`` is -1 for decided ones; ``root`` is room for as many.
    """
    n: Int = graph.sizes.shape[0]
    for j in range(n):
        count = 0
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            if theta[e] > -inf:
                count += 1
        root[j] = j if count > 1 else -1
    groups = graph.tables.ptr.shape[0] - 1 + graph.rows.lower.shape[0]
    for group in range(groups):
        b = group - graph.rows.lower.shape[0]
        begin, end = 0, 0
        if b < 0:
            begin, end = graph.rows.ptr[group], graph.rows.ptr[group + 1]
        else:
            begin, end = graph.tables.scope_ptr[b], graph.tables.scope_ptr[b + 1]
        first = -1
        for k in range(begin, end):
            j = graph.rows.variable[k] if b < 0 else graph.tables.scope[k]
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


def search_parts(
    graph: Graph,
    ascent: Ascent,
    node: Node,
    parts: Parts,
    value: float,
    tie: float,
    node_limit: Int,
    found: OutInts,
) -> tuple[float, float, float, int]:
    """What `search` does, given an output ``found`` worth ``value``, part by part.

    Undecided variables that nothing joins can be settled one part after the other, the
    rest held at ``found``: their best outputs together are the best of all. Searched
    together, every combination of near-best outputs would be looked at. A part is
    eliminated where its tables stay small, and searched otherwise.
    """
    if not parts.made:
        parts.reserve(graph)
    count = components(graph, ascent.theta, parts.root, parts.part)
    copy_into(parts.narrowed.multipliers, ascent.multipliers)
    gap, lost, nodes = inf, 0.0, 0
    entries = min(ENTRIES_PER_NODE * node_limit, MAX_ENTRIES)
    for c in range(max(1, count)):
        if count > 0:
            done, gained, margin = eliminate_part(
                graph, ascent.theta, parts.part, c, entries, parts.elimination, found
            )
            if done:
                value += gained
                gap = min(gap, margin)
                continue
        copy_into(parts.narrowed.theta, ascent.theta)
        for j in range(graph.sizes.shape[0]):
            if parts.part[j] != c:
                for e in range(graph.offsets[j], graph.offsets[j + 1]):
                    if e != graph.offsets[j] + found[j]:
                        parts.narrowed.theta[e] = -inf
        better, bound, runner, looked = search(
            graph, parts.narrowed, node, value - 4 * tie, tie, node_limit - nodes, False, found
        )
        nodes += looked
        gap = min(gap, better - runner)
        lost += bound - better
        value = better
        if nodes >= node_limit:
            lost = inf
            break
    bound = value + lost
    if bound > value:
        bound = min(bound, bound_of(graph, ascent))
    return value, bound, value - gap, nodes


def branch(
    questions: Questions,
    floors: Floats,
    reduced: Reduced,
    duals: DualRows,
    node_limit: Int,
    in_order: Bool,
) -> tuple[IntArray, FloatArray, BoolArray, BoolArray]:
    """Eliminate, bound, search, and read back, for every input of a batch.

    ``duals`` are to start from, if there are any. Returns labels (-1 where nothing beats the
    floor), bounds, whether the search was completed, and whether another output may be within a
    tie. With ``in_order``, the first output in lexicographic order that beats the floor; nothing
    is eliminated then.
    """
    expect_least("scores", "columns", reduced.steps.parts, questions.scores.shape[1])
    expect("floors", "entries", questions.scores.shape[0], floors.shape[0])
    duals.fit(reduced.graph, questions.scores.shape[0])
    graph = reduced.graph
    m = questions.scores.shape[0]
    memory = Eliminated(questions.scores.shape[1], reduced.steps)
    ascent, node, parts = Ascent(graph), Node(graph), Parts()
    labels: OutInts2 = np.full((m, reduced.variables), -1, np.int64)
    bounds: OutFloats = np.full(m, -inf)
    completed: OutFlags = np.ones(m, np.bool_)
    doubtful: OutFlags = np.zeros(m, np.bool_)
    found = ints(graph.sizes.shape[0])
    with cython.nogil:
        for i in range(m):
            rest = begin(questions, i, reduced, memory, ascent.theta)
            if rest == -inf:
                continue
            fill(ascent.messages, 0.0)
            fill(ascent.multipliers, 0.0)
            if duals.messages.shape[0] > 0:
                copy_into(ascent.messages, duals.messages[i])
                copy_into(ascent.multipliers, duals.multipliers[i])
                apply_duals(graph, ascent)
            tie, floor = questions.ties[i], floors[i] - rest
            value, bound, runner = search_on(
                graph, ascent, node, parts, floor, tie, node_limit, in_order, found
            )
            bounds[i] = bound + rest
            completed[i] = bound <= value
            if value > floor and value + rest > -inf:
                margin = complete(reduced, memory, found, labels[i])
                doubtful[i] = runner >= value - tie or margin <= tie
    return (
        np.asarray(labels),
        np.asarray(bounds),
        np.asarray(completed).view(np.bool_),
        np.asarray(doubtful).view(np.bool_),
    )


def search_on(
    graph: Graph,
    ascent: Ascent,
    node: Node,
    parts: Parts,
    floor: float,
    tie: float,
    node_limit: Int,
    in_order: Bool,
    found: OutInts,
) -> tuple[float, float, float]:
    """Bound and search by turns, with more sweeps and more nodes each time.

    Returns the value of what was found (or ``floor``), a bound on everything, and the largest bound
    of anything else that was left aside.
    """
    value, visited = floor, 0
    sweeps = SWEEPS_IN_ORDER if in_order else 0
    limit = node_limit if in_order else FIRST_NODES
    while True:
        for k in range(sweeps + 1):
            sweep(graph, ascent, k == sweeps)
        limit = min(limit, node_limit - visited)
        if value > floor:
            value, bound, runner, nodes = search_parts(
                graph, ascent, node, parts, value, tie, limit, found
            )
        else:
            value, bound, runner, nodes = search(
                graph, ascent, node, floor, tie, limit, in_order, found
            )
        visited += nodes
        if bound <= value or visited >= node_limit:
            return value, bound, runner
        if value > floor:
            close_below(graph, ascent, value - 4 * tie)
        sweeps = min(max(2, 2 * sweeps), 64)
        limit *= 4
