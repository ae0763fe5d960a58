cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport ChainPlan, Layout, Questions, Slots, Vectors
from rote.kernels.inlined cimport tuple_of
from rote.kernels.learning.linear cimport move

@cython.final
cdef class Average:
    cdef readonly OutFloats weights, sums

@cython.final
cdef class Example:
    cdef readonly Int first
    cdef readonly Ints toward
    cdef readonly double step, age

@cython.final
cdef class Decisions:
    cdef readonly Ints ptr, vector, origin, stride
    cdef readonly Flags each
    cdef readonly Ints width, gold
    cdef readonly Floats sample_weight

cpdef void move_average(
    Average average, Vectors vectors, Slots slots, Example example, Ints away,
) noexcept nogil
cdef Int decide(Floats weights, Vectors vectors, Decisions decisions, Int d, OutFloats scores) noexcept nogil
cdef void learn_label(
    Average average, Vectors vectors, Decisions decisions, Int d, Int label, double step, double seen,
) noexcept nogil
