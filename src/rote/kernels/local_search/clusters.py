"""What global features of clusters are worth, and what every change of a link would add to them.

Item i with label b > 0 is linked to item i - b, and begins a cluster with label 0; links make
trees, and the items of a tree are one cluster. Along a cluster, in order, every item is compared
with those before it: attribute by attribute, whether it is the first, whether either side is not
known, whether one before it has the same value, or none has; and how many there are.

To change the link of j is to move j and all that hangs on it, its *branch*, from one cluster to
another. What that adds depends on the cluster alone that is moved to, so it is worked out once per
cluster. After a change, only what has to do with the two clusters it touched is worked out again.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import GlobalFeatures, Items
    from rote.kernels.constants import STATES

    FIRST, UNKNOWN, SAME, OTHER = 0, 1, 2, 3


class Clusters(Bundle):
    """The clusters of an output, what their features are worth, and what changes would add to that.

    Items are listed three times: by cluster, those that hang on an item, itself included, and the
    others of its cluster; the last two begin at ``moved`` and at ``left``.
    """

    def __init__(
        self,
        labels: OutInts,
        stale: OutFlags,  # per item: set where what its changes add was worked out again
        size: Int,  # labels of all items
        values: Int,  # of attributes
    ) -> None:
        n = labels.shape[0]
        self.labels = labels
        self.stale = stale
        self.worth = 0.0
        numbers = floats(size + 2 * n)
        self.added = numbers[:size]  # per label of every item
        self.alone = numbers[size : size + n]  # worth by first item: of the cluster by itself
        self.joined = numbers[size + n :]  # and with what hangs on an item
        places = ints(7 * n + 1 + values)
        self.root = places[:n]
        self.known = places[n : 2 * n]  # for which item ``joined`` was worked out
        self.filled = places[2 * n : 3 * n]
        self.begin = places[3 * n : 4 * n + 1]  # by first item: of its cluster in the list
        self.listed = places[4 * n + 1 : 7 * n + 1]
        self.seen = places[7 * n + 1 :]  # per value of an attribute: the cluster that had it last
        self.inside = flags(n)
        self.moved = n
        self.left = 2 * n
        self.stamp = 0  # how many clusters were looked at
        fill(self.seen, 0)


def size_bucket(count: Int) -> int:
    """0, 1, 2, 3 or 4, or more."""
    return count if count < 3 else 3 if count < 5 else 4


def cluster_values(items: Items, labels: Ints2) -> IntArray:
    """The global features of every item of each output, of shape (k, items * (attributes + 1))."""
    n, attributes = items.attributes.shape[0], items.attributes.shape[1]
    values = ints2(labels.shape[0], n * (attributes + 1))
    root, states = ints(n), ints(attributes)
    with cython.nogil:
        for k in range(labels.shape[0]):
            find_roots(labels[k], root)
            for i in range(n):
                before = 0
                fill(states, FIRST)
                for h in range(i):
                    if root[h] == root[i]:
                        before += 1
                        compare(items, i, h, states)
                at = i * (attributes + 1)
                for a in range(attributes):
                    values[k, at + a] = place(items, i, a, states[a])
                values[k, at + attributes] = place(items, i, attributes, size_bucket(before))
    return np.asarray(values)


def compare(items: Items, i: Int, before: Int, states: OutInts) -> None:
    """Bring the states of an item up to date with one before it in its cluster."""
    for a in range(states.shape[0]):
        mine: Int = items.attributes[i, a]
        other: Int = items.attributes[before, a]
        if states[a] == FIRST:
            states[a] = UNKNOWN
        if mine > 0 and other > 0 and states[a] != SAME:
            states[a] = SAME if mine == other else OTHER


def place(items: Items, i: Int, attribute: Int, state: Int) -> int:
    """The value of a trait, given the state of item i."""
    return (attribute * items.kinds + items.kind[i]) * STATES + state


def find_roots(labels: Ints, root: OutInts) -> None:
    """The first item of every item's cluster."""
    for i in range(labels.shape[0]):
        root[i] = root[i - labels[i]] if labels[i] > 0 else i


def cluster_of(clusters: Clusters, j: Int) -> int:
    """The first item of a cluster."""
    while clusters.labels[j] > 0:
        j -= clusters.labels[j]
    return j


def worth_of_two(
    features: GlobalFeatures, clusters: Clusters, one: Int, one_end: Int, other: Int, other_end: Int
) -> float:
    """What the features of a cluster are worth whose items are in two runs of the list."""
    clusters.stamp += 1
    attributes = features.items.attributes.shape[1]
    total, before = 0.0, 0
    known = 0  # a bit for each attribute that an item before this one has
    while one < one_end or other < other_end:
        if other >= other_end or (one < one_end and clusters.listed[one] < clusters.listed[other]):
            i = clusters.listed[one]
            one += 1
        else:
            i = clusters.listed[other]
            other += 1
        for a in range(attributes):
            value: Int = features.items.attributes[i, a]
            state = UNKNOWN
            if before == 0:
                state = FIRST
            elif value > 0 and (known >> a) & 1:
                state = SAME if clusters.seen[value] == clusters.stamp else OTHER
            total += features.weights[features.items.origin + place(features.items, i, a, state)]
            if value > 0:
                known |= cython.cast(Int, 1) << a
                clusters.seen[value] = clusters.stamp
        bucket = place(features.items, i, attributes, size_bucket(before))
        total += features.weights[features.items.origin + bucket]
        before += 1
    return total


def list_clusters(features: GlobalFeatures, clusters: Clusters) -> float:
    """List the items of every cluster, in order, clusters by their first item; their worth.

    Where no cluster begins, there are no items.
    """
    n = clusters.labels.shape[0]
    find_roots(clusters.labels, clusters.root)
    fill(clusters.begin, 0)
    for i in range(n):
        clusters.begin[clusters.root[i] + 1] += 1
    for i in range(n):
        clusters.begin[i + 1] += clusters.begin[i]
        clusters.filled[i] = clusters.begin[i]
    for i in range(n):
        clusters.listed[clusters.filled[clusters.root[i]]] = i
        clusters.filled[clusters.root[i]] += 1
    total = 0.0
    for r in range(n):
        clusters.alone[r] = worth_of_two(
            features, clusters, clusters.begin[r], clusters.begin[r + 1], 0, 0
        )
        total += clusters.alone[r]
    return total


def look_at_moves(
    features: GlobalFeatures, offsets: Ints, clusters: Clusters, one: Int, other: Int
) -> float:
    """For every label of every item, what it would add to the features of clusters; their worth.

    Only what has to do with two clusters, given by their first items, is worked out again; a
    negative one stands for all.
    """
    total = list_clusters(features, clusters)
    fill(clusters.known, -1)
    for j in range(clusters.labels.shape[0]):
        home = clusters.root[j]
        mine: Bool = one < 0 or home in (one, other)
        moves, stays = 0, 0
        apart = 0.0  # what j's cluster loses without the branch of j
        for a in range(offsets[j + 1] - offsets[j]):
            target = clusters.root[j - a] if a > 0 else -1
            if not (mine or target in (one, other)):
                continue
            if moves == 0:
                moves = divide(clusters, j)
                stays = clusters.begin[home + 1] - clusters.begin[home] - moves
                left = clusters.left
                apart = worth_of_two(features, clusters, left, left + stays, 0, 0)
                apart -= clusters.alone[home]
                clusters.stale[j] = True
            clusters.added[offsets[j] + a] = 0.0
            if target >= 0 and target != home:
                together = worth_with(features, clusters, j, moves, target)
                clusters.added[offsets[j] + a] = apart + together - clusters.alone[target]
            elif target < 0 and stays > 0:
                moved = clusters.moved
                by_itself = worth_of_two(features, clusters, moved, moved + moves, 0, 0)
                clusters.added[offsets[j] + a] = apart + by_itself
    return total


def worth_with(
    features: GlobalFeatures, clusters: Clusters, j: Int, moves: Int, target: Int
) -> float:
    """What a cluster is worth together with all that hangs on j; worked out once for each j."""
    if clusters.known[target] != j:
        clusters.known[target] = j
        clusters.joined[target] = worth_of_two(
            features,
            clusters,
            clusters.moved,
            clusters.moved + moves,
            clusters.begin[target],
            clusters.begin[target + 1],
        )
    return clusters.joined[target]


def divide(clusters: Clusters, j: Int) -> int:
    """List the items of j's cluster that hang on j, j included, and the others; how many move."""
    moved, left = clusters.moved, clusters.left
    home = clusters.root[j]
    for k in range(clusters.begin[home], clusters.begin[home + 1]):
        i = clusters.listed[k]
        back = clusters.labels[i]
        hangs: Bool = i == j
        if not hangs and back > 0:
            hangs = clusters.inside[i - back]
        clusters.inside[i] = hangs
        if hangs:
            clusters.listed[moved] = i
            moved += 1
        else:
            clusters.listed[left] = i
            left += 1
    return moved - clusters.moved
