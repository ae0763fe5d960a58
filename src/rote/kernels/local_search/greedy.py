"""Randomised greedy search: from many starts, the best single change again and again.

What every label would add to an output is known as it stands (`rote.kernels.local_search.state`),
so that looking for the next change costs one number per label. A start is reached by changes as
well, from an output whose gains are known: it costs what it changes.

While there are forbidden entries or broken rows, a change has to leave fewer of them; afterwards,
no change may bring one back.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.bundles import Graph, Questions, Wide
from rote.kernels.dual.ascent import entries_of
from rote.kernels.jit import inlined, kernel, lean
from rote.kernels.local_search.global_features import share_changes
from rote.kernels.local_search.hash_random import draw_start, mixed, new_draw, seed_of
from rote.kernels.local_search.state import (
    NO_TERM,
    Extra,
    Standing,
    Terrain,
    change,
    copy_standing,
    count_on,
    is_right,
    look_at_moves,
    loss_at,
    pair_up,
    root_of,
    settle,
    stand_at,
    standing_for,
    terrain_of,
    whole_worth,
)
from rote.kernels.neighbourhood.neighbours import Entries, change_rows, read_entries
from rote.types import BoolArray, FloatArray, IntArray


class Ground(NamedTuple):
    """What climbs of several inputs go over."""

    entries: Entries  # of shape (m, entries)
    graph: Graph
    wide: Wide


class Restarts(NamedTuple):
    """How often to climb, and from where."""

    n_resampled: int  # variables of a guess
    climbs: int
    seed: int


@inlined
def best_of_each(graph: Graph, linked: bool, at: Standing, least: float) -> tuple[int, int]:
    """The best change where nothing is wrong, and gains of a variable change by its neighbours.

    Of all others, the best change is remembered.
    """
    variable, chosen, best = -1, -1, least
    for j in range(at.labels.shape[0]):
        if at.stale[j]:
            first, top, lead = graph.offsets[j], -1, -np.inf
            for a in range(graph.sizes[j]):
                gain = at.gains.score[first + a]
                if linked:
                    gain += at.moves[first + a]
                if gain > lead and a != at.labels[j] and at.gains.faults[first + a] <= 0:
                    top, lead = a, gain
            at.chosen[j], at.lead[j], at.stale[j] = top, lead, False
        if at.lead[j] > best:
            variable, chosen, best = j, at.chosen[j], at.lead[j]
    return variable, chosen


@inlined
def best_change(terrain: Terrain, extra: Extra, at: Standing, least: float) -> tuple[int, int]:
    """The variable and label of the best change, or -1.

    While something is forbidden or broken, this is the change that leaves least of it, and of such
    the one that gains most; afterwards, one that gains more than ``least``.
    """
    graph, wide = terrain.graph, terrain.wide
    offsets, labels = graph.offsets, at.labels
    wrong = at.wrong[0] + at.wrong[1]
    now = loss_at(extra, labels.shape[0], at.counts[0], at.counts[1])
    shared, linked = wide.bins > 0, wide.items.values > 0
    if shared:
        share_changes(wide, at.having, labels.shape[0], at.changes)
    variable, chosen, best, fewest = -1, -1, least, 0
    if wrong > 0:
        best, fewest = -np.inf, wrong - 1
    for j in range(labels.shape[0]):
        first, own = offsets[j], labels[j]
        for a in range(graph.sizes[j]):
            gain = at.gains.score[first + a]
            if extra.kind != NO_TERM:
                right = at.counts[0] + is_right(extra, j, a) - is_right(extra, j, own)
                on = at.counts[1] + int(a > 0) - int(own > 0)
                gain += loss_at(extra, labels.shape[0], right, on) - now
            if shared:
                gain += at.changes[own, a]
            if linked:
                gain += at.moves[first + a]
            if a == own or (wrong == 0 and gain <= best):
                continue
            left = wrong + at.gains.faults[first + a]
            if wrong == 0 and left > 0:
                continue
            left += change_rows(graph, j, own, a, at.activity, False)
            if left < fewest or (left == fewest and gain > best):
                variable, chosen, best, fewest = j, a, gain, left
    return variable, chosen


@kernel
def climb(
    terrain: Terrain,
    extra: Extra,
    at: Standing,
    rank: IntArray,
    drawn: IntArray,
    start: IntArray,
    least: float,
    steps: IntArray,
) -> int:
    """Go to a start, by giving the ``drawn`` variables its labels, and climb from there.

    That is the best change as long as there is one; how many there were. As many as fit are written
    to ``steps``, of shape (·, 2): a variable and its label.
    """
    graph, wide = terrain.graph, terrain.wide
    linked, offsets = wide.items.values > 0, graph.offsets
    # Rows, terms, histograms and dense pairs let every change look different after each.
    local = graph.rows.lower.shape[0] == 0 and terrain.pairs.shape[0] == 0
    local = local and extra.kind == NO_TERM and wide.bins == 0
    count, k = 0, 0
    while True:
        climbs = k == drawn.shape[0]
        if climbs:
            if local and at.wrong[0] == 0:
                j, label = best_of_each(graph, linked, at, least)
            else:
                j, label = best_change(terrain, extra, at, least)
            if j < 0:
                return count
        else:
            j = drawn[k]
            label = start[j]
            k += 1
        before = root_of(at.labels, j) if linked else 0
        if linked:
            at.clusters[0] += at.moves[offsets[j] + label] if climbs else 0.0
        if label != at.labels[j]:
            change(terrain, extra, at, rank, j, label)
        if linked and climbs:
            look_at_moves(terrain, at, before, root_of(at.labels, j))
        elif linked and k == drawn.shape[0]:
            settle(terrain, at)
        if climbs and count < steps.shape[0]:
            steps[count, 0] = j
            steps[count, 1] = label
        count += int(climbs)


@lean
def max_of_all(graph: Graph, entries: Entries) -> float:
    """The sum of what every variable and every table gives at most."""
    total = 0.0
    for k in range(graph.sizes.shape[0] + graph.tables.ptr.shape[0] - 1):
        begin, end = entries_of(graph, k)
        most = -np.inf
        for e in range(begin, end):
            if not entries.forbidden[e]:
                most = max(most, entries.theta[e])
        total += most
    return total


@kernel
def all_entries(questions: Questions, graph: Graph, as_it_is: bool) -> Entries:
    """What is read of scores, once for many climbs.

    Where entries lie ``as_it_is``, in the order of parts and none forbidden, they are copied.
    """
    m, size = questions.scores.shape[0], graph.tables.ptr[-1]
    entries = Entries(np.empty((m, size)), np.zeros((m, size), np.bool_))
    if as_it_is and questions.closed.shape[0] == 0:
        entries.theta[:] = questions.scores
        return entries
    work = np.empty(questions.scores.shape[1])
    for i in range(m):
        own = Entries(entries.theta[i], entries.forbidden[i])
        read_entries(questions, i, graph, work, own)
    return entries


@kernel
def climb_all(
    ground: Ground,
    members: IntArray,
    ties: FloatArray,
    starts: IntArray,
    gold: IntArray,
    kind: int,
    paired: bool,
    most: int,
) -> tuple[IntArray, BoolArray, IntArray, IntArray]:
    """Where climbs from given starts end, whether these obey, and the changes on the way.

    ``members`` are the rows of the ground that climbs go over. Changes are of shape (m, most, 2),
    of which so many are there; of longer ways the first.
    """
    graph, wide = ground.graph, ground.wide
    m, n = starts.shape
    square = n if paired else 0
    pairs = np.empty((square, square))
    at, rank = standing_for(graph, wide, n), np.ones(n, np.int64)
    ends, is_feasible = np.empty((m, n), np.int64), np.empty(m, np.bool_)
    steps, counts = np.full((m, most, 2), -1), np.empty(m, np.int64)
    nothing = np.empty(0, np.int64)
    for i in range(m):
        k = members[i]
        own = Entries(ground.entries.theta[k], ground.entries.forbidden[k])
        terrain = Terrain(graph, own, pairs, wide)
        if paired:
            pair_up(graph, own.theta, pairs)
        extra = Extra(kind, gold[i], count_on(gold[i]))
        at.labels[:] = starts[i]
        stand_at(terrain, extra, at)
        count = climb(terrain, extra, at, rank, nothing, starts[i], ties[i], steps[i])
        counts[i] = min(count, most)
        ends[i] = at.labels
        is_feasible[i] = at.wrong[0] + at.wrong[1] == 0
    return ends, is_feasible, steps, counts


@kernel
def search_greedily(
    questions: Questions,
    initial: IntArray,
    gold: IntArray,
    kind: int,
    wide: Wide,
    graph: Graph,
    restarts: Restarts,
) -> tuple[IntArray, IntArray, FloatArray]:
    """The best output of each input that was climbed to, the restart that found it, and a bound.

    Starts are ``guess`` with so many labels redrawn, or more where that start was there before.
    Labels are -1, and the restart is 0, where every climb ended at an output that breaks a rule.
    ``kind`` is that of the term, and ``gold`` what it compares with. The bound adds up the best
    that every label and every table can give; what traits can give is for the caller to add.
    """
    m, n = initial.shape
    scores, ties = questions.scores, questions.ties
    work, terrain = np.empty(scores.shape[1]), terrain_of(graph, wide)
    base, at = standing_for(graph, wide, n), standing_for(graph, wide, n)
    steps, rank = np.empty((0, 2), np.int64), np.ones(n, np.int64)
    draw = new_draw(n, restarts.climbs)
    answers = np.full((m, n), -1)
    found = np.zeros(m, np.int64)
    bounds = np.empty(m)
    for i in range(m):
        read_entries(questions, i, graph, work, terrain.entries)
        bounds[i] = max_of_all(graph, terrain.entries) + int(kind != NO_TERM)
        if n > 0 and initial[i].min() < 0:
            continue
        extra = Extra(kind, gold[i], count_on(gold[i]))
        base.labels[:] = initial[i]
        stand_at(terrain, extra, base)
        first, best = seed_of(scores, i, restarts.seed), -np.inf
        for r in range(restarts.climbs):
            copy_standing(base, at)
            state = mixed(first + np.uint64(r))
            forbidden = terrain.entries.forbidden
            drawn = draw_start(
                graph.offsets, forbidden, state, restarts.n_resampled, initial[i], draw, r
            )
            climb(terrain, extra, at, rank, draw.order[:drawn], draw.labels, ties[i], steps)
            if at.wrong[0] + at.wrong[1] > 0:
                continue
            value = whole_worth(wide, extra, at)
            if value > best + ties[i]:
                best = value
                answers[i] = at.labels
                found[i] = r + 1
    return answers, found, bounds


@kernel
def outputs_along(starts: IntArray, steps: IntArray, counts: IntArray) -> tuple[IntArray, IntArray]:
    """All outputs on the paths of inputs, each start first; and whose they are."""
    m, n = starts.shape
    total = m + counts.sum()
    outputs, owner = np.empty((total, n), np.int64), np.empty(total, np.int64)
    at = 0
    for i in range(m):
        outputs[at] = starts[i]
        owner[at] = i
        at += 1
        for k in range(counts[i]):
            outputs[at] = outputs[at - 1]
            outputs[at, steps[i, k, 0]] = steps[i, k, 1]
            owner[at] = i
            at += 1
    return outputs, owner
