"""What traits of entities are worth, and what every change of a link would add to them.

Mention i with label b > 0 is linked to mention i - b, and is new with label 0; links make trees,
and the mentions of a tree are one entity. Along an entity, in reading order, every mention is
compared with those before it: attribute by attribute, whether it is the first, whether either side
is not known, whether one before it has the same value, or none has; and how many there are.

To change the link of j is to move j and all that hangs on it, its *branch*, from one entity to
another. What that adds depends on the entity alone that is moved to, so it is worked out once per
entity. After a change, only what has to do with the two entities it touched is worked out again.
"""

from __future__ import annotations

import numpy as np

from rote.kernels.jit import kernel
from rote.kernels.structs import Mentions
from rote.types import BoolArray, FloatArray, IntArray

FIRST, UNKNOWN, SAME, OTHER = 0, 1, 2, 3
STATES = 5  # as many values for each form of mention: a state, or a bucket of sizes


@kernel
def size_bucket(count: int) -> int:
    """0, 1, 2, 3 or 4, or more."""
    return count if count < 3 else 3 if count < 5 else 4


@kernel
def entity_values(mentions: Mentions, labels: IntArray) -> IntArray:
    """The traits of every mention of each output, of shape (k, mentions * (attributes + 1))."""
    n, attributes = mentions.attributes.shape
    values = np.empty((labels.shape[0], n * (attributes + 1)), np.int64)
    root = np.empty(n, np.int64)
    for k in range(labels.shape[0]):
        find_roots(labels[k], root)
        for i in range(n):
            before = 0
            states = np.full(attributes, FIRST)
            for h in range(i):
                if root[h] != root[i]:
                    continue
                before += 1
                for a in range(attributes):
                    mine, other = mentions.attributes[i, a], mentions.attributes[h, a]
                    if states[a] == FIRST:
                        states[a] = UNKNOWN
                    if mine > 0 and other > 0 and states[a] != SAME:
                        states[a] = SAME if mine == other else OTHER
            for a in range(attributes):
                values[k, i * (attributes + 1) + a] = place(mentions, i, a, states[a])
            values[k, i * (attributes + 1) + attributes] = place(
                mentions, i, attributes, size_bucket(before)
            )
    return values


@kernel
def place(mentions: Mentions, i: int, attribute: int, state: int) -> int:
    """The value of a trait, given the state of mention i."""
    value: int = (attribute * mentions.forms + mentions.form[i]) * STATES + state
    return value


@kernel
def find_roots(labels: IntArray, root: IntArray) -> None:
    """The first mention of every mention's entity."""
    for i in range(labels.shape[0]):
        root[i] = root[i - labels[i]] if labels[i] > 0 else i


@kernel
def worth_of_two(
    mentions: Mentions,
    weights: FloatArray,
    one: IntArray,
    ones: int,
    other: IntArray,
    others: int,
    seen: IntArray,
    stamp: IntArray,
) -> float:
    """What the traits of an entity are worth whose mentions are in two lists, each in order.

    ``seen[value]`` of an attribute is the number of the entity that had it last; ``stamp[0]``
    counts mentions.
    """
    stamp[0] += 1
    now = stamp[0]
    attributes = mentions.attributes.shape[1]
    worth, p, q = 0.0, 0, 0
    known = 0  # a bit for each attribute that a mention before this one has
    while p < ones or q < others:
        if q >= others or (p < ones and one[p] < other[q]):
            i = one[p]
            p += 1
        else:
            i = other[q]
            q += 1
        before = p + q - 1
        for a in range(attributes):
            value = mentions.attributes[i, a]
            state = UNKNOWN
            if before == 0:
                state = FIRST
            elif value > 0 and (known >> a) & 1:
                state = SAME if seen[value] == now else OTHER
            worth += weights[mentions.origin + place(mentions, i, a, state)]
            if value > 0:
                known |= 1 << a
                seen[value] = now
        worth += weights[mentions.origin + place(mentions, i, attributes, size_bucket(before))]
    return worth


@kernel
def entities_worth(mentions: Mentions, weights: FloatArray, labels: IntArray) -> float:
    """What the traits of all entities of an output are worth."""
    n = labels.shape[0]
    root, members = np.empty(n, np.int64), np.empty(n, np.int64)
    seen, stamp = np.zeros(mentions.values, np.int64), np.zeros(1, np.int64)
    find_roots(labels, root)
    total = 0.0
    for r in range(n):
        if root[r] == r:
            count = collect(root, r, members)
            total += worth_of_two(mentions, weights, members, count, members, 0, seen, stamp)
    return total


@kernel
def collect(root: IntArray, r: int, members: IntArray) -> int:
    """Write down the mentions of the entity that begins with r; how many there are."""
    count = 0
    for i in range(r, root.shape[0]):
        if root[i] == r:
            members[count] = i
            count += 1
    return count


@kernel
def entity_changes(
    mentions: Mentions,
    weights: FloatArray,
    sizes: IntArray,
    offsets: IntArray,
    labels: IntArray,
    touched: IntArray,
    changes: FloatArray,
) -> None:
    """For every label of every mention, what it would add to the traits of mentions.

    ``touched`` are the first mentions of two entities: only what has to do with them is worked out
    again. A negative one stands for all.
    """
    n = labels.shape[0]
    root, branch = np.empty(n, np.int64), np.empty(n, np.bool_)
    moved, left, there = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    alone, joined = np.empty(n), np.empty(n)  # worth by first mention: by itself, with the branch
    known = np.empty(n, np.int64)  # for which mention ``joined`` was worked out
    seen, stamp = np.zeros(mentions.values, np.int64), np.zeros(1, np.int64)
    find_roots(labels, root)
    known[:] = -1
    everything = touched[0] < 0
    for r in range(n):
        if root[r] == r:
            count = collect(root, r, there)
            alone[r] = worth_of_two(mentions, weights, there, count, there, 0, seen, stamp)
    for j in range(n):
        own = root[j]
        mine = everything or own == touched[0] or own == touched[1]
        ready = False  # whether the branch of j is known
        apart = 0.0  # what j's entity loses without the branch
        for a in range(sizes[j]):
            target = root[j - a] if a > 0 else -1
            if not (mine or target == touched[0] or target == touched[1]):
                continue
            if not ready:
                moves, stays = divide(labels, root, j, branch, moved, left)
                apart = worth_of_two(mentions, weights, left, stays, left, 0, seen, stamp)
                apart -= alone[own]
                ready = True
            if target == own and stays > 0:
                changes[offsets[j] + a] = 0.0
            elif target < 0:
                by_itself = worth_of_two(mentions, weights, moved, moves, moved, 0, seen, stamp)
                changes[offsets[j] + a] = apart + by_itself if stays > 0 else 0.0
            else:
                if known[target] != j:
                    count = collect(root, target, there)
                    joined[target] = worth_of_two(
                        mentions, weights, moved, moves, there, count, seen, stamp
                    )
                    known[target] = j
                changes[offsets[j] + a] = apart + joined[target] - alone[target]


@kernel
def divide(
    labels: IntArray,
    root: IntArray,
    j: int,
    branch: BoolArray,
    moved: IntArray,
    left: IntArray,
) -> tuple[int, int]:
    """The mentions of j's entity that hang on j, itself included, and the others; how many."""
    moves = stays = 0
    for i in range(root[j], labels.shape[0]):
        branch[i] = i == j
        if root[i] != root[j]:
            continue
        if i > j and labels[i] > 0 and i - labels[i] >= j and branch[i - labels[i]]:
            branch[i] = True
        if branch[i]:
            moved[moves] = i
            moves += 1
        else:
            left[stays] = i
            stays += 1
    return moves, stays
