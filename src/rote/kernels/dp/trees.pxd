cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport ForestPlan, Questions
from rote.kernels.dp.chains cimport add_entries, label_scores, within_budget
from rote.kernels.inlined cimport max_plus

@cython.final
cdef class TreeRoom(Bundle):
    cdef readonly OutFloats own, inner, up, down, entries, line, without
    cdef readonly OutInts hung, way

cdef void best_across(OutFloats out, Floats values, Floats table, Int first, Int step_from, Int step_to) noexcept nogil
cpdef void send(
    OutFloats out, Floats values, ForestPlan plan, Int v, Bool up, Floats row, OutFloats entries,
) noexcept nogil
cdef double look_below(ForestPlan plan, TreeRoom room, Questions questions, Int i) noexcept nogil
cdef void heard(OutFloats out, ForestPlan plan, TreeRoom room, Int v, Int but, Bool from_above) noexcept nogil
cdef void hang_on(ForestPlan plan, TreeRoom room, Int j, Floats row) noexcept nogil
cdef void smallest_labels(OutInts labels, double tie, ForestPlan plan, TreeRoom room, Floats row) noexcept nogil
cdef double read_down(OutInts labels, double tie, ForestPlan plan, TreeRoom room, Floats row) noexcept nogil
cdef void marginals_of(ForestPlan plan, TreeRoom room, Questions questions, Int i, OutFloats marginals) noexcept nogil
