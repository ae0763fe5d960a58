"""One branch and bound tree for a batch of inputs whose tables over pairs have equal scores.

Only the scores s_ij(a) of labels differ by input i. Variables get their labels in one order, so
that all nodes of a depth have the same open variables. Message passing on the mean of a batch says
which scores μ_j(a) each depth moves from the tables between open variables to their labels, such
that no entry that is left is above 0. With γ_j(a) what the tables to variables with labels add, no
output of input i below a node is worth more than

    value of what has labels + Σ_j max_a [s_ij(a) + γ_j(a) + μ_j(a)]

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

    SWEEPS = 2  # of message passing, over all variables
    POOL = 128  # inputs whose incumbents are tried for all others
    TRIAL = 1 << 10  # visits per input


class Batch(Bundle):
    """The scores of a batch, and an output of each input."""

    def __init__(self, m: Int, n: Int, most: Int) -> None:
        self.n = n
        self.most = most  # labels of a variable
        self.width = (n + 3) // 4 * 4  # variables, and some that fill up the last four
        self.scores = floats2(m, most * self.width)  # -inf for labels that are closed or missing
        self.pairs = np.zeros((n * most, most * self.width))  # per label of a variable: its tables
        self.strength = np.zeros((n, n))  # per pair: the largest interaction of two labels
        self.fields = floats(most * self.width)  # scores of labels, given the labels of the others
        self.value = floats(m)
        self.labels = ints2(m, n)
        self.best = ints2(m, n)
        self.largest = 0.0  # score in a table, in size


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
                batch.largest = max(batch.largest, abs(score))
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
    copy_into(batch.fields, batch.scores[i])
    for v in range(batch.n):
        row: Int = v * batch.most + batch.labels[i, v]
        for k in range(batch.most * batch.width):
            batch.fields[k] += batch.pairs[row, k]
    while improve(batch, i, least):
        pass
    value: float = 0.0
    for v in range(batch.n):  # every pair is in the fields of both of its variables
        at: Int = batch.labels[i, v] * batch.width + v
        value += 0.5 * (batch.fields[at] + batch.scores[i, at])
    return value


def start_at(batch: Batch, i: Int, label: Int) -> bool:
    """Give all variables one label, or the best by itself where that is closed or there is none.

    Returns whether there is such an output.
    """
    width = batch.width
    for j in range(batch.n):
        at = max(label, 0)
        if label < 0 or batch.scores[i, at * width + j] == -inf:
            for a in range(batch.most):
                if batch.scores[i, a * width + j] > batch.scores[i, at * width + j]:
                    at = a
        batch.labels[i, j] = at
        if batch.scores[i, at * width + j] == -inf:
            return False
    return True


def find_incumbents(batch: Batch, ties: Floats) -> None:
    """An output of every input by local search, from several starts and from those of others."""
    m, n, width = batch.scores.shape[0], batch.n, batch.width
    for i in range(m):
        batch.value[i] = -inf
        for label in range(-1, batch.most):
            if not start_at(batch, i, label):
                break
            value = climb(batch, i, ties[i])
            if value > batch.value[i]:
                batch.value[i] = value
                copy_into(batch.best[i], batch.labels[i])
    pool = min(m, POOL)
    for _ in range(2):
        for i in range(m):
            if batch.value[i] == -inf:
                continue
            best: float = batch.value[i] + ties[i]
            chosen: Int = -1
            for k in range(pool):
                if batch.value[k] == -inf:
                    continue
                other: float = batch.value[k]
                for j in range(n):
                    e = batch.best[k, j] * width + j
                    other += batch.scores[i, e] - batch.scores[k, e]
                if other > best:
                    best = other
                    chosen = k
            if chosen >= 0:
                copy_into(batch.labels[i], batch.best[chosen])
                batch.value[i] = climb(batch, i, ties[i])
                copy_into(batch.best[i], batch.labels[i])


def choose_order(batch: Batch, order: OutInts) -> None:
    """Variables that pull most at those without a label get theirs first."""
    n = batch.n
    for j in range(n):
        order[j] = j
    for d in range(n):
        best: float = -inf
        at = d
        for k in range(d, n):
            pull: float = 0.0
            for other in range(d, n):
                pull += batch.strength[order[k], order[other]]
            if pull > best:
                best = pull
                at = k
        v = order[at]
        order[at] = order[d]
        order[d] = v


class Messages(Bundle):
    """Message passing on the mean of a batch. Variables are numbered from the last of the order."""

    def __init__(self, n: Int, most: Int, width: Int) -> None:
        line = most * width
        self.pairs = floats2(n * most, line)
        # What tables have given to the labels of j, by the variable k on their other end; and the
        # same in rows of k.
        self.inward = np.zeros((n, line))
        self.outward = np.zeros((n, line))
        self.moved = np.zeros((n + 1, line))  # μ, per number of open variables
        self.mean = floats(line)
        self.line = floats(width)


def visit(batch: Batch, messages: Messages, rest: Int, j: Int, begin: Int, end: Int) -> None:
    """Collect at j what the tables between open variables can give, and hand it on to some."""
    most, width = batch.most, batch.width
    line: OutFloats = messages.line
    for a in range(most):
        row = j * most + a
        for k in range(rest):
            line[k] = messages.pairs[row, k] - messages.outward[j, k]
        for b in range(1, most):
            for k in range(rest):
                x: float = messages.pairs[row, b * width + k] - messages.outward[j, b * width + k]
                line[k] = max(line[k], x)
        line[j] = 0.0
        total: float = 0.0
        for k in range(rest):
            total += line[k]
        messages.moved[rest, a * width + j] = total
        share = (messages.mean[a * width + j] + total) / max(1, j, rest - 1 - j)
        for k in range(begin, end):
            line[k] -= share
        for k in range(rest):
            messages.inward[j, a * width + k] = line[k]
            messages.outward[k, a * width + j] = line[k]


def average(batch: Batch, order: Ints, messages: Messages) -> None:
    """The mean scores of labels, over inputs that may have them, and the tables in their order."""
    n, most, width = batch.n, batch.most, batch.width
    lowest: float = batch.largest
    for i in range(batch.scores.shape[0]):
        for k in range(most * width):
            if batch.scores[i, k] > -inf:
                lowest = max(lowest, abs(batch.scores[i, k]))
    for p in range(n):
        for a in range(most):
            e = a * width + order[n - 1 - p]
            total: float = 0.0
            count = 0
            for i in range(batch.scores.shape[0]):
                if batch.scores[i, e] > -inf:
                    total += batch.scores[i, e]
                    count += 1
            messages.mean[a * width + p] = total / count if count else -4.0 * n * lowest
            row = order[n - 1 - p] * most + a
            for b in range(most):
                for k in range(n):
                    score: float = batch.pairs[row, b * width + order[n - 1 - k]]
                    messages.pairs[p * most + a, b * width + k] = score


def pass_messages(batch: Batch, messages: Messages) -> None:
    """Sweep to and fro over all variables; then every depth leaves what it can at labels."""
    n = batch.n
    for _ in range(SWEEPS):
        for j in range(n):
            visit(batch, messages, n, j, j + 1, n)
        for step in range(n):
            visit(batch, messages, n, n - 1 - step, 0, n - 1 - step)
    for d in range(n):
        for j in range(n - d):
            visit(batch, messages, n - d, j, 0, 0)


class SharedTree(Bundle):
    """Where the search stands: room, and what a variable's label adds at each depth."""

    def __init__(self, m: Int, n: Int, most: Int, width: Int) -> None:
        line = most * width
        self.nodes = 0
        self.tried = False  # whether the trial is over
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
        largest: float = batch.largest
        for k in range(most * width):
            if batch.scores[i, k] > -inf:
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
    tree.constant[0] = 0.0
    for j in range(n):
        tree.constant[0] += messages.moved[n, j]
        for a in range(most):
            tree.fields[0, a * width + j] = messages.moved[n, a * width + j] - messages.moved[n, j]
    for d in range(n):
        v = n - 1 - d
        for a in range(most):
            row = v * most + a
            r = d * most + a
            added: float = -messages.moved[v + 1, a * width + v]
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
    tree.nodes += 1
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


def goes_apart(batch: Batch, tree: SharedTree) -> bool:
    """Whether, after a trial, so few inputs meet at a node that a tree for each is quicker."""
    m = batch.scores.shape[0]
    if m == 1 or tree.tried or tree.visits < TRIAL * m:
        return False
    tree.tried = True
    return 18 * tree.visits < (25 + m) * tree.nodes


def search(batch: Batch, tree: SharedTree, visit_limit: Int, in_order: Bool) -> None:
    """Depth first through the tree, until no input is alive or the limit is reached."""
    d = 0
    while d >= 0:
        look(batch, tree, d)
        tree.next[d] = 0
        if d == batch.n:
            take(batch, tree, in_order)
            tree.count[d] = 0
        elif tree.count[d] > 0 and (tree.visits >= visit_limit or goes_apart(batch, tree)):
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
    questions: Questions, floors: Floats, graph: Graph, visit_limit: Int
) -> tuple[IntArray, FloatArray, BoolArray, BoolArray]:
    """The best output of every input; with ``floors``, the first one that is worth more.

    Returns labels, bounds, whether the search was completed, and whether another output may be
    within a tie. First outputs are so in lexicographic order, and labels are -1 where there is none
    or the search was not completed: a limit, which counts inputs at nodes, came before, or the
    inputs have too little in common for one tree.
    """
    m, n = questions.scores.shape[0], graph.sizes.shape[0]
    questions.fit(graph.tables.ptr[graph.tables.ptr.shape[0] - 1], graph.offsets[n])
    if floors.shape[0] > 0:
        expect("floors", "entries", m, floors.shape[0])
    batch = Batch(m, n, max(2, graph.widest))
    messages = Messages(n, batch.most, batch.width)
    tree = SharedTree(m, n, batch.most, batch.width)
    order = ints(n)
    in_order: Bool = floors.shape[0] > 0
    with cython.nogil:
        read_batch(questions, graph, batch)
        if in_order:
            for j in range(n):
                order[j] = j
        else:
            choose_order(batch, order)
            find_incumbents(batch, questions.ties)
        average(batch, order, messages)
        pass_messages(batch, messages)
        plant(batch, messages, order, tree)
        tree.count[0] = 0
        for i in range(m):
            tree.slack[i] = 0.0 if in_order else 0.01 * questions.ties[i]
            tree.value[i] = floors[i] if in_order else batch.value[i] - 4 * questions.ties[i]
            if in_order or batch.value[i] > -inf:
                tree.active[0, tree.count[0]] = i
                tree.base[0, tree.count[0]] = tree.base[0, i]
                tree.count[0] += 1
        search(batch, tree, visit_limit, in_order)
        for i in range(m):
            if tree.found[i, 0] < 0 and not in_order and batch.value[i] > -inf:
                for d in range(n):
                    tree.found[i, d] = batch.best[i, order[d]]
                tree.value[i] = batch.value[i]
            for d in range(n):
                batch.labels[i, order[d]] = tree.found[i, d]
    value, opened = np.asarray(tree.value), np.asarray(tree.open_bound)
    return (
        np.asarray(batch.labels),
        np.maximum(value, opened),
        opened == -inf,
        np.asarray(tree.runner) >= value - np.asarray(questions.ties),
    )
