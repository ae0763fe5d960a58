cimport cython

from rote.kernels.arrays cimport *

@cython.final
cdef class Memory(Bundle):
    cdef readonly Ints2 parts
    cdef readonly Ints slots
    cdef readonly Floats2 scores
    cdef readonly Floats margins
    cdef readonly Ints ptr, order

cdef bint may_be_taken(Flags2 closed, Int i, Ints2 parts, Int k, Int variables) noexcept nogil
cdef bint holds(Floats2 scores, Int i, Memory memory, Int k, Int p, double epsilon, Bool relative, Bool absolute) noexcept nogil
cdef double worth_more(Floats2 scores, Int i, Memory memory, Int k, Bool relative) noexcept nogil
