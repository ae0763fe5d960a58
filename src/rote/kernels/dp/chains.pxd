cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport ChainPlan, Questions, TableRuns
from rote.kernels.inlined cimport max_plus

@cython.final
cdef class ChainRoom(Bundle):
    cdef OutFloats own, ahead, best, past, window, entries, line

cdef void label_scores(OutFloats own, Questions questions, Int i, Flags allowed) noexcept nogil
cpdef (Int, double) within_budget(Floats values, double budget) noexcept nogil
cdef bint all_have_labels(Floats own, Ints offsets) noexcept nogil
cpdef void add_entries(OutFloats line, Floats row, TableRuns runs, Int b, Int start, Int step) noexcept nogil
cdef void window_of(ChainRoom room, Floats row, Int t, ChainPlan chain) noexcept nogil
cdef void best_of_states(OutFloats best, Floats window, Int first, Floats ahead, Int states, Int kept, Int width) noexcept nogil
cdef double look_ahead(ChainRoom room, Floats row, ChainPlan chain) noexcept nogil
cdef void read_labels(OutInts labels, ChainRoom room, Floats row, double tie, ChainPlan chain) noexcept nogil
cdef void max_marginals_at(OutFloats marginals, ChainRoom room, Int t, ChainPlan chain) noexcept nogil
