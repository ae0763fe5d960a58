cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Graph, Questions
from rote.kernels.dual.ascent cimport Ascent, load, sweep

@cython.final
cdef class SharedTree:
    cdef Int n, most, width, visits
    cdef double constant
    cdef OutFloats2 own, pairs, fields, bound
    cdef OutInts2 active, order
    cdef OutFloats top, second, margin, cost, value, runner, open_bound, slack
    cdef OutInts labels, chosen, next, count
    cdef OutInts2 found

cdef void reparametrise(Questions questions, Graph graph, Ascent ascent, Int sweeps, OutFloats mean) noexcept nogil
cdef void place_scores(Questions questions, Graph graph, Ascent ascent, Floats mean, SharedTree tree) noexcept nogil
cdef void change(SharedTree tree, Int i, Int v, Int label) noexcept nogil
cdef bint improve(SharedTree tree, Int i, double least) noexcept nogil
cdef double climb(SharedTree tree, Int i, double least) noexcept nogil
cdef void incumbents(SharedTree tree, Floats ties) noexcept nogil
cdef void look(SharedTree tree, Int d) noexcept nogil
cdef double lost_with(SharedTree tree, Int d, Int q, Int label) noexcept nogil
cdef void branch_on(SharedTree tree, Int d, Bool in_order) noexcept nogil
cdef bint descend(SharedTree tree, Int d, Int label) noexcept nogil
cdef void take(SharedTree tree, Int d, Bool in_order) noexcept nogil
cdef void leave_open(SharedTree tree, Int depth) noexcept nogil
cdef void search(SharedTree tree, Int visit_limit, Bool in_order) noexcept nogil
