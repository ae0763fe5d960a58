cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.learning.working_set cimport (
    BEFORE,
    STEP,
    Candidates,
    Dual,
    read_atoms,
    shift,
    summed,
)

cdef enum:
    ROUNDS = 8

cdef extern from *:
    """
    #define FULL (1.0 - 1e-12)
    #define ALL_BITS 0xFFFFFFFFFFFFFFFFULL
    """
    const double FULL
    const Word ALL_BITS

@cython.final
cdef class Desk(Bundle):
    cdef readonly OutInts ids
    cdef readonly OutFloats gains, steps
    cdef readonly OutFloats2 products

cpdef Int gains_of(Dual dual, Int example, Desk desk) noexcept nogil
cdef void read_products(Candidates candidates, Desk desk, Int size) noexcept nogil
cpdef Int weakest(Candidates candidates, Desk desk, Int size) noexcept nogil
cdef double projected(Dual dual, Desk desk, Int size, Int r, Int example) noexcept nogil
cdef void take(Candidates candidates, Desk desk, Int size, Int r, double step) noexcept nogil
cdef void move_dual(Dual dual, Desk desk, Int size, Int r, Int example, double own) noexcept nogil
cdef void move_weights(Dual dual, Desk desk, Int size, Int example) noexcept nogil
cdef double visit(Dual dual, Desk desk, Int example) noexcept nogil
cdef Word shuffle(OutInts order, Int active, Word state) noexcept nogil
