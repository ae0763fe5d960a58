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

import cython
import numpy as np

from rote.types import FloatArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import GlobalFeatures, Graph
    from rote.kernels.constants import F1, JACCARD, NO_TERM, WRONG
    from rote.kernels.inlined import change_rows
    from rote.kernels.local_search.clusters import Clusters, look_at_moves
    from rote.kernels.local_search.global_features import (
        add_tuples,
        pass_on_tuples,
        shares_worth,
    )
    from rote.kernels.neighbourhood.neighbours import (
        Entries,
        Gains,
        new_entries,
        pass_on,
        take_gains,
    )
    from rote.kernels.neighbourhood.ranges import add_up


class Landscape(Bundle):
    """What the climbs of one input go over."""

    def __init__(
        self, graph: Graph, entries: Entries, features: GlobalFeatures, variables: Int, paired: Int
    ) -> None:
        self.graph = graph
        self.entries = entries
        self.features = features
        self.pairs = floats2(paired, paired)  # the matrix of tables where there is one, or empty
        self.rank = ints(variables)  # 1 everywhere
        fill(self.rank, 1)


class SearchState(Bundle):
    """An output, and what is known of it."""

    def __init__(self, graph: Graph, features: GlobalFeatures, variables: Int) -> None:
        size = graph.offsets[graph.sizes.shape[0]]
        shared = graph.widest if features.bins > 0 else 0
        linked: Int = size if features.items.values > 0 else 0
        places = ints(2 * variables + shared)
        self.labels = places[:variables]
        self.chosen = places[variables : 2 * variables]  # per variable: its best change
        # Per label, where there is a histogram: how many variables have it; and per two labels,
        # what the histogram gains by the second for the first.
        self.having = places[2 * variables :]
        self.changes = floats2(shared, shared)
        self.gains = Gains(size)
        self.activity = floats(graph.rows.lower.shape[0])  # per row
        self.stale = flags(variables)  # whether the best change has to be looked for
        self.lead = floats(variables)  # per variable: what its best change gains
        items = variables if linked > 0 else 0
        self.clusters = Clusters(
            self.labels[:items], self.stale[:items], linked, features.items.values
        )
        self.value = 0.0  # the score
        self.faults = 0  # forbidden entries
        self.broken = 0  # rows
        self.right = 0  # labels, as the term counts them
        self.on = 0  # labels that are not the first


class Extra(Bundle):
    """A term, as far as kernels know it."""

    def __init__(
        self,
        kind: Int,
        gold: Ints,  # of one input
    ) -> None:
        self.kind = kind
        self.gold = gold
        self.on = 0
        look_for(self, gold)


def look_for(extra: Extra, gold: Ints) -> None:
    """Compare with the gold output of another input."""
    extra.gold = gold
    extra.on = 0  # labels of gold that are not the first
    for j in range(gold.shape[0]):
        extra.on += is_on(gold[j])


def copy_state(source: SearchState, target: SearchState) -> None:
    """Stand where another one stands."""
    copy_into(target.labels, source.labels)
    copy_into(target.gains.score, source.gains.score)
    copy_into(target.gains.faults, source.gains.faults)
    copy_into(target.activity, source.activity)
    copy_into(target.having, source.having)
    copy_into(target.clusters.added, source.clusters.added)
    copy_into(target.stale, source.stale)
    copy_into(target.chosen, source.chosen)
    copy_into(target.lead, source.lead)
    target.clusters.worth = source.clusters.worth
    target.value = source.value
    target.faults = source.faults
    target.broken = source.broken
    target.right = source.right
    target.on = source.on


def loss_at(extra: Extra, variables: Int, right: Int, on: Int) -> float:
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
        loss = 1.0 - (1.0 * right) / both if both > 0 else 0.0
    return loss


def is_right(extra: Extra, j: Int, label: Int) -> int:
    """1 where a label counts as right, and 0 elsewhere."""
    return 1 if label == extra.gold[j] and (label > 0 or extra.kind == WRONG) else 0


def is_on(label: Int) -> int:
    """1 for a label that is not the first, and 0 for the first."""
    return 1 if label > 0 else 0


def settle(landscape: Landscape, at: SearchState) -> None:
    """Find out about clusters."""
    if landscape.features.items.values > 0:
        at.clusters.worth = look_at_moves(
            landscape.features, landscape.graph.offsets, at.clusters, -1, -1
        )


def stand_at(landscape: Landscape, extra: Extra, at: SearchState) -> None:
    """Find out all there is to know of the output whose labels are there."""
    fill(at.stale, True)
    at.value, at.faults = take_gains(landscape.graph, landscape.entries, at.labels, at.gains)
    at.value += add_tuples(landscape.features, at.labels, landscape.graph.offsets, at.gains.score)
    if landscape.features.bins > 0:
        fill(at.having, 0)
        for j in range(at.labels.shape[0]):
            at.having[at.labels[j]] += 1
    settle(landscape, at)
    at.broken = add_up(landscape.graph, at.labels, at.activity)
    at.right = 0
    at.on = 0
    if extra.kind != NO_TERM:
        for j in range(at.labels.shape[0]):
            at.right += is_right(extra, j, at.labels[j])
            at.on += is_on(at.labels[j])


def whole_worth(features: GlobalFeatures, extra: Extra, at: SearchState) -> float:
    """What an output is worth: its score, the term, and what looks at the whole of it."""
    n = at.labels.shape[0]
    value = at.value + at.clusters.worth + loss_at(extra, n, at.right, at.on)
    if features.bins > 0:
        value += shares_worth(features, at.having, n)
    return value


def pair_up(graph: Graph, theta: Floats, pairs: OutFloats2) -> None:
    """The matrix w of tables over two variables with two labels each."""
    for j in range(pairs.shape[0]):
        fill(pairs[j], 0.0)
    for b in range(graph.tables.ptr.shape[0] - 1):
        k = graph.tables.scope_ptr[b]
        one, other = graph.tables.scope[k], graph.tables.scope[k + 1]
        e = graph.tables.ptr[b]
        amount = theta[e + 3] - theta[e + 2] - theta[e + 1] + theta[e]
        pairs[one, other] += amount
        pairs[other, one] += amount


def change(landscape: Landscape, extra: Extra, at: SearchState, j: Int, label: Int) -> None:
    """Give a variable another label. Clusters are left as they were."""
    first, last = landscape.graph.offsets[j], landscape.graph.offsets[j + 1]
    before = at.labels[j]
    gain, fault = at.gains.score[first + label], at.gains.faults[first + label]
    at.value += gain
    at.faults += fault
    at.broken += change_rows(landscape.graph, j, before, label, at.activity, True)
    if extra.kind != NO_TERM:
        at.right += is_right(extra, j, label) - is_right(extra, j, before)
        at.on += is_on(label) - is_on(before)
    if landscape.features.bins > 0:
        at.having[before] -= 1
        at.having[label] += 1
    if landscape.features.origin.shape[0] > 0:
        pass_on_tuples(
            landscape.features, at.labels, landscape.graph.offsets, j, label, at.gains.score
        )
    if landscape.pairs.shape[0] > 0:
        pass_on_pairs(landscape, at, j, label)
    else:
        landscape.rank[j] = 0
        pass_on(
            landscape.graph, landscape.entries, at.labels, j, label, landscape.rank, at.gains, 0
        )
        landscape.rank[j] = 1
        mark_neighbours(landscape, at, j)
    for e in range(first, last):
        at.gains.score[e] -= gain
        at.gains.faults[e] -= fault
    at.labels[j] = label


def pass_on_pairs(landscape: Landscape, at: SearchState, j: Int, label: Int) -> None:
    """Bring the gains of all others up to date, by the matrix of pairs."""
    sign = 1.0 if label == 1 else -1.0
    for k in range(at.labels.shape[0]):
        # What the label that k does not have would add; 1 is the second label of all.
        mine = at.labels[k]
        at.gains.score[2 * k + 1 - mine] += sign * landscape.pairs[j, k] * (1 - 2 * mine)


def mark_neighbours(landscape: Landscape, at: SearchState, j: Int) -> None:
    """Say that j and all that share a table or tuple with it have other gains."""
    at.stale[j] = True
    for k in range(landscape.graph.tables.place_ptr[j], landscape.graph.tables.place_ptr[j + 1]):
        b = landscape.graph.tables.place_table[landscape.graph.tables.places[k]]
        for p in range(
            landscape.graph.tables.scope_ptr[b], landscape.graph.tables.scope_ptr[b + 1]
        ):
            at.stale[landscape.graph.tables.scope[p]] = True
    if landscape.features.origin.shape[0] > 0:
        for k in range(landscape.features.of_ptr[j], landscape.features.of_ptr[j + 1]):
            t = landscape.features.of[k]
            for p in range(landscape.features.ptr[t], landscape.features.ptr[t + 1]):
                at.stale[landscape.features.variable[p]] = True


def gains_of(scores: Floats2, labels: Ints2, graph: Graph) -> FloatArray:
    """What every label of every variable would add to the scores of outputs; rules are left aside.

    Of shape (m, labels).
    """
    expect("scores", "rows", labels.shape[0], scores.shape[0])
    expect_least("scores", "columns", graph.source.reach, scores.shape[1])
    expect_least("labels", "columns", graph.tables.reach, labels.shape[1])
    m, n = labels.shape[0], labels.shape[1]
    # Auxiliary variables, which come last, are in no table.
    size = graph.offsets[n]
    all_gains = np.empty((m, size))
    found: OutFloats2 = all_gains
    gains, entries = Gains(size), new_entries(graph)
    fill(entries.forbidden, False)
    with cython.nogil:
        for i in range(m):
            for e in range(entries.theta.shape[0]):
                value: float = 0.0
                for g in range(graph.source.ptr[e], graph.source.ptr[e + 1]):
                    value += scores[i, graph.source.gather[g]]
                entries.theta[e] = value
            take_gains(graph, entries, labels[i], gains)
            copy_into(found[i], gains.score)
    return all_gains
