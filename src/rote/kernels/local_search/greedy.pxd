cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Graph, Questions, GlobalFeatures, fit_outputs, past_all
from rote.kernels.constants cimport NO_TERM, WORD
from rote.kernels.dual.ascent cimport entries_of
from rote.kernels.inlined cimport change_rows, mixed, repeat_row
from rote.kernels.local_search.clusters cimport cluster_of, look_at_moves
from rote.kernels.local_search.global_features cimport share_changes
from rote.kernels.local_search.hash_random cimport Draw, draw_start, seed_of
from rote.kernels.local_search.state cimport (
    Extra, SearchState, Landscape, change, copy_state, is_on, is_right, look_for, loss_at, pair_up,
    settle, stand_at, whole_worth,
)
from rote.kernels.neighbourhood.neighbours cimport Entries, new_entries, read_entries

@cython.final
cdef class AllEntries(Bundle):
    cdef readonly OutFloats2 theta
    cdef readonly OutFlags2 forbidden

@cython.final
cdef class Instances(Bundle):
    cdef readonly AllEntries entries
    cdef readonly Graph graph
    cdef readonly GlobalFeatures features

@cython.final
cdef class Restarts(Bundle):
    cdef readonly Int n_resampled, climbs, seed

cdef (Int, Int) best_of_each(Graph graph, Bool linked, SearchState at, double least) noexcept nogil
cpdef (Int, Int) best_change(
    Landscape landscape, Extra extra, SearchState at, double least
) noexcept nogil
cdef void go_to(Landscape landscape, Extra extra, SearchState at, Draw draw, Int drawn) noexcept nogil
cpdef Int climb(
    Landscape landscape, Extra extra, SearchState at, double least, OutInts2 steps
) noexcept nogil
cdef double max_of_all(Graph graph, Entries entries) noexcept nogil
cdef bint all_there(Ints labels) noexcept nogil
