from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Layout, Masks, Questions, RowGroups
from rote.kernels.constants cimport LARGEST_SCORE
from rote.kernels.inlined cimport activity_of, entry_at, is_broken, largest_size, tuple_of

cdef bint inside(Ints labels, Masks masks) noexcept nogil
cpdef bint is_feasible(Ints labels, Masks masks, RowGroups rows) noexcept nogil
cpdef void read_scores(Questions questions, Int i, OutFloats work) noexcept nogil
