cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Graph, RowGroups
from rote.kernels.inlined cimport activity_of, added, is_broken

@cython.final
cdef class Ranges(Bundle):
    cdef readonly OutFloats low, high
    cdef readonly OutInts seen, begin, end, groups

cpdef Int add_up(Graph graph, Ints labels, OutFloats activity) noexcept nogil
cpdef Int prune(
    Graph graph, Ints labels, Floats activity, Ints members, Int number, Ranges ranges
) noexcept nogil
cpdef void close_labels(Graph graph, Int j, Ranges ranges, OutFloats belief) noexcept nogil
cpdef bint settle(RowGroups rows, Int part, Int j, Ranges ranges) noexcept nogil
cpdef void reopen(RowGroups rows, Int part, Int j, Ranges ranges) noexcept nogil
