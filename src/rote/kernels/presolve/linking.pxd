from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Flow, FoundBy, Graph, RowGroups, SparseRows, Tables

cdef void group_by(Ints owner, OutInts ptr, OutInts owned) noexcept nogil
cpdef RowGroups grouped_rows(Ints sizes, Ints offsets, SparseRows rows)
cpdef Graph linked(
    Ints sizes, Ints offsets, Ints scope_ptr, Ints scope, Ints strides, Ints table_ptr,
    FoundBy source, SparseRows rows,
)
