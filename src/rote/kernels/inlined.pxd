# The bodies of `inlined.py` for Cython; tests compare them.

from libc.string cimport memcpy

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Graph, Layout, RowGroups, Tables
from rote.kernels.constants cimport FIRST_FACTOR, SECOND_FACTOR


cdef inline Int tuple_of(Layout layout, Int f, Ints labels) noexcept nogil:
    code = 0
    for k in range(layout.scope_ptr[f], layout.scope_ptr[f + 1]):
        code = code * layout.sizes[layout.scope[k]] + labels[layout.scope[k]]
    return code


cdef inline Int parts_reached(
    Ints first, Ints scope_ptr, Ints scope, Ints strides, Ints sizes
) noexcept nogil:
    reach = 0
    for f in range(first.shape[0]):
        last = first[f]
        for k in range(scope_ptr[f], scope_ptr[f + 1]):
            last += strides[k] * (sizes[scope[k]] - 1)
        reach = max(reach, last + 1)
    return reach


cdef inline Int entry_at(Tables tables, Int b, Ints labels) noexcept nogil:
    at = tables.ptr[b]
    for k in range(tables.scope_ptr[b], tables.scope_ptr[b + 1]):
        at += tables.strides[k] * labels[tables.scope[k]]
    return at


cdef inline double added(RowGroups rows, Int group, Int part) noexcept nogil:
    amount = 0.0
    for c in range(rows.start[group], rows.start[group + 1]):
        if rows.column[c] == part:
            amount += rows.coefficient[c]
    return amount


cdef inline (double, Int) weight_at(RowGroups rows, Int group, Int at, Int part) noexcept nogil:
    weight = 0.0
    if at < rows.start[group + 1] and rows.column[at] == part:
        weight = rows.coefficient[at]
        at += 1
    return weight, at


cdef inline bint is_broken(RowGroups rows, Int row, double low, double high) noexcept nogil:
    return low > rows.upper[row] or high < rows.lower[row]


cdef inline double activity_of(RowGroups rows, Ints offsets, Int row, Ints labels) noexcept nogil:
    activity = 0.0
    for g in range(rows.ptr[row], rows.ptr[row + 1]):
        activity += added(rows, g, offsets[rows.variable[g]] + labels[rows.variable[g]])
    return activity


cdef inline Int root_of(OutInts parent, Int j) noexcept nogil:
    while parent[j] != j:
        parent[j] = parent[parent[j]]
        j = parent[j]
    return j


cdef inline void repeat_row(OutInts2 numbers, Int row) noexcept nogil:
    if numbers.shape[1] > 0:
        memcpy(&numbers[row, 0], &numbers[row - 1, 0], numbers.shape[1] * sizeof(Int))


cdef inline bint is_scored(Graph graph, Int table) noexcept nogil:
    first, end = graph.tables.ptr[table], graph.tables.ptr[table + 1]
    return graph.source.ptr[first] < graph.source.ptr[end]


cdef inline Int change_rows(
    Graph graph, Int variable, Int before, Int after, OutFloats activity, Bool keep
) noexcept nogil:
    change = 0
    for q in range(graph.rows.of_ptr[variable], graph.rows.of_ptr[variable + 1]):
        g = graph.rows.of[q]
        r = graph.rows.row[g]
        now = activity[r]
        if is_broken(graph.rows, r, now, now):
            change -= 1
        for c in range(graph.rows.start[g], graph.rows.start[g + 1]):
            if graph.rows.column[c] == graph.offsets[variable] + before:
                now -= graph.rows.coefficient[c]
            elif graph.rows.column[c] == graph.offsets[variable] + after:
                now += graph.rows.coefficient[c]
        if is_broken(graph.rows, r, now, now):
            change += 1
        if keep:
            activity[r] = now
    return change


cdef inline Word bits_of(double number) noexcept nogil:
    cdef Word bits
    memcpy(&bits, &number, sizeof(bits))
    return bits


cdef inline Int signed(Word word) noexcept nogil:
    return <Int>word


cdef inline Word mixed(Word state) noexcept nogil:
    state = (state ^ (state >> 30)) * FIRST_FACTOR
    state = (state ^ (state >> 27)) * SECOND_FACTOR
    return state ^ (state >> 31)


cdef inline Word folded(Word state, Word bits) noexcept nogil:
    state = (state ^ bits) * FIRST_FACTOR
    return state ^ (state >> 32)


cdef inline Int below(Word state, Int top) noexcept nogil:
    return <Int>((mixed(state) >> 32) * <Word>top >> 32)
