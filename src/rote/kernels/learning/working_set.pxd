cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Slots, Vectors
from rote.kernels.learning.linear cimport place_of

cpdef enum:
    MANY = 64
    OWNER = 0
    VECTOR = 1
    OTHER = 2
    RIGHT = 3
    WRONG = 4
    STRIDE = 5
    BEFORE = 6
    ATOM_FIELDS = 8
    VALUE = 0
    STEP = 1
    WORK_FIELDS = 2

@cython.final
cdef class Candidates(Bundle):
    cdef readonly OutInts example
    cdef readonly OutFloats dual, loss
    cdef readonly OutInts rank, previous, atom_ptr, product_ptr, atoms
    cdef readonly OutFloats products
    cdef readonly OutInts2 atom
    cdef readonly OutFloats2 work
    cdef readonly OutInts last, last_atom, size
    cdef readonly OutFloats total

@cython.final
cdef class Dual(Bundle):
    cdef readonly OutFloats weights
    cdef readonly Vectors vectors
    cdef readonly Candidates candidates
    cdef readonly Floats costs
    cdef readonly Bool squared
    cdef readonly double delta

@cython.final
cdef class Offers(Bundle):
    cdef readonly Ints members, firsts
    cdef readonly Ints2 gold, found
    cdef readonly Floats losses, slacks

@cython.final
cdef class Growth(Bundle):
    cdef Int count, known, places, room
    cdef OutInts index
    cpdef void reserve(self, Int places) noexcept with gil

cdef double along(Dual dual, Int atom) noexcept nogil
cdef void shift(Dual dual, Int atom, double step) noexcept nogil
cdef void clear(Dual dual, Int atom) noexcept nogil
cdef bint is_atom(Candidates candidates, Int number, Int vector, Int other, Int right, Int wrong) noexcept nogil
cpdef Int walk_to(Candidates candidates, Int example, Int vector, Int other, Int right, Int wrong) noexcept nogil
cdef Int place_in(Candidates candidates, Growth growth, Int vector, Int other, Int right, Int wrong) noexcept nogil
cdef void list_atoms(Candidates candidates, Growth growth, Int example, Int more) noexcept nogil
cdef void read_atoms(Dual dual, Int example) noexcept nogil
cpdef double summed(Candidates candidates, Int c) noexcept nogil
cdef bint is_known(Candidates candidates, Int example, Int begin, Int end) noexcept nogil
cdef bint gains_enough(Dual dual, Int example, double slack) noexcept nogil
cdef Int find_atom(
    Candidates candidates, Growth growth, Int example, Int vector, Int other, Int right, Int wrong, Int stride,
) noexcept nogil
cdef Int list_direction(Candidates candidates, Slots slots, Offers offers, Int i, Growth growth) noexcept nogil
cdef void append(Candidates candidates, Int c, Int example, Int end, Int products) noexcept nogil
cdef void multiply(Dual scratch, Int c) noexcept nogil
cdef bint add_output(Dual dual, Slots slots, Offers offers, Int i, Growth growth) noexcept nogil
cdef Int compact_atoms(Candidates candidates, OutInts number) noexcept nogil
cdef Int compact_candidates(Candidates candidates, Flags kept, Ints number, Ints first, Flags stays) noexcept nogil
