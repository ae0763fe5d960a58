from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport DualRows, Graph, Questions, SparseRows, fit_duals

cdef double dual_bound(
    Questions questions, Int i, DualRows duals, Graph graph, SparseRows rows, Int own, OutFloats column,
) noexcept nogil
cdef bint is_open(Questions questions, Int i, Graph graph, Int e) noexcept nogil
