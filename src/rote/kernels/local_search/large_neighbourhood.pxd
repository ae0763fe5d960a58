cimport cython

from rote.kernels.arrays cimport *
from rote.kernels.bundles cimport Questions, Reduced
from rote.kernels.constants cimport GOLDEN, WORD
from rote.kernels.dp.elimination cimport Eliminated
from rote.kernels.dp.runtime_elimination cimport PartRoom, eliminate_part
from rote.kernels.dual.ascent cimport begin, complete
from rote.kernels.inlined cimport below, mixed

cdef enum:
    MOST_ENTRIES = 1 << 14
    MOST_FREE = 1 << 8
    MOST_TABLES = 64

@cython.final
cdef class Joined(Bundle):
    cdef readonly Ints ptr, other

@cython.final
cdef class Climber(Bundle):
    cdef Word state
    cdef public double size
    cdef public Int idle
    cdef OutInts part, border

cdef void free_some(Climber climber, Joined joined, Int size, bint is_tree) noexcept nogil
