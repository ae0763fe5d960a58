cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport DualRows, Graph, Questions, Reduced, past_all
from rote.kernels.constants cimport LARGE
from rote.kernels.dp.elimination cimport Eliminated
from rote.kernels.dual.ascent cimport (
    Ascent, apply_duals, begin, complete, find_tops, marginalise, row_constant, sweep,
)
from rote.kernels.inlined cimport entry_at
from rote.kernels.search.nodes cimport row_loss

cdef enum:
    PROBE_SWEEPS = 5

@cython.final
cdef class Aim(Bundle):
    cdef public double rest, floor, tie, epsilon
    cdef public Int sweeps

@cython.final
cdef class Proof(Bundle):
    cdef public double bound, value, runner, shut
    cdef public Int sweeps

@cython.final
cdef class CertificateRoom(Bundle):
    cdef readonly OutFloats marginals, losses
    cdef readonly OutInts trial, chosen
    cdef readonly Ascent case
    cdef readonly Aim aim, case_aim
    cdef readonly Proof proof, case_proof

cpdef double gap_of(Graph graph, Ascent ascent, Ints labels) noexcept nogil
cpdef void find_losses(Graph graph, Ascent ascent, CertificateRoom room) noexcept nogil
cpdef void decode(Graph graph, Floats theta, Floats marginals, OutInts labels) noexcept nogil
cpdef double lead_of(Graph graph, Floats losses, Ints labels) noexcept nogil
cpdef double close_losers(Floats losses, double room, OutFloats theta) noexcept nogil
cpdef void settle(
    Graph graph, Ascent ascent, CertificateRoom room, OutInts chosen, Bool known, Aim aim, Proof proof,
) noexcept nogil
cdef void suppose(Graph graph, Ascent ascent, Ascent case, Int j, Int label) noexcept nogil
cpdef (double, double) probe(
    Graph graph, Ascent ascent, CertificateRoom room, OutInts chosen, Int failures,
) noexcept nogil
cdef double largest_move(DualRows duals, Int row, Floats coefficients) noexcept nogil
cdef bint take_output(Reduced reduced, Ints2 initials, Int i, OutInts chosen) noexcept nogil
