cimport cython

from rote.kernels.arrays cimport *


@cython.final
cdef class Questions(Bundle):
    cdef readonly Floats2 scores
    cdef readonly Flags2 closed
    cdef readonly Floats ties
    cdef void fit(self, Int parts, Int labels) except *


@cython.final
cdef class Layout(Bundle):
    cdef readonly Ints sizes, offsets, scope_ptr, scope, factor_offsets


@cython.final
cdef class EliminationPlan(Bundle):
    cdef readonly Int parts
    cdef readonly Ints entry_ptr, candidate_ptr, candidate_label, gather_ptr, gather, width
    cdef readonly Ints variable, scope_ptr, scope, strides, roots


@cython.final
cdef class Tables(Bundle):
    cdef readonly Ints scope_ptr, scope, strides, ptr, place_ptr, places, place_table
    cdef readonly Int reach


@cython.final
cdef class RuleTrees(Bundle):
    cdef readonly Ints kind
    cdef readonly Flags is_rule
    cdef readonly Ints lower, upper, ptr, child, coefficient
    cdef readonly Flags allowed
    cdef readonly Int reach


@cython.final
cdef class Masks(Bundle):
    cdef readonly Ints offsets
    cdef readonly Tables tables
    cdef readonly Flags allowed


@cython.final
cdef class Flow(Bundle):
    cdef readonly Floats share
    cdef readonly Flags up, down
    cdef readonly Ints message_ptr
    cdef readonly Int max_marginals


@cython.final
cdef class FoundBy(Bundle):
    cdef readonly Flags allowed
    cdef readonly Ints ptr, gather
    cdef readonly Int reach


@cython.final
cdef class RowGroups(Bundle):
    cdef readonly Floats lower, upper
    cdef readonly Ints ptr, row, variable, start
    cdef readonly Floats least, most
    cdef readonly Ints of_ptr, of, column
    cdef readonly Floats coefficient


@cython.final
cdef class Graph(Bundle):
    cdef readonly Ints sizes, offsets
    cdef readonly Tables tables
    cdef readonly Flow flow
    cdef readonly FoundBy source
    cdef readonly RowGroups rows
    cdef readonly Int widest, trail


@cython.final
cdef class Reduced(Bundle):
    cdef readonly EliminationPlan steps
    cdef readonly Graph graph
    cdef readonly Ints core
    cdef readonly Int variables


@cython.final
cdef class DualRows(Bundle):
    cdef readonly Floats2 messages, multipliers
    cdef void fit(self, Graph graph, Int inputs) except *


@cython.final
cdef class SparseRows(Bundle):
    cdef readonly Ints ptr, column
    cdef readonly Floats coefficient, lower, upper
    cdef readonly Int labels, auxiliary


@cython.final
cdef class TableRuns(Bundle):
    cdef readonly Ints starts, moves
    cdef readonly Flags contiguous, allowed
    cdef readonly Ints gather_ptr, gather
    cdef readonly Int reach


@cython.final
cdef class ChainPlan(Bundle):
    cdef readonly Ints sizes, offsets, low, states, kept, ahead_ptr, direct, table_ptr, table_of
    cdef readonly Ints2 steps
    cdef readonly TableRuns runs
    cdef readonly Ints room


@cython.final
cdef class ForestPlan(Bundle):
    cdef readonly Bool natural
    cdef readonly Ints sizes, offsets, order, parent, depth, root, table, direct, step_parent, step_own
    cdef readonly Ints up_ptr, child_ptr, children
    cdef readonly TableRuns runs
    cdef readonly Ints room


@cython.final
cdef class VariableSets(Bundle):
    cdef readonly Ints begin, end, ptr, members
    cdef readonly Int most
    cdef void fit(self, Int inputs) except *


@cython.final
cdef class Vectors(Bundle):
    cdef readonly Ints ptr, column
    cdef readonly Floats value


@cython.final
cdef class Slots(Bundle):
    cdef readonly Ints vector, origin, stride
    cdef readonly Flags each
    cdef readonly Ints tied, start, column


@cython.final
cdef class Items(Bundle):
    cdef readonly Int origin
    cdef readonly Ints2 attributes
    cdef readonly Ints kind
    cdef readonly Int kinds, values


@cython.final
cdef class GlobalFeatures(Bundle):
    cdef readonly Floats weights
    cdef readonly Ints origin, ptr, variable, stride, of_ptr, of, of_stride
    cdef readonly Int shares, bins
    cdef readonly Items items


cdef Int past_all(Ints indices) noexcept nogil
cdef void fit_duals(
    Floats2 messages, Floats2 multipliers, Graph graph, Int inputs, Int rows
) except *
cdef void fit_outputs(str name, Ints2 labels, Graph graph, Int inputs) except *
