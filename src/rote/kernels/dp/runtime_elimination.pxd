cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Graph

cdef enum:
    MAX_JOINED = 16
    MAX_VARIABLES = 1 << 10

@cython.final
cdef class PartRoom(Bundle):
    cdef Int variables, count, tables, entries
    cdef OutInts local, variable, size, old, order, table_of, chosen, start, joined, used, choice, digit
    cdef OutFloats cost, value, second
    cdef OutFlags left, alive
    cdef OutFlags2 near
    cdef OutInts2 label, scope, stride
    cpdef void reserve(self, Int n, Int count, Int widest, Int tables, Int entries) noexcept with gil

cdef void make_room(PartRoom room, Graph graph, Int count, Int tables, Int entries) noexcept nogil
cpdef double entries_around(Flags2 near, Ints size, Int count, Int v) noexcept nogil
cpdef (bint, double, double) eliminate_part(
    Graph graph, Floats theta, Ints part, Int c, Int max_entries, PartRoom room, OutInts found,
) noexcept nogil
cdef void read_variables(Graph graph, Floats theta, Ints part, Int c, PartRoom room, Ints found) noexcept nogil
cdef (Int, double) read_tables(Graph graph, Floats theta, Int count, Int max_entries, PartRoom room, Ints found) noexcept nogil
cdef bint eliminate_next(Int count, Int step, Int made, Int max_entries, PartRoom room) noexcept nogil
