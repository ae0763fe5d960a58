cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Items, GlobalFeatures
from rote.kernels.constants cimport STATES

cdef enum:
    FIRST = 0
    UNKNOWN = 1
    SAME = 2
    OTHER = 3

@cython.final
cdef class Clusters(Bundle):
    cdef readonly OutInts labels
    cdef readonly OutFlags stale
    cdef public double worth
    cdef readonly OutFloats added
    cdef OutFloats alone, joined
    cdef OutInts root, known, filled, begin, listed, seen
    cdef OutFlags inside
    cdef Int moved, left, stamp

cpdef Int size_bucket(Int count) noexcept nogil
cdef void compare(Items items, Int i, Int before, OutInts states) noexcept nogil
cdef Int place(Items items, Int i, Int attribute, Int state) noexcept nogil
cdef void find_roots(Ints labels, OutInts root) noexcept nogil
cdef Int cluster_of(Clusters clusters, Int j) noexcept nogil
cdef double worth_of_two(
    GlobalFeatures features, Clusters clusters, Int one, Int one_end, Int other, Int other_end
) noexcept nogil
cdef double list_clusters(GlobalFeatures features, Clusters clusters) noexcept nogil
cpdef double look_at_moves(
    GlobalFeatures features, Ints offsets, Clusters clusters, Int one, Int other
) noexcept nogil
cdef double worth_with(
    GlobalFeatures features, Clusters clusters, Int j, Int moves, Int target
) noexcept nogil
cdef Int divide(Clusters clusters, Int j) noexcept nogil
