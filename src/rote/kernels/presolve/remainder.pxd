cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport FoundBy, Graph, SparseRows
from rote.kernels.inlined cimport added, entry_at
from rote.kernels.presolve.linking cimport linked

cdef enum:
    MAX_ENTRIES = 256

@cython.final
cdef class Kept(Bundle):
    cdef OutInts variable, label, count, first
    cdef Int variables, labels

cdef (Int, Int) joint(Kept kept, Ints scope, Int begin, Int end, Int most) noexcept nogil
cdef Int set_strides(Ints sizes, Ints scope, OutInts strides, Int begin, Int end) noexcept nogil
cpdef double worth(Graph graph, Floats scores, Ints labels) noexcept nogil
cdef bint same_scope(Ints scope, Ints scope_ptr, Int table, Int count, Int first) noexcept nogil
