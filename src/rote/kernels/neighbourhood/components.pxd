cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Graph, Layout, VariableSets, fit_outputs
from rote.kernels.inlined cimport added, entry_at, root_of

cdef enum:
    DIFFERENT = -1
    UNKNOWN = 0
    SAME = 1

@cython.final
cdef class Swap(Bundle):
    cdef Flags allowed
    cdef readonly OutInts gold
    cdef readonly OutFlags inside

cdef bint joins(Layout layout, Int f, Ints states, Int sign, Ints gold) noexcept nogil
cpdef bint table_allows(Graph graph, Swap swap, Int table) noexcept nogil
cpdef bint row_allows(Graph graph, Swap swap, Int row) noexcept nogil
cdef bint set_may_swap(Graph graph, Swap swap) noexcept nogil
