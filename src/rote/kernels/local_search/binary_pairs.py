"""Greedy search over variables with two labels that are joined in pairs, and nothing else.

With y_k = 1 for the second label, an output is worth a constant plus

    Σ_k u_k y_k + Σ_{j<k} w_jk y_j y_k

so that what the second label instead of the first is worth to k, its *field* u_k + Σ_j w_jk y_j, is
all that has to be kept. A change of j adds a row of w to the fields, or takes it away, and the next
change is the largest of n numbers: this is what makes restarts on hundreds of labels cheap.

What a change adds to a term depends on the label it leaves and on gold: four numbers for all.
"""

from __future__ import annotations

import numpy as np

from rote.kernels.bundles import Graph, Questions
from rote.kernels.dual.ascent import load
from rote.kernels.jit import inlined, kernel, lean
from rote.kernels.local_search.greedy import Restarts, max_of_all
from rote.kernels.local_search.hash_random import draw_start, mixed, new_draw, seed_of
from rote.kernels.local_search.state import (
    NO_TERM,
    WRONG,
    Extra,
    count_on,
    is_right,
    loss_at,
    pair_up,
)
from rote.kernels.neighbourhood.neighbours import new_entries
from rote.types import FloatArray, IntArray


@lean
def own_parts(graph: Graph, theta: FloatArray, own: FloatArray) -> float:
    """u of every variable; and what the output of first labels alone is worth."""
    tables = graph.tables
    constant = 0.0
    for k in range(own.shape[0]):
        constant += theta[2 * k]
        own[k] = theta[2 * k + 1] - theta[2 * k]
    for b in range(tables.ptr.shape[0] - 1):
        one, other = tables.scope[tables.scope_ptr[b]], tables.scope[tables.scope_ptr[b] + 1]
        e = tables.ptr[b]
        constant += theta[e]
        own[one] += theta[e + 2] - theta[e]
        own[other] += theta[e + 1] - theta[e]
    return constant


@inlined
def flip(pairs: FloatArray, fields: FloatArray, labels: IntArray, j: int) -> float:
    """Give j its other label; what that adds."""
    sign = 1.0 if labels[j] == 0 else -1.0
    gain: float = sign * fields[j]
    row = pairs[j]
    for k in range(row.shape[0]):
        fields[k] += sign * row[k]
    labels[j] = 1 - labels[j]
    return gain


@kernel
def climb_pairs(
    pairs: FloatArray,
    fields: FloatArray,
    labels: IntArray,
    extra: Extra,
    counts: IntArray,
    least: float,
) -> float:
    """The best change as long as one gains more than ``least``; what they add in all.

    ``counts`` are those of the term: labels that are right, and labels that are on.
    """
    n = labels.shape[0]
    added = 0.0
    more = np.zeros((2, 2))  # of the term: by the label that is left, and by that of gold
    while True:
        if extra.kind != NO_TERM:
            now = loss_at(extra, n, counts[0], counts[1])
            for label in range(2):
                for gold in range(2):
                    right = counts[0] + rights(extra, 1 - label, gold) - rights(extra, label, gold)
                    more[label, gold] = loss_at(extra, n, right, counts[1] + 1 - 2 * label) - now
        best, chosen = least, -1
        if extra.kind == NO_TERM:
            for k in range(n):
                gain = fields[k] if labels[k] == 0 else -fields[k]
                if gain > best:
                    best = gain
                    chosen = k
        else:
            for k in range(n):
                gain = fields[k] if labels[k] == 0 else -fields[k]
                gain += more[labels[k], min(extra.gold[k], 1)]
                if gain > best:
                    best = gain
                    chosen = k
        if chosen < 0:
            return added
        if extra.kind != NO_TERM:
            before = labels[chosen]
            counts[0] += is_right(extra, chosen, 1 - before) - is_right(extra, chosen, before)
            counts[1] += 1 - 2 * before
        flip(pairs, fields, labels, chosen)
        added += best


@inlined
def rights(extra: Extra, label: int, gold: int) -> int:
    """Whether a label counts as right, by the label of gold."""
    return int(label == gold and (label > 0 or extra.kind == WRONG))


@kernel
def search_pairs(
    questions: Questions,
    initial: IntArray,
    gold: IntArray,
    kind: int,
    graph: Graph,
    restarts: Restarts,
) -> tuple[IntArray, IntArray, FloatArray]:
    """What `local_search.greedy.search_greedily` does, without rows and closed labels."""
    m, n = initial.shape
    scores, ties = questions.scores, questions.ties
    entries = new_entries(graph)
    entries.forbidden[:] = False
    theta = entries.theta
    pairs, own = np.empty((n, n)), np.empty(n)
    base, fields = np.empty(n), np.empty(n)
    labels, counts = np.empty(n, np.int64), np.zeros(2, np.int64)
    draw = new_draw(n, restarts.climbs)
    answers, found, bounds = np.full((m, n), -1), np.zeros(m, np.int64), np.empty(m)
    for i in range(m):
        load(scores[i], graph.source, theta)
        bounds[i] = max_of_all(graph, entries) + int(kind != NO_TERM)
        extra = Extra(kind, gold[i], count_on(gold[i]))
        pair_up(graph, theta, pairs)
        ground = own_parts(graph, theta, own)
        base[:] = own
        for j in range(n):
            if initial[i, j] == 1:
                ground += base[j]
                for k in range(n):
                    base[k] += pairs[j, k]
        first, best = seed_of(scores, i, restarts.seed), -np.inf
        for r in range(restarts.climbs):
            fields[:] = base
            labels[:] = initial[i]
            state = mixed(first + np.uint64(r))
            drawn = draw_start(
                graph.offsets, entries.forbidden, state, restarts.n_resampled, initial[i], draw, r
            )
            value = ground
            for q in range(drawn):
                j = draw.order[q]
                if draw.labels[j] != labels[j]:
                    value += flip(pairs, fields, labels, j)
            if kind != NO_TERM:
                counts[:] = 0
                for j in range(n):
                    counts[0] += is_right(extra, j, labels[j])
                    counts[1] += labels[j]
                value += loss_at(extra, n, counts[0], counts[1])
            value += climb_pairs(pairs, fields, labels, extra, counts, ties[i])
            if value > best + ties[i]:
                best = value
                answers[i] = labels
                found[i] = r + 1
    return answers, found, bounds
