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

from rote.kernels.bundles import Mentions
from rote.kernels.jit import kernel
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
    other: IntArray,
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
    ones, others = one.shape[0], other.shape[0]
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
    root = np.empty(n, np.int64)
    seen, stamp = np.zeros(mentions.values, np.int64), np.zeros(1, np.int64)
    find_roots(labels, root)
    begin, members = collect(root)
    total = 0.0
    for r in range(n):
        own = members[begin[r] : begin[r + 1]]
        total += worth_of_two(mentions, weights, own, own[:0], seen, stamp)
    return total


@kernel
def collect(root: IntArray) -> tuple[IntArray, IntArray]:
    """The mentions of every entity, in order, entities by their first mention; where each begins.

    Where no entity begins, there are none.
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
def entity_changes(
    mentions: Mentions,
    weights: FloatArray,
    sizes: IntArray,
    offsets: IntArray,
    labels: IntArray,
    touched: IntArray,
    changes: FloatArray,
    stale: BoolArray,
) -> None:
    """For every label of every mention, what it would add to the traits of entities.

    ``touched`` are the first mentions of two entities: only what has to do with them is worked out
    again. A negative one stands for all. Mentions whose changes were worked out are ``stale``.
    """
    n = labels.shape[0]
    root, branch = np.empty(n, np.int64), np.zeros(n, np.bool_)
    moved, left = np.empty(n, np.int64), np.empty(n, np.int64)
    alone, joined = np.empty(n), np.empty(n)  # worth by first mention: by itself, with the branch
    known = np.full(n, -1)  # for which mention ``joined`` was worked out
    seen, stamp = np.zeros(mentions.values, np.int64), np.zeros(1, np.int64)
    find_roots(labels, root)
    begin, members = collect(root)
    nobody = members[:0]
    everything = touched[0] < 0
    for r in range(n):
        own = members[begin[r] : begin[r + 1]]
        alone[r] = worth_of_two(mentions, weights, own, nobody, seen, stamp)
    for j in range(n):
        home = root[j]
        mine = everything or home == touched[0] or home == touched[1]
        moves = stays = 0
        apart = 0.0  # what j's entity loses without the branch of j
        for a in range(sizes[j]):
            target = root[j - a] if a > 0 else -1
            if not (mine or target == touched[0] or target == touched[1]):
                continue
            if moves == 0:
                own = members[begin[home] : begin[home + 1]]
                moves, stays = divide(labels, own, j, branch, moved, left)
                apart = worth_of_two(mentions, weights, left[:stays], nobody, seen, stamp)
                apart -= alone[home]
                stale[j] = True
            if target == home or (target < 0 and stays == 0):
                changes[offsets[j] + a] = 0.0
            elif target < 0:
                by_itself = worth_of_two(mentions, weights, moved[:moves], nobody, seen, stamp)
                changes[offsets[j] + a] = apart + by_itself
            else:
                if known[target] != j:
                    other = members[begin[target] : begin[target + 1]]
                    joined[target] = worth_of_two(
                        mentions, weights, moved[:moves], other, seen, stamp
                    )
                    known[target] = j
                changes[offsets[j] + a] = apart + joined[target] - alone[target]


@kernel
def divide(
    labels: IntArray,
    own: IntArray,
    j: int,
    branch: BoolArray,
    moved: IntArray,
    left: IntArray,
) -> tuple[int, int]:
    """Of the mentions of j's entity, those that hang on j, j included, and the others; how many."""
    moves = stays = 0
    for i in own:
        branch[i] = i == j or (labels[i] > 0 and branch[i - labels[i]])
        if branch[i]:
            moved[moves] = i
            moves += 1
        else:
            left[stays] = i
            stays += 1
    return moves, stays
