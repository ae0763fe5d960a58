"""Bundles of arrays that travel together through kernels."""

from __future__ import annotations

from typing import NamedTuple

from rote.types import BoolArray, FloatArray, IntArray


class Steps(NamedTuple):
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


class Graph(NamedTuple):
    """A network: labels, tables over places of scopes, rows in groups by variable.

    Entries are numbered labels first, tables after (``table_ptr``). A *place* is one
    variable of one scope; messages run label by label along the places.
    """

    sizes: IntArray
    offsets: IntArray
    scope_ptr: IntArray  # per table
    scope: IntArray  # per place: its variable
    strides: IntArray  # per place
    table_ptr: IntArray
    place_ptr: IntArray  # per variable
    places: IntArray
    place_table: IntArray  # per place
    message_ptr: IntArray  # per place
    allowed: BoolArray  # per entry
    gather_ptr: IntArray  # per entry
    gather: IntArray
    row_lower: FloatArray
    row_upper: FloatArray
    group_ptr: IntArray  # per row
    group_row: IntArray  # per group: one variable inside one row
    group_variable: IntArray
    group_start: IntArray  # per group: its columns
    group_least: FloatArray
    group_most: FloatArray
    variable_group_ptr: IntArray  # per variable
    variable_groups: IntArray
    column: IntArray
    coefficient: FloatArray
