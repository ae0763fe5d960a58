from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Layout, Masks, Questions, RowGroups, RuleTrees
from rote.kernels.constants cimport BESIDE, LARGEST_SCORE, MOST, NEAR, SUM, TABLE, WIDE
from rote.kernels.inlined cimport activity_of, entry_at, is_broken, largest_size, range_of, tuple_of

cdef bint breaks(Ints2 labels, Int i, RuleTrees trees, OutInts state) noexcept nogil
cdef bint inside(Ints labels, Masks masks) noexcept nogil
cpdef bint is_feasible(Ints labels, Masks masks, RowGroups rows) noexcept nogil
cdef (double, double) slot_range(Questions questions, Int i, Int first, Int end) noexcept nogil
cdef (double, double, double) spread_of(Questions questions, Int i, Layout layout) noexcept nogil
cdef bint drowns(Layout layout, double widest, double size) noexcept nogil
cdef bint has_near_labels(Questions questions, Int i, Layout layout, double near) noexcept nogil
cdef bint is_too_coarse(Questions questions, Int i, Layout layout, double widest, double lost) noexcept nogil
cpdef void read_scores(Questions questions, Int i, OutFloats work) noexcept nogil
