cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.constants cimport FIRST_FACTOR, GOLDEN, SECOND_FACTOR, WORD
from rote.kernels.inlined cimport below, bits_of, folded, mixed, signed

@cython.final
cdef class Draw(Bundle):
    cdef readonly OutInts order, labels, seen

cpdef Word seed_of(Floats2 scores, Int i, Int seed) noexcept nogil
cpdef Int hash_labels(Ints labels) noexcept nogil
cdef Word redraw(
    Ints offsets, Flags forbidden, Word state, Int n_resampled, Draw draw
) noexcept nogil
cdef bint is_among(Ints numbers, Int count, Int number) noexcept nogil
cpdef Int draw_start(
    Ints offsets, Flags forbidden, Word state, Int n_resampled, Ints initial, Draw draw, Int count
) noexcept nogil
