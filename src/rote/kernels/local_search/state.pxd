cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Graph, GlobalFeatures
from rote.kernels.constants cimport F1, JACCARD, NO_TERM, WRONG
from rote.kernels.inlined cimport change_rows
from rote.kernels.local_search.clusters cimport Clusters, look_at_moves
from rote.kernels.local_search.global_features cimport add_tuples, pass_on_tuples, shares_worth
from rote.kernels.neighbourhood.neighbours cimport Entries, Gains, new_entries, pass_on, take_gains
from rote.kernels.neighbourhood.ranges cimport add_up

@cython.final
cdef class Landscape(Bundle):
    cdef readonly Graph graph
    cdef readonly Entries entries
    cdef readonly GlobalFeatures features
    cdef readonly OutFloats2 pairs
    cdef readonly OutInts rank

@cython.final
cdef class SearchState(Bundle):
    cdef readonly OutInts labels, chosen, having
    cdef readonly OutFloats2 changes
    cdef readonly Gains gains
    cdef readonly OutFloats activity, lead
    cdef readonly OutFlags stale
    cdef readonly Clusters clusters
    cdef readonly double value
    cdef readonly Int faults, broken, right, on

@cython.final
cdef class Extra(Bundle):
    cdef readonly Int kind, on
    cdef readonly Ints gold

cpdef void copy_state(SearchState source, SearchState target) noexcept nogil
cpdef double loss_at(Extra extra, Int variables, Int right, Int on) noexcept nogil
cdef Int is_right(Extra extra, Int j, Int label) noexcept nogil
cdef Int is_on(Int label) noexcept nogil
cdef void look_for(Extra extra, Ints gold) noexcept nogil
cpdef void settle(Landscape landscape, SearchState at) noexcept nogil
cpdef void stand_at(Landscape landscape, Extra extra, SearchState at) noexcept nogil
cpdef double whole_worth(GlobalFeatures features, Extra extra, SearchState at) noexcept nogil
cpdef void pair_up(Graph graph, Floats theta, OutFloats2 pairs) noexcept nogil
cpdef void change(Landscape landscape, Extra extra, SearchState at, Int j, Int label) noexcept nogil
cdef void pass_on_pairs(Landscape landscape, SearchState at, Int j, Int label) noexcept nogil
cdef void mark_neighbours(Landscape landscape, SearchState at, Int j) noexcept nogil
