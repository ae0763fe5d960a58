"""Greedy search over variables with two labels that are joined in pairs, and nothing else.

With y_k = 1 for the second label, an output is worth a constant plus

    Σ_k u_k y_k + Σ_{j<k} w_jk y_j y_k

so that what the second label instead of the first is worth to k, its *field* u_k + Σ_j w_jk y_j, is
all that has to be kept. A change of j adds a row of w to the fields, or takes it away, and the next
change is the largest of n numbers: this is what makes restarts on hundreds of labels cheap.

What a change adds to a term depends on the label it leaves and on gold: four numbers for all.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import FloatArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import Graph, Questions, fit_outputs
    from rote.kernels.constants import NO_TERM, WORD, WRONG
    from rote.kernels.dual.ascent import load
    from rote.kernels.inlined import mixed
    from rote.kernels.local_search.greedy import Restarts, max_of_all
    from rote.kernels.local_search.hash_random import Draw, draw_start, seed_of
    from rote.kernels.local_search.state import Extra, is_right, look_for, loss_at, pair_up
    from rote.kernels.neighbourhood.neighbours import new_entries


class PairRoom(Bundle):
    """The pairs of an input, an output, and its fields."""

    def __init__(self, variables: Int) -> None:
        n = variables
        self.pairs = floats2(n, n)
        numbers = floats(4 * n + 4)
        self.own = numbers[:n]  # u
        self.base = numbers[n : 2 * n]  # the fields of the output that starts are drawn from
        self.fields = numbers[2 * n : 3 * n]
        self.side = numbers[3 * n : 4 * n]  # 1 for the first label, -1 for the second
        # What a change adds to the term, by the label that is left, and by that of gold.
        self.more = numbers[4 * n :]
        self.labels = ints(n)
        self.right = 0  # labels, as the term counts them
        self.on = 0  # labels that are the second


def own_parts(graph: Graph, theta: Floats, own: OutFloats) -> float:
    """u of every variable; and what the output of first labels alone is worth."""
    constant = 0.0
    for k in range(own.shape[0]):
        constant += theta[2 * k]
        own[k] = theta[2 * k + 1] - theta[2 * k]
    for b in range(graph.tables.ptr.shape[0] - 1):
        k = graph.tables.scope_ptr[b]
        one, other = graph.tables.scope[k], graph.tables.scope[k + 1]
        e = graph.tables.ptr[b]
        constant += theta[e]
        own[one] += theta[e + 2] - theta[e]
        own[other] += theta[e + 1] - theta[e]
    return constant


def flip(room: PairRoom, j: Int) -> float:
    """Give j its other label; what that adds."""
    sign = room.side[j]
    gain = sign * room.fields[j]
    add_row(room.fields, sign, room.pairs[j])
    room.labels[j] = 1 - room.labels[j]
    room.side[j] = -sign
    return gain


def add_row(fields: OutFloats, sign: float, row: Floats) -> None:
    """Add a row of pairs to the fields, or take it away."""
    for k in range(fields.shape[0]):
        fields[k] += sign * row[k]


def weigh_changes(room: PairRoom, extra: Extra) -> None:
    """What a change adds to the term, as things stand."""
    n = room.labels.shape[0]
    now = loss_at(extra, n, room.right, room.on)
    for label in range(2):
        for gold in range(2):
            right = room.right + rights(extra, 1 - label, gold) - rights(extra, label, gold)
            then = loss_at(extra, n, right, room.on + 1 - 2 * label)
            room.more[2 * label + gold] = then - now


def best_flip(room: PairRoom, extra: Extra, least: float) -> tuple[int, float]:
    """The variable of the best change that gains more than ``least``, or -1; and what it gains."""
    best, chosen = least, -1
    if extra.kind == NO_TERM:
        for k in range(room.labels.shape[0]):
            gain = room.side[k] * room.fields[k]
            if gain > best:
                best = gain
                chosen = k
        return chosen, best
    weigh_changes(room, extra)
    for k in range(room.labels.shape[0]):
        gain = room.side[k] * room.fields[k]
        gain += room.more[2 * room.labels[k] + min(extra.gold[k], 1)]
        if gain > best:
            best = gain
            chosen = k
    return chosen, best


def climb_pairs(room: PairRoom, extra: Extra, least: float) -> float:
    """The best change as long as one gains more than ``least``; what they add in all."""
    added = 0.0
    while True:
        chosen, gain = best_flip(room, extra, least)
        if chosen < 0:
            return added
        if extra.kind != NO_TERM:
            before = room.labels[chosen]
            room.right += is_right(extra, chosen, 1 - before) - is_right(extra, chosen, before)
            room.on += 1 - 2 * before
        flip(room, chosen)
        added += gain


def rights(extra: Extra, label: Int, gold: Int) -> int:
    """1 where a label counts as right, by the label of gold, and 0 elsewhere."""
    return 1 if label == gold and (label > 0 or extra.kind == WRONG) else 0


def count_labels(room: PairRoom, extra: Extra) -> float:
    """Count labels as the term does; what it says of the output."""
    n = room.labels.shape[0]
    room.right = 0
    room.on = 0
    for j in range(n):
        room.right += is_right(extra, j, room.labels[j])
        room.on += room.labels[j]
    return loss_at(extra, n, room.right, room.on)


def prepare(graph: Graph, theta: Floats, initial: Ints, room: PairRoom) -> float:
    """The pairs of an input, and the fields of the output that starts are drawn from; its worth."""
    n = initial.shape[0]
    pair_up(graph, theta, room.pairs)
    ground = own_parts(graph, theta, room.own)
    copy_into(room.base, room.own)
    for j in range(n):
        if initial[j] == 1:
            ground += room.base[j]
            for k in range(n):
                room.base[k] += room.pairs[j, k]
    return ground


def search_pairs(
    questions: Questions,
    initial: Ints2,
    gold: Ints2,
    kind: Int,
    graph: Graph,
    restarts: Restarts,
) -> tuple[IntArray, IntArray, FloatArray]:
    """What `local_search.greedy.search_greedily` does, without rows and closed labels."""
    questions.fit(graph.source.reach, 0)
    fit_outputs("initial", initial, graph, questions.scores.shape[0])
    fit_outputs("gold", gold, graph, questions.scores.shape[0])
    m, n = initial.shape[0], initial.shape[1]
    entries, room = new_entries(graph), PairRoom(n)
    extra, draw = Extra(kind, ints(0)), Draw(n, restarts.climbs)
    outputs, needed, most = np.empty((m, n), np.int64), np.zeros(m, np.int64), np.empty(m)
    answers: OutInts2 = outputs
    found: OutInts = needed
    bounds: OutFloats = most
    fill(entries.forbidden, False)
    with cython.nogil:
        for i in range(m):
            fill(answers[i], -1)
            load(questions.scores[i], graph.source, entries.theta)
            bounds[i] = max_of_all(graph, entries) + (1 if kind != NO_TERM else 0)
            look_for(extra, gold[i])
            ground = prepare(graph, entries.theta, initial[i], room)
            first = seed_of(questions.scores, i, restarts.seed)
            best = -inf
            for r in range(restarts.climbs):
                copy_into(room.fields, room.base)
                copy_into(room.labels, initial[i])
                for j in range(n):
                    room.side[j] = 1.0 - 2.0 * room.labels[j]
                drawn = draw_start(
                    graph.offsets,
                    entries.forbidden,
                    mixed((first + cython.cast(Word, r)) & WORD),
                    restarts.n_resampled,
                    initial[i],
                    draw,
                    r,
                )
                value = ground
                for q in range(drawn):
                    j = draw.order[q]
                    if draw.labels[j] != room.labels[j]:
                        value += flip(room, j)
                if kind != NO_TERM:
                    value += count_labels(room, extra)
                value += climb_pairs(room, extra, questions.ties[i])
                if value > best + questions.ties[i]:
                    best = value
                    copy_into(answers[i], room.labels)
                    found[i] = r + 1
    return outputs, needed, most
