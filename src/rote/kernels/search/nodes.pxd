cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Graph
from rote.kernels.dual.ascent cimport find_tops
from rote.kernels.inlined cimport activity_of, added, entry_at, is_broken, weight_at

@cython.final
cdef class Frames(Bundle):
    cdef readonly OutInts variable, options, next, mark, low
    cdef readonly OutInts2 label
    cdef readonly OutFloats2 bound

@cython.final
cdef class Node(Bundle):
    cdef readonly OutFloats state, trail_was
    cdef readonly OutInts free, labels, argmax, stack, pending, trail_at
    cdef readonly OutFlags tight
    cdef readonly Frames frames
    cdef readonly Int best_of, table_best, row_least, row_most, whole

cdef Int put(Node node, Int place, double value, Int top) noexcept nogil
cdef Int close_in_row(Graph graph, Node node, Int r, Int top) noexcept nogil
cpdef Int assign(Graph graph, Floats theta, Node node, Int v, Int label, Int top) noexcept nogil
cpdef double best_entry(Graph graph, Floats theta, Node node, Int b) noexcept nogil
cpdef void undo(Graph graph, Node node, Int height, Int low, Int top, Int mark) noexcept nogil
cpdef bint start(Graph graph, Floats theta, double constant, Node node) noexcept nogil
cpdef double row_loss(Graph graph, Floats multipliers, Ints labels) noexcept nogil
cpdef double loss(Graph graph, Floats theta, Floats multipliers, Node node, double slack) noexcept nogil
cpdef bint alone(Graph graph, Floats theta, Node node, double tie) noexcept nogil
