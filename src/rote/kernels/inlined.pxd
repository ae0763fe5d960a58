# The bodies of `inlined.py` for Cython; tests compare them.

from libc.string cimport memcpy

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Graph, Layout, RowGroups, Tables
from rote.kernels.constants cimport FIRST_FACTOR, SECOND_FACTOR

# Compilers keep a maximum in one register and add up to it number by number, since numbers that
# are not there (NaN) have no order. Two by two is four times as fast, and finds the same.
cdef extern from *:
    """
    #include <math.h>
    #if defined(__SSE2__) || defined(_M_X64)
    #include <emmintrin.h>
    static inline double rote_top(__m128d a, __m128d b) {
        a = _mm_max_pd(a, b);
        return _mm_cvtsd_f64(_mm_max_sd(a, _mm_unpackhi_pd(a, a)));
    }
    static double rote_max_plus(const double *x, const double *y, long long n) {
        __m128d a = _mm_set1_pd(-INFINITY), b = a;
        long long k = 0;
        for (; k + 4 <= n; k += 4) {
            a = _mm_max_pd(_mm_add_pd(_mm_loadu_pd(x + k), _mm_loadu_pd(y + k)), a);
            b = _mm_max_pd(_mm_add_pd(_mm_loadu_pd(x + k + 2), _mm_loadu_pd(y + k + 2)), b);
        }
        for (; k < n; k++)
            a = _mm_max_sd(a, _mm_add_sd(_mm_load_sd(x + k), _mm_load_sd(y + k)));
        return rote_top(a, b);
    }
    static double rote_largest(const double *x, long long n) {
        const __m128d sign = _mm_set1_pd(-0.0);
        __m128d a = _mm_setzero_pd(), b = a, none = a;
        long long k = 0;
        for (; k + 4 <= n; k += 4) {
            __m128d u = _mm_loadu_pd(x + k), v = _mm_loadu_pd(x + k + 2);
            none = _mm_or_pd(none, _mm_cmpunord_pd(u, v));
            a = _mm_max_pd(_mm_andnot_pd(sign, u), a);
            b = _mm_max_pd(_mm_andnot_pd(sign, v), b);
        }
        for (; k < n; k++) {
            __m128d u = _mm_load_sd(x + k);
            none = _mm_or_pd(none, _mm_cmpunord_pd(u, u));
            a = _mm_max_sd(a, _mm_andnot_pd(sign, u));
        }
        return _mm_movemask_pd(none) ? INFINITY : rote_top(a, b);
    }
    static double rote_range(const double *x, long long n, double *least) {
        __m128d a = _mm_set1_pd(-INFINITY), b = a, c = _mm_set1_pd(INFINITY), d = c;
        __m128d none = _mm_setzero_pd();
        long long k = 0;
        for (; k + 4 <= n; k += 4) {
            __m128d u = _mm_loadu_pd(x + k), v = _mm_loadu_pd(x + k + 2);
            none = _mm_or_pd(none, _mm_cmpunord_pd(u, v));
            a = _mm_max_pd(u, a);
            b = _mm_max_pd(v, b);
            c = _mm_min_pd(u, c);
            d = _mm_min_pd(v, d);
        }
        for (; k < n; k++) {
            __m128d u = _mm_load1_pd(x + k);
            none = _mm_or_pd(none, _mm_cmpunord_pd(u, u));
            a = _mm_max_pd(u, a);
            c = _mm_min_pd(u, c);
        }
        c = _mm_min_pd(c, d);
        *least = _mm_cvtsd_f64(_mm_min_sd(c, _mm_unpackhi_pd(c, c)));
        if (_mm_movemask_pd(none)) *least = -INFINITY;
        return _mm_movemask_pd(none) ? INFINITY : rote_top(a, b);
    }
    #else
    static double rote_range(const double *x, long long n, double *least) {
        double top = -INFINITY, low = INFINITY;
        int none = 0;
        for (long long k = 0; k < n; k++) {
            none |= x[k] != x[k];
            top = x[k] > top ? x[k] : top;
            low = x[k] < low ? x[k] : low;
        }
        *least = none ? -INFINITY : low;
        return none ? INFINITY : top;
    }
    static double rote_max_plus(const double *x, const double *y, long long n) {
        double top = -INFINITY;
        for (long long k = 0; k < n; k++) top = x[k] + y[k] > top ? x[k] + y[k] : top;
        return top;
    }
    static double rote_largest(const double *x, long long n) {
        double top = 0.0;
        int none = 0;
        for (long long k = 0; k < n; k++) {
            none |= x[k] != x[k];
            top = fabs(x[k]) > top ? fabs(x[k]) : top;
        }
        return none ? INFINITY : top;
    }
    #endif
    """
    double rote_max_plus(const double *x, const double *y, Int n) noexcept nogil
    double rote_largest(const double *x, Int n) noexcept nogil
    double rote_range(const double *x, Int n, double *least) noexcept nogil


cdef inline double max_plus(Floats x, Int first, Floats y, Int other, Int n) noexcept nogil:
    return rote_max_plus(&x[first], &y[other], n) if n > 0 else -inf


cdef inline double largest_size(Floats2 numbers, Int i) noexcept nogil:
    return rote_largest(&numbers[i, 0], numbers.shape[1]) if numbers.shape[1] > 0 else 0.0


cdef inline (double, double) range_of(Floats2 numbers, Int i, Int first, Int end) noexcept nogil:
    cdef double least
    top = rote_range(&numbers[i, first], end - first, &least)
    return least, top


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
