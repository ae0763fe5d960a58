cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.constants cimport MAX_COUNTED
from rote.kernels.inlined cimport parts_reached

@cython.final
cdef class BeamPlan(Bundle):
    cdef readonly Ints order, sizes, offsets, factor_ptr, factor_part, scope_ptr, scope, scope_stride
    cdef readonly Ints pattern_ptr, origin
    cdef readonly Ints2 other, other_stride
    cdef readonly Ints read_ptr, read, read_stride, tally_ptr, tally, tally_origin, tally_stride
    cdef readonly Ints apart, row
    cdef readonly Int rows
    cdef readonly Flags2 counted
    cdef readonly Int counters

@cython.final
cdef class Nodes(Bundle):
    cdef readonly OutInts3 labels, counts
    cdef readonly OutFloats2 score, heuristic
    cdef readonly OutInts size

@cython.final
cdef class Search(Bundle):
    cdef readonly BeamPlan plan
    cdef readonly Floats weights
    cdef readonly double theta
    cdef readonly Floats2 scores
    cdef readonly Flags2 shut
    cdef readonly Nodes nodes
    cdef readonly OutInts code, twin, row, node, label, reach, place
    cdef readonly OutFlags known
    cdef readonly OutFloats2 gain, added, more
    cdef readonly OutFloats base, top, rank, parent_score, parent_heuristic
    cdef readonly OutInts2 parents
    cpdef void look_at(self, Floats2 scores, Flags2 shut, Floats weights, double theta) except *

@cython.final
cdef class Progress(Bundle):
    cdef readonly Nodes nodes
    cdef readonly Flags2 there
    cdef readonly OutInts steps, skipped

cdef Int counted_before(Search search, Int i, Int node, Int c) noexcept nogil
cpdef void find_twins(Search search, Int i, Int t, Int size) noexcept nogil
cdef void find_gains(Search search, Int i, Int t, Int size) noexcept nogil
cdef void work_out_gains(Search search, Int i, Int t, Int node) noexcept nogil
cdef void score_labels(Search search, Int i, Int t, Int node) noexcept nogil
cpdef void expand(Search search, Int i, Int t, Int size, bint scored) noexcept nogil
cpdef Int keep_best(Search search, Int size, Int labels, Int most) noexcept nogil
cdef void keep_parents(Search search, Int i, Int t, Int size, Int kept) noexcept nogil
cpdef void take(Search search, Int i, Int t, Int size, Int kept) noexcept nogil
cdef Int advance(Search search, Int i, Int t, Int size) noexcept nogil
cdef bint is_decided(Search search, Int i, Int t, Int size) noexcept nogil
cpdef bint leap(Search search, Int i, Int t, Int size) noexcept nogil
cdef bint go_on(Search search, Progress progress, Int i) noexcept nogil
cdef bint is_ready(Search search, Progress progress, Int i, Int u) noexcept nogil
