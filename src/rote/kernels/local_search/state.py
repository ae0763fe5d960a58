"""An output as it stands, and what every label would add to it: its *gain*.

Gains are kept up to date, so that a change costs the tables of its variable. Forbidden entries and
broken rows are counted apart from scores.

Where all variables have two labels and all tables are over two variables and forbid nothing, as in
multi-label classification, a change is passed on by one row of a matrix: with

    w[j, k] = the sum over tables of j and k of  θ(1, 1) - θ(1, 0) - θ(0, 1) + θ(0, 0)

changing j to 1 adds w[j, k] to what 1 instead of 0 is worth to k, and changing it to 0 takes it
away again.

A term that looks at the whole output (F1, Jaccard, zero-one) depends on two counts alone: labels
that are right, and labels that are on. What a change adds to it is the difference of two numbers.
Traits are looked up as `rote.kernels.local_search.global_features` says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.bundles import Graph, Wide
from rote.kernels.jit import inlined, kernel, lean
from rote.kernels.local_search.clusters import Changes, cluster_changes, clusters_worth
from rote.kernels.local_search.global_features import add_tuples, pass_on_tuples, shares_worth
from rote.kernels.neighbourhood.neighbours import (
    Entries,
    Gains,
    change_rows,
    new_entries,
    pass_on,
    take_gains,
)
from rote.kernels.neighbourhood.ranges import add_up
from rote.types import BoolArray, FloatArray, IntArray

NO_TERM, F1, JACCARD, WRONG = 0, 1, 2, 3


class Terrain(NamedTuple):
    """What the climbs of one input go over."""

    graph: Graph
    entries: Entries
    pairs: FloatArray  # the matrix of tables where there is one, and empty elsewhere
    wide: Wide


class Standing(NamedTuple):
    """An output, and what is known of it."""

    labels: IntArray
    gains: Gains
    activity: FloatArray  # per row
    value: FloatArray  # one number: the score
    wrong: IntArray  # forbidden entries; broken rows
    counts: IntArray  # of the term: labels that are right, labels that are on
    having: IntArray  # per label, where there is a histogram: how many variables have it
    clusters: FloatArray  # one number: what their traits are worth
    moves: FloatArray  # per label, where there are clusters: what it would add to their traits
    stale: BoolArray  # per variable: whether its best change has to be looked for
    chosen: IntArray  # per variable: the label of its best change
    lead: FloatArray  # per variable: what that gains
    changes: FloatArray  # per two labels: what the histogram gains by the second for the first


class Extra(NamedTuple):
    """A term, as far as kernels know it."""

    kind: int
    gold: IntArray  # of one input
    on: int  # labels of gold that are not the first


@kernel
def terrain_of(graph: Graph, wide: Wide) -> Terrain:
    """Room for the scores of an input, without a matrix."""
    return Terrain(graph, new_entries(graph), np.empty((0, 0)), wide)


@kernel
def standing_for(graph: Graph, wide: Wide, variables: int) -> Standing:
    """Room for what is known of an output."""
    labels = graph.widest if wide.bins > 0 else 0
    return Standing(
        np.empty(variables, np.int64),
        Gains(np.empty(graph.offsets[-1]), np.empty(graph.offsets[-1], np.int64)),
        np.empty(graph.rows.lower.shape[0]),
        np.empty(1),
        np.empty(2, np.int64),
        np.empty(2, np.int64),
        np.empty(labels, np.int64),
        np.zeros(1),
        np.empty(graph.offsets[-1] if wide.items.values > 0 else 0),
        np.empty(variables, np.bool_),
        np.empty(variables, np.int64),
        np.empty(variables),
        np.empty((labels, labels)),
    )


@inlined
def copy_standing(source: Standing, target: Standing) -> None:
    """Stand where another one stands."""
    target.labels[:] = source.labels
    target.gains.score[:] = source.gains.score
    target.gains.faults[:] = source.gains.faults
    target.activity[:] = source.activity
    target.value[:] = source.value
    target.wrong[:] = source.wrong
    target.counts[:] = source.counts
    target.having[:] = source.having
    target.clusters[:] = source.clusters
    target.moves[:] = source.moves
    target.stale[:] = source.stale
    target.chosen[:] = source.chosen
    target.lead[:] = source.lead


@inlined
def loss_at(extra: Extra, variables: int, right: int, on: int) -> float:
    """What the term says of an output with so many labels right and so many on.

    For zero-one, ``right`` counts all labels, and for the others only those that are on.
    """
    loss = 0.0
    if extra.kind == WRONG:
        loss = 1.0 if right < variables else 0.0
    elif extra.kind == F1:
        both = extra.on + on
        loss = 1.0 - 2.0 * right / both if both > 0 else 0.0
    elif extra.kind == JACCARD:
        both = extra.on + on - right
        loss = 1.0 - right / both if both > 0 else 0.0
    return loss


@inlined
def is_right(extra: Extra, j: int, label: int) -> int:
    """Whether a label counts as right."""
    return int(label == extra.gold[j] and (label > 0 or extra.kind == WRONG))


@kernel
def look_at_moves(terrain: Terrain, at: Standing, one: int, other: int) -> None:
    """What changes add to clusters, worked out again for two of them, or with -1 for all."""
    graph, wide = terrain.graph, terrain.wide
    changes = Changes(at.labels, at.moves, at.stale)
    cluster_changes(wide.items, wide.weights, graph.offsets, changes, one, other)


@lean
def root_of(labels: IntArray, j: int) -> int:
    """The first item of a cluster."""
    while labels[j] > 0:
        j -= labels[j]
    return j


@kernel
def settle(terrain: Terrain, at: Standing) -> None:
    """Find out about clusters."""
    items, weights = terrain.wide.items, terrain.wide.weights
    if items.values > 0:
        at.clusters[0] = clusters_worth(items, weights, at.labels)
        look_at_moves(terrain, at, -1, -1)


@kernel
def stand_at(terrain: Terrain, extra: Extra, at: Standing) -> None:
    """Find out all there is to know of the output whose labels are there."""
    graph, entries, _, wide = terrain
    labels = at.labels
    at.stale[:] = True
    at.value[0], at.wrong[0] = take_gains(graph, entries, labels, at.gains)
    at.value[0] += add_tuples(wide, labels, graph.offsets, at.gains.score)
    if wide.bins > 0:
        at.having[:] = 0
        for j in range(labels.shape[0]):
            at.having[labels[j]] += 1
    settle(terrain, at)
    at.wrong[1] = add_up(graph, labels, at.activity)
    at.counts[:] = 0
    if extra.kind != NO_TERM:
        for j in range(labels.shape[0]):
            at.counts[0] += is_right(extra, j, labels[j])
            at.counts[1] += int(labels[j] > 0)


@lean
def whole_worth(wide: Wide, extra: Extra, at: Standing) -> float:
    """What an output is worth: its score, the term, and what looks at the whole of it."""
    n = at.labels.shape[0]
    known_value: float = (
        at.value[0] + at.clusters[0] + loss_at(extra, n, at.counts[0], at.counts[1])
    )
    if wide.bins > 0:
        known_value += shares_worth(wide, at.having, n)
    return known_value


@lean
def pair_up(graph: Graph, theta: FloatArray, pairs: FloatArray) -> None:
    """The matrix w of tables over two variables with two labels each."""
    tables = graph.tables
    pairs[:] = 0.0
    for b in range(tables.ptr.shape[0] - 1):
        one, other = tables.scope[tables.scope_ptr[b]], tables.scope[tables.scope_ptr[b] + 1]
        e = tables.ptr[b]
        amount = theta[e + 3] - theta[e + 2] - theta[e + 1] + theta[e]
        pairs[one, other] += amount
        pairs[other, one] += amount


@inlined
def change(
    terrain: Terrain, extra: Extra, at: Standing, rank: IntArray, j: int, label: int
) -> None:
    """Give a variable another label. ``rank`` is 1 everywhere, before and after.

    Clusters are left as they were.
    """
    graph, entries, pairs, wide = terrain
    first, last = graph.offsets[j], graph.offsets[j + 1]
    gains, faults, before = at.gains.score, at.gains.faults, at.labels[j]
    gain, fault = gains[first + label], faults[first + label]
    at.value[0] += gain
    at.wrong[0] += fault
    at.wrong[1] += change_rows(graph, j, before, label, at.activity, True)
    if extra.kind != NO_TERM:
        at.counts[0] += is_right(extra, j, label) - is_right(extra, j, before)
        at.counts[1] += int(label > 0) - int(before > 0)
    if wide.bins > 0:
        at.having[before] -= 1
        at.having[label] += 1
    if wide.origin.shape[0] > 0:
        pass_on_tuples(wide, at.labels, graph.offsets, j, label, gains)
    if pairs.shape[0] > 0:
        row, sign = pairs[j], 1.0 if label == 1 else -1.0
        for k in range(row.shape[0]):
            # What the label that k does not have would add; 1 is the second label of all.
            mine = at.labels[k]
            gains[2 * k + 1 - mine] += sign * row[k] * (1 - 2 * mine)
    else:
        rank[j] = 0
        pass_on(graph, entries, at.labels, j, label, rank, at.gains)
        rank[j] = 1
        mark_neighbours(graph, wide, j, at.stale)
    for e in range(first, last):
        gains[e] -= gain
        faults[e] -= fault
    at.labels[j] = label


@inlined
def mark_neighbours(graph: Graph, wide: Wide, j: int, stale: BoolArray) -> None:
    """Say that j and all that share a table or tuple with it have other gains."""
    tables = graph.tables
    stale[j] = True
    for k in range(tables.place_ptr[j], tables.place_ptr[j + 1]):
        b = tables.place_table[tables.places[k]]
        for p in range(tables.scope_ptr[b], tables.scope_ptr[b + 1]):
            stale[tables.scope[p]] = True
    if wide.origin.shape[0] > 0:
        for k in range(wide.of_ptr[j], wide.of_ptr[j + 1]):
            for p in range(wide.ptr[wide.of[k]], wide.ptr[wide.of[k] + 1]):
                stale[wide.variable[p]] = True


@inlined
def count_on(gold: IntArray) -> int:
    """How many labels are not the first."""
    on = 0
    for j in range(gold.shape[0]):
        on += int(gold[j] > 0)
    return on


@kernel
def gains_of(scores: FloatArray, labels: IntArray, graph: Graph) -> FloatArray:
    """What every label of every variable would add to the scores of outputs; rules are left aside.

    Of shape (m, labels).
    """
    m, n = labels.shape
    # Auxiliary variables, which come last, are in no table.
    gains = np.zeros((m, graph.offsets[n]))
    faults, entries = np.empty(graph.offsets[n], np.int64), new_entries(graph)
    entries.forbidden[:] = False
    theta = entries.theta
    source = graph.source
    for i in range(m):
        for e in range(theta.shape[0]):
            theta[e] = 0.0
            for g in range(source.ptr[e], source.ptr[e + 1]):
                theta[e] += scores[i, source.gather[g]]
        take_gains(graph, entries, labels[i], Gains(gains[i], faults))
    return gains
