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

``closed`` has one row per input, or no row at all when every label is open.
"""

from __future__ import annotations

import numpy as np

from rote.kernels.dp.chains import add_entries, label_scores, within_budget
from rote.kernels.jit import kernel
from rote.types import BoolArray, FloatArray, IntArray


@kernel
def send(
    out: FloatArray,
    values: FloatArray,
    entries: FloatArray,
    row: FloatArray,
    start: int,
    step_from: int,
    step_to: int,
    move: int,
    contiguous: bool,
    allowed: BoolArray,
    gather_ptr: IntArray,
    gather: IntArray,
) -> None:
    """out(x) = max_a W(x, a) + values(a), across a table from either of its sides."""
    many = values.shape[0]
    table = entries[: many * out.shape[0]]
    table[:] = 0.0
    add_entries(table, row, start, 1, move, contiguous, allowed, gather_ptr, gather)
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


@kernel
def look_below(
    up: FloatArray,
    inner: FloatArray,
    entries: FloatArray,
    row: FloatArray,
    offsets: IntArray,
    order: IntArray,
    parent: IntArray,
    table: IntArray,
    step_parent: IntArray,
    step_own: IntArray,
    up_ptr: IntArray,
    starts: IntArray,
    moves: IntArray,
    contiguous: BoolArray,
    allowed: BoolArray,
    gather_ptr: IntArray,
    gather: IntArray,
) -> float:
    """Fill up_v, and turn the label scores ``inner`` into inner_v; returns the best value."""
    n = order.shape[0]
    total = 0.0
    for back in range(n):
        v = order[n - 1 - back]
        values = inner[offsets[v] : offsets[v + 1]]
        message = up[up_ptr[v] : up_ptr[v + 1]]
        b = table[v]
        if b < 0:
            top = -np.inf
            for a in range(values.shape[0]):
                top = max(top, values[a])
            message[0] = top
            total += top
            continue
        send(
            message, values, entries, row, starts[b], step_own[v], step_parent[v], moves[b],
            contiguous[b], allowed, gather_ptr, gather,
        )  # fmt: skip
        above = inner[offsets[parent[v]] : offsets[parent[v] + 1]]
        for x in range(message.shape[0]):
            above[x] += message[x]
    return total


@kernel
def heard(
    out: FloatArray,
    v: int,
    but: int,
    own: FloatArray,
    up: FloatArray,
    down: FloatArray,
    from_above: bool,
    offsets: IntArray,
    up_ptr: IntArray,
    child_ptr: IntArray,
    children: IntArray,
) -> None:
    """What v's own labels, its children but one, and perhaps its parent say of its labels."""
    for a in range(out.shape[0]):
        out[a] = own[offsets[v] + a]
        if from_above:
            out[a] += down[offsets[v] + a]
    for c in range(child_ptr[v], child_ptr[v + 1]):
        if children[c] != but:
            for a in range(out.shape[0]):
                out[a] += up[up_ptr[children[c]] + a]


@kernel
def smallest_labels(
    labels: IntArray,
    tie: float,
    own: FloatArray,
    up: FloatArray,
    down: FloatArray,
    entries: FloatArray,
    row: FloatArray,
    sizes: IntArray,
    offsets: IntArray,
    parent: IntArray,
    depth: IntArray,
    root: IntArray,
    table: IntArray,
    step_parent: IntArray,
    step_own: IntArray,
    up_ptr: IntArray,
    child_ptr: IntArray,
    children: IntArray,
    starts: IntArray,
    moves: IntArray,
    contiguous: BoolArray,
    allowed: BoolArray,
    gather_ptr: IntArray,
    gather: IntArray,
) -> None:
    """Break ties by hanging the tree on each variable in turn; ``up`` is as look_below left it.

    ``hung[r]`` is the variable on which the component of root r hangs at the moment: the
    messages towards it are up to date, down_v on the way from r and up_v elsewhere.
    """
    n = sizes.shape[0]
    hung = np.arange(n)
    way = np.empty(n, np.int64)
    values = np.empty(sizes.max())
    budget = tie
    for j in range(n):
        v = hung[root[j]]
        w = j
        steps = 0
        while v != w:
            if depth[v] >= depth[w]:
                said = values[: sizes[v]]
                heard(said, v, -1, own, up, down, False, offsets, up_ptr, child_ptr, children)
                b = table[v]
                send(
                    up[up_ptr[v] : up_ptr[v + 1]], said, entries, row, starts[b], step_own[v],
                    step_parent[v], moves[b], contiguous[b], allowed, gather_ptr, gather,
                )  # fmt: skip
                v = parent[v]
            else:
                way[steps] = w
                steps += 1
                w = parent[w]
        for back in range(steps):
            v = way[steps - 1 - back]
            u = parent[v]
            said = values[: sizes[u]]
            above = table[u] >= 0
            heard(said, u, v, own, up, down, above, offsets, up_ptr, child_ptr, children)
            b = table[v]
            send(
                down[offsets[v] : offsets[v + 1]], said, entries, row, starts[b], step_parent[v],
                step_own[v], moves[b], contiguous[b], allowed, gather_ptr, gather,
            )  # fmt: skip
        hung[root[j]] = j
        said = values[: sizes[j]]
        above = table[j] >= 0
        heard(said, j, -1, own, up, down, above, offsets, up_ptr, child_ptr, children)
        chosen, lost = within_budget(said, budget)
        budget = max(0.0, budget - lost)
        labels[j] = chosen
        for a in range(sizes[j]):
            if a != chosen:
                own[offsets[j] + a] = -np.inf


@kernel
def best_trees(
    scores: FloatArray,
    closed: BoolArray,
    ties: FloatArray,
    natural: bool,
    sizes: IntArray,
    offsets: IntArray,
    order: IntArray,
    parent: IntArray,
    depth: IntArray,
    root: IntArray,
    table: IntArray,
    step_parent: IntArray,
    step_own: IntArray,
    up_ptr: IntArray,
    child_ptr: IntArray,
    children: IntArray,
    starts: IntArray,
    moves: IntArray,
    contiguous: BoolArray,
    allowed: BoolArray,
    gather_ptr: IntArray,
    gather: IntArray,
    room: IntArray,
) -> IntArray:
    """The best output of every input; labels are -1 where nothing is feasible.

    ``natural`` says that no child precedes its parent; ``room`` is the most numbers in a
    table and in a variable.
    """
    m = scores.shape[0]
    n = sizes.shape[0]
    labels = np.full((m, n), -1, np.int64)
    inner = np.empty(offsets[n])
    down = np.empty(offsets[n])
    up = np.empty(up_ptr[n])
    entries = np.empty(room[0])
    line = np.empty(room[1])
    for i in range(m):
        row = scores[i]
        label_scores(inner, scores, i, allowed, closed)
        value = look_below(
            up, inner, entries, row, offsets, order, parent, table, step_parent, step_own, up_ptr,
            starts, moves, contiguous, allowed, gather_ptr, gather,
        )  # fmt: skip
        if value == -np.inf:
            continue
        budget = ties[i] if natural else 0.0
        margin = np.inf
        for k in range(n):
            v = k if natural else order[k]
            here = line[: sizes[v]]
            here[:] = inner[offsets[v] : offsets[v + 1]]
            b = table[v]
            if b >= 0:
                start = starts[b] + step_parent[v] * labels[i, parent[v]]
                add_entries(
                    here, row, start, step_own[v], moves[b], contiguous[b], allowed, gather_ptr,
                    gather,
                )  # fmt: skip
            chosen, lost = within_budget(here, budget)
            labels[i, v] = chosen
            budget = max(0.0, budget - lost)
            if not natural:
                for a in range(sizes[v]):
                    if a != chosen:
                        margin = min(margin, here[chosen] - here[a])
        if margin <= ties[i]:
            label_scores(inner, scores, i, allowed, closed)
            smallest_labels(
                labels[i], ties[i], inner, up, down, entries, row, sizes, offsets, parent, depth,
                root, table, step_parent, step_own, up_ptr, child_ptr, children, starts, moves,
                contiguous, allowed, gather_ptr, gather,
            )  # fmt: skip
    return labels


@kernel
def tree_max_marginals(
    scores: FloatArray,
    closed: BoolArray,
    sizes: IntArray,
    offsets: IntArray,
    order: IntArray,
    parent: IntArray,
    table: IntArray,
    step_parent: IntArray,
    step_own: IntArray,
    up_ptr: IntArray,
    child_ptr: IntArray,
    children: IntArray,
    starts: IntArray,
    moves: IntArray,
    contiguous: BoolArray,
    allowed: BoolArray,
    gather_ptr: IntArray,
    gather: IntArray,
    room: IntArray,
) -> FloatArray:
    """The value of the best output with each label, -inf where there is none.

    down_v(a) is what is best outside the variables below v, given label a of v. What a
    child's parent is worth without the child is added up from the other children, not
    subtracted from all of them: -inf cannot be taken back.
    """
    m = scores.shape[0]
    n = sizes.shape[0]
    marginals = np.full((m, offsets[n]), -np.inf)
    own = np.empty(offsets[n])
    inner = np.empty(offsets[n])
    down = np.empty(offsets[n])
    up = np.empty(up_ptr[n])
    without = np.empty(up_ptr[n])
    entries = np.empty(room[0])
    line = np.empty(room[1])
    for i in range(m):
        row = scores[i]
        label_scores(own, scores, i, allowed, closed)
        inner[:] = own
        look_below(
            up, inner, entries, row, offsets, order, parent, table, step_parent, step_own, up_ptr,
            starts, moves, contiguous, allowed, gather_ptr, gather,
        )  # fmt: skip
        for k in range(n + 1):
            u = order[k - 1] if k > 0 else n
            others = line[: sizes[u] if k > 0 else 1]
            others[:] = 0.0
            if k > 0:
                for x in range(sizes[u]):
                    others[x] = own[offsets[u] + x] + down[offsets[u] + x]
            for c in range(child_ptr[u], child_ptr[u + 1]):
                at = up_ptr[children[c]]
                for x in range(others.shape[0]):
                    without[at + x] = others[x]
                    others[x] += up[at + x]
            if k > 0:
                marginals[i, offsets[u] : offsets[u + 1]] = others
            others[:] = 0.0
            for back in range(child_ptr[u + 1] - child_ptr[u]):
                v = children[child_ptr[u + 1] - 1 - back]
                rest = without[up_ptr[v] : up_ptr[v + 1]]
                for x in range(others.shape[0]):
                    rest[x] += others[x]
                    others[x] += up[up_ptr[v] + x]
                message = down[offsets[v] : offsets[v + 1]]
                b = table[v]
                if b < 0:
                    message[:] = rest[0]
                    continue
                send(
                    message, rest, entries, row, starts[b], step_parent[v], step_own[v], moves[b],
                    contiguous[b], allowed, gather_ptr, gather,
                )  # fmt: skip
    return marginals
