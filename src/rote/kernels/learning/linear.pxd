from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Slots, Vectors, past_all

cpdef (Int, Int) place_of(Slots slots, Int slot, Int first, Int label) noexcept nogil
cpdef Int columns_of_tied(Slots slots) noexcept nogil
cdef Int most_columns(Slots slots, Int begin, Int end) noexcept nogil
cdef void add_scores(
    Floats weights, Vectors vectors, Slots slots, Int slot, Int v, OutFloats own, OutFloats sums,
) noexcept nogil
cdef void score_input(
    OutFloats scores, Floats weights, Vectors vectors, Slots slots, Int first, OutFloats sums,
) noexcept nogil
cpdef void add_label(
    OutFloats weights, Vectors vectors, Slots slots, Int slot, Int first, Int label, double step,
) noexcept nogil
cpdef void move(
    OutFloats weights, Vectors vectors, Slots slots, Int first, Ints toward, Ints away, double step,
) noexcept nogil
