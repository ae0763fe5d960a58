"""Depth-first branch and bound over a network, with bounds from dual ascent.

At the root, dual ascent (`rote.kernels.ascent`) reparametrises the scores so that

    bound = Σ_j max_a θ_j(a) + Σ_f max_t θ_f(t) + u·rhs

is close to the optimum. Below, a table whose variables are all labelled but one is
folded into that one's labels, a table with more left keeps the best entry that fits
the labels given, and the bound is kept up to date by what changed. Every change is
written to a trail and undone on the way back. A node closes when its bound does not
beat the best output known, or when every variable's best label agrees with every
table's best entry: then the bound is reached and nothing below can be better.

Numbers that change live in one vector ``state``: labels' scores, then per variable
its best, per table its best, per row the least and the most it can still add up to,
and last the bound.
"""

from __future__ import annotations

import numpy as np

from rote.kernels.ascent import apply_duals, load, row_constant, settle, sweep
from rote.kernels.elimination import backward, forward, total
from rote.kernels.jit import kernel
from rote.kernels.structs import Graph, Steps
from rote.types import BoolArray, FloatArray, IntArray


@kernel
def assign(
    graph: Graph,
    theta: FloatArray,
    state: FloatArray,
    free: IntArray,
    labels: IntArray,
    v: int,
    label: int,
    trail_at: IntArray,
    trail_was: FloatArray,
    top: int,
) -> int:
    """Give variable v a label. Returns the new top of the trail, negative at a dead end.

    A dead end is reported as -1 - top, so that what was done can be undone.
    """
    n = graph.sizes.shape[0]
    blocks = graph.table_ptr.shape[0] - 1
    rows = graph.row_lower.shape[0]
    best_of = graph.offsets[n]
    table_best = best_of + n
    row_least = table_best + blocks
    row_most = row_least + rows
    whole = row_most + rows
    trail_at[top] = whole
    trail_was[top] = state[whole]
    top += 1
    bound = state[whole] - state[best_of + v] + state[graph.offsets[v] + label]
    labels[v] = label
    dead = False
    for p in range(graph.place_ptr[v], graph.place_ptr[v + 1]):
        b = graph.place_table[graph.places[p]]
        free[b] -= 1
        if dead or free[b] == 0:
            continue
        base = graph.table_ptr[b]
        if free[b] == 1:
            w = -1
            step = 0
            for k in range(graph.scope_ptr[b], graph.scope_ptr[b + 1]):
                j = graph.scope[k]
                if labels[j] < 0:
                    w = j
                    step = graph.strides[k]
                else:
                    base += graph.strides[k] * labels[j]
            best = -np.inf
            for a in range(graph.sizes[w]):
                e = graph.offsets[w] + a
                trail_at[top] = e
                trail_was[top] = state[e]
                top += 1
                state[e] += theta[base + a * step]
                if state[e] > best:
                    best = state[e]
            trail_at[top] = best_of + w
            trail_was[top] = state[best_of + w]
            top += 1
            trail_at[top] = table_best + b
            trail_was[top] = state[table_best + b]
            top += 1
            bound += best - state[best_of + w] - state[table_best + b]
            state[best_of + w] = best
            state[table_best + b] = 0.0
            if best == -np.inf:
                dead = True
        else:
            best = best_entry(graph, theta, state, labels, b)
            trail_at[top] = table_best + b
            trail_was[top] = state[table_best + b]
            top += 1
            bound += best - state[table_best + b]
            state[table_best + b] = best
            if best == -np.inf:
                dead = True
    if not dead:
        for q in range(graph.variable_group_ptr[v], graph.variable_group_ptr[v + 1]):
            g = graph.variable_groups[q]
            r = graph.group_row[g]
            weight = 0.0
            for c in range(graph.group_start[g], graph.group_start[g + 1]):
                if graph.column[c] == graph.offsets[v] + label:
                    weight = graph.coefficient[c]
            trail_at[top] = row_least + r
            trail_was[top] = state[row_least + r]
            top += 1
            trail_at[top] = row_most + r
            trail_was[top] = state[row_most + r]
            top += 1
            state[row_least + r] += weight - graph.group_least[g]
            state[row_most + r] += weight - graph.group_most[g]
            least, most = state[row_least + r], state[row_most + r]
            if least > graph.row_upper[r] or most < graph.row_lower[r]:
                dead = True
                break
            if least >= graph.row_lower[r] and most <= graph.row_upper[r]:
                continue
            # Close the labels of other variables that would break the row by themselves.
            for o in range(graph.group_ptr[r], graph.group_ptr[r + 1]):
                w = graph.group_variable[o]
                if labels[w] >= 0:
                    continue
                at = graph.group_start[o]
                stop = graph.group_start[o + 1]
                best = -np.inf
                changed = False
                for a in range(graph.sizes[w]):
                    e = graph.offsets[w] + a
                    weight = 0.0
                    if at < stop and graph.column[at] == e:
                        weight = graph.coefficient[at]
                        at += 1
                    if state[e] == -np.inf:
                        continue
                    breaks = (
                        least - graph.group_least[o] + weight > graph.row_upper[r]
                        or most - graph.group_most[o] + weight < graph.row_lower[r]
                    )
                    if breaks:
                        trail_at[top] = e
                        trail_was[top] = state[e]
                        top += 1
                        state[e] = -np.inf
                        changed = True
                    elif state[e] > best:
                        best = state[e]
                if changed:
                    trail_at[top] = best_of + w
                    trail_was[top] = state[best_of + w]
                    top += 1
                    bound += best - state[best_of + w]
                    state[best_of + w] = best
                    if best == -np.inf:
                        dead = True
                        break
            if dead:
                break
    state[whole] = bound
    return -1 - top if dead else top


@kernel
def best_entry(
    graph: Graph, theta: FloatArray, state: FloatArray, labels: IntArray, b: int
) -> float:
    """The best entry of table b that fits the labels given and the labels still open."""
    best = -np.inf
    begin, end = graph.scope_ptr[b], graph.scope_ptr[b + 1]
    for e in range(graph.table_ptr[b], graph.table_ptr[b + 1]):
        if theta[e] <= best:
            continue
        fits = True
        for k in range(begin, end):
            j = graph.scope[k]
            a = ((e - graph.table_ptr[b]) // graph.strides[k]) % graph.sizes[j]
            if labels[j] >= 0:
                if labels[j] != a:
                    fits = False
                    break
            elif state[graph.offsets[j] + a] == -np.inf:
                fits = False
                break
        if fits:
            best = theta[e]
    return best


@kernel
def undo(
    graph: Graph,
    state: FloatArray,
    free: IntArray,
    labels: IntArray,
    stack: IntArray,
    height: int,
    low: int,
    trail_at: IntArray,
    trail_was: FloatArray,
    top: int,
    mark: int,
) -> None:
    """Take back the trail down to ``mark`` and the labelled variables down to ``low``."""
    while top > mark:
        top -= 1
        state[trail_at[top]] = trail_was[top]
    while height > low:
        height -= 1
        v = stack[height]
        labels[v] = -1
        for p in range(graph.place_ptr[v], graph.place_ptr[v + 1]):
            free[graph.place_table[graph.places[p]]] += 1


@kernel
def start(graph: Graph, theta: FloatArray, constant: float, state: FloatArray) -> bool:
    """Fill the state of the root; false when some row cannot be met."""
    n = graph.sizes.shape[0]
    blocks = graph.table_ptr.shape[0] - 1
    rows = graph.row_lower.shape[0]
    best_of = graph.offsets[n]
    table_best = best_of + n
    row_least = table_best + blocks
    row_most = row_least + rows
    bound = constant
    for j in range(n):
        best = -np.inf
        for e in range(graph.offsets[j], graph.offsets[j + 1]):
            state[e] = theta[e]
            best = max(best, theta[e])
        state[best_of + j] = best
        bound += best
    for b in range(blocks):
        best = -np.inf
        for e in range(graph.table_ptr[b], graph.table_ptr[b + 1]):
            best = max(best, theta[e])
        state[table_best + b] = best
        bound += best
    feasible = bound > -np.inf
    for r in range(rows):
        least = 0.0
        most = 0.0
        for g in range(graph.group_ptr[r], graph.group_ptr[r + 1]):
            least += graph.group_least[g]
            most += graph.group_most[g]
        state[row_least + r] = least
        state[row_most + r] = most
        if least > graph.row_upper[r] or most < graph.row_lower[r]:
            feasible = False
    state[row_most + rows] = bound
    return feasible


@kernel
def trail_need(graph: Graph) -> int:
    """How much one label can write to the trail at the most."""
    n = graph.sizes.shape[0]
    widest = 1
    for j in range(n):
        widest = max(widest, graph.sizes[j])
    need = 4
    for j in range(n):
        writes = 4 + (graph.place_ptr[j + 1] - graph.place_ptr[j]) * (widest + 3)
        for q in range(graph.variable_group_ptr[j], graph.variable_group_ptr[j + 1]):
            r = graph.group_row[graph.variable_groups[q]]
            writes += 2 + (graph.group_ptr[r + 1] - graph.group_ptr[r]) * (widest + 1)
        need = max(need, writes)
    return need


@kernel
def row_loss(graph: Graph, multipliers: FloatArray, labels: IntArray) -> float:
    """What a labelling of all variables loses to the multipliers of rows it meets with room
    to spare: Σ_r u_r⁺ (upper_r - (Az)_r) + u_r⁻ ((Az)_r - lower_r). inf when a row breaks."""
    lost = 0.0
    for r in range(graph.row_lower.shape[0]):
        activity = 0.0
        for g in range(graph.group_ptr[r], graph.group_ptr[r + 1]):
            j = graph.group_variable[g]
            for c in range(graph.group_start[g], graph.group_start[g + 1]):
                if graph.column[c] == graph.offsets[j] + labels[j]:
                    activity += graph.coefficient[c]
        if activity > graph.row_upper[r] or activity < graph.row_lower[r]:
            return np.inf
        if multipliers[r] > 0:
            lost += multipliers[r] * (graph.row_upper[r] - activity)
        elif multipliers[r] < 0:
            lost += multipliers[r] * (graph.row_lower[r] - activity)
    return lost


@kernel
def loss(
    graph: Graph,
    theta: FloatArray,
    multipliers: FloatArray,
    state: FloatArray,
    free: IntArray,
    argmax: IntArray,
    slack: float,
) -> float:
    """What the best labels together lose against the bound; inf when more than ``slack``."""
    n = graph.sizes.shape[0]
    table_best = graph.offsets[n] + n
    lost = 0.0
    for b in range(graph.table_ptr.shape[0] - 1):
        if free[b] > 1:
            e = graph.table_ptr[b]
            for k in range(graph.scope_ptr[b], graph.scope_ptr[b + 1]):
                e += graph.strides[k] * argmax[graph.scope[k]]
            lost += state[table_best + b] - theta[e]
            if lost > slack:
                return np.inf
    if graph.row_lower.shape[0] > 0:
        lost += row_loss(graph, multipliers, argmax)
    return lost if lost <= slack else np.inf


@kernel
def alone(
    graph: Graph,
    theta: FloatArray,
    state: FloatArray,
    free: IntArray,
    labels: IntArray,
    argmax: IntArray,
    tie: float,
) -> bool:
    """Whether no other output at this node can be within a tie of the bound.

    Such an output uses only labels and table entries within a tie of the best. Labels
    that some table cannot extend with these are struck out until nothing changes; if
    one label is left everywhere, the answer is the only one.
    """
    n = graph.sizes.shape[0]
    best_of = graph.offsets[n]
    table_best = best_of + n
    tight = np.zeros(best_of, np.bool_)
    several = 0
    for j in range(n):
        first = graph.offsets[j]
        if labels[j] >= 0:
            tight[first + labels[j]] = True
            continue
        for a in range(graph.sizes[j]):
            if state[first + a] >= state[best_of + j] - tie:
                tight[first + a] = True
                if a != argmax[j]:
                    several += 1
    changed = True
    while changed and several > 0:
        changed = False
        for j in range(n):
            if labels[j] >= 0:
                continue
            for a in range(graph.sizes[j]):
                if a == argmax[j] or not tight[graph.offsets[j] + a]:
                    continue
                for p in range(graph.place_ptr[j], graph.place_ptr[j + 1]):
                    k = graph.places[p]
                    b = graph.place_table[k]
                    if free[b] < 2:
                        continue
                    supported = False
                    for e in range(graph.table_ptr[b], graph.table_ptr[b + 1]):
                        if theta[e] < state[table_best + b] - tie:
                            continue
                        if ((e - graph.table_ptr[b]) // graph.strides[k]) % graph.sizes[j] != a:
                            continue
                        fits = True
                        for q in range(graph.scope_ptr[b], graph.scope_ptr[b + 1]):
                            w = graph.scope[q]
                            at = ((e - graph.table_ptr[b]) // graph.strides[q]) % graph.sizes[w]
                            if not tight[graph.offsets[w] + at]:
                                fits = False
                                break
                        if fits:
                            supported = True
                            break
                    if not supported:
                        tight[graph.offsets[j] + a] = False
                        several -= 1
                        changed = True
                        break
    return several == 0


@kernel
def search(
    graph: Graph,
    theta: FloatArray,
    multipliers: FloatArray,
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
    n = graph.sizes.shape[0]
    blocks = graph.table_ptr.shape[0] - 1
    best_of = graph.offsets[n]
    whole = best_of + n + blocks + 2 * graph.row_lower.shape[0]
    slack = 0.0 if in_order else 0.1 * tie
    state = np.zeros(whole + 1)
    if not start(graph, theta, row_constant(graph, multipliers), state):
        return floor, -np.inf, -np.inf, 0
    free = np.empty(blocks, np.int64)
    for b in range(blocks):
        free[b] = graph.scope_ptr[b + 1] - graph.scope_ptr[b]
    labels = np.full(n, -1, np.int64)
    argmax = np.empty(n, np.int64)
    forced = np.empty(n, np.int64)
    widest = 1
    for j in range(n):
        widest = max(widest, graph.sizes[j])
    need = trail_need(graph)
    trail_at = np.empty(4 * need + 1024, np.int64)
    trail_was = np.empty(4 * need + 1024)
    stack = np.empty(n + 1, np.int64)  # labelled variables, in the order they were labelled
    frame_variable = np.empty(n + 1, np.int64)
    frame_count = np.empty(n + 1, np.int64)
    frame_next = np.empty(n + 1, np.int64)
    frame_mark = np.empty(n + 1, np.int64)  # of the trail
    frame_low = np.empty(n + 1, np.int64)  # of the stack
    frame_order = np.empty((n + 1, widest), np.int64)
    top = 0
    height = 0

    if not in_order:
        # Dive once, best label after best label: with an output in hand, labels that
        # cannot beat it close at once. It must be found again below, so that its own
        # branch is not taken for another output of the same value.
        dead = False
        for v in range(n):
            best = -np.inf
            at = 0
            for a in range(graph.sizes[v]):
                if state[graph.offsets[v] + a] > best:
                    best = state[graph.offsets[v] + a]
                    at = a
            if top + need > trail_at.shape[0]:
                trail_at = np.append(trail_at, np.empty(trail_at.shape[0] + need, np.int64))
                trail_was = np.append(trail_was, np.empty(trail_was.shape[0] + need))
            top = assign(graph, theta, state, free, labels, v, at, trail_at, trail_was, top)
            stack[height] = v
            height += 1
            if top < 0:
                dead = True
                top = -1 - top
                break
        if not dead:
            dived = state[whole] - row_loss(graph, multipliers, labels)
            floor = max(floor, dived - 4 * tie)
        undo(graph, state, free, labels, stack, height, 0, trail_at, trail_was, top, 0)
        top = 0
        height = 0

    value = floor
    runner = -np.inf  # the largest bound among what was left aside
    open_bound = -np.inf  # the bound of the node where a limit stopped the search
    depth = -1
    nodes = 0
    entering = True
    while True:
        if entering:
            nodes += 1
            entering = False
            closed = False
            while True:
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
                    break
                # Look at the open variables: best labels, labels without an alternative,
                # and which variable to branch on.
                room = bound - value - slack
                count = 0
                narrow = np.inf
                chosen_score = -np.inf
                for j in range(n):
                    if labels[j] >= 0:
                        argmax[j] = labels[j]
                        continue
                    best = state[best_of + j]
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
                        forced[count] = j
                        count += 1
                        runner = max(runner, bound - best + second)
                    elif count == 0:
                        # A large loss for the second label closes branches early.
                        score = (best - second) / open_labels
                        if score > chosen_score:
                            chosen_score = score
                            chosen = j
                lost = loss(graph, theta, multipliers, state, free, argmax, slack)
                if lost < np.inf:
                    if value > floor:
                        runner = max(runner, value)
                    if narrow <= tie and alone(graph, theta, state, free, labels, argmax, 2 * tie):
                        narrow = 2 * tie
                    runner = max(runner, bound - lost - narrow)
                    value = bound - lost
                    found[:] = argmax
                    closed = True
                    break
                if count == 0:
                    break
                for f in range(count):
                    v = forced[f]
                    if top + need > trail_at.shape[0]:
                        trail_at = np.append(trail_at, np.empty(trail_at.shape[0] + need, np.int64))
                        trail_was = np.append(trail_was, np.empty(trail_was.shape[0] + need))
                    # Should a row have closed this label meanwhile, the bound is now -inf.
                    top = assign(
                        graph, theta, state, free, labels, v, argmax[v], trail_at, trail_was, top
                    )
                    stack[height] = v
                    height += 1
                    if top < 0:
                        top = -1 - top
                        closed = True
                        break
                if closed:
                    break
            if chosen < 0 and not closed:
                # Every variable has its label; what is left between bound and value is
                # what the rows' multipliers promised too much.
                reached = state[whole] - row_loss(graph, multipliers, labels)
                if reached > value:
                    runner = max(runner, value)
                    value = reached
                    found[:] = labels
                    if in_order:
                        break
                else:
                    runner = max(runner, reached)
                closed = True
            if not closed:
                if nodes >= node_limit:
                    open_bound = state[whole]
                    break
                depth += 1
                frame_variable[depth] = chosen
                frame_next[depth] = 0
                frame_mark[depth] = top
                frame_low[depth] = height
                first = graph.offsets[chosen]
                listed = 0
                for a in range(graph.sizes[chosen]):
                    if state[first + a] == -np.inf:
                        continue
                    at = listed
                    while (
                        not in_order
                        and at > 0
                        and state[first + frame_order[depth, at - 1]] < state[first + a]
                    ):
                        frame_order[depth, at] = frame_order[depth, at - 1]
                        at -= 1
                    frame_order[depth, at] = a
                    listed += 1
                frame_count[depth] = listed
        if depth < 0:
            break
        v = frame_variable[depth]
        mark = frame_mark[depth]
        low = frame_low[depth]
        undo(graph, state, free, labels, stack, height, low, trail_at, trail_was, top, mark)
        top = mark
        height = low
        if frame_next[depth] == frame_count[depth]:
            depth -= 1
            continue
        label = frame_order[depth, frame_next[depth]]
        frame_next[depth] += 1
        child = state[whole] - state[best_of + v] + state[graph.offsets[v] + label]
        if child <= value + slack:
            runner = max(runner, child)
            continue
        if top + need > trail_at.shape[0]:
            trail_at = np.append(trail_at, np.empty(trail_at.shape[0] + need, np.int64))
            trail_was = np.append(trail_was, np.empty(trail_was.shape[0] + need))
        top = assign(graph, theta, state, free, labels, v, label, trail_at, trail_was, top)
        stack[height] = v
        height += 1
        if top < 0:
            top = -1 - top
        else:
            entering = True
    if open_bound > -np.inf:  # labels not yet tried are open on every level above
        while depth >= 0:
            v = frame_variable[depth]
            mark = frame_mark[depth]
            low = frame_low[depth]
            undo(graph, state, free, labels, stack, height, low, trail_at, trail_was, top, mark)
            top = mark
            height = low
            for f in range(frame_next[depth], frame_count[depth]):
                label = frame_order[depth, f]
                child = state[whole] - state[best_of + v] + state[graph.offsets[v] + label]
                open_bound = max(open_bound, child)
            depth -= 1
    return value, max(value, open_bound), runner, nodes


@kernel
def branch(
    scores: FloatArray,
    closed: BoolArray,
    floors: FloatArray,
    ties: FloatArray,
    steps: Steps,
    graph: Graph,
    core: IntArray,
    messages: FloatArray,
    multipliers: FloatArray,
    variables: int,
    node_limit: int,
) -> tuple[IntArray, FloatArray, BoolArray, BoolArray, IntArray]:
    """Eliminate, bound, search, and read back, for every input of a batch.

    ``core`` says which variables the graph is about, by their place in the network. ``closed`` has one row per input
    or none. ``messages`` and ``multipliers`` hold one row of duals per input to start
    from, or none; they are left as they were. Returns labels (-1 where nothing beats the
    floor), bounds, whether the search was completed, whether another output may be
    within a tie, and nodes.
    """
    m, parts = scores.shape
    n = graph.sizes.shape[0]
    blocks = graph.table_ptr.shape[0] - 1
    entries = graph.table_ptr[blocks]
    work = np.empty(parts + steps.entry_ptr[-1])
    best = np.empty(steps.entry_ptr[-1], np.int64)
    theta = np.empty(entries)
    sent = np.empty(graph.message_ptr[-1])
    u = np.empty(graph.row_lower.shape[0])
    most_places = 1
    for j in range(n):
        places = (graph.place_ptr[j + 1] - graph.place_ptr[j]) * graph.sizes[j]
        most_places = max(most_places, places)
    marginals = np.empty(most_places)
    labels = np.full((m, variables), -1, np.int64)
    whole = np.empty(variables, np.int64)
    found = np.empty(n, np.int64)
    bounds = np.empty(m)
    complete = np.ones(m, np.bool_)
    doubtful = np.zeros(m, np.bool_)
    visited = np.zeros(m, np.int64)
    for i in range(m):
        for p in range(parts):
            work[p] = scores[i, p]
        if closed.shape[0] > 0:
            for p in range(closed.shape[1]):
                if closed[i, p]:
                    work[p] = -np.inf
        forward(work, best, steps)
        rest = total(work, steps)
        if rest == -np.inf:
            bounds[i] = rest
            continue
        load(work, graph, theta)
        sent[:] = 0.0
        u[:] = 0.0
        if messages.shape[0] > 0:
            sent[:] = messages[i]
            u[:] = multipliers[i]
            apply_duals(graph, theta, sent, u)
        tie = ties[i]
        value = floors[i] - rest
        known = False
        sweeps = 2
        limit = 64
        while True:
            for _ in range(sweeps):
                sweep(graph, theta, sent, u, marginals)
            settle(graph, theta, sent, marginals)
            # What was found before must be found again, or its own branch would look
            # like another output of the same value.
            floor = value - 4 * tie if known else value
            limit = min(limit, node_limit - visited[i])
            value, bound, runner, nodes = search(
                graph, theta, u, floor, tie, limit, False, found
            )
            visited[i] += nodes
            known = known or value > floor
            if bound <= value or visited[i] >= node_limit:
                break
            sweeps = min(2 * sweeps, 64)
            limit *= 4
        bounds[i] = bound + rest
        complete[i] = bound <= value
        if not known or value + rest == -np.inf:
            continue
        doubtful[i] = runner >= value - tie
        for j in range(n):
            if core[j] < variables:
                whole[core[j]] = found[j]
        if backward(whole, work, best, steps) <= tie:
            doubtful[i] = True
        labels[i] = whole
    return labels, bounds, complete, doubtful, visited


@kernel
def first_in_order(
    scores: FloatArray,
    closed: BoolArray,
    floors: FloatArray,
    ties: FloatArray,
    graph: Graph,
    variables: int,
    sweeps: int,
    node_limit: int,
) -> IntArray:
    """The lexicographically first output worth more than its floor, -1 where not found in time.

    The graph is that of the whole space, so that its order is the space's order.
    """
    m = scores.shape[0]
    source = np.empty(scores.shape[1])
    theta = np.empty(graph.table_ptr[-1])
    sent = np.zeros(graph.message_ptr[-1])
    u = np.empty(graph.row_lower.shape[0])
    most_places = 1
    for j in range(graph.sizes.shape[0]):
        places = (graph.place_ptr[j + 1] - graph.place_ptr[j]) * graph.sizes[j]
        most_places = max(most_places, places)
    marginals = np.empty(most_places)
    found = np.empty(graph.sizes.shape[0], np.int64)
    labels = np.full((m, variables), -1, np.int64)
    for i in range(m):
        source[:] = scores[i]
        if closed.shape[0] > 0:
            for p in range(closed.shape[1]):
                if closed[i, p]:
                    source[p] = -np.inf
        load(source, graph, theta)
        u[:] = 0.0
        for _ in range(sweeps):
            sweep(graph, theta, sent, u, marginals)
        settle(graph, theta, sent, marginals)
        value, _, _, _ = search(
            graph, theta, u, floors[i], ties[i], node_limit, True, found
        )
        if value > floors[i]:
            labels[i] = found[:variables]
    return labels
