cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Flow, FoundBy, Graph, Questions, RowGroups, Tables
from rote.kernels.dual.ascent cimport Ascent, apply_duals, close_below, load, sweep
from rote.kernels.inlined cimport largest_size
from rote.kernels.search.branch cimport Parts, search, search_parts
from rote.kernels.search.nodes cimport Node

cdef enum:
    SWEEPS = 8
    ROUNDS = 2
    MAX_SWEEPS = 64
    FIRST_NODES = 16
    NODES_IN_ORDER = 1 << 10
    MAX_MESSAGE = 100

@cython.final
cdef class PairNetwork(Bundle):
    cdef readonly Graph graph
    cdef readonly Floats theta
    cdef readonly OutFloats entries, messages, losses, own, guess, sent
    cdef readonly OutFlags opened
    cdef readonly OutInts found, trial, variable, label, number, only
    cdef public double value, bound
    cdef public bint given

@cython.final
cdef class SmallNetwork(Bundle):
    cdef readonly PairNetwork net
    cdef OutInts sizes, offsets, place_ptr, scope, strides, places, ptr, message_ptr
    cdef OutInts scope_ptr, place_table, zeros
    cdef OutFloats share
    cdef OutFlags up, down
    cdef void cut(self, Int n, Int blocks) noexcept nogil

@cython.final
cdef class SearchRoom(Bundle):
    cdef Ascent ascent
    cdef Node node
    cdef Parts parts
    cpdef void reserve(self, Graph graph) noexcept with gil

@cython.final
cdef class TrwsRoom(Bundle):
    cdef PairNetwork whole
    cdef Int made
    cdef SmallNetwork even, odd
    cdef SearchRoom search
    cpdef void reserve(self) noexcept with gil

cpdef double pass_messages(PairNetwork net, Bool backward) noexcept nogil
cpdef double value_of(PairNetwork net, Ints labels) noexcept nogil
cpdef void improve(PairNetwork net, Int rounds) noexcept nogil
cdef void take(PairNetwork net) noexcept nogil
cdef bint is_found(PairNetwork net) noexcept nogil
cpdef double decode(PairNetwork net) noexcept nogil
cpdef Int close_losses(PairNetwork net, double room) noexcept nogil
cpdef Int narrow(PairNetwork net, double tie) noexcept nogil
cpdef void compact(PairNetwork net, SmallNetwork to, OutInts labels) noexcept nogil
cdef void lay_out(SmallNetwork to, Int n, Int blocks) noexcept nogil
cdef bint finish(PairNetwork net, SearchRoom room, double tie, Int node_limit) noexcept nogil
cdef void begin(Questions questions, Int i, PairNetwork net, Bool plain, Floats2 start, Ints2 incumbents) noexcept nogil
cdef (Int, bint) settle(TrwsRoom room, double tie, Int node_limit, OutInts labels) noexcept nogil
cdef void write(PairNetwork net, Ints offsets, Bool settled, OutInts labels, OutFlags opened) noexcept nogil
