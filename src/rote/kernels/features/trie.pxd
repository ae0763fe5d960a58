cimport cython

from rote.kernels.arrays cimport *

cpdef enum:
    ROOT = 0
    NOWHERE = -1
    NEW = -2

cdef extern from *:
    """
    #define SPREAD 0x9E3779B97F4A7C15ULL
    """
    const Word SPREAD

@cython.final
cdef class Tree(Bundle):
    cdef readonly OutInts2 edges
    cdef readonly OutInts parents, texts, size

@cython.final
cdef class Joined(Bundle):
    cdef readonly Ints texts, ptr

@cython.final
cdef class ChainPlan(Bundle):
    cdef readonly Ints ptr, rows, offsets

cdef Int place_of(Tree tree, Int node, Int text) noexcept nogil
cdef Int step(Tree tree, Int node, Int text, Bool grows) noexcept nogil
cdef Int go(Tree tree, Joined joined, Int node, Int text, Bool grows) noexcept nogil
cdef Int name_around(
    Tree tree, Joined joined, ChainPlan windows, Ints2 said, Ints2 places, Int i, Int name, Bool grows,
) noexcept nogil
