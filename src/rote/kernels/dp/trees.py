"""Max-sum on a forest, from the leaves to the roots and back.

With c_v(a) the score of label a of v, and W_v the table that joins v to its parent u,
what the variables below v are worth, and what they tell the parent, is

    inner_v(a) = c_v(a) + Σ_{w child of v} up_w(a)
    up_v(x)    = max_a W_v(x, a) + inner_v(a)            x a label of u

All roots hang on one more variable, numbered n, which has a single label: so a
forest is a tree, and up_v of a root is its best value.

Labels. Where no child precedes its parent in the order of the variables, labels are
read in that order, each one the smallest that gives up no more than is left of the
tie: the lexicographically smallest output within one tie of the best. Elsewhere the
best ones are read from the roots down. The second best output leaves the best at
exactly one variable, given its parent, and is best from there on; so the least gap
seen on the way is the distance to it. Where that is within the tie, the same tree is
hung on one variable after the other, in their order, with those before held fast:
then all labels of a variable can be compared, and the smallest be taken as above.
Hanging it on another variable changes only the messages on the way there.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import FloatArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import ForestPlan, Questions
    from rote.kernels.dp.chains import add_entries, label_scores, within_budget
    from rote.kernels.inlined import max_plus


class TreeRoom(Bundle):
    """The messages of one input, and room for what is read of tables."""

    def __init__(self, plan: ForestPlan) -> None:
        n = plan.sizes.shape[0]
        labels, up, entries, line = plan.offsets[n], plan.up_ptr[n], plan.room[0], plan.room[1]
        pool = Pool(3 * labels + 2 * up + entries + line)
        self.own = pool.take(labels)  # per label: its score
        self.inner = pool.take(labels)  # per label: inner_v
        self.up = pool.take(up)  # per variable: what it tells its parent
        self.down = pool.take(labels)  # per label: the best outside the variables below
        self.entries = pool.take(entries)  # of one table
        self.line = pool.take(line)  # of one variable
        self.without = pool.take(up)  # as ``up``: the parent's value without the variable
        self.hung = ints(n)  # per root: the variable on which its component hangs at the moment
        self.way = ints(n)  # from there to another variable


def best_across(
    out: OutFloats, values: Floats, table: Floats, first: Int, step_from: Int, step_to: Int
) -> None:
    """out(x) = max_a W(x, a) + values(a), across a table that begins at ``first``, from a side."""
    many = values.shape[0]
    if step_from == 1:
        for x in range(out.shape[0]):
            out[x] = max_plus(table, first + x * step_to, values, 0, many)
    else:
        fill(out, -inf)
        for a in range(many):
            for x in range(out.shape[0]):
                value = table[first + a * step_from + x] + values[a]
                if value > out[x]:
                    out[x] = value


def send(
    out: OutFloats,
    values: Floats,
    plan: ForestPlan,
    v: Int,
    up: Bool,
    row: Floats,
    entries: OutFloats,
) -> None:
    """`best_across` the table between v and its parent, upwards or downwards."""
    b = plan.table[v]
    step_from = plan.step_own[v] if up else plan.step_parent[v]
    step_to = plan.step_parent[v] if up else plan.step_own[v]
    if plan.direct[v] >= 0:
        best_across(out, values, row, plan.direct[v], step_from, step_to)
    else:
        table: OutFloats = entries[: values.shape[0] * out.shape[0]]
        fill(table, 0.0)
        add_entries(table, row, plan.runs, b, plan.runs.starts[b], 1)
        best_across(out, values, table, 0, step_from, step_to)


def look_below(plan: ForestPlan, room: TreeRoom, questions: Questions, i: Int) -> float:
    """Read the scores of an input, and fill inner_v and up_v; returns the best value."""
    n = plan.order.shape[0]
    row: Floats = questions.scores[i]
    label_scores(room.own, questions, i, plan.runs.allowed)
    copy_into(room.inner, room.own)
    total = 0.0
    for back in range(n):
        v = plan.order[n - 1 - back]
        values: Floats = room.inner[plan.offsets[v] : plan.offsets[v + 1]]
        message: OutFloats = room.up[plan.up_ptr[v] : plan.up_ptr[v + 1]]
        if plan.table[v] < 0:
            top = -inf
            for a in range(values.shape[0]):
                top = max(top, values[a])
            message[0] = top
            total += top
            continue
        send(message, values, plan, v, True, row, room.entries)
        above = plan.offsets[plan.parent[v]]
        for x in range(message.shape[0]):
            room.inner[above + x] += message[x]
    return total


def heard(
    out: OutFloats, plan: ForestPlan, room: TreeRoom, v: Int, but: Int, from_above: Bool
) -> None:
    """What v's own labels, its children but one, and perhaps its parent say of its labels."""
    first = plan.offsets[v]
    for a in range(out.shape[0]):
        out[a] = room.own[first + a]
        if from_above:
            out[a] += room.down[first + a]
    for c in range(plan.child_ptr[v], plan.child_ptr[v + 1]):
        if plan.children[c] != but:
            for a in range(out.shape[0]):
                out[a] += room.up[plan.up_ptr[plan.children[c]] + a]


def hang_on(plan: ForestPlan, room: TreeRoom, j: Int, row: Floats) -> None:
    """Hang the component of variable j on it: send the messages on the way there anew."""
    v, w, steps = room.hung[plan.root[j]], j, 0
    while v != w:
        if plan.depth[v] >= plan.depth[w]:
            said: OutFloats = room.line[: plan.sizes[v]]
            heard(said, plan, room, v, -1, False)
            message: OutFloats = room.up[plan.up_ptr[v] : plan.up_ptr[v + 1]]
            send(message, said, plan, v, True, row, room.entries)
            v = plan.parent[v]
        else:
            room.way[steps] = w
            steps += 1
            w = plan.parent[w]
    for back in range(steps):
        v = room.way[steps - 1 - back]
        u = plan.parent[v]
        said = room.line[: plan.sizes[u]]
        heard(said, plan, room, u, v, plan.table[u] >= 0)
        message = room.down[plan.offsets[v] : plan.offsets[v + 1]]
        send(message, said, plan, v, False, row, room.entries)
    room.hung[plan.root[j]] = j


def smallest_labels(
    labels: OutInts, tie: float, plan: ForestPlan, room: TreeRoom, row: Floats
) -> None:
    """Break ties by hanging the tree on each variable in turn; ``up`` is as look_below left it.

    The messages towards the variable on which a component hangs are up to date: down_v on the way
    from its root, and up_v elsewhere.
    """
    for j in range(plan.sizes.shape[0]):
        room.hung[j] = j
    budget = tie
    for j in range(plan.sizes.shape[0]):
        hang_on(plan, room, j, row)
        said: OutFloats = room.line[: plan.sizes[j]]
        heard(said, plan, room, j, -1, plan.table[j] >= 0)
        chosen, lost = within_budget(said, budget)
        budget = max(0.0, budget - lost)
        labels[j] = chosen
        for a in range(plan.sizes[j]):
            if a != chosen:
                room.own[plan.offsets[j] + a] = -inf


def read_down(labels: OutInts, tie: float, plan: ForestPlan, room: TreeRoom, row: Floats) -> float:
    """Labels from the roots down, or in natural order; returns the least gap on the way."""
    budget = tie if plan.natural else 0.0
    margin = inf
    for k in range(labels.shape[0]):
        v = k if plan.natural else plan.order[k]
        here: OutFloats = room.line[: plan.sizes[v]]
        copy_into(here, room.inner[plan.offsets[v] : plan.offsets[v + 1]])
        b = plan.table[v]
        if b >= 0:
            start = plan.runs.starts[b] + plan.step_parent[v] * labels[plan.parent[v]]
            add_entries(here, row, plan.runs, b, start, plan.step_own[v])
        chosen, lost = within_budget(here, budget)
        labels[v] = chosen
        budget = max(0.0, budget - lost)
        if not plan.natural:
            for a in range(plan.sizes[v]):
                if a != chosen:
                    margin = min(margin, here[chosen] - here[a])
    return margin


def best_trees(questions: Questions, plan: ForestPlan) -> IntArray:
    """The best output of every input; labels are -1 where nothing is feasible."""
    questions.fit(plan.runs.reach, plan.offsets[plan.sizes.shape[0]])
    m = questions.scores.shape[0]
    labels: OutInts2 = np.full((m, plan.sizes.shape[0]), -1, np.int64)
    room = TreeRoom(plan)
    with cython.nogil:
        for i in range(m):
            if look_below(plan, room, questions, i) == -inf:
                continue
            tie = questions.ties[i]
            if read_down(labels[i], tie, plan, room, questions.scores[i]) <= tie:
                smallest_labels(labels[i], tie, plan, room, questions.scores[i])
    return np.asarray(labels)


def marginals_of(
    plan: ForestPlan, room: TreeRoom, questions: Questions, i: Int, marginals: OutFloats
) -> None:
    """The value of the best output of one input with each label, -inf where there is none.

    down_v(a) is what is best outside the variables below v, given label a of v. What a
    child's parent is worth without the child is added up from the other children, not
    subtracted from all of them: -inf cannot be taken back.
    """
    n = plan.sizes.shape[0]
    look_below(plan, room, questions, i)
    for k in range(n + 1):
        u = plan.order[k - 1] if k > 0 else n
        others: OutFloats = room.line[: plan.sizes[u] if k > 0 else 1]
        fill(others, 0.0)
        if k > 0:
            for x in range(plan.sizes[u]):
                others[x] = room.own[plan.offsets[u] + x] + room.down[plan.offsets[u] + x]
        for c in range(plan.child_ptr[u], plan.child_ptr[u + 1]):
            at = plan.up_ptr[plan.children[c]]
            for x in range(others.shape[0]):
                room.without[at + x] = others[x]
                others[x] += room.up[at + x]
        if k > 0:
            copy_into(marginals[plan.offsets[u] : plan.offsets[u + 1]], others)
        fill(others, 0.0)
        for back in range(plan.child_ptr[u + 1] - plan.child_ptr[u]):
            v = plan.children[plan.child_ptr[u + 1] - 1 - back]
            rest: OutFloats = room.without[plan.up_ptr[v] : plan.up_ptr[v + 1]]
            for x in range(others.shape[0]):
                rest[x] += others[x]
                others[x] += room.up[plan.up_ptr[v] + x]
            message: OutFloats = room.down[plan.offsets[v] : plan.offsets[v + 1]]
            if plan.table[v] < 0:
                fill(message, rest[0])
            else:
                send(message, rest, plan, v, False, questions.scores[i], room.entries)


def tree_max_marginals(questions: Questions, plan: ForestPlan) -> FloatArray:
    """`marginals_of` every input."""
    questions.fit(plan.runs.reach, plan.offsets[plan.sizes.shape[0]])
    m, n = questions.scores.shape[0], plan.sizes.shape[0]
    marginals: OutFloats2 = np.full((m, plan.offsets[n]), -inf)
    room = TreeRoom(plan)
    with cython.nogil:
        for i in range(m):
            marginals_of(plan, room, questions, i, marginals[i])
    return np.asarray(marginals)
