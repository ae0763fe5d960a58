cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport EliminationPlan, Questions
from rote.kernels.outputs cimport read_scores

@cython.final
cdef class Eliminated(Bundle):
    cdef OutFloats work
    cdef OutInts best

cpdef void forward(OutFloats work, OutInts best, EliminationPlan steps) noexcept nogil
cpdef double backward(OutInts labels, Floats work, Ints best, EliminationPlan steps) noexcept nogil
cpdef double total(Floats work, EliminationPlan steps) noexcept nogil
cdef void take_first(OutInts found, Eliminated memory, OutInts trial, double least, Ints sizes, Ints offsets, EliminationPlan steps) noexcept nogil
cdef void find_outsides(OutFloats outside, Floats work, double whole, EliminationPlan steps) noexcept nogil
