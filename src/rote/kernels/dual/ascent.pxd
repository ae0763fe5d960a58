cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport FoundBy, Graph, Questions, Reduced, RowGroups, fit_duals
from rote.kernels.constants cimport FAR
from rote.kernels.dp.elimination cimport Eliminated, backward, forward, total
from rote.kernels.inlined cimport weight_at
from rote.kernels.outputs cimport read_scores

@cython.final
cdef class Ascent(Bundle):
    cdef readonly OutFloats theta, messages, multipliers, marginals, tops

cdef double begin(Questions questions, Int i, Reduced reduced, Eliminated memory, OutFloats theta) noexcept nogil
cdef double complete(Reduced reduced, Eliminated memory, Ints found, OutInts labels) noexcept nogil
cpdef void load(Floats scores, FoundBy source, OutFloats theta) noexcept nogil
cpdef void shift(
    OutFloats theta, Int at, Int stop, Int inner, Floats amounts, Int first, Int size,
) noexcept nogil
cpdef void marginalise(
    Floats theta, Int at, Int stop, Int inner, OutFloats marginals, Int first, Int size,
) noexcept nogil
cpdef void apply_duals(Graph graph, Ascent ascent) noexcept nogil
cpdef (double, double) along_row(Ints offsets, RowGroups rows, Floats theta, Int r, double was, double u) noexcept nogil
cpdef void visit_row(Ints offsets, RowGroups rows, OutFloats theta, OutFloats multipliers, Int r) noexcept nogil
cpdef void sweep(Graph graph, Ascent ascent, Bool settling) noexcept nogil
cpdef double row_constant(RowGroups rows, Floats multipliers) noexcept nogil
cdef (Int, Int) entries_of(Graph graph, Int group) noexcept nogil
cpdef double find_tops(Graph graph, Floats theta, double constant, OutFloats tops) noexcept nogil
cpdef double bound_of(Graph graph, Ascent ascent) noexcept nogil
cpdef void close_below(Graph graph, Ascent ascent, double floor) noexcept nogil
