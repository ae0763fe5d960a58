cimport cython
from libc.math cimport sqrt

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Slots, Vectors
from rote.kernels.learning.linear cimport place_of

@cython.final
cdef class Rows(Bundle):
    cdef readonly OutInts ptr, column
    cdef readonly OutFloats value

@cython.final
cdef class Outputs(Bundle):
    cdef readonly Ints firsts
    cdef readonly Ints2 columns
    cdef readonly Floats targets

@cython.final
cdef class Schedule(Bundle):
    cdef readonly double step, tolerance
    cdef readonly Int passes, room

cpdef Int entries_of(Vectors vectors, Slots slots, Outputs outputs, Int i) noexcept nogil
cdef (Int, Int) piece_of(Vectors vectors, Slots slots, Outputs outputs, Int begin, Int room) noexcept nogil
cpdef void read_rows(
    Rows rows, Vectors vectors, Slots slots, Outputs outputs, Int begin, OutInts place,
) noexcept nogil
cpdef double predicted(Floats weights, Rows rows, Int i) noexcept nogil
cpdef void regress(
    OutFloats weights, OutFloats squares, Rows rows, Int i, double target, double step,
) noexcept nogil
cdef Int regress_rows(
    OutFloats weights, OutFloats squares, Rows rows, Floats targets, Schedule schedule, OutInts far,
) noexcept nogil
