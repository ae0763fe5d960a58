"""Variable elimination at run time, on what closing labels has left of a network.

`rote.kernels.dp.elimination` runs a program that holds for every input of a space. Here the
variables, and the labels that are still open, differ from input to input, so the order is
found on the way: always the variable whose elimination makes the smallest table. With most
labels closed, parts of a network that could never be eliminated as a whole often can.
"""

from __future__ import annotations

import cython

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Graph

    MAX_JOINED = 16  # variables in one table
    MAX_VARIABLES = 1 << 10  # of a part


class PartRoom(Bundle):
    """Room for a part; it grows when a part needs more."""

    def __init__(self) -> None:
        self.variables = self.count = self.tables = self.entries = 0

    def reserve(self, n: Int, count: Int, widest: Int, tables: Int, entries: Int) -> None:
        """Room for so many variables in all, variables and tables of a part, and entries."""
        self.variables, self.count, self.tables, self.entries = n, count, tables, entries
        self.local = ints(n)  # per variable: which one of the part it is, or -1
        self.variable, self.size, self.old = ints(count), ints(count), ints(count)
        self.order, self.table_of, self.chosen = ints(count), ints(count), ints(count)
        self.cost = floats(count)  # entries of the table that eliminating a variable makes
        self.left = flags(count)
        self.label = ints2(count, widest)  # the open ones
        self.near = flags2(count, count)
        self.start, self.joined, self.used = ints(tables + 1), ints(tables), ints(tables)
        self.alive = flags(tables)
        self.scope, self.stride = ints2(tables, MAX_JOINED), ints2(tables, MAX_JOINED + 1)
        self.value, self.second, self.choice = floats(entries), floats(entries), ints(entries)
        self.digit = ints(MAX_JOINED + 1)


def make_room(room: PartRoom, graph: Graph, count: Int, tables: Int, entries: Int) -> None:
    """Let the room grow to what a part needs, if it is too small."""
    n = graph.sizes.shape[0]
    if n > room.variables or count > room.count or tables > room.tables or entries > room.entries:
        room.reserve(
            n,
            max(count, min(2 * room.count, n)),
            graph.widest,
            max(tables, room.tables),
            max(entries, room.entries),
        )


def entries_around(near: Flags2, size: Ints, count: Int, v: Int) -> float:
    """How many joint labellings the neighbours of v have."""
    entries: float = 1.0
    for w in range(count):
        if near[v, w]:
            entries *= size[w]
    return entries


def eliminate_part(
    graph: Graph,
    theta: Floats,
    part: Ints,
    c: Int,
    max_entries: Int,
    room: PartRoom,
    found: OutInts,
) -> tuple[bool, float, float]:
    """The best labels of the variables in part c, the others held at ``found``.

    Writes them to ``found``. Returns whether it could be done with so many entries in all
    tables together, how much better they are than those that were there, and the margin to
    the second best.
    """
    count, most = 0, 0
    for j in range(graph.sizes.shape[0]):
        if part[j] == c:
            if graph.rows.of_ptr[j + 1] > graph.rows.of_ptr[j] or count == MAX_VARIABLES:
                return False, 0.0, 0.0
            count += 1
            most += 2 + graph.tables.place_ptr[j + 1] - graph.tables.place_ptr[j]
    make_room(room, graph, count, most, max_entries)
    read_variables(graph, theta, part, c, room, found)
    made, before = read_tables(graph, theta, count, max_entries, room, found)
    if made < 0:
        return False, 0.0, 0.0
    for w in range(count):
        room.cost[w] = entries_around(room.near, room.size, count, w)
    best = 0.0
    for step in range(count):
        if not eliminate_next(count, step, made + step, max_entries, room):
            return False, 0.0, 0.0
        if room.joined[made + step] == 0:
            best += room.value[room.start[made + step]]
            room.alive[made + step] = False
    # Read the labels off backwards; the second best leaves the path at one entry.
    margin = inf
    for back in range(count):
        step = count - 1 - back
        t = room.table_of[step]
        at: Int = 0
        for w in range(room.joined[t]):
            at = at * room.size[room.scope[t, w]] + room.chosen[room.scope[t, w]]
        e = room.start[t] + at
        room.chosen[room.order[step]] = room.choice[e]
        margin = min(margin, room.value[e] - room.second[e])
    for v in range(count):
        found[room.variable[v]] = room.label[v, room.chosen[v]]
    return True, best - before, margin


def read_variables(
    graph: Graph, theta: Floats, part: Ints, c: Int, room: PartRoom, found: Ints
) -> None:
    """The variables of a part, and their open labels; ``old`` is where the present one stands."""
    count = 0
    for j in range(graph.sizes.shape[0]):
        room.local[j] = -1
        if part[j] != c:
            continue
        room.local[j] = count
        room.variable[count] = j
        room.size[count] = 0
        room.old[count] = 0
        room.left[count] = True
        for a in range(graph.sizes[j]):
            if theta[graph.offsets[j] + a] > -inf:
                if a == found[j]:
                    room.old[count] = room.size[count]
                room.label[count, room.size[count]] = a
                room.size[count] += 1
        count += 1
    for v in range(count):
        fill(room.near[v, :count], False)


def read_tables(
    graph: Graph, theta: Floats, count: Int, max_entries: Int, room: PartRoom, found: Ints
) -> tuple[int, float]:
    """The labels' own tables, then those of the graph with everything else held.

    Returns how many there are, or -1 if they have too many entries, and what is there is worth.
    """
    fill(room.alive, True)
    room.start[0] = 0
    made = 0
    before = 0.0
    for v in range(count):
        if room.start[made] + room.size[v] > max_entries:
            return -1, 0.0
        room.scope[made, 0] = v
        room.joined[made] = 1
        first = graph.offsets[room.variable[v]]
        for x in range(room.size[v]):
            room.value[room.start[made] + x] = theta[first + room.label[v, x]]
        before += room.value[room.start[made] + room.old[v]]
        room.start[made + 1] = room.start[made] + room.size[v]
        made += 1
    for b in range(graph.tables.ptr.shape[0] - 1):
        width = 0
        entries = 1
        base: Int = graph.tables.ptr[b]
        for k in range(graph.tables.scope_ptr[b], graph.tables.scope_ptr[b + 1]):
            v = room.local[graph.tables.scope[k]]
            if v < 0:
                base += graph.tables.strides[k] * found[graph.tables.scope[k]]
            elif width == MAX_JOINED:
                return -1, 0.0
            else:
                room.scope[made, width] = v
                width += 1
                entries *= room.size[v]
        if width == 0:
            continue
        if room.start[made] + entries > max_entries:
            return -1, 0.0
        room.joined[made] = width
        for w in range(width):
            room.digit[w] = 0
        for x in range(entries):
            e: Int = base
            at: Int = 0
            for k in range(graph.tables.scope_ptr[b], graph.tables.scope_ptr[b + 1]):
                v = room.local[graph.tables.scope[k]]
                if v >= 0:
                    e += graph.tables.strides[k] * room.label[v, room.digit[at]]
                    at += 1
            room.value[room.start[made] + x] = theta[e]
            for w in range(width - 1, -1, -1):
                room.digit[w] += 1
                if room.digit[w] < room.size[room.scope[made, w]]:
                    break
                room.digit[w] = 0
        at = 0
        for w in range(width):
            at = at * room.size[room.scope[made, w]] + room.old[room.scope[made, w]]
            for other in range(width):
                if other != w:
                    room.near[room.scope[made, w], room.scope[made, other]] = True
        before += room.value[room.start[made] + at]
        room.start[made + 1] = room.start[made] + entries
        made += 1

    return made, before


def eliminate_next(count: Int, step: Int, made: Int, max_entries: Int, room: PartRoom) -> bool:
    """Eliminate the variable whose new table, number ``made``, is smallest; false if too large."""
    v = -1
    smallest = inf
    for w in range(count):
        if room.left[w] and room.cost[w] < smallest:
            smallest = room.cost[w]
            v = w
    width = 0
    for w in range(count):
        if room.near[v, w]:
            if width == MAX_JOINED:
                return False
            room.scope[made, width] = w
            width += 1
    if smallest + room.start[made] > max_entries or smallest * room.size[v] > max_entries:
        return False
    entries: Int = cython.cast(Int, smallest)
    room.joined[made] = width
    uses = 0
    for t in range(made):
        mentions: Bool = False
        if room.alive[t]:
            for w in range(room.joined[t]):
                mentions |= room.scope[t, w] == v
        if not mentions:
            continue
        step_size: Int = 1
        for w in range(width + 1):
            room.stride[uses, w] = 0
        for w in range(room.joined[t] - 1, -1, -1):
            if room.scope[t, w] == v:
                room.stride[uses, width] = step_size
            else:
                for other in range(width):
                    if room.scope[made, other] == room.scope[t, w]:
                        room.stride[uses, other] = step_size
            step_size *= room.size[room.scope[t, w]]
        room.used[uses] = t
        room.alive[t] = False
        uses += 1
    for w in range(width):
        room.digit[w] = 0
    for x in range(entries):
        top = -inf
        runner = -inf
        at_top = 0
        for a in range(room.size[v]):
            total = 0.0
            for i in range(uses):
                e: Int = room.start[room.used[i]] + a * room.stride[i, width]
                for w in range(width):
                    e += room.digit[w] * room.stride[i, w]
                total += room.value[e]
            if total > top:
                runner = top
                top = total
                at_top = a
            elif total > runner:
                runner = total
        e = room.start[made] + x
        room.value[e] = top
        room.choice[e] = at_top
        room.second[e] = runner
        for w in range(width - 1, -1, -1):
            room.digit[w] += 1
            if room.digit[w] < room.size[room.scope[made, w]]:
                break
            room.digit[w] = 0
    for w in range(width):
        room.near[room.scope[made, w], v] = False
        for other in range(width):
            if other != w:
                room.near[room.scope[made, w], room.scope[made, other]] = True
    for w in range(width):
        room.cost[room.scope[made, w]] = entries_around(
            room.near, room.size, count, room.scope[made, w]
        )
    room.left[v] = False
    room.order[step] = v
    room.table_of[step] = made
    room.start[made + 1] = room.start[made] + entries
    return True
