"""One branch and bound tree for a batch of inputs whose tables over pairs have equal scores.

Only the scores s_ij(a) of labels differ by input i. Variables get their labels in one order, so that
all nodes of a depth have the same open variables, and message passing on the mean of the batch, an
incumbent output of each input given so far, finds for every depth which scores μ_j(a) are best moved
from the tables between open variables to their labels. With c the sum of the best entries that are
left in these tables, and γ_j(a) what the tables to variables with labels add, no output of input i
below a node is worth more than

    value of what has labels + c + Σ_j max_a [s_ij(a) + γ_j(a) + μ_j(a)]

The γ and μ of a node are worked out once, for all inputs that are still alive there: those whose
bound beats the best output known. Where every variable has its label, the bound is the value.

Numbers lie label by label, all variables of the first label first, so that a pass over variables
runs along memory. The search counts from the value of first labels: max_a is max(0, ...) there.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import BoolArray, FloatArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Graph, Questions


class Batch:
    """The scores of a batch, and an output of each input."""

    def __init__(self, m: Int, n: Int, most: Int) -> None:
        self.n = n
        self.most = most  # labels of a variable
        self.width = (n + 3) // 4 * 4  # variables, and some that fill up the last four
        self.scores = floats2(m, most * self.width)  # -inf for labels that are closed or missing
        self.pairs = np.zeros((n * most, most * self.width))  # per label of a variable: its tables
        self.strength = np.zeros((n, n))  # per pair: the largest interaction of two labels
        self.fields = floats(most * self.width)  # scores of labels, given the labels of the others
        self.margin = np.zeros(n)  # per variable: what another label costs, over all inputs
        self.value = floats(m)
        self.labels = ints2(m, n)


def read_batch(questions: Questions, graph: Graph, batch: Batch) -> None:
    """Read the scores of labels of each input, and the tables of the first."""
    most, width = batch.most, batch.width
    some_closed: Bool = questions.closed.shape[0] > 0
    for i in range(questions.scores.shape[0]):
        fill(batch.scores[i], -inf)
        for j in range(batch.n):
            for a in range(graph.sizes[j]):
                e = graph.offsets[j] + a
                if not (some_closed and questions.closed[i, e]):
                    batch.scores[i, a * width + j] = questions.scores[i, e]
    for b in range(graph.tables.ptr.shape[0] - 1):
        k = graph.tables.scope_ptr[b]
        j, v = graph.tables.scope[k], graph.tables.scope[k + 1]
        begin = graph.tables.ptr[b]
        strongest: float = 0.0
        for a in range(graph.sizes[j]):
            for c in range(graph.sizes[v]):
                e = begin + a * graph.sizes[v] + c
                score: float = questions.scores[0, e]
                batch.pairs[j * most + a, c * width + v] = score
                batch.pairs[v * most + c, a * width + j] = score
                score += questions.scores[0, begin] - questions.scores[0, begin + c]
                score -= questions.scores[0, e - c]
                strongest = max(strongest, abs(score))
        batch.strength[j, v] = strongest
        batch.strength[v, j] = strongest


def change(batch: Batch, i: Int, v: Int, label: Int) -> None:
    """Give a variable another label; the fields follow."""
    new, old = v * batch.most + label, v * batch.most + batch.labels[i, v]
    for k in range(batch.most * batch.width):
        batch.fields[k] += batch.pairs[new, k] - batch.pairs[old, k]
    batch.labels[i, v] = label


def improve(batch: Batch, i: Int, least: float) -> bool:
    """Make the best change of one label; or of two, where none gains more than ``least``."""
    n, most, width = batch.n, batch.most, batch.width
    now: OutFloats = batch.fields
    labels: OutInts = batch.labels[i]
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
        change(batch, i, one, first)
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
                    both += batch.pairs[new, e] - batch.pairs[new, at]
                    both -= batch.pairs[old, e] - batch.pairs[old, at]
                    if both > best and e != at:
                        best = both
                        one = j
                        first = a
                        other = v
                        second = c
    if one < 0:
        return False
    change(batch, i, one, first)
    change(batch, i, other, second)
    return True


def climb(batch: Batch, i: Int, least: float) -> float:
    """Improve the output of an input by local search; returns its value."""
    width = batch.width
    copy_into(batch.fields, batch.scores[i])
    for v in range(batch.n):
        row: Int = v * batch.most + batch.labels[i, v]
        for k in range(batch.most * width):
            batch.fields[k] += batch.pairs[row, k]
    while improve(batch, i, least):
        pass
    value: float = 0.0
    for v in range(batch.n):
        # Every pair is in the fields of both of its variables.
        at: Int = batch.labels[i, v] * width + v
        value += 0.5 * (batch.fields[at] + batch.scores[i, at])
        nearest: float = 0.0
        for a in range(batch.most):
            e = a * width + v
            if e != at and batch.fields[e] > -inf:
                lost = batch.fields[at] - batch.fields[e]
                nearest = lost if nearest == 0.0 else min(nearest, lost)
        batch.margin[v] += nearest / batch.scores.shape[0]
    return value


def find_incumbents(batch: Batch, ties: Floats) -> None:
    """An output of every input by local search, from the best labels by themselves."""
    width = batch.width
    for i in range(batch.scores.shape[0]):
        possible: Bool = True
        for j in range(batch.n):
            at = 0
            for a in range(1, batch.most):
                if batch.scores[i, a * width + j] > batch.scores[i, at * width + j]:
                    at = a
            batch.labels[i, j] = at
            possible = possible and batch.scores[i, at * width + j] > -inf
        batch.value[i] = climb(batch, i, ties[i]) if possible else -inf


def choose_order(batch: Batch, order: OutInts) -> None:
    """Which variables get their labels first: those that pull most at the others, and are sure."""
    n = batch.n
    for j in range(n):
        order[j] = j
    for d in range(n):
        best: float = -inf
        at = d
        for k in range(d, n):
            score: float = batch.margin[order[k]]
            for other in range(d, n):
                score += batch.strength[order[k], order[other]]
            if score > best:
                best = score
                at = k
        v = order[at]
        order[at] = order[d]
        order[d] = v


class Messages:
    """Message passing on the mean of a batch. Variables are numbered from the last of the order."""

    def __init__(self, n: Int, most: Int, width: Int) -> None:
        line = most * width
        self.pairs = floats2(n * most, line)
        # What tables have given to the labels of j, beside the variable k on their other end; and
        # the same by k.
        self.inward = np.zeros((n, line))
        self.outward = np.zeros((n, line))
        self.moved = floats2(n + 1, line)  # μ, per number of open variables
        self.constant = floats(n + 1)  # c, per number of open variables
        self.mean = floats(line)
        self.belief = floats(most)
        self.line = floats(width)


def visit(batch: Batch, messages: Messages, rest: Int, j: Int, begin: Int, end: Int) -> None:
    """Collect at j what the tables of open variables can give, and hand it on to some of them."""
    most, width = batch.most, batch.width
    line: OutFloats = messages.line
    for a in range(most):
        row = j * most + a
        for k in range(rest):
            line[k] = messages.pairs[row, k] - messages.outward[j, k]
        for b in range(1, most):
            for k in range(rest):
                x: float = messages.pairs[row, b * width + k] - messages.outward[j, b * width + k]
                line[k] = x if x > line[k] else line[k]
        line[j] = 0.0
        total: float = messages.mean[a * width + j]
        for k in range(rest):
            messages.inward[j, a * width + k] = line[k]
            total += line[k]
        share = total / max(1, j, rest - 1 - j)
        for k in range(begin, end):
            messages.inward[j, a * width + k] -= share
        for k in range(rest):
            messages.outward[k, a * width + j] = messages.inward[j, a * width + k]


def pass_messages(batch: Batch, messages: Messages, rest: Int, sweeps: Int) -> None:
    """Sweep to and fro over the open variables, leave the rest at labels, and note the outcome."""
    most, width = batch.most, batch.width
    for _ in range(sweeps):
        for j in range(rest):
            visit(batch, messages, rest, j, j + 1, rest)
        for step in range(rest):
            visit(batch, messages, rest, rest - 1 - step, 0, rest - 1 - step)
    for j in range(rest):
        visit(batch, messages, rest, j, 0, 0)
    constant: float = 0.0
    for j in range(rest):
        for k in range(j):
            best: float = -inf
            for a in range(most):
                for b in range(most):
                    left: float = messages.pairs[j * most + a, b * width + k]
                    left -= messages.inward[j, a * width + k] + messages.outward[j, b * width + k]
                    best = max(best, left)
            constant += best
    messages.constant[rest] = constant
    for a in range(most):
        for j in range(rest):
            total: float = 0.0
            for k in range(rest):
                total += messages.inward[j, a * width + k]
            messages.moved[rest, a * width + j] = total


def bound_depths(batch: Batch, messages: Messages, order: Ints, sweeps: Int) -> None:
    """Pass messages for every depth of the tree, those before it at their incumbent labels."""
    n, most, width = batch.n, batch.most, batch.width
    m = batch.scores.shape[0]
    for p in range(n):
        for a in range(most):
            row = order[n - 1 - p] * most + a
            total: float = 0.0
            for i in range(m):
                # Labels that an input may not have say nothing of the others.
                if batch.scores[i, a * width + order[n - 1 - p]] > -inf:
                    total += batch.scores[i, a * width + order[n - 1 - p]]
            messages.mean[a * width + p] = total / m
            for b in range(most):
                for k in range(n):
                    score: float = batch.pairs[row, b * width + order[n - 1 - k]]
                    messages.pairs[p * most + a, b * width + k] = score
    for d in range(n):
        rest = n - d
        pass_messages(batch, messages, rest, sweeps if d == 0 else 1)
        v = order[d]
        for i in range(m):
            row = (rest - 1) * most + batch.labels[i, v]
            for k in range(most * width):
                messages.mean[k] += messages.pairs[row, k] / m
    messages.constant[0] = 0.0


class SharedTree:
    """Where the search stands: room, and what a variable's label adds at each depth."""

    def __init__(self, m: Int, n: Int, most: Int, width: Int) -> None:
        line = most * width
        self.visits = 0  # inputs looked at, over all nodes
        self.own = floats2(m, line)  # scores of labels, less that of the first
        self.rows = floats2(n * most, line)  # per depth and label: what it adds to the fields
        self.added = floats(n * most)  # per depth and label: what it adds to the constant
        self.fields = floats2(n + 1, line)  # per depth: γ + μ, less that of first labels
        self.constant = floats(n + 1)  # per depth: what the bounds of all inputs share
        self.base = floats2(n + 1, m)  # per depth, beside active: labels so far, or first ones
        self.bound = floats2(n + 1, m)
        self.active = ints2(n + 1, m)  # per depth: inputs that are alive
        self.count = ints(n + 1)  # per depth: how many these are
        self.label = ints(n)  # per depth
        self.next = ints(n + 1)  # per depth: the label to try
        self.value = floats(m)  # of the best output known
        self.runner = np.full(m, -inf)  # the largest bound of what was left aside
        self.open_bound = np.full(m, -inf)  # of what a limit left to look at
        self.slack = floats(m)
        self.found = np.full((m, n), -1, np.int64)


def plant(batch: Batch, messages: Messages, order: Ints, tree: SharedTree) -> None:
    """Scores, and what labels add at each depth, as the search needs them."""
    n, most, width = batch.n, batch.most, batch.width
    for i in range(batch.scores.shape[0]):
        fill(tree.own[i], 0.0)
        tree.base[0, i] = 0.0
        largest: float = 1.0
        for k in range(most * width):
            if k % width < n and batch.scores[i, k] > -inf:
                largest = max(largest, abs(batch.scores[i, k]))
        for p in range(n):
            v = order[n - 1 - p]
            first: float = batch.scores[i, v]
            if first == -inf:
                # Other labels are so far above that bounds do not count on this one.
                tree.own[i, p] = -inf
                first = -4.0 * n * largest
            tree.base[0, i] += first
            for a in range(1, most):
                tree.own[i, a * width + p] = batch.scores[i, a * width + v] - first
    for k in range(most * width):
        tree.fields[0, k] = -inf
    tree.constant[0] = messages.constant[n]
    for j in range(n):
        tree.constant[0] += messages.moved[n, j]
        for a in range(most):
            tree.fields[0, a * width + j] = messages.moved[n, a * width + j] - messages.moved[n, j]
    for d in range(n):
        v = n - 1 - d
        for a in range(most):
            row = v * most + a
            r = d * most + a
            added: float = messages.constant[v] - messages.constant[v + 1]
            added -= messages.moved[v + 1, a * width + v]
            for k in range(most * width):
                tree.rows[r, k] = -inf
            for j in range(v):
                start: float = messages.moved[v, j] - messages.moved[v + 1, j]
                start += messages.pairs[row, j]
                added += start
                for b in range(most):
                    e = b * width + j
                    more: float = messages.moved[v, e] - messages.moved[v + 1, e]
                    tree.rows[r, e] = more + messages.pairs[row, e] - start
            tree.added[r] = added


def look(batch: Batch, tree: SharedTree, d: Int) -> None:
    """Bound the inputs that are alive at a node, and drop those whose bound says no more."""
    width, most, rest = batch.width, batch.most, batch.n - d
    own: Floats2 = tree.own
    fields: Floats2 = tree.fields
    kept = 0
    for q in range(tree.count[d]):
        i: Int = tree.active[d, q]
        s: float = 0.0
        t: float = 0.0
        u: float = 0.0
        w: float = 0.0
        if most == 2:
            for j in range(width, width + rest, 4):
                s += max(0.0, own[i, j] + fields[d, j])
                t += max(0.0, own[i, j + 1] + fields[d, j + 1])
                u += max(0.0, own[i, j + 2] + fields[d, j + 2])
                w += max(0.0, own[i, j + 3] + fields[d, j + 3])
        else:
            for j in range(rest):
                top: float = 0.0
                for a in range(1, most):
                    top = max(top, own[i, a * width + j] + fields[d, a * width + j])
                s += top
        bound: float = tree.base[d, q] + tree.constant[d] + ((s + t) + (u + w))
        if bound <= tree.value[i] + tree.slack[i]:
            tree.runner[i] = max(tree.runner[i], bound)
        else:
            tree.active[d, kept] = i
            tree.base[d, kept] = tree.base[d, q]
            tree.bound[d, kept] = bound
            kept += 1
    tree.visits += tree.count[d]
    tree.count[d] = kept


def descend(batch: Batch, tree: SharedTree, d: Int, label: Int) -> bool:
    """Give the variable of a depth a label; whether an input is still alive then."""
    width, most, v = batch.width, batch.most, batch.n - 1 - d
    kept = 0
    for q in range(tree.count[d]):
        i: Int = tree.active[d, q]
        top: float = 0.0
        for a in range(1, most):
            top = max(top, tree.own[i, a * width + v] + tree.fields[d, a * width + v])
        gain: float = tree.own[i, label * width + v]
        bound: float = tree.bound[d, q] - top + (gain + tree.fields[d, label * width + v])
        if bound <= tree.value[i] + tree.slack[i]:
            tree.runner[i] = max(tree.runner[i], bound)
        else:
            tree.active[d + 1, kept] = i
            tree.base[d + 1, kept] = tree.base[d, q] + gain
            kept += 1
    tree.count[d + 1] = kept
    if kept == 0:
        return False
    r = d * most + label
    for k in range(width, most * width):
        tree.fields[d + 1, k] = tree.fields[d, k] + tree.rows[r, k]
    for k in range(width):
        tree.fields[d + 1, k] = 0.0
    tree.constant[d + 1] = tree.constant[d] + tree.fields[d, label * width + v] + tree.added[r]
    tree.label[d] = label
    return True


def take(batch: Batch, tree: SharedTree, in_order: Bool) -> None:
    """An output that beats what the inputs still alive have had."""
    n = batch.n
    for q in range(tree.count[n]):
        i: Int = tree.active[n, q]
        tree.runner[i] = max(tree.runner[i], tree.value[i])
        tree.value[i] = inf if in_order else tree.bound[n, q]
        copy_into(tree.found[i], tree.label)


def leave_open(batch: Batch, tree: SharedTree, depth: Int) -> None:
    """Note the bounds of what is not looked at: the last node, and labels not tried before it."""
    width, most = batch.width, batch.most
    for d in range(depth + 1):
        for q in range(tree.count[d]):
            i: Int = tree.active[d, q]
            bound: float = tree.bound[d, q]
            if d < depth:
                v = batch.n - 1 - d
                top: float = 0.0
                left: float = -inf
                for a in range(most):
                    x: float = tree.own[i, a * width + v] + tree.fields[d, a * width + v]
                    top = max(top, x)
                    if a >= tree.next[d]:
                        left = max(left, x)
                bound += left - top
            if bound > tree.value[i] + tree.slack[i]:
                tree.open_bound[i] = max(tree.open_bound[i], bound)
            else:
                tree.runner[i] = max(tree.runner[i], bound)


def search(batch: Batch, tree: SharedTree, visit_limit: Int, in_order: Bool) -> None:
    """Depth first through the tree, until no input is alive or the limit is reached."""
    d = 0
    while d >= 0:
        look(batch, tree, d)
        tree.next[d] = 0
        if d == batch.n:
            take(batch, tree, in_order)
            tree.count[d] = 0
        elif tree.count[d] > 0 and tree.visits >= visit_limit:
            leave_open(batch, tree, d)
            return
        deeper: Bool = False
        while d >= 0 and not deeper:
            if tree.count[d] == 0 or tree.next[d] == batch.most:
                d -= 1
            else:
                tree.next[d] += 1
                deeper = descend(batch, tree, d, tree.next[d] - 1)
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
    batch = Batch(m, n, max(2, graph.widest))
    messages = Messages(n, batch.most, batch.width)
    tree = SharedTree(m, n, batch.most, batch.width)
    order = ints(n)
    with cython.nogil:
        read_batch(questions, graph, batch)
        find_incumbents(batch, questions.ties)
        choose_order(batch, order)
        if in_order:
            for j in range(n):
                order[j] = j
        bound_depths(batch, messages, order, sweeps)
        plant(batch, messages, order, tree)
        tree.count[0] = 0
        for i in range(m):
            tree.slack[i] = 0.0 if in_order else 0.1 * questions.ties[i]
            tree.value[i] = floors[i] if in_order else batch.value[i] - 4 * questions.ties[i]
            if batch.value[i] > -inf:
                tree.active[0, tree.count[0]] = i
                tree.base[0, tree.count[0]] = tree.base[0, i]
                tree.count[0] += 1
        search(batch, tree, visit_limit, in_order)
    value, opened = np.asarray(tree.value), np.asarray(tree.open_bound)
    found = np.asarray(tree.found)
    labels = np.empty_like(found)
    labels[:, np.asarray(order)] = found
    return (
        labels,
        np.maximum(value, opened),
        opened == -inf,
        np.asarray(tree.runner) >= value - np.asarray(questions.ties),
        (tree.visits, np.asarray(batch.labels)),
    )
