"""What traits of clusters are worth, and what every change of a link would add to them.

Item i with label b > 0 is linked to item i - b, and begins a cluster with label 0; links make
trees, and the items of a tree are one cluster. Along a cluster, in order, every item is compared
with those before it: attribute by attribute, whether it is the first, whether either side is not
known, whether one before it has the same value, or none has; and how many there are.

To change the link of j is to move j and all that hangs on it, its *branch*, from one cluster to
another. What that adds depends on the cluster alone that is moved to, so it is worked out once per
cluster. After a change, only what has to do with the two clusters it touched is worked out again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.bundles import Items
from rote.kernels.jit import kernel, lean
from rote.types import BoolArray, FloatArray, IntArray

FIRST, UNKNOWN, SAME, OTHER = 0, 1, 2, 3
STATES = 5  # as many values for each kind of item: a state, or a bucket of sizes


class Worth(NamedTuple):
    """What tells the worth of clusters, and room to do so."""

    items: Items
    weights: FloatArray
    seen: IntArray  # per value of an attribute: the number of the cluster that had it last
    stamp: IntArray  # of one entry: how many clusters were looked at


class Changes(NamedTuple):
    """What changes of links would add to an output."""

    labels: IntArray
    added: FloatArray  # per label of every item
    stale: BoolArray  # per item: whether this was worked out again


class Branch(NamedTuple):
    """Room to take the items of a cluster apart."""

    inside: BoolArray  # per item
    moved: IntArray  # those that hang on one of them, itself included
    left: IntArray  # the others


@lean
def size_bucket(count: int) -> int:
    """0, 1, 2, 3 or 4, or more."""
    return count if count < 3 else 3 if count < 5 else 4


@kernel
def cluster_values(items: Items, labels: IntArray) -> IntArray:
    """The traits of every item of each output, of shape (k, items * (attributes + 1))."""
    n, attributes = items.attributes.shape
    values = np.empty((labels.shape[0], n * (attributes + 1)), np.int64)
    root, states = np.empty(n, np.int64), np.empty(attributes, np.int64)
    for k in range(labels.shape[0]):
        find_roots(labels[k], root)
        for i in range(n):
            before = 0
            states[:] = FIRST
            for h in range(i):
                if root[h] != root[i]:
                    continue
                before += 1
                for a in range(attributes):
                    mine, other = items.attributes[i, a], items.attributes[h, a]
                    if states[a] == FIRST:
                        states[a] = UNKNOWN
                    if mine > 0 and other > 0 and states[a] != SAME:
                        states[a] = SAME if mine == other else OTHER
            at = i * (attributes + 1)
            for a in range(attributes):
                values[k, at + a] = place(items, i, a, states[a])
            values[k, at + attributes] = place(items, i, attributes, size_bucket(before))
    return values


@lean
def place(items: Items, i: int, attribute: int, state: int) -> int:
    """The value of a trait, given the state of item i."""
    value: int = (attribute * items.kinds + items.kind[i]) * STATES + state
    return value


@lean
def find_roots(labels: IntArray, root: IntArray) -> None:
    """The first item of every item's cluster."""
    for i in range(labels.shape[0]):
        root[i] = root[i - labels[i]] if labels[i] > 0 else i


@lean
def worth_of_two(known_value: Worth, one: IntArray, other: IntArray) -> float:
    """What the traits of a cluster are worth whose items are in two lists, each in order."""
    items, weights, seen, stamp = known_value
    stamp[0] += 1
    now = stamp[0]
    attributes = items.attributes.shape[1]
    ones, others = one.shape[0], other.shape[0]
    total, p, q = 0.0, 0, 0
    known = 0  # a bit for each attribute that an item before this one has
    while p < ones or q < others:
        if q >= others or (p < ones and one[p] < other[q]):
            i = one[p]
            p += 1
        else:
            i = other[q]
            q += 1
        before = p + q - 1
        for a in range(attributes):
            value = items.attributes[i, a]
            state = UNKNOWN
            if before == 0:
                state = FIRST
            elif value > 0 and (known >> a) & 1:
                state = SAME if seen[value] == now else OTHER
            total += weights[items.origin + place(items, i, a, state)]
            if value > 0:
                known |= 1 << a
                seen[value] = now
        total += weights[items.origin + place(items, i, attributes, size_bucket(before))]
    return total


@kernel
def clusters_worth(items: Items, weights: FloatArray, labels: IntArray) -> float:
    """What the traits of all clusters of an output are worth."""
    n = labels.shape[0]
    root = np.empty(n, np.int64)
    known_value = Worth(items, weights, np.zeros(items.values, np.int64), np.zeros(1, np.int64))
    find_roots(labels, root)
    begin, members = collect(root)
    total = 0.0
    for r in range(n):
        total += worth_of_two(known_value, members[begin[r] : begin[r + 1]], members[:0])
    return total


@kernel
def collect(root: IntArray) -> tuple[IntArray, IntArray]:
    """The items of every cluster, in order, clusters by their first item; where each begins.

    Where no cluster begins, there are none.
    """
    n = root.shape[0]
    begin, members = np.zeros(n + 1, np.int64), np.empty(n, np.int64)
    for i in range(n):
        begin[root[i] + 1] += 1
    for i in range(n):
        begin[i + 1] += begin[i]
    filled = begin[:-1].copy()
    for i in range(n):
        members[filled[root[i]]] = i
        filled[root[i]] += 1
    return begin, members


@kernel
def cluster_changes(
    items: Items, weights: FloatArray, offsets: IntArray, changes: Changes, one: int, other: int
) -> None:
    """For every label of every item, what it would add to the traits of clusters.

    Only what has to do with two clusters, given by their first items, is worked out again; a
    negative one stands for all.
    """
    labels, added, stale = changes
    n = labels.shape[0]
    root = np.empty(n, np.int64)
    branch = Branch(np.zeros(n, np.bool_), np.empty(n, np.int64), np.empty(n, np.int64))
    alone, joined = np.empty(n), np.empty(n)  # worth by first item: by itself, with the branch
    known = np.full(n, -1)  # for which item ``joined`` was worked out
    known_value = Worth(items, weights, np.zeros(items.values, np.int64), np.zeros(1, np.int64))
    find_roots(labels, root)
    begin, members = collect(root)
    nobody = members[:0]
    for r in range(n):
        alone[r] = worth_of_two(known_value, members[begin[r] : begin[r + 1]], nobody)
    for j in range(n):
        home = root[j]
        mine = one < 0 or home in (one, other)
        moves = stays = 0
        apart = 0.0  # what j's cluster loses without the branch of j
        for a in range(offsets[j + 1] - offsets[j]):
            target = root[j - a] if a > 0 else -1
            if not (mine or target in (one, other)):
                continue
            if moves == 0:
                moves, stays = divide(labels, members[begin[home] : begin[home + 1]], j, branch)
                apart = worth_of_two(known_value, branch.left[:stays], nobody) - alone[home]
                stale[j] = True
            if target == home or (target < 0 and stays == 0):
                added[offsets[j] + a] = 0.0
            elif target < 0:
                by_itself = worth_of_two(known_value, branch.moved[:moves], nobody)
                added[offsets[j] + a] = apart + by_itself
            else:
                if known[target] != j:
                    rest = members[begin[target] : begin[target + 1]]
                    joined[target] = worth_of_two(known_value, branch.moved[:moves], rest)
                    known[target] = j
                added[offsets[j] + a] = apart + joined[target] - alone[target]


@lean
def divide(labels: IntArray, own: IntArray, j: int, branch: Branch) -> tuple[int, int]:
    """Of the items of j's cluster, those that hang on j, j included, and the others; how many."""
    moves = stays = 0
    for i in own:
        branch.inside[i] = i == j or (labels[i] > 0 and branch.inside[i - labels[i]])
        if branch.inside[i]:
            branch.moved[moves] = i
            moves += 1
        else:
            branch.left[stays] = i
            stays += 1
    return moves, stays
