from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Graph, Layout, RowGroups, VariableSets
from rote.kernels.inlined cimport added, entry_at, root_of

cdef enum:
    DIFFERENT = -1
    UNKNOWN = 0
    SAME = 1

cdef bint joins(Layout layout, Int f, Ints states, Int sign, Ints gold) noexcept nogil
cpdef bint table_allows(Graph graph, Flags allowed, Int table, Ints gold, Flags inside) noexcept nogil
cpdef bint row_allows(RowGroups rows, Ints offsets, Int row, Ints gold, Flags inside) noexcept nogil
cdef bint set_may_swap(Graph graph, Flags allowed, Ints gold, Flags inside) noexcept nogil
