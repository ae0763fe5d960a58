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

from typing import NamedTuple

import numpy as np

from rote.kernels.bundles import ForestPlan, Questions
from rote.kernels.dp.chains import add_entries, label_scores, within_budget
from rote.kernels.jit import inlined, kernel, lean
from rote.kernels.outputs import copy_into
from rote.types import FloatArray, IntArray


class Room(NamedTuple):
    """The messages of one input, and room for what is read of tables."""

    own: FloatArray  # per label: its score
    inner: FloatArray  # per label: inner_v
    up: FloatArray  # per variable: what it tells its parent
    down: FloatArray  # per label: what is best outside the variables below
    entries: FloatArray  # of one table
    line: FloatArray  # of one variable
    without: FloatArray  # as ``up``: what the parent is worth without the variable
    hung: IntArray  # per root: the variable on which its component hangs at the moment
    way: IntArray  # from there to another variable


@kernel
def room_for(plan: ForestPlan) -> Room:
    n = plan.sizes.shape[0]
    return Room(
        np.empty(plan.offsets[n]),
        np.empty(plan.offsets[n]),
        np.empty(plan.up_ptr[n]),
        np.empty(plan.offsets[n]),
        np.empty(plan.room[0]),
        np.empty(plan.room[1]),
        np.empty(plan.up_ptr[n]),
        np.empty(n, np.int64),
        np.empty(n, np.int64),
    )


@lean
def best_across(
    out: FloatArray, values: FloatArray, table: FloatArray, step_from: int, step_to: int
) -> None:
    """out(x) = max_a W(x, a) + values(a), across a table from either of its sides."""
    many = values.shape[0]
    if step_from == 1:
        for x in range(out.shape[0]):
            here = table[x * step_to : x * step_to + many]
            top = -np.inf
            for a in range(many):
                value = here[a] + values[a]
                if value > top:
                    top = value
            out[x] = top
    else:
        out[:] = -np.inf
        for a in range(many):
            here = table[a * step_from : a * step_from + out.shape[0]]
            for x in range(out.shape[0]):
                value = here[x] + values[a]
                if value > out[x]:
                    out[x] = value


@inlined
def send(
    out: FloatArray, values: FloatArray, plan: ForestPlan, v: int, up: bool, row: FloatArray,
    entries: FloatArray,
) -> None:  # fmt: skip
    """`best_across` the table between v and its parent, upwards or downwards."""
    b = plan.table[v]
    table = entries[: values.shape[0] * out.shape[0]]
    table[:] = 0.0
    add_entries(table, row, plan, b, plan.starts[b], 1)
    if up:
        best_across(out, values, table, plan.step_own[v], plan.step_parent[v])
    else:
        best_across(out, values, table, plan.step_parent[v], plan.step_own[v])


@lean
def look_below(plan: ForestPlan, room: Room, questions: Questions, i: int) -> float:
    """Read the scores of an input, and fill inner_v and up_v; returns the best value."""
    n, offsets, row = plan.order.shape[0], plan.offsets, questions.scores[i]
    label_scores(room.own, questions, i, plan.allowed)
    copy_into(room.inner, room.own)
    total = 0.0
    for back in range(n):
        v = plan.order[n - 1 - back]
        values = room.inner[offsets[v] : offsets[v + 1]]
        message = room.up[plan.up_ptr[v] : plan.up_ptr[v + 1]]
        if plan.table[v] < 0:
            top = -np.inf
            for a in range(values.shape[0]):
                top = max(top, values[a])
            message[0] = top
            total += top
            continue
        send(message, values, plan, v, True, row, room.entries)
        above = room.inner[offsets[plan.parent[v]] : offsets[plan.parent[v] + 1]]
        for x in range(message.shape[0]):
            above[x] += message[x]
    return total


@lean
def heard(
    out: FloatArray, plan: ForestPlan, room: Room, v: int, but: int, from_above: bool
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


@lean
def smallest_labels(
    labels: IntArray, tie: float, plan: ForestPlan, room: Room, row: FloatArray
) -> None:
    """Break ties by hanging the tree on each variable in turn; ``up`` is as look_below left it.

    The messages towards the variable on which a component hangs are up to date: down_v on the way
    from its root, and up_v elsewhere.
    """
    offsets, hung, way = plan.offsets, room.hung, room.way
    for j in range(plan.sizes.shape[0]):
        hung[j] = j
    budget = tie
    for j in range(plan.sizes.shape[0]):
        v = hung[plan.root[j]]
        w = j
        steps = 0
        while v != w:
            if plan.depth[v] >= plan.depth[w]:
                said = room.line[: plan.sizes[v]]
                heard(said, plan, room, v, -1, False)
                message = room.up[plan.up_ptr[v] : plan.up_ptr[v + 1]]
                send(message, said, plan, v, True, row, room.entries)
                v = plan.parent[v]
            else:
                way[steps] = w
                steps += 1
                w = plan.parent[w]
        for back in range(steps):
            v = way[steps - 1 - back]
            u = plan.parent[v]
            said = room.line[: plan.sizes[u]]
            heard(said, plan, room, u, v, plan.table[u] >= 0)
            message = room.down[offsets[v] : offsets[v + 1]]
            send(message, said, plan, v, False, row, room.entries)
        hung[plan.root[j]] = j
        said = room.line[: plan.sizes[j]]
        heard(said, plan, room, j, -1, plan.table[j] >= 0)
        chosen, lost = within_budget(said, budget)
        budget = max(0.0, budget - lost)
        labels[j] = chosen
        for a in range(plan.sizes[j]):
            if a != chosen:
                room.own[offsets[j] + a] = -np.inf


@kernel
def best_trees(questions: Questions, plan: ForestPlan) -> IntArray:
    """The best output of every input; labels are -1 where nothing is feasible."""
    m, n = questions.scores.shape[0], plan.sizes.shape[0]
    labels = np.full((m, n), -1, np.int64)
    room = room_for(plan)
    for i in range(m):
        row, tie = questions.scores[i], questions.ties[i]
        if look_below(plan, room, questions, i) == -np.inf:
            continue
        budget = tie if plan.natural else 0.0
        margin = np.inf
        for k in range(n):
            v = k if plan.natural else plan.order[k]
            here = room.line[: plan.sizes[v]]
            copy_into(here, room.inner[plan.offsets[v] : plan.offsets[v + 1]])
            b = plan.table[v]
            if b >= 0:
                start = plan.starts[b] + plan.step_parent[v] * labels[i, plan.parent[v]]
                add_entries(here, row, plan, b, start, plan.step_own[v])
            chosen, lost = within_budget(here, budget)
            labels[i, v] = chosen
            budget = max(0.0, budget - lost)
            if not plan.natural:
                for a in range(plan.sizes[v]):
                    if a != chosen:
                        margin = min(margin, here[chosen] - here[a])
        if margin <= tie:
            smallest_labels(labels[i], tie, plan, room, row)
    return labels


@lean
def marginals_of(
    plan: ForestPlan, room: Room, questions: Questions, i: int, marginals: FloatArray
) -> None:
    """The value of the best output of one input with each label, -inf where there is none.

    down_v(a) is what is best outside the variables below v, given label a of v. What a
    child's parent is worth without the child is added up from the other children, not
    subtracted from all of them: -inf cannot be taken back.
    """
    n, up = plan.sizes.shape[0], room.up
    offsets, up_ptr, child_ptr = plan.offsets, plan.up_ptr, plan.child_ptr
    look_below(plan, room, questions, i)
    for k in range(n + 1):
        u = plan.order[k - 1] if k > 0 else n
        others = room.line[: plan.sizes[u] if k > 0 else 1]
        others[:] = 0.0
        if k > 0:
            for x in range(plan.sizes[u]):
                others[x] = room.own[offsets[u] + x] + room.down[offsets[u] + x]
        for c in range(child_ptr[u], child_ptr[u + 1]):
            at = up_ptr[plan.children[c]]
            for x in range(others.shape[0]):
                room.without[at + x] = others[x]
                others[x] += up[at + x]
        if k > 0:
            copy_into(marginals[offsets[u] : offsets[u + 1]], others)
        others[:] = 0.0
        for back in range(child_ptr[u + 1] - child_ptr[u]):
            v = plan.children[child_ptr[u + 1] - 1 - back]
            rest = room.without[up_ptr[v] : up_ptr[v + 1]]
            for x in range(others.shape[0]):
                rest[x] += others[x]
                others[x] += up[up_ptr[v] + x]
            message = room.down[offsets[v] : offsets[v + 1]]
            if plan.table[v] < 0:
                message[:] = rest[0]
            else:
                send(message, rest, plan, v, False, questions.scores[i], room.entries)


@kernel
def tree_max_marginals(questions: Questions, plan: ForestPlan) -> FloatArray:
    """`marginals_of` every input."""
    marginals = np.full((questions.scores.shape[0], plan.offsets[-1]), -np.inf)
    room = room_for(plan)
    for i in range(marginals.shape[0]):
        marginals_of(plan, room, questions, i, marginals[i])
    return marginals
