"""Bundles of arrays that travel together through kernels."""

from __future__ import annotations

from typing import NamedTuple

from rote.types import BoolArray, FloatArray, IntArray


class Questions(NamedTuple):
    """What is asked of a batch of inputs that share a space."""

    scores: FloatArray  # (m, parts)
    closed: BoolArray  # (m, labels), or no row at all when every label is open
    ties: FloatArray  # (m,): how close two values are that count as equal


class Layout(NamedTuple):
    """The parts of a space: the labels of its variables, then the label tuples of its factors."""

    sizes: IntArray
    offsets: IntArray
    scope_ptr: IntArray  # per factor
    scope: IntArray
    factor_offsets: IntArray  # per factor: its first part; one more ends the last


class EliminationPlan(NamedTuple):
    """A compiled elimination. Entry e lives at ``parts + e`` of the working memory."""

    parts: int
    entry_ptr: IntArray  # per step
    candidate_ptr: IntArray  # per entry
    candidate_label: IntArray
    gather_ptr: IntArray  # per step
    gather: IntArray
    width: IntArray  # per step: how many positions a candidate adds up
    variable: IntArray  # per step: what it eliminates
    scope_ptr: IntArray
    scope: IntArray
    strides: IntArray
    roots: IntArray  # positions whose sum is the optimum when nothing is left over


class Tables(NamedTuple):
    """Tables over scopes. A *place* is one variable of one scope."""

    scope_ptr: IntArray  # per table
    scope: IntArray  # per place: its variable
    strides: IntArray  # per place
    ptr: IntArray  # per table: its entries, numbered after all labels
    place_ptr: IntArray  # per variable
    places: IntArray
    place_table: IntArray  # per place


class Masks(NamedTuple):
    """What domains and tables allow, and nothing more."""

    offsets: IntArray
    tables: Tables
    allowed: BoolArray  # per entry


class Flow(NamedTuple):
    """How dual ascent runs along the places."""

    share: FloatArray  # per variable: what one table ahead gets in a sweep
    up: BoolArray  # per place: its table has a later variable
    down: BoolArray  # per place: its table has an earlier variable
    message_ptr: IntArray  # per place: messages run label by label
    max_marginals: int  # that one visit of a variable collects


class FoundBy(NamedTuple):
    """Where the scores of entries come from."""

    allowed: BoolArray  # per entry
    ptr: IntArray  # per entry
    gather: IntArray


class RowGroups(NamedTuple):
    """Rows, their columns in groups by variable."""

    lower: FloatArray
    upper: FloatArray
    ptr: IntArray  # per row
    row: IntArray  # per group
    variable: IntArray  # per group
    start: IntArray  # per group: its columns
    least: FloatArray  # per group: the least its variable can add
    most: FloatArray
    of_ptr: IntArray  # per variable
    of: IntArray
    column: IntArray
    coefficient: FloatArray


class Graph(NamedTuple):
    """A network. Entries are numbered: all labels first, then all tables."""

    sizes: IntArray
    offsets: IntArray
    tables: Tables
    flow: Flow
    source: FoundBy
    rows: RowGroups
    widest: int  # labels of a variable
    trail: int  # what labelling every variable once can write to a trail


class Reduced(NamedTuple):
    """A space of which some variables are eliminated first, and the network that is left."""

    steps: EliminationPlan
    graph: Graph
    core: IntArray  # per variable of the graph: which one of the space it is; auxiliary ones follow
    variables: int  # of the space


class DualRows(NamedTuple):
    """A point of the dual of a network: one row per input."""

    messages: FloatArray  # (m, messages), or no row at all
    multipliers: FloatArray  # (m, rows)


class SparseRows(NamedTuple):
    """Linear rows over the labels of a space, and over auxiliary columns behind them."""

    ptr: IntArray  # per row
    column: IntArray
    coefficient: FloatArray
    lower: FloatArray
    upper: FloatArray
    labels: int
    auxiliary: int


class ChainPlan(NamedTuple):
    """A chain: the tables that end at each variable, and the states they need; see `chains`."""

    sizes: IntArray
    offsets: IntArray
    low: IntArray  # per variable, and one more: the first variable of the state before it
    states: IntArray  # per variable: how many states there are before it
    kept: IntArray  # per variable: into how many they fall when those that end here are done
    ahead_ptr: IntArray  # per variable
    direct: IntArray  # per variable: the part from which on all of W_t lies as it is, or -1
    table_ptr: IntArray  # per variable: the tables that end here
    table_of: IntArray
    steps: IntArray  # per table: what the label of the variable d back moves its entry by
    starts: IntArray  # per table: its first entry; one more ends the last
    moves: IntArray  # per table: from an entry to its part, where contiguous
    contiguous: BoolArray  # per table: its scores lie in one run of parts
    allowed: BoolArray  # per entry
    gather_ptr: IntArray  # per entry
    gather: IntArray
    room: IntArray  # the most states, numbers in a W_t, in a table, in a variable


class ForestPlan(NamedTuple):
    """A forest of variables that tables join in pairs; see `trees`.

    All roots hang on one more variable, which comes last and has one label.
    """

    natural: bool  # no child precedes its parent
    sizes: IntArray
    offsets: IntArray
    order: IntArray  # the variables, each after its parent
    parent: IntArray  # the number of variables for a root
    depth: IntArray
    root: IntArray
    table: IntArray  # what joins each variable to its parent, -1 for a root
    step_parent: IntArray  # what a label of the parent moves in this table
    step_own: IntArray
    up_ptr: IntArray  # per variable: one number per label of its parent
    child_ptr: IntArray  # per variable, and last the one above all roots
    children: IntArray
    starts: IntArray  # per table, and so on, as in `ChainPlan`
    moves: IntArray
    contiguous: BoolArray
    allowed: BoolArray  # per entry
    gather_ptr: IntArray  # per entry
    gather: IntArray
    room: IntArray  # the most numbers in a table and in a variable


class VariableSets(NamedTuple):
    """Sets of variables, some for each input, that may differ from a given output together."""

    begin: IntArray  # per input: its first set
    end: IntArray  # per input: past its last set
    ptr: IntArray  # per set
    members: IntArray
    most: int  # variables that differ at once


class Vectors(NamedTuple):
    """Feature vectors, one after the other; vector 0 is the constant one."""

    ptr: IntArray  # per vector
    column: IntArray  # of the vector's index
    value: FloatArray


class Slots(NamedTuple):
    """Which weights and which vector of its input each variable and factor of a space uses.

    The weight of feature k and label a is ``weights[origin + k * stride + column]``, where the
    column of a is mostly a itself. Labels of a tied slot share columns. In a slot with
    ``each``, label a has the vector ``vector + a``, and all labels share one column. Slots of
    traits come last: they have no parts, and their columns are their values.
    """

    vector: IntArray  # per slot: counted from the input's first, or -1 for the constant one
    origin: IntArray  # per slot
    stride: IntArray  # per slot
    each: BoolArray  # per slot
    tied: IntArray  # per slot: where the columns of its labels begin in ``column``, or -1
    start: IntArray  # per slot: its first part; one more ends the last
    column: IntArray  # of the labels of tied slots, each list of them once


class Items(NamedTuple):
    """Items, whose links make clusters, and where the weights of their traits begin."""

    origin: int
    attributes: IntArray  # (items, attributes): values, no two attributes share one; 0: unknown
    kind: IntArray  # per item
    kinds: int
    values: int  # one more than the largest value; 0 without clusters


class Wide(NamedTuple):
    """Scores of traits, as far as kernels know them: of label tuples, label shares and clusters.

    The value of a tuple is Σ stride · label over its places. Of a histogram, every label has a bin.
    """

    weights: FloatArray
    origin: IntArray  # per tuple: the weight of its first value
    ptr: IntArray  # per tuple: its places
    variable: IntArray  # per place
    stride: IntArray  # per place
    of_ptr: IntArray  # per variable: the tuples it is in
    of: IntArray
    of_stride: IntArray  # beside ``of``: the variable's stride there
    shares: int  # the weight of the first label's first bin
    bins: int  # 0 without a histogram
    items: Items
