"""How tables and rows hang together: a `Graph` from flat arrays."""

from __future__ import annotations

import cython

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Flow, FoundBy, Graph, RowGroups, SparseRows, Tables


def linked(
    sizes: Ints,
    offsets: Ints,  # per variable: its first label; one more ends the last
    scope_ptr: Ints,  # per table
    scope: Ints,
    strides: Ints,
    table_ptr: Ints,
    source: FoundBy,
    rows: SparseRows,
) -> Graph:
    """The graph of tables and rows; the columns of a row are labels, in order."""
    # Few arrays are quicker to make than many.
    n, places = sizes.shape[0], scope.shape[0]
    whole, marks, share = ints(3 * places + 3 * n + 2), flags(2 * places), floats(n)
    place_table: OutInts = whole[:places]
    places_of: OutInts = whole[places : 2 * places]
    message_ptr: OutInts = whole[2 * places : 3 * places + 1]
    place_ptr: OutInts = whole[3 * places + 1 : 3 * places + n + 2]
    ahead: OutInts = whole[3 * places + n + 2 : 3 * places + 2 * n + 2]
    behind: OutInts = whole[3 * places + 2 * n + 2 :]
    up: OutFlags = marks[:places]
    down: OutFlags = marks[places:]
    fill(ahead, 0)
    fill(behind, 0)
    message_ptr[0] = 0
    for b in range(scope_ptr.shape[0] - 1):
        first, last = n, 0
        for k in range(scope_ptr[b], scope_ptr[b + 1]):
            first, last = min(first, scope[k]), max(last, scope[k])
        for k in range(scope_ptr[b], scope_ptr[b + 1]):
            j = scope[k]
            place_table[k] = b
            message_ptr[k + 1] = message_ptr[k] + sizes[j]
            up[k] = j < last
            down[k] = j > first
            ahead[j] += j < last
            behind[j] += j > first
    group_by(scope, place_ptr, places_of)
    widest, marginals = 1, 1
    for j in range(n):
        widest = max(widest, sizes[j])
        marginals = max(marginals, sizes[j] * (place_ptr[j + 1] - place_ptr[j]))
        share[j] = 1.0 / max(1, ahead[j], behind[j])
    groups = grouped_rows(sizes, offsets, rows)
    trail = 4 * n + places * (widest + 3)
    for r in range(rows.lower.shape[0]):
        width = groups.ptr[r + 1] - groups.ptr[r]
        trail += width * (2 + width * (widest + 1))
    tables = Tables(scope_ptr, scope, strides, table_ptr, place_ptr, places_of, place_table)
    flow = Flow(share, up, down, message_ptr, marginals)
    return Graph(sizes, offsets, tables, flow, source, groups, widest, trail)


def group_by(owner: Ints, ptr: OutInts, owned: OutInts) -> None:
    """For each owner, where what it owns begins in a list of all, and this list."""
    owners = ptr.shape[0] - 1
    fill(ptr, 0)
    for k in range(owner.shape[0]):
        ptr[owner[k]] += 1
    for j in range(owners):
        ptr[j + 1] += ptr[j]
    for k in range(owner.shape[0] - 1, -1, -1):  # what is put there last comes first
        ptr[owner[k]] -= 1
        owned[ptr[owner[k]]] = k
    ptr[owners] = owner.shape[0]


def grouped_rows(sizes: Ints, offsets: Ints, rows: SparseRows) -> RowGroups:
    """Rows with their columns in groups by variable."""
    n, count, entries = sizes.shape[0], rows.lower.shape[0], rows.column.shape[0]
    whole, real = ints(4 * entries + count + n + 3 + offsets[n]), floats(2 * entries)
    row: OutInts = whole[:entries]
    variable: OutInts = whole[entries : 2 * entries]
    of: OutInts = whole[2 * entries : 3 * entries]
    start: OutInts = whole[3 * entries : 4 * entries + 1]
    ptr: OutInts = whole[4 * entries + 1 : 4 * entries + count + 2]
    of_ptr: OutInts = whole[4 * entries + count + 2 : 4 * entries + count + n + 3]
    owner: OutInts = whole[4 * entries + count + n + 3 :]
    least: OutFloats = real[:entries]
    most: OutFloats = real[entries:]
    for j in range(n):
        for e in range(offsets[j], offsets[j + 1]):
            owner[e] = j
    groups = 0
    ptr[0] = 0
    for r in range(count):
        v = -1
        for c in range(rows.ptr[r], rows.ptr[r + 1]):
            if owner[rows.column[c]] != v:
                v = owner[rows.column[c]]
                row[groups], variable[groups], start[groups] = r, v, c
                least[groups], most[groups] = inf, -inf
                groups += 1
            least[groups - 1] = min(least[groups - 1], rows.coefficient[c])
            most[groups - 1] = max(most[groups - 1], rows.coefficient[c])
        ptr[r + 1] = groups
    start[groups] = entries
    for g in range(groups):
        if start[g + 1] - start[g] < sizes[variable[g]]:
            # A label that a row does not mention weighs nothing.
            least[g], most[g] = min(least[g], 0.0), max(most[g], 0.0)
    group_by(variable[:groups], of_ptr, of)
    return RowGroups(
        rows.lower,
        rows.upper,
        ptr,
        row[:groups],
        variable[:groups],
        start[: groups + 1],
        least[:groups],
        most[:groups],
        of_ptr,
        of[:groups],
        rows.column,
        rows.coefficient,
    )
