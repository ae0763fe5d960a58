cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Questions
from rote.kernels.inlined cimport parts_reached

@cython.final
cdef class EndingFactors(Bundle):
    cdef readonly Ints ptr, first, scope_ptr, scope, strides

cdef double turn(
    Questions questions, Int i, Flags feasible, Ints sizes, Ints offsets, EndingFactors factors,
    OutInts labels, OutFloats known, double enough,
) noexcept nogil
