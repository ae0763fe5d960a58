cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport FoundBy, Graph, Questions, VariableSets, fit_outputs
from rote.kernels.inlined cimport change_rows, entry_at, is_scored
from rote.kernels.neighbourhood.ranges cimport add_up
from rote.kernels.outputs cimport read_scores

@cython.final
cdef class Entries(Bundle):
    cdef readonly OutFloats theta
    cdef readonly OutFlags forbidden

@cython.final
cdef class Gains(Bundle):
    cdef readonly OutFloats score
    cdef readonly OutInts faults

@cython.final
cdef class SearchRoom(Bundle):
    cdef Int size
    cdef OutInts place, choice, faults, broken, members, merged, rank, labels, answer
    cdef OutFloats value, upper, activity
    cdef OutFloats2 ahead
    cdef Gains gains
    cdef double best, tie
    cdef Bool doubtful

cdef Entries new_entries(Graph graph)
cpdef void read_entries(
    Questions questions, Int i, FoundBy source, OutFloats work, OutFloats theta, OutFlags forbidden
) noexcept nogil
cdef void add_up_entries(
    Ints ptr, Ints gather, Flags allowed, Floats scores, OutFloats theta, OutFlags forbidden
) noexcept nogil
cpdef void pass_on(
    Graph graph, Entries entries, Ints labels, Int variable, Int label, Ints rank, Gains gains,
    Int base,
) noexcept nogil
cdef Int faults_between(Entries entries, Int one, Int other) noexcept nogil
cpdef double max_gain(Graph graph, Floats theta, Int variable, Int label) noexcept nogil
cdef double max_difference(Graph graph, Floats theta, Int place, Int one, Int other) noexcept nogil
cdef Int comes_first(Ints labels, Int variable, Int label, Ints answer) noexcept nogil
cdef void look_ahead(SearchRoom room, Int count, Int most) noexcept nogil
cdef void sort_members(SearchRoom room, Int count) noexcept nogil
cpdef (double, Int) take_gains(
    Graph graph, Entries entries, Ints labels, Gains gains
) noexcept nogil
cdef void offer(
    Graph graph, SearchRoom room, Int depth, Int j, Int label, double value, Bool last
) noexcept nogil
cdef void go_down(
    Graph graph, Entries entries, SearchRoom room, Int depth, Int count, Int label
) noexcept nogil
cdef void search_set(
    Graph graph, Entries entries, Ints gold, Int count, Int most, SearchRoom room, Bool last
) noexcept nogil
cdef Int order_set(
    Graph graph, Floats theta, VariableSets around, Int s, SearchRoom room
) noexcept nogil
cdef void search_all(
    Graph graph, Entries entries, Ints gold, VariableSets around, Int i, SearchRoom room, Bool last
) noexcept nogil
cdef (double, bint) better(
    OutInts answer, double value, Bool doubtful, double tie, Ints offered, double offered_value,
    Bool also,
) noexcept nogil
