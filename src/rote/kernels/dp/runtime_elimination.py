"""Variable elimination at run time, on what closing labels has left of a network.

`rote.kernels.dp.elimination` runs a program that holds for every input of a space. Here the
variables, and the labels that are still open, differ from input to input, so the order is
found on the way: always the variable whose elimination makes the smallest table. With most
labels closed, parts of a network that could never be eliminated as a whole often can.
"""

from __future__ import annotations

import numpy as np

from rote.kernels.bundles import Graph
from rote.kernels.jit import kernel
from rote.types import BoolArray, FloatArray, IntArray

MAX_JOINED = 16  # variables in one table
MAX_VARIABLES = 1 << 10  # of a part


@kernel
def entries_around(near: BoolArray, size: IntArray, v: int) -> float:
    """How many joint labellings the neighbours of v have."""
    entries = 1.0
    for w in range(size.shape[0]):
        if near[v, w]:
            entries *= size[w]
    return entries


@kernel
def eliminate_part(
    graph: Graph, theta: FloatArray, part: IntArray, c: int, max_entries: int, found: IntArray
) -> tuple[bool, float, float]:
    """The best labels of the variables in part c, the others held at ``found``.

    Writes them to ``found``. Returns whether it could be done with so many entries in all
    tables together, how much better they are than those that were there, and the margin to
    the second best.
    """
    n = graph.sizes.shape[0]
    tables = graph.tables
    # The variables of the part, and their open labels.
    local = np.full(n, -1, np.int64)
    count = 0
    for j in range(n):
        if part[j] == c:
            if graph.rows.of_ptr[j + 1] > graph.rows.of_ptr[j]:
                return False, 0.0, 0.0
            local[j] = count
            count += 1
            if count > MAX_VARIABLES:
                return False, 0.0, 0.0
    variable = np.empty(count, np.int64)
    size = np.zeros(count, np.int64)
    label = np.empty((count, graph.widest), np.int64)
    near = np.zeros((count, count), np.bool_)
    left = np.ones(count, np.bool_)
    old = np.zeros(count, np.int64)  # where the label that was there stands among the open ones
    for j in range(n):
        v = local[j]
        if v < 0:
            continue
        variable[v] = j
        for a in range(graph.sizes[j]):
            if theta[graph.offsets[j] + a] > -np.inf:
                if a == found[j]:
                    old[v] = size[v]
                label[v, size[v]] = a
                size[v] += 1

    # Tables: the labels' own, those of the graph with everything else held, then new ones.
    most = 2 * count
    for v in range(count):
        most += tables.place_ptr[variable[v] + 1] - tables.place_ptr[variable[v]]
    start = np.zeros(most + 1, np.int64)
    joined = np.zeros(most, np.int64)
    scope = np.empty((most, MAX_JOINED), np.int64)
    alive = np.ones(most, np.bool_)
    value = np.empty(max_entries)
    choice = np.empty(max_entries, np.int64)
    second = np.empty(max_entries)
    digit = np.empty(MAX_JOINED + 1, np.int64)
    made = 0
    before = 0.0
    for v in range(count):
        if start[made] + size[v] > max_entries:
            return False, 0.0, 0.0
        scope[made, 0] = v
        joined[made] = 1
        first = graph.offsets[variable[v]]
        for x in range(size[v]):
            value[start[made] + x] = theta[first + label[v, x]]
        before += value[start[made] + old[v]]
        start[made + 1] = start[made] + size[v]
        made += 1
    for b in range(tables.ptr.shape[0] - 1):
        width = 0
        entries = 1
        base = tables.ptr[b]
        for k in range(tables.scope_ptr[b], tables.scope_ptr[b + 1]):
            v = local[tables.scope[k]]
            if v < 0:
                base += tables.strides[k] * found[tables.scope[k]]
            elif width == MAX_JOINED:
                return False, 0.0, 0.0
            else:
                scope[made, width] = v
                width += 1
                entries *= size[v]
        if width == 0:
            continue
        if start[made] + entries > max_entries:
            return False, 0.0, 0.0
        joined[made] = width
        digit[:width] = 0
        for x in range(entries):
            e = base
            at = 0
            for k in range(tables.scope_ptr[b], tables.scope_ptr[b + 1]):
                v = local[tables.scope[k]]
                if v >= 0:
                    e += tables.strides[k] * label[v, digit[at]]
                    at += 1
            value[start[made] + x] = theta[e]
            for w in range(width - 1, -1, -1):
                digit[w] += 1
                if digit[w] < size[scope[made, w]]:
                    break
                digit[w] = 0
        at = 0
        for w in range(width):
            at = at * size[scope[made, w]] + old[scope[made, w]]
            for other in range(width):
                if other != w:
                    near[scope[made, w], scope[made, other]] = True
        before += value[start[made] + at]
        start[made + 1] = start[made] + entries
        made += 1

    # Eliminate, always where the new table is smallest.
    order = np.empty(count, np.int64)
    table_of = np.empty(count, np.int64)
    used = np.empty(most, np.int64)
    stride = np.empty((most, MAX_JOINED + 1), np.int64)
    cost = np.empty(count)  # entries of the table that eliminating a variable makes
    for w in range(count):
        cost[w] = entries_around(near, size, w)
    best = 0.0
    for step in range(count):
        v = -1
        smallest = np.inf
        for w in range(count):
            if left[w] and cost[w] < smallest:
                smallest = cost[w]
                v = w
        width = 0
        for w in range(count):
            if near[v, w]:
                if width == MAX_JOINED:
                    return False, 0.0, 0.0
                scope[made, width] = w
                width += 1
        if smallest + start[made] > max_entries or smallest * size[v] > max_entries:
            return False, 0.0, 0.0
        joined[made] = width
        uses = 0
        for t in range(made):
            mentions = False
            if alive[t]:
                for w in range(joined[t]):
                    mentions |= scope[t, w] == v
            if not mentions:
                continue
            step_size = 1
            stride[uses, : width + 1] = 0
            for w in range(joined[t] - 1, -1, -1):
                if scope[t, w] == v:
                    stride[uses, width] = step_size
                else:
                    for other in range(width):
                        if scope[made, other] == scope[t, w]:
                            stride[uses, other] = step_size
                step_size *= size[scope[t, w]]
            used[uses] = t
            alive[t] = False
            uses += 1
        digit[:width] = 0
        for x in range(int(smallest)):
            top = -np.inf
            runner = -np.inf
            at_top = 0
            for a in range(size[v]):
                total = 0.0
                for i in range(uses):
                    e = start[used[i]] + a * stride[i, width]
                    for w in range(width):
                        e += digit[w] * stride[i, w]
                    total += value[e]
                if total > top:
                    runner = top
                    top = total
                    at_top = a
                elif total > runner:
                    runner = total
            e = start[made] + x
            value[e] = top
            choice[e] = at_top
            second[e] = runner
            for w in range(width - 1, -1, -1):
                digit[w] += 1
                if digit[w] < size[scope[made, w]]:
                    break
                digit[w] = 0
        if width == 0:
            best += value[start[made]]
            alive[made] = False
        for w in range(width):
            near[scope[made, w], v] = False
            for other in range(width):
                if other != w:
                    near[scope[made, w], scope[made, other]] = True
        for w in range(width):
            cost[scope[made, w]] = entries_around(near, size, scope[made, w])
        left[v] = False
        order[step] = v
        table_of[step] = made
        start[made + 1] = start[made] + int(smallest)
        made += 1

    # Read the labels off backwards; the second best leaves the path at one entry.
    margin = np.inf
    chosen = np.empty(count, np.int64)
    for back in range(count):
        step = count - 1 - back
        t = table_of[step]
        at = 0
        for w in range(joined[t]):
            at = at * size[scope[t, w]] + chosen[scope[t, w]]
        e = start[t] + at
        chosen[order[step]] = choice[e]
        margin = min(margin, value[e] - second[e])
    for v in range(count):
        found[variable[v]] = label[v, chosen[v]]
    return True, best - before, margin
