"""What happens at one node of branch and bound: labels given and taken back, bounds kept.

Numbers that change live in one vector ``state``: labels' scores, then per variable
its best, per table its best, per row the least and the most it can still add up to,
and last the bound

    Σ_j max_a θ_j(a) + Σ_f max_t θ_f(t) + u·rhs

over what is still open. Every change is written to a trail, and undone from it.
"""

from __future__ import annotations

import cython

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Graph
    from rote.kernels.dual.ascent import find_tops
    from rote.kernels.inlined import activity_of, added, entry_at, is_broken, weight_at


class Frames(Bundle):
    """The decisions on the way to a node, by depth."""

    def __init__(self, n: Int, widest: Int) -> None:
        self.variable = ints(n + 1)
        self.options = ints(n + 1)  # labels to try
        self.next = ints(n + 1)  # which one comes next
        self.mark = ints(n + 1)  # of the trail before it
        self.low = ints(n + 1)  # of the stack before it
        self.label = ints2(n + 1, widest)
        self.bound = floats2(n + 1, widest)


class Node(Bundle):
    """Where a search stands. Places are of what begins there in ``state``."""

    def __init__(self, graph: Graph) -> None:
        n, blocks = graph.sizes.shape[0], graph.tables.ptr.shape[0] - 1
        rows, labels = graph.rows.lower.shape[0], graph.offsets[n]
        self.state = floats(labels + n + blocks + 2 * rows + 1)
        self.free = ints(blocks)  # per table: how many of its variables have no label
        self.labels = ints(n)  # -1 where there is none
        self.argmax = ints(n)  # the best labels
        self.stack = ints(n + 1)  # labelled variables, in the order they were labelled
        self.pending = ints(n + 1)  # variables to be labelled next
        self.trail_at = ints(graph.trail)
        self.trail_was = floats(graph.trail)
        self.tight = flags(labels)  # room, per label
        self.frames = Frames(n, graph.widest)
        self.best_of = labels
        self.table_best = labels + n
        self.row_least = labels + n + blocks
        self.row_most = labels + n + blocks + rows
        self.whole = labels + n + blocks + 2 * rows


def put(node: Node, place: Int, value: float, top: Int) -> int:
    """Change a number of the state; returns the new top of the trail."""
    node.trail_at[top] = place
    node.trail_was[top] = node.state[place]
    node.state[place] = value
    return top + 1


def close_in_row(graph: Graph, node: Node, r: Int, top: Int) -> int:
    """Close the labels of open variables that would break a row by themselves.

    Returns the new top of the trail, or -1 - top at a dead end.
    """
    best_of = node.best_of
    least, most = node.state[node.row_least + r], node.state[node.row_most + r]
    dead: Bool = False
    for o in range(graph.rows.ptr[r], graph.rows.ptr[r + 1]):
        w, at = graph.rows.variable[o], graph.rows.start[o]
        if dead or node.labels[w] >= 0:
            continue
        best = -inf
        changed: Bool = False
        for e in range(graph.offsets[w], graph.offsets[w + 1]):
            weight, at = weight_at(graph.rows, o, at, e)
            if node.state[e] == -inf:
                continue
            if is_broken(
                graph.rows,
                r,
                least - graph.rows.least[o] + weight,
                most - graph.rows.most[o] + weight,
            ):
                top = put(node, e, -inf, top)
                changed = True
            elif node.state[e] > best:
                best = node.state[e]
        if changed:
            node.state[node.whole] += best - node.state[best_of + w]
            top = put(node, best_of + w, best, top)
            dead = best == -inf
    return -1 - top if dead else top


def assign(graph: Graph, theta: Floats, node: Node, v: Int, label: Int, top: Int) -> int:
    """Give variable v a label. Returns the new top of the trail, negative at a dead end.

    A dead end is reported as -1 - top, so that what was done can be undone.
    """
    best_of, table_best = node.best_of, node.table_best
    bound = node.state[node.whole] - node.state[best_of + v] + node.state[graph.offsets[v] + label]
    top = put(node, node.whole, bound, top)
    node.labels[v] = label
    dead: Bool = False
    for p in range(graph.tables.place_ptr[v], graph.tables.place_ptr[v + 1]):
        b = graph.tables.place_table[graph.tables.places[p]]
        node.free[b] -= 1
        if dead or node.free[b] == 0:
            continue
        if node.free[b] == 1:
            base = graph.tables.ptr[b]
            w = -1
            step = 0
            for k in range(graph.tables.scope_ptr[b], graph.tables.scope_ptr[b + 1]):
                j = graph.tables.scope[k]
                if node.labels[j] < 0:
                    w = j
                    step = graph.tables.strides[k]
                else:
                    base += graph.tables.strides[k] * node.labels[j]
            best = -inf
            for a in range(graph.sizes[w]):
                e = graph.offsets[w] + a
                top = put(node, e, node.state[e] + theta[base + a * step], top)
                if node.state[e] > best:
                    best = node.state[e]
            node.state[node.whole] += best - node.state[best_of + w] - node.state[table_best + b]
            top = put(node, best_of + w, best, top)
            top = put(node, table_best + b, 0.0, top)
        else:
            best = best_entry(graph, theta, node, b)
            node.state[node.whole] += best - node.state[table_best + b]
            top = put(node, table_best + b, best, top)
        dead = best == -inf
    for q in range(graph.rows.of_ptr[v], graph.rows.of_ptr[v + 1]):
        if dead:
            break
        g = graph.rows.of[q]
        r = graph.rows.row[g]
        weight = added(graph.rows, g, graph.offsets[v] + label)
        least = node.state[node.row_least + r] + (weight - graph.rows.least[g])
        most = node.state[node.row_most + r] + (weight - graph.rows.most[g])
        top = put(node, node.row_least + r, least, top)
        top = put(node, node.row_most + r, most, top)
        if is_broken(graph.rows, r, least, most):
            dead = True
        elif least < graph.rows.lower[r] or most > graph.rows.upper[r]:
            top = close_in_row(graph, node, r, top)
            if top < 0:
                dead, top = True, -1 - top
    return -1 - top if dead else top


def best_entry(graph: Graph, theta: Floats, node: Node, b: Int) -> float:
    """The best entry of table b that fits the node.labels given and the node.labels still open."""
    best = -inf
    for e in range(graph.tables.ptr[b], graph.tables.ptr[b + 1]):
        if theta[e] <= best:
            continue
        fits: Bool = True
        for k in range(graph.tables.scope_ptr[b], graph.tables.scope_ptr[b + 1]):
            j = graph.tables.scope[k]
            a = ((e - graph.tables.ptr[b]) // graph.tables.strides[k]) % graph.sizes[j]
            is_open: Bool = node.state[graph.offsets[j] + a] > -inf
            fits = fits and (node.labels[j] == a if node.labels[j] >= 0 else is_open)
        if fits:
            best = theta[e]
    return best


def undo(graph: Graph, node: Node, height: Int, low: Int, top: Int, mark: Int) -> None:
    """Take back the trail down to ``mark`` and the labelled variables down to ``low``."""
    while top > mark:
        top -= 1
        node.state[node.trail_at[top]] = node.trail_was[top]
    while height > low:
        height -= 1
        v = node.stack[height]
        node.labels[v] = -1
        for p in range(graph.tables.place_ptr[v], graph.tables.place_ptr[v + 1]):
            node.free[graph.tables.place_table[graph.tables.places[p]]] += 1


def start(graph: Graph, theta: Floats, constant: float, node: Node) -> bool:
    """Stand at the root; false when some row cannot be met."""
    fill(node.labels, -1)
    for b in range(node.free.shape[0]):
        node.free[b] = graph.tables.scope_ptr[b + 1] - graph.tables.scope_ptr[b]
    copy_into(node.state, theta[: node.best_of])
    tops: OutFloats = node.state[node.best_of : node.row_least]
    node.state[node.whole] = find_tops(graph, theta, constant, tops)
    feasible: Bool = node.state[node.whole] > -inf
    for r in range(graph.rows.lower.shape[0]):
        least = 0.0
        most = 0.0
        for g in range(graph.rows.ptr[r], graph.rows.ptr[r + 1]):
            least += graph.rows.least[g]
            most += graph.rows.most[g]
        node.state[node.row_least + r] = least
        node.state[node.row_most + r] = most
        feasible = feasible and not is_broken(graph.rows, r, least, most)
    return feasible


def row_loss(graph: Graph, multipliers: Floats, labels: Ints) -> float:
    """What a labelling loses to multipliers of rows that it meets with room to spare.

    Σ_r u_r⁺ (upper_r - (Az)_r) + u_r⁻ ((Az)_r - lower_r), or inf when a row breaks.
    """
    lost = 0.0
    for r in range(graph.rows.lower.shape[0]):
        activity = activity_of(graph.rows, graph.offsets, r, labels)
        if is_broken(graph.rows, r, activity, activity):
            return inf
        if multipliers[r] > 0:
            lost += multipliers[r] * (graph.rows.upper[r] - activity)
        elif multipliers[r] < 0:
            lost += multipliers[r] * (graph.rows.lower[r] - activity)
    return lost


def loss(graph: Graph, theta: Floats, multipliers: Floats, node: Node, slack: float) -> float:
    """What the best labels together lose against the bound; inf when more than ``slack``."""
    lost = 0.0
    for b in range(node.free.shape[0]):
        if node.free[b] > 1:
            entry = entry_at(graph.tables, b, node.argmax)
            lost += node.state[node.table_best + b] - theta[entry]
            if lost > slack:
                return inf
    if graph.rows.lower.shape[0] > 0:
        lost += row_loss(graph, multipliers, node.argmax)
    return lost if lost <= slack else inf


def alone(graph: Graph, theta: Floats, node: Node, tie: float) -> bool:
    """Whether no other output at this node can be within a tie of the bound.

    Such an output uses only node.labels and table entries within a tie of the best. Labels
    that some table cannot extend with these are struck out until nothing changes; if
    one label is left everywhere, the answer is the only one.
    """
    n = graph.sizes.shape[0]
    fill(node.tight, False)
    several = 0
    for j in range(n):
        first = graph.offsets[j]
        if node.labels[j] >= 0:
            node.tight[first + node.labels[j]] = True
            continue
        for a in range(graph.sizes[j]):
            if node.state[first + a] >= node.state[node.best_of + j] - tie:
                node.tight[first + a] = True
                if a != node.argmax[j]:
                    several += 1
    changed: Bool = True
    while changed and several > 0:
        changed = False
        for j in range(n):
            if node.labels[j] >= 0:
                continue
            for a in range(graph.sizes[j]):
                if a == node.argmax[j] or not node.tight[graph.offsets[j] + a]:
                    continue
                for p in range(graph.tables.place_ptr[j], graph.tables.place_ptr[j + 1]):
                    k = graph.tables.places[p]
                    b = graph.tables.place_table[k]
                    if node.free[b] < 2:
                        continue
                    supported: Bool = False
                    for e in range(graph.tables.ptr[b], graph.tables.ptr[b + 1]):
                        if theta[e] < node.state[node.table_best + b] - tie:
                            continue
                        if ((e - graph.tables.ptr[b]) // graph.tables.strides[k]) % graph.sizes[
                            j
                        ] != a:
                            continue
                        fits: Bool = True
                        for q in range(graph.tables.scope_ptr[b], graph.tables.scope_ptr[b + 1]):
                            w = graph.tables.scope[q]
                            at = (
                                (e - graph.tables.ptr[b]) // graph.tables.strides[q]
                            ) % graph.sizes[w]
                            if not node.tight[graph.offsets[w] + at]:
                                fits = False
                                break
                        if fits:
                            supported = True
                            break
                    if not supported:
                        node.tight[graph.offsets[j] + a] = False
                        several -= 1
                        changed = True
                        break
    return several == 0
