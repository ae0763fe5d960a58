cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Graph, Questions, fit_outputs
from rote.kernels.constants cimport NO_TERM, WORD, WRONG
from rote.kernels.dual.ascent cimport load
from rote.kernels.inlined cimport mixed
from rote.kernels.local_search.greedy cimport Restarts, max_of_all
from rote.kernels.local_search.hash_random cimport Draw, draw_start, seed_of
from rote.kernels.local_search.state cimport Extra, is_right, look_for, loss_at, pair_up
from rote.kernels.neighbourhood.neighbours cimport new_entries

@cython.final
cdef class PairRoom(Bundle):
    cdef OutFloats2 pairs
    cdef OutFloats own, base, fields, side, more
    cdef OutInts labels
    cdef Int right, on

cpdef double own_parts(Graph graph, Floats theta, OutFloats own) noexcept nogil
cdef double flip(PairRoom room, Int j) noexcept nogil
cdef void add_row(OutFloats fields, double sign, Floats row) noexcept nogil
cdef void weigh_changes(PairRoom room, Extra extra) noexcept nogil
cdef (Int, double) best_flip(PairRoom room, Extra extra, double least) noexcept nogil
cdef double climb_pairs(PairRoom room, Extra extra, double least) noexcept nogil
cdef Int rights(Extra extra, Int label, Int gold) noexcept nogil
cdef double count_labels(PairRoom room, Extra extra) noexcept nogil
cdef double prepare(Graph graph, Floats theta, Ints initial, PairRoom room) noexcept nogil
