cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport ChainPlan, Layout, Questions, Slots, Vectors
from rote.kernels.constants cimport LARGEST_SCORE
from rote.kernels.dp.chains cimport ChainRoom, label_scores, look_ahead, read_labels
from rote.kernels.inlined cimport tuple_of
from rote.kernels.learning.linear cimport add_rows, columns_of_tied, move, score_input
from rote.kernels.outputs cimport drowns, is_too_coarse, spread_of

cpdef enum:
    RIGHT = 0
    WRONG = 1
    NOTHING = 2

@cython.final
cdef class Average(Bundle):
    cdef readonly OutFloats weights, sums

@cython.final
cdef class Example(Bundle):
    cdef readonly Int first
    cdef readonly Ints toward
    cdef readonly double step, age

@cython.final
cdef class Decisions(Bundle):
    cdef readonly Ints ptr, vector, origin, stride
    cdef readonly Flags each
    cdef readonly Ints width, gold
    cdef readonly Floats sample_weight

cpdef void move_average(
    Average average, Vectors vectors, Slots slots, Example example, Ints away,
) noexcept nogil
cdef Int decide(Floats weights, Vectors vectors, Decisions decisions, Int d, OutFloats scores) noexcept nogil
cdef void learn_label(
    Average average, Vectors vectors, Decisions decisions, Int d, Int label, double step, double seen,
) noexcept nogil

@cython.final
cdef class StepRoom(Bundle):
    cdef readonly ChainRoom chain
    cdef readonly Questions questions
    cdef readonly OutFloats2 scores
    cdef readonly OutFloats sums
    cdef readonly OutInts found, away

cpdef Int chain_step(
    Average average, Vectors vectors, Slots slots, ChainPlan chain, Layout layout, Example example,
    double share, StepRoom room,
) noexcept nogil
