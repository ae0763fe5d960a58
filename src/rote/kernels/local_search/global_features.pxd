from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Items, GlobalFeatures

cpdef double add_tuples(GlobalFeatures features, Ints labels, Ints offsets, OutFloats gains) noexcept nogil
cdef Int value_of(GlobalFeatures features, Int t, Ints labels) noexcept nogil
cpdef void pass_on_tuples(
    GlobalFeatures features, Ints labels, Ints offsets, Int j, Int label, OutFloats gains
) noexcept nogil
cpdef Int bin_of(Int count, Int variables, Int bins) noexcept nogil
cdef double share_worth(GlobalFeatures features, Int label, Int count, Int variables) noexcept nogil
cpdef double shares_worth(GlobalFeatures features, Ints counts, Int variables) noexcept nogil
cpdef void share_changes(GlobalFeatures features, Ints counts, Int variables, OutFloats2 changes) noexcept nogil
