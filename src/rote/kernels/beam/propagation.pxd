cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.beam.beam cimport BeamPlan, Nodes, Search, expand, keep_best, take
from rote.kernels.bundles cimport Graph
from rote.kernels.inlined cimport is_broken, weight_at

@cython.final
cdef class Domains(Bundle):
    cdef readonly OutFlags2 open
    cdef readonly OutFlags seen, table_due, row_due

cdef void make_due(Graph graph, Domains domains, Int j) noexcept nogil
cdef void find_supported(Graph graph, Domains domains, Int node, Int b) noexcept nogil
cpdef Int close_in_table(Graph graph, Domains domains, Int node, Int b) noexcept nogil
cdef (double, double) extremes(Graph graph, Domains domains, Int node, Int g) noexcept nogil
cpdef Int close_in_row(Graph graph, Domains domains, Int node, Int r) noexcept nogil
cpdef bint make_consistent(Graph graph, Domains domains, Int node, Int changed) noexcept nogil
cdef bint give_label(
    Graph graph, Domains before, Int node, Domains after, Int to, Int j, Int label,
) noexcept nogil
cdef Int step_consistently(
    Search search, Graph graph, Domains before, Domains after, Int i, Int t, Int size,
) noexcept nogil
