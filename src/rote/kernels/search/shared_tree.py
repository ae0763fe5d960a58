"""One branch and bound tree for a batch of inputs whose tables over pairs have equal scores.

Dual ascent on the mean scores of the batch moves scores between tables and labels, the same for all
inputs: θ_vj(a, b) are what is left in the tables, less the best entry of each, and μ_ij(a) the scores
of labels, which alone differ by input i. At a node some variables v have labels y_v, and with
γ_j(a) = Σ_v θ_vj(y_v, a) no output of input i below it is worth more than

    constant + Σ_j max_a [μ_ij(a) + γ_j(a)]

since θ <= 0 where no variable has its label yet. The γ are worked out once per node for all inputs
that are still alive there, those whose bound beats the best output known. With all labels given the
bound is the value of the output.

Numbers lie label by label, all variables of the first label first, so that a pass over them runs
along memory. Labels that a variable does not have, or an input may not have, are -inf.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import BoolArray, FloatArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Graph, Questions
    from rote.kernels.dual.ascent import Ascent, load, sweep


class SharedTree:
    """The scores of a batch, and where the search stands: room."""

    def __init__(self, m: Int, n: Int, most: Int, ties: Floats) -> None:
        self.n = n
        self.most = most  # labels of a variable
        self.width = (n + 3) // 4 * 4  # variables, and some that fill up the last four
        line = most * self.width
        self.visits = 0  # inputs looked at, over all nodes
        self.constant = 0.0
        self.own = floats2(m, line)  # μ
        self.pairs = floats2(n * most, line)  # θ: one row per label of a variable
        self.fields = floats2(n + 1, line)  # γ, one row per depth
        self.bound = floats2(n + 1, m)  # per depth, beside active
        self.active = ints2(n + 1, m)  # per depth: inputs that are alive
        self.order = ints2(n + 1, most)  # per depth: labels to try
        numbers = floats(3 * self.width + most)
        self.top = numbers[: self.width]
        self.second = numbers[self.width : 2 * self.width]
        self.margin = numbers[2 * self.width : 3 * self.width]  # per variable: best label before second best
        self.cost = numbers[3 * self.width :]  # per label of a variable: what inputs lose by it
        self.value = floats(m)  # of the best output known
        self.runner = np.full(m, -inf)  # the largest bound of what was left aside
        self.open_bound = np.full(m, -inf)  # of what a limit left to look at
        self.slack = 0.1 * np.asarray(ties)
        self.labels = np.full(n, -1, np.int64)
        self.chosen = ints(n + 1)  # per depth: the variable to branch on
        self.next = ints(n + 1)  # per depth: the label to try, by its place in the order
        self.count = ints(n + 1)  # per depth: how many inputs are alive
        self.found = np.full((m, n), -1, np.int64)


def reparametrise(
    questions: Questions, graph: Graph, ascent: Ascent, sweeps: Int, mean: OutFloats
) -> None:
    """Dual ascent on the mean scores of the batch, whose tables are those of every input."""
    m, labels = questions.scores.shape[0], graph.offsets[graph.sizes.shape[0]]
    for p in range(mean.shape[0]):
        total: float = questions.scores[0, p]
        if p < labels:
            for i in range(1, m):
                total += questions.scores[i, p]
            total /= m
        mean[p] = total
    load(mean, graph.source, ascent.theta)
    for k in range(sweeps + 1):
        sweep(graph, ascent, k == sweeps)


def place_scores(
    questions: Questions, graph: Graph, ascent: Ascent, mean: Floats, tree: SharedTree
) -> None:
    """Put reparametrised scores where the search reads them."""
    n, most, width = tree.n, tree.most, tree.width
    some_closed: Bool = questions.closed.shape[0] > 0
    for i in range(questions.scores.shape[0]):
        for k in range(most * width):
            tree.own[i, k] = 0.0 if n <= k < width else -inf
        for j in range(n):
            for a in range(graph.sizes[j]):
                e = graph.offsets[j] + a
                if not (some_closed and questions.closed[i, e]):
                    moved = ascent.theta[e] - mean[e]
                    tree.own[i, a * width + j] = questions.scores[i, e] + moved
    for r in range(n * most):
        for k in range(most * width):
            tree.pairs[r, k] = 0.0
    for b in range(graph.tables.ptr.shape[0] - 1):
        k = graph.tables.scope_ptr[b]
        j, v = graph.tables.scope[k], graph.tables.scope[k + 1]
        begin, best = graph.tables.ptr[b], -inf
        for e in range(begin, graph.tables.ptr[b + 1]):
            best = max(best, ascent.theta[e])
        tree.constant += best
        for a in range(graph.sizes[j]):
            for c in range(graph.sizes[v]):
                left = ascent.theta[begin + a * graph.sizes[v] + c] - best
                tree.pairs[j * most + a, c * width + v] = left
                tree.pairs[v * most + c, a * width + j] = left


def change(tree: SharedTree, i: Int, v: Int, label: Int) -> None:
    """Give a variable another label; the fields of the first row follow."""
    new, old = v * tree.most + label, v * tree.most + tree.found[i, v]
    for k in range(tree.most * tree.width):
        tree.fields[0, k] += tree.pairs[new, k] - tree.pairs[old, k]
    tree.found[i, v] = label


def improve(tree: SharedTree, i: Int, least: float) -> bool:
    """Make the best change of one label; or of two, where none gains more than ``least``."""
    n, most, width = tree.n, tree.most, tree.width
    now: OutFloats = tree.fields[0]
    labels: OutInts = tree.found[i]
    best: float = least
    one: Int = -1
    other: Int = -1
    first: Int = 0
    second: Int = 0
    for j in range(n):
        for a in range(most):
            gain: float = now[a * width + j] - now[labels[j] * width + j]
            if gain > best:
                best = gain
                one = j
                first = a
    if one >= 0:
        change(tree, i, one, first)
        return True
    for j in range(n):
        old: Int = j * most + labels[j]
        for a in range(most):
            new: Int = j * most + a
            gain = now[a * width + j] - now[labels[j] * width + j]
            if new == old or gain == -inf:
                continue
            for v in range(j + 1, n):
                at: Int = labels[v] * width + v
                for c in range(most):
                    e: Int = c * width + v
                    both: float = gain + (now[e] - now[at])
                    both += tree.pairs[new, e] - tree.pairs[new, at]
                    both -= tree.pairs[old, e] - tree.pairs[old, at]
                    if both > best and e != at:
                        best = both
                        one = j
                        first = a
                        other = v
                        second = c
    if one < 0:
        return False
    change(tree, i, one, first)
    change(tree, i, other, second)
    return True


def climb(tree: SharedTree, i: Int, least: float) -> float:
    """Improve the output of an input by local search; returns its value."""
    for k in range(tree.most * tree.width):
        tree.fields[0, k] = tree.own[i, k]
    for v in range(tree.n):
        row: Int = v * tree.most + tree.found[i, v]
        for k in range(tree.most * tree.width):
            tree.fields[0, k] += tree.pairs[row, k]
    while improve(tree, i, least):
        pass
    # Every pair is in the fields of both of its variables.
    value = tree.constant
    for v in range(tree.n):
        at: Int = tree.found[i, v] * tree.width + v
        value += 0.5 * (tree.fields[0, at] + tree.own[i, at])
    return value


def incumbents(tree: SharedTree, ties: Floats) -> None:
    """An output of every input by local search: best labels first, then what others came to."""
    m, n, width = tree.own.shape[0], tree.n, tree.width
    for i in range(m):
        possible: Bool = True
        for j in range(n):
            best: float = -inf
            at = -1
            for a in range(tree.most):
                if tree.own[i, a * width + j] > best:
                    best = tree.own[i, a * width + j]
                    at = a
            tree.found[i, j] = at
            possible = possible and at >= 0
        tree.value[i] = climb(tree, i, ties[i]) if possible else -inf


def look(tree: SharedTree, d: Int) -> None:
    """Bound the inputs that are alive at a node, and drop those whose bound says no more."""
    width, most = tree.width, tree.most
    own: Floats2 = tree.own
    fields: Floats2 = tree.fields
    top: OutFloats = tree.top
    second: OutFloats = tree.second
    margin: OutFloats = tree.margin
    fill(margin, 0.0)
    kept = 0
    for q in range(tree.count[d]):
        i: Int = tree.active[d, q]
        for j in range(width):
            x: float = own[i, j] + fields[d, j]
            y: float = own[i, width + j] + fields[d, width + j]
            top[j] = x if x > y else y
            second[j] = y if x > y else x
        for a in range(2, most):
            for j in range(width):
                x = own[i, a * width + j] + fields[d, a * width + j]
                y = top[j]
                top[j] = x if x > y else y
                y = y if x > y else x
                second[j] = second[j] if second[j] > y else y
        s, t, u, w = 0.0, 0.0, 0.0, 0.0
        for j in range(0, width, 4):
            s += top[j]
            t += top[j + 1]
            u += top[j + 2]
            w += top[j + 3]
        bound = tree.constant + ((s + t) + (u + w))
        if bound <= tree.value[i] + tree.slack[i]:
            tree.runner[i] = max(tree.runner[i], bound)
            continue
        for j in range(width):
            margin[j] += top[j] - second[j]
        tree.active[d, kept] = i
        tree.bound[d, kept] = bound
        kept += 1
    tree.visits += tree.count[d]
    tree.count[d] = kept


def lost_with(tree: SharedTree, d: Int, q: Int, label: Int) -> float:
    """What an input that is alive at a node loses by a label of the chosen variable."""
    i: Int = tree.active[d, q]
    v = tree.chosen[d]
    best: float = -inf
    for a in range(tree.most):
        best = max(best, tree.own[i, a * tree.width + v] + tree.fields[d, a * tree.width + v])
    e = label * tree.width + v
    return best - (tree.own[i, e] + tree.fields[d, e])


def branch_on(tree: SharedTree, d: Int, in_order: Bool) -> None:
    """Choose the variable to branch on, -1 where all have labels, and the order of its labels."""
    v = -1
    for j in range(tree.n):
        if tree.labels[j] < 0:
            if v < 0 or tree.margin[j] > tree.margin[v]:
                v = j
            if in_order:
                break
    tree.chosen[d] = v
    tree.next[d] = 0
    for a in range(tree.most):
        tree.order[d, a] = a
    if v < 0 or in_order:
        return
    # The label that costs the inputs least comes first.
    for a in range(tree.most):
        cost = 0.0
        for q in range(tree.count[d]):
            room: float = tree.bound[d, q] - tree.value[tree.active[d, q]]
            cost += min(lost_with(tree, d, q, a), room)
        at = a
        while at > 0 and tree.cost[tree.order[d, at - 1]] > cost:
            tree.order[d, at] = tree.order[d, at - 1]
            at -= 1
        tree.order[d, at] = a
        tree.cost[a] = cost


def descend(tree: SharedTree, d: Int, label: Int) -> bool:
    """Give the chosen variable a label; whether an input is still alive then."""
    v, width, most = tree.chosen[d], tree.width, tree.most
    kept = 0
    for q in range(tree.count[d]):
        i: Int = tree.active[d, q]
        bound: float = tree.bound[d, q] - lost_with(tree, d, q, label)
        if bound <= tree.value[i] + tree.slack[i]:
            tree.runner[i] = max(tree.runner[i], bound)
        else:
            tree.active[d + 1, kept] = i
            kept += 1
    tree.count[d + 1] = kept
    if kept == 0:
        return False
    r = v * most + label
    for k in range(most * width):
        tree.fields[d + 1, k] = tree.fields[d, k] + tree.pairs[r, k]
    for depth in range(d):  # pairs with variables that have labels are counted already
        j = tree.chosen[depth]
        for a in range(most):
            tree.fields[d + 1, a * width + j] = tree.fields[d, a * width + j]
    for a in range(most):
        if a != label:
            tree.fields[d + 1, a * width + v] = -inf
    tree.labels[v] = label
    return True


def take(tree: SharedTree, d: Int, in_order: Bool) -> None:
    """An output that beats what the inputs still alive have had."""
    for q in range(tree.count[d]):
        i: Int = tree.active[d, q]
        tree.runner[i] = max(tree.runner[i], tree.value[i])
        tree.value[i] = inf if in_order else tree.bound[d, q]
        copy_into(tree.found[i], tree.labels)


def leave_open(tree: SharedTree, depth: Int) -> None:
    """Note the bounds of what is not looked at: the last node, and labels not tried before it."""
    for d in range(depth + 1):
        for q in range(tree.count[d]):
            i: Int = tree.active[d, q]
            lost: float = 0.0 if d == depth else inf
            for at in range(tree.next[d], tree.most):
                lost = min(lost, lost_with(tree, d, q, tree.order[d, at]))
            bound: float = tree.bound[d, q] - lost
            if bound > tree.value[i] + tree.slack[i]:
                tree.open_bound[i] = max(tree.open_bound[i], bound)
            else:
                tree.runner[i] = max(tree.runner[i], bound)


def search(tree: SharedTree, visit_limit: Int, in_order: Bool) -> None:
    """Depth first through the tree, until no input is alive or the limit is reached."""
    for k in range(tree.most * tree.width):
        tree.fields[0, k] = 0.0
    d = 0
    while d >= 0:
        look(tree, d)
        if tree.count[d] > 0:
            branch_on(tree, d, in_order)
            if tree.chosen[d] < 0:
                take(tree, d, in_order)
                tree.count[d] = 0
            elif tree.visits >= visit_limit:
                leave_open(tree, d)
                return
        deeper: Bool = False
        while d >= 0 and not deeper:
            if tree.count[d] > 0 and tree.next[d] > 0:
                tree.labels[tree.chosen[d]] = -1
            if tree.count[d] == 0 or tree.next[d] == tree.most:
                d -= 1
            else:
                tree.next[d] += 1
                deeper = descend(tree, d, tree.order[d, tree.next[d] - 1])
        d += 1 if deeper else 0


def shared_tree(
    questions: Questions,
    floors: Floats,
    graph: Graph,
    sweeps: Int,
    visit_limit: Int,
    in_order: Bool,
) -> tuple[IntArray, FloatArray, BoolArray, BoolArray, int]:
    """The best output of every input of a batch, or the first that beats its floor.

    Returns labels, bounds, whether the search was completed, and whether another output may be
    within a tie. With ``in_order`` it is the lexicographically first output worth more than the
    floor, and labels are -1 where the limit came before.
    """
    m, n = questions.scores.shape[0], graph.sizes.shape[0]
    tree, ascent = SharedTree(m, n, max(2, graph.widest), questions.ties), Ascent(graph)
    mean = floats(questions.scores.shape[1])
    with cython.nogil:
        reparametrise(questions, graph, ascent, sweeps, mean)
        place_scores(questions, graph, ascent, mean, tree)
        if in_order:
            copy_into(tree.value, floors)
            fill(tree.slack, 0.0)
        else:
            incumbents(tree, questions.ties)
        tree.count[0] = 0
        for i in range(m):
            if in_order or tree.value[i] > -inf:
                if not in_order:
                    tree.value[i] -= 4 * questions.ties[i]
                tree.active[0, tree.count[0]] = i
                tree.count[0] += 1
        search(tree, visit_limit, in_order)
    value, opened = np.asarray(tree.value), np.asarray(tree.open_bound)
    return (
        np.asarray(tree.found),
        np.maximum(value, opened),
        opened == -inf,
        np.asarray(tree.runner) >= value - np.asarray(questions.ties),
        tree.visits,
    )
