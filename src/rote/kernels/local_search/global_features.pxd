from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Items, Wide

cpdef double add_tuples(Wide wide, Ints labels, Ints offsets, OutFloats gains) noexcept nogil
cdef Int value_of(Wide wide, Int t, Ints labels) noexcept nogil
cpdef void pass_on_tuples(
    Wide wide, Ints labels, Ints offsets, Int j, Int label, OutFloats gains
) noexcept nogil
cpdef Int bin_of(Int count, Int variables, Int bins) noexcept nogil
cdef double share_worth(Wide wide, Int label, Int count, Int variables) noexcept nogil
cpdef double shares_worth(Wide wide, Ints counts, Int variables) noexcept nogil
cpdef void share_changes(Wide wide, Ints counts, Int variables, OutFloats2 changes) noexcept nogil
