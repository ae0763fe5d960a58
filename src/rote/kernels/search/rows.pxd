from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Questions, RowGroups
from rote.kernels.inlined cimport activity_of, added, is_broken, weight_at

cdef (Int, double) most_broken(Ints labels, Ints offsets, RowGroups rows) noexcept nogil
cdef (Int, double, double) split_group(Floats values, Flags closed, Ints labels, Int row, Ints offsets, RowGroups rows) noexcept nogil
cdef bint propagate(OutFlags closed, Ints offsets, RowGroups rows, OutFloats open_weights) noexcept nogil
