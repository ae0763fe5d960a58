"""Bundles of arrays that travel together through kernels."""

from __future__ import annotations

import cython
import numpy as np

from rote.types import AnyArray

if not cython.compiled:
    from rote.kernels.arrays import *


def past_all(indices: Ints) -> int:
    """One more than the largest index."""
    largest = -1
    for k in range(indices.shape[0]):
        largest = max(largest, indices[k])
    return largest + 1


def fit_duals(
    messages: Floats2, multipliers: Floats2, graph: Graph, inputs: Int, rows: Int
) -> None:
    """Refuse arrays of duals of another number of inputs, messages or linear rows."""
    last = graph.flow.message_ptr.shape[0] - 1
    expect("messages", "rows", inputs, messages.shape[0])
    expect("messages", "columns", graph.flow.message_ptr[last], messages.shape[1])
    expect("multipliers", "rows", inputs, multipliers.shape[0])
    expect("multipliers", "columns", rows, multipliers.shape[1])


def fit_outputs(name: str, labels: Ints2, graph: Graph, inputs: Int) -> None:
    """Refuse outputs of another number of inputs, or of fewer variables than tables join."""
    expect(name, "rows", inputs, labels.shape[0])
    expect_least(name, "columns", graph.tables.reach, labels.shape[1])


class Questions(Bundle):
    """What is asked of a batch of inputs that share a space."""

    def __init__(
        self,
        scores: Floats2,  # (m, parts)
        closed: Flags2,  # (m, labels), or no row at all when every label is open
        ties: Floats,  # (m,): how close two values are that count as equal
    ) -> None:
        expect("ties", "entries", scores.shape[0], ties.shape[0])
        if closed.shape[0] > 0:
            expect("closed", "rows", scores.shape[0], closed.shape[0])
            expect_least("scores", "columns", closed.shape[1], scores.shape[1])
        self.scores = scores
        self.closed = closed
        self.ties = ties

    def fit(self, parts: Int, labels: Int) -> None:
        """Refuse scores of fewer parts, or closed flags of fewer labels, than a plan speaks of."""
        expect_least("scores", "columns", max(parts, labels), self.scores.shape[1])
        if self.closed.shape[0] > 0:
            expect_least("closed", "columns", labels, self.closed.shape[1])


class Layout(Bundle):
    """The parts of a space: the labels of its variables, then the label tuples of its factors."""

    def __init__(
        self,
        sizes: Ints,
        offsets: Ints,
        scope_ptr: Ints,  # per factor
        scope: Ints,
        factor_offsets: Ints,  # per factor: its first part; one more ends the last
    ) -> None:
        self.sizes = sizes
        self.offsets = offsets
        self.scope_ptr = scope_ptr
        self.scope = scope
        self.factor_offsets = factor_offsets


class EliminationPlan(Bundle):
    """A compiled elimination. Entry e lives at ``parts + e`` of the working memory."""

    def __init__(
        self,
        parts: Int,
        entry_ptr: Ints,  # per step
        candidate_ptr: Ints,  # per entry
        candidate_label: Ints,
        gather_ptr: Ints,  # per step
        gather: Ints,
        width: Ints,  # per step: how many positions a candidate adds up
        variable: Ints,  # per step: what it eliminates
        scope_ptr: Ints,
        scope: Ints,
        strides: Ints,
        roots: Ints,  # positions whose sum is the optimum when nothing is left over
    ) -> None:
        self.parts = parts
        self.entry_ptr = entry_ptr
        self.candidate_ptr = candidate_ptr
        self.candidate_label = candidate_label
        self.gather_ptr = gather_ptr
        self.gather = gather
        self.width = width
        self.variable = variable
        self.scope_ptr = scope_ptr
        self.scope = scope
        self.strides = strides
        self.roots = roots


class Tables(Bundle):
    """Tables over scopes. A *place* is one variable of one scope."""

    def __init__(
        self,
        scope_ptr: Ints,  # per table
        scope: Ints,  # per place: its variable
        strides: Ints,  # per place
        ptr: Ints,  # per table: its entries, numbered after all labels
        place_ptr: Ints,  # per variable
        places: Ints,
        place_table: Ints,  # per place
    ) -> None:
        self.scope_ptr = scope_ptr
        self.scope = scope
        self.strides = strides
        self.ptr = ptr
        self.place_ptr = place_ptr
        self.places = places
        self.place_table = place_table
        self.reach = past_all(scope)  # the variables that outputs must have


class RuleTrees(Bundle):
    """Rules as they were written, part by part: what is inside a part comes before it.

    A part is a label of a variable (``labels[child] == lower``), a sum of parts between two
    numbers, or a table over variables that begins at ``lower``.
    """

    def __init__(
        self,
        kind: Ints,  # per part: LABEL, SUM or TABLE
        is_rule: Flags,  # per part: it is inside no other one
        lower: Ints,
        upper: Ints,
        ptr: Ints,  # per part; one more ends the last
        child: Ints,  # a part, or a variable
        coefficient: Ints,
        allowed: Flags,  # tables one after the other
        reach: Int,  # one more than the last variable
    ) -> None:
        self.kind = kind
        self.is_rule = is_rule
        self.lower = lower
        self.upper = upper
        self.ptr = ptr
        self.child = child
        self.coefficient = coefficient
        self.allowed = allowed
        self.reach = reach


class Masks(Bundle):
    """What domains and tables allow, and nothing more."""

    def __init__(
        self,
        offsets: Ints,
        tables: Tables,
        allowed: Flags,  # per entry
    ) -> None:
        self.offsets = offsets
        self.tables = tables
        self.allowed = allowed


class Flow(Bundle):
    """How dual ascent runs along the places."""

    def __init__(
        self,
        share: Floats,  # per variable: what one table ahead gets in a sweep
        up: Flags,  # per place: its table has a later variable
        down: Flags,  # per place: its table has an earlier variable
        message_ptr: Ints,  # per place: messages run label by label
        max_marginals: Int,  # that one visit of a variable collects
    ) -> None:
        self.share = share
        self.up = up
        self.down = down
        self.message_ptr = message_ptr
        self.max_marginals = max_marginals


class FoundBy(Bundle):
    """Where the scores of entries come from."""

    def __init__(
        self,
        allowed: Flags,  # per entry
        ptr: Ints,  # per entry
        gather: Ints,
    ) -> None:
        self.allowed = allowed
        self.ptr = ptr
        self.gather = gather
        self.reach = past_all(gather)  # the parts that scores must have


class RowGroups(Bundle):
    """Rows, their columns in groups by variable."""

    def __init__(
        self,
        lower: Floats,
        upper: Floats,
        ptr: Ints,  # per row
        row: Ints,  # per group
        variable: Ints,  # per group
        start: Ints,  # per group: its columns
        least: Floats,  # per group: the least its variable can add
        most: Floats,
        of_ptr: Ints,  # per variable
        of: Ints,
        column: Ints,
        coefficient: Floats,
    ) -> None:
        self.lower = lower
        self.upper = upper
        self.ptr = ptr
        self.row = row
        self.variable = variable
        self.start = start
        self.least = least
        self.most = most
        self.of_ptr = of_ptr
        self.of = of
        self.column = column
        self.coefficient = coefficient


class Graph(Bundle):
    """A network. Entries are numbered: all labels first, then all tables."""

    def __init__(
        self,
        sizes: Ints,
        offsets: Ints,
        tables: Tables,
        flow: Flow,
        source: FoundBy,
        rows: RowGroups,
        widest: Int,  # labels of a variable
        trail: Int,  # what labelling every variable once can write to a trail
    ) -> None:
        self.sizes = sizes
        self.offsets = offsets
        self.tables = tables
        self.flow = flow
        self.source = source
        self.rows = rows
        self.widest = widest
        self.trail = trail


class Reduced(Bundle):
    """A space of which some variables are eliminated first, and the network that is left."""

    def __init__(
        self,
        steps: EliminationPlan,
        graph: Graph,
        core: Ints,  # per variable of the graph: which one of the space it is, auxiliary ones last
        variables: Int,  # of the space
    ) -> None:
        self.steps = steps
        self.graph = graph
        self.core = core
        self.variables = variables


class DualRows(Bundle):
    """A point of the dual of a network: one row per input."""

    def __init__(
        self,
        messages: Floats2,  # (m, messages), or no row at all
        multipliers: Floats2,  # (m, rows)
    ) -> None:
        self.messages = messages
        self.multipliers = multipliers

    def fit(self, graph: Graph, inputs: Int) -> None:
        """Refuse duals of another network or number of inputs, where there are any."""
        if self.messages.shape[0] > 0:
            fit_duals(self.messages, self.multipliers, graph, inputs, graph.rows.lower.shape[0])


class SparseRows(Bundle):
    """Linear rows over the labels of a space, and over auxiliary columns behind them."""

    def __init__(
        self,
        ptr: Ints,  # per row
        column: Ints,
        coefficient: Floats,
        lower: Floats,
        upper: Floats,
        labels: Int,
        auxiliary: Int,
    ) -> None:
        self.ptr = ptr
        self.column = column
        self.coefficient = coefficient
        self.lower = lower
        self.upper = upper
        self.labels = labels
        self.auxiliary = auxiliary


class TableRuns(Bundle):
    """Where the entries of tables find their scores."""

    def __init__(
        self,
        starts: Ints,  # per table: its first entry; one more ends the last
        moves: Ints,  # per table: from an entry to its part, where contiguous
        contiguous: Flags,  # per table: its scores lie in one run of parts
        allowed: Flags,  # per entry
        gather_ptr: Ints,  # per entry
        gather: Ints,
    ) -> None:
        self.starts = starts
        self.moves = moves
        self.contiguous = contiguous
        self.allowed = allowed
        self.gather_ptr = gather_ptr
        self.gather = gather
        self.reach = past_all(gather)


class ChainPlan(Bundle):
    """A chain: the tables that end at each variable, and the states they need; see `chains`."""

    def __init__(
        self,
        sizes: Ints,
        offsets: Ints,
        low: Ints,  # per variable, and one more: the first variable of the state before it
        states: Ints,  # per variable: how many states there are before it
        kept: Ints,  # per variable: into how many they fall when those that end here are done
        ahead_ptr: Ints,  # per variable
        direct: Ints,  # per variable: the part from which on all of W_t lies as it is, or -1
        table_ptr: Ints,  # per variable: the tables that end here
        table_of: Ints,
        steps: Ints2,  # per table: what the label of the variable d back moves its entry by
        runs: TableRuns,
        room: Ints,  # the most states, numbers in a W_t, in a table, in a variable
    ) -> None:
        self.sizes = sizes
        self.offsets = offsets
        self.low = low
        self.states = states
        self.kept = kept
        self.ahead_ptr = ahead_ptr
        self.direct = direct
        self.table_ptr = table_ptr
        self.table_of = table_of
        self.steps = steps
        self.runs = runs
        self.room = room


class ForestPlan(Bundle):
    """A forest of variables that tables join in pairs; see `trees`.

    All roots hang on one more variable, which comes last and has one label.
    """

    def __init__(
        self,
        natural: Bool,  # no child precedes its parent
        sizes: Ints,
        offsets: Ints,
        order: Ints,  # the variables, each after its parent
        parent: Ints,  # the number of variables for a root
        depth: Ints,
        root: Ints,
        table: Ints,  # what joins each variable to its parent, -1 for a root
        direct: Ints,  # its first part, where parts are its entries, all allowed; otherwise -1
        step_parent: Ints,  # what a label of the parent moves in this table
        step_own: Ints,
        up_ptr: Ints,  # per variable: one number per label of its parent
        child_ptr: Ints,  # per variable, and last the one above all roots
        children: Ints,
        runs: TableRuns,
        room: Ints,  # the most numbers in a table and in a variable
    ) -> None:
        self.natural = natural
        self.sizes = sizes
        self.offsets = offsets
        self.order = order
        self.parent = parent
        self.depth = depth
        self.root = root
        self.table = table
        self.direct = direct
        self.step_parent = step_parent
        self.step_own = step_own
        self.up_ptr = up_ptr
        self.child_ptr = child_ptr
        self.children = children
        self.runs = runs
        self.room = room


class VariableSets(Bundle):
    """Sets of variables, some for each input, that may differ from a given output together."""

    def __init__(
        self,
        begin: Ints,  # per input: its first set
        end: Ints,  # per input: past its last set
        ptr: Ints,  # per set
        members: Ints,
        most: Int,  # variables that differ at once
    ) -> None:
        self.begin = begin
        self.end = end
        self.ptr = ptr
        self.members = members
        self.most = most

    def fit(self, inputs: Int) -> None:
        """Refuse sets of another number of inputs."""
        expect("begin", "entries", inputs, self.begin.shape[0])
        expect("end", "entries", inputs, self.end.shape[0])


class Vectors(Bundle):
    """Feature vectors, one after the other; vector 0 is the constant one."""

    def __init__(
        self,
        ptr: Ints,  # per vector
        column: Ints,  # of the vector's index
        value: Floats,
    ) -> None:
        self.ptr = ptr
        self.column = column
        self.value = value

    def __reduce__(self) -> tuple[type, tuple[AnyArray, ...]]:
        return Vectors, (
            np.asarray(self.ptr),
            np.asarray(self.column),
            np.asarray(self.value),
        )


class Slots(Bundle):
    """Which weights and which vector of its input each variable and factor of a space uses.

    The weight of feature k and label a is ``weights[origin + k * stride + column]``, where the
    column of a is mostly a itself. Labels of a tied slot share columns. In a slot with
    ``each``, label a has the vector ``vector + a``, and all labels share one column. Slots of
    global features come last: they have no parts, and their columns are their values.
    """

    def __init__(
        self,
        vector: Ints,  # per slot: counted from the input's first, or -1 for the constant one
        origin: Ints,  # per slot
        stride: Ints,  # per slot
        each: Flags,  # per slot
        tied: Ints,  # per slot: where the columns of its labels begin in ``column``, or -1
        start: Ints,  # per slot: its first part; one more ends the last
        column: Ints,  # of the labels of tied slots, each list of them once
    ) -> None:
        self.vector = vector
        self.origin = origin
        self.stride = stride
        self.each = each
        self.tied = tied
        self.start = start
        self.column = column

    def __reduce__(self) -> tuple[type, tuple[AnyArray, ...]]:
        return Slots, (
            np.asarray(self.vector),
            np.asarray(self.origin),
            np.asarray(self.stride),
            np.asarray(self.each),
            np.asarray(self.tied),
            np.asarray(self.start),
            np.asarray(self.column),
        )


class Items(Bundle):
    """Items, whose links make clusters, and where the weights of their features begin."""

    def __init__(
        self,
        origin: Int,
        attributes: Ints2,  # (items, attributes): values, no two attributes share one; 0: unknown
        kind: Ints,  # per item
        kinds: Int,
        values: Int,  # one more than the largest value; 0 without clusters
    ) -> None:
        self.origin = origin
        self.attributes = attributes
        self.kind = kind
        self.kinds = kinds
        self.values = values


class GlobalFeatures(Bundle):
    """Weights of the global features that kernels know: of label tuples, label shares and clusters.

    The value of a tuple is Σ stride · label over its places. Of a histogram, every label has a bin.
    """

    def __init__(
        self,
        weights: Floats,
        origin: Ints,  # per tuple: the weight of its first value
        ptr: Ints,  # per tuple: its places
        variable: Ints,  # per place
        stride: Ints,  # per place
        of_ptr: Ints,  # per variable: the tuples it is in
        of: Ints,
        of_stride: Ints,  # beside ``of``: the variable's stride there
        shares: Int,  # the weight of the first label's first bin
        bins: Int,  # 0 without a histogram
        items: Items,
    ) -> None:
        self.weights = weights
        self.origin = origin
        self.ptr = ptr
        self.variable = variable
        self.stride = stride
        self.of_ptr = of_ptr
        self.of = of
        self.of_stride = of_stride
        self.shares = shares
        self.bins = bins
        self.items = items
