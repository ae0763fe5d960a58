from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Slots, Vectors, past_all

# Sums stay in registers over all entries of a vector, for up to four columns at a time.
cdef extern from *:
    """
    #if defined(__SSE2__) || defined(_M_X64)
    #include <emmintrin.h>
    #endif
    static void rote_add_rows(
        double *to, long long width, const double *rows, long long stride,
        const long long *column, const double *value, long long n
    ) {
        long long a = 0, k;
    #if defined(__SSE2__) || defined(_M_X64)
        for (; a + 4 <= width; a += 4) {
            __m128d s = _mm_loadu_pd(to + a), t = _mm_loadu_pd(to + a + 2);
            for (k = 0; k < n; k++) {
                const double *row = rows + column[k] * stride + a;
                __m128d each = _mm_set1_pd(value[k]);
                s = _mm_add_pd(s, _mm_mul_pd(each, _mm_loadu_pd(row)));
                t = _mm_add_pd(t, _mm_mul_pd(each, _mm_loadu_pd(row + 2)));
            }
            _mm_storeu_pd(to + a, s);
            _mm_storeu_pd(to + a + 2, t);
        }
    #endif
        for (; a + 2 <= width; a += 2) {
            double s = to[a], t = to[a + 1];
            for (k = 0; k < n; k++) {
                const double *row = rows + column[k] * stride + a;
                s += value[k] * row[0];
                t += value[k] * row[1];
            }
            to[a] = s;
            to[a + 1] = t;
        }
        if (a < width) {
            double s = to[a];
            for (k = 0; k < n; k++) s += value[k] * rows[column[k] * stride + a];
            to[a] = s;
        }
    }
    """
    void rote_add_rows(
        double *to, Int width, const double *rows, Int stride,
        const Int *column, const double *value, Int n,
    ) noexcept nogil


cdef inline void add_rows(
    OutFloats to, Int width, Floats weights, Int origin, Int stride, Vectors vectors, Int v,
) noexcept nogil:
    first, n = vectors.ptr[v], vectors.ptr[v + 1] - vectors.ptr[v]
    if n > 0 and width > 0:
        rote_add_rows(
            &to[0], width, &weights[origin], stride, &vectors.column[first], &vectors.value[first], n
        )


cpdef (Int, Int) place_of(Slots slots, Int slot, Int first, Int label) noexcept nogil
cpdef Int columns_of_tied(Slots slots) noexcept nogil
cdef Int most_columns(Slots slots, Int begin, Int end) noexcept nogil
cdef void add_scores(
    Floats weights, Vectors vectors, Slots slots, Int slot, Int v, OutFloats own, OutFloats sums,
) noexcept nogil
cdef void score_input(
    OutFloats scores, Floats weights, Vectors vectors, Slots slots, Int first, OutFloats sums,
) noexcept nogil
cpdef void add_label(
    OutFloats weights, Vectors vectors, Slots slots, Int slot, Int first, Int label, double step,
) noexcept nogil
cpdef void move(
    OutFloats weights, Vectors vectors, Slots slots, Int first, Ints toward, Ints away, double step,
) noexcept nogil
