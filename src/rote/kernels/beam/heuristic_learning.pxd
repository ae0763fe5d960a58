cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.beam.beam cimport BeamPlan, Nodes, Search, advance
from rote.kernels.constants cimport MAX_COUNTED

@cython.final
cdef class Learned(Bundle):
    cdef readonly OutFloats weights, sums, clock

@cython.final
cdef class HeuristicUpdate(Bundle):
    cdef readonly Learned learned
    cdef readonly Search search
    cdef readonly Ints2 gold
    cdef readonly OutInts counts

cdef Int place_of_pattern(BeamPlan plan, Int p, Ints labels, Int label) noexcept nogil
cdef void learn_from(HeuristicUpdate update, Ints labels, Int steps, double amount) noexcept nogil
cdef void add_patterns(
    OutFloats weights, BeamPlan plan, Ints labels, Int steps, double amount, OutInts counts,
) noexcept nogil
cdef bint is_good(HeuristicUpdate update, Int i, Int node, Int steps) noexcept nogil
cdef bint some_good(HeuristicUpdate update, Int i, Int size, Int steps) noexcept nogil
cdef bint learn_input(HeuristicUpdate update, Int i, double step) noexcept nogil
