cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Graph, Questions, VariableSets, fit_outputs
from rote.kernels.dp.trees cimport best_across
from rote.kernels.dual.ascent cimport load
from rote.kernels.inlined cimport entry_at, is_scored
from rote.kernels.neighbourhood.neighbours cimport better
from rote.kernels.neighbourhood.ranges cimport (
    Ranges, add_up, close_labels, prune, reopen, settle,
)
from rote.kernels.outputs cimport read_scores

cdef enum:
    SURE = 0
    DOUBTFUL = 1
    NONE = 2
    OPEN = 3

@cython.final
cdef class Forest(Bundle):
    cdef readonly OutInts rank, order, parent, edge_ptr, labels
    cdef readonly OutFloats belief, edges, theta, message, bound, first, activity
    cdef readonly OutFlags checks
    cdef readonly Ranges ranges

cdef (Int, Int) reach(Graph graph, Forest forest, Int table, Int j) noexcept nogil
cdef bint is_last(Graph graph, Forest forest, Int table, Int j) noexcept nogil
cdef Int put_below(Forest forest, Int j, Int parent, Int count) noexcept nogil
cpdef bint plant(Graph graph, Ints members, Forest forest) noexcept nogil
cdef (double, Int) worth_of(Graph graph, Floats theta, Ints labels) noexcept nogil
cdef Int width_above(Graph graph, Forest forest, Int child) noexcept nogil
cpdef (double, Int) collect(Graph graph, Ints gold, Forest forest, Int child) noexcept nogil
cdef (Int, double) next_label(
    Graph graph, Forest forest, Int child, Int above, Int last
) noexcept nogil
cdef bint passes(Graph graph, Forest forest, Int child) noexcept nogil
cdef (Int, double) descend(
    Graph graph, Forest forest, Int count, double top, double floor, double tie, Int nodes,
    OutInts answer,
) noexcept nogil
cdef (double, double, Int) pass_up(
    Graph graph, Ints gold, Forest forest, Ints members
) noexcept nogil
cdef Int open_set(
    Graph graph, Ints gold, Forest forest, Ints members, Int number
) noexcept nogil
cdef Int most_edges(Graph graph, VariableSets around) noexcept nogil
