cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport DualRows, Graph, Questions, Reduced
from rote.kernels.dp.elimination cimport Eliminated
from rote.kernels.dp.runtime_elimination cimport PartRoom, eliminate_part
from rote.kernels.dual.ascent cimport (
    Ascent, apply_duals, begin, bound_of, close_below, complete, row_constant, sweep,
)
from rote.kernels.inlined cimport root_of
from rote.kernels.search.nodes cimport Node, alone, assign, loss, row_loss, start, undo

cdef enum:
    FIRST_NODES = 16
    SWEEPS_IN_ORDER = 8
    ENTRIES_PER_NODE = 32
    MAX_ENTRIES = 1 << 18

@cython.final
cdef class Parts(Bundle):
    cdef Bool made
    cdef OutInts root, part
    cdef Ascent narrowed
    cdef PartRoom elimination
    cpdef void reserve(self, Graph graph) noexcept with gil

cpdef (double, double, double, Int) search(
    Graph graph, Ascent ascent, Node node, double floor, double tie, Int node_limit, Bool in_order,
    OutInts found,
) noexcept nogil
cpdef Int components(Graph graph, Floats theta, OutInts root, OutInts part) noexcept nogil
cpdef (double, double, double, Int) search_parts(
    Graph graph, Ascent ascent, Node node, Parts parts, double value, double tie, Int node_limit,
    OutInts found,
) noexcept nogil
cdef (double, double, double) search_on(
    Graph graph, Ascent ascent, Node node, Parts parts, double floor, double tie, Int node_limit,
    Bool in_order, OutInts found,
) noexcept nogil
