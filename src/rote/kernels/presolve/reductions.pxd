cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Graph, Questions
from rote.kernels.inlined cimport added, is_broken, weight_at

cdef enum:
    MAX_ENTRIES = 256
    MOST_MOVED = 8

cdef double MORE_THAN_A_TIE

@cython.final
cdef class PresolveRoom(Bundle):
    cdef Int own, moved, head, waiting
    cdef OutFlags open, touched, safe, member, live, queued
    cdef OutInts count, first, members, queue, tally
    cdef OutFloats loss, least, most, dearest

cdef void close(Graph graph, PresolveRoom room, Int j, Int e) noexcept nogil
cdef void enqueue(PresolveRoom room, Int r) noexcept nogil
cdef (double, double) span_of(Graph graph, PresolveRoom room, Int g) noexcept nogil
cdef bint propagate(Graph graph, PresolveRoom room) noexcept nogil
cdef bint look_at(Graph graph, PresolveRoom room, Int r) noexcept nogil
cdef double score_of(PresolveRoom room, Floats scores, Int e) noexcept nogil
cdef double least_gain(Graph graph, PresolveRoom room, Floats scores, Int j, Int a, Int b) noexcept nogil
cdef double least_difference(Graph graph, PresolveRoom room, Floats scores, Int k, Int a, Int b) noexcept nogil
cdef bint may_break(Graph graph, PresolveRoom room, Int g, Int a, Int b) noexcept nogil
cdef double lowest(Graph graph, PresolveRoom room, Int g, Int b) noexcept nogil
cdef double highest(Graph graph, PresolveRoom room, Int g, Int b) noexcept nogil
cdef bint breaks_none(Graph graph, PresolveRoom room, Int j, Int a, Int b) noexcept nogil
cdef bint is_dominated(Graph graph, PresolveRoom room, Floats scores, Int j, Int a, double tie) noexcept nogil
cdef bint close_dominated(Graph graph, PresolveRoom room, Floats scores, double tie) noexcept nogil
cdef bint close_by_groups(Graph graph, PresolveRoom room, Floats scores) noexcept nogil
cdef bint is_not_repaid(Graph graph, PresolveRoom room, Floats scores, Int j, Int a) noexcept nogil
cdef bint held_by_group(Graph graph, PresolveRoom room, Int g, Int a) noexcept nogil
cdef double help_of(Graph graph, PresolveRoom room, Int o, Bool upwards) noexcept nogil
cdef double loss_of_group(Graph graph, PresolveRoom room) noexcept nogil
cdef bint excludes(Graph graph, PresolveRoom room, Int g) noexcept nogil
cdef bint presolve_one(Graph graph, PresolveRoom room, Floats scores, double tie) noexcept nogil
