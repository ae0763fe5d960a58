cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Graph, Questions

cdef enum:
    SWEEPS = 2
    POOL = 128
    TRIAL = 1 << 10

@cython.final
cdef class Batch(Bundle):
    cdef Int n, most, width
    cdef double largest
    cdef OutFloats2 scores, pairs, strength
    cdef OutFloats fields, value
    cdef OutInts2 labels, best

@cython.final
cdef class Messages(Bundle):
    cdef OutFloats2 pairs, inward, outward, moved
    cdef OutFloats mean, line

@cython.final
cdef class SharedTree(Bundle):
    cdef Int visits, nodes
    cdef Bool tried
    cdef OutFloats2 own, rows, fields, base, bound
    cdef OutFloats constant, added, value, runner, open_bound, slack
    cdef OutInts2 active, found
    cdef OutInts label, next, count

cdef void read_batch(Questions questions, Graph graph, Batch batch) noexcept nogil
cdef void change(Batch batch, Int i, Int v, Int label) noexcept nogil
cdef bint improve(Batch batch, Int i, double least) noexcept nogil
cdef double climb(Batch batch, Int i, double least) noexcept nogil
cdef bint start_at(Batch batch, Int i, Int label) noexcept nogil
cdef void find_incumbents(Batch batch, Floats ties) noexcept nogil
cdef void choose_order(Batch batch, OutInts order) noexcept nogil
cdef void visit(Batch batch, Messages messages, Int rest, Int j, Int begin, Int end) noexcept nogil
cdef void average(Batch batch, Ints order, Messages messages) noexcept nogil
cdef void pass_messages(Batch batch, Messages messages) noexcept nogil
cdef void plant(Batch batch, Messages messages, Ints order, SharedTree tree) noexcept nogil
cdef void look(Batch batch, SharedTree tree, Int d) noexcept nogil
cdef bint descend(Batch batch, SharedTree tree, Int d, Int label) noexcept nogil
cdef void take(Batch batch, SharedTree tree, Bool in_order) noexcept nogil
cdef void leave_open(Batch batch, SharedTree tree, Int depth) noexcept nogil
cdef bint goes_apart(Batch batch, SharedTree tree) noexcept nogil
cdef void search(Batch batch, SharedTree tree, Int visit_limit, Bool in_order) noexcept nogil
