cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Graph, Questions, Reduced
from rote.kernels.dp.elimination cimport Eliminated
from rote.kernels.dp.runtime_elimination cimport eliminate_part
from rote.kernels.dual.ascent cimport (
    Ascent, begin, bound_of, complete, marginalise, shift, sweep,
)
from rote.kernels.search.branch cimport Parts, components, search_parts
from rote.kernels.search.nodes cimport Node

cdef enum:
    ROUNDS = 4
    SWEEPS = 2
    MOVES = 3
    FIRST_NODES = 16
    ENTRIES = 1 << 13

@cython.final
cdef class Incumbent(Bundle):
    cdef readonly OutFloats losses, gain
    cdef readonly OutInts trial, found

cpdef double value_of(Graph graph, Floats theta, Ints labels) noexcept nogil
cpdef bint single_changes(Graph graph, Floats theta, Incumbent room, Bool decoding) noexcept nogil
cpdef double consider(Graph graph, Floats theta, Incumbent room, double value) noexcept nogil
cpdef void collect(Graph graph, Ascent ascent, OutFloats losses) noexcept nogil
cdef void hold(Graph graph, OutFloats theta, Parts parts, Int c, Ints found) noexcept nogil
cdef (double, double, double) restart(
    Graph graph, Ascent ascent, Node node, Parts parts, Incumbent room, double value, double tie,
    Int node_limit,
) noexcept nogil
