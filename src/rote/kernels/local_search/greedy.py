"""Randomised greedy search: from many starts, the best single change again and again.

What every label would add to an output is known as it stands (`rote.kernels.local_search.state`),
so that looking for the next change costs one number per label. A start is reached by changes as
well, from an output whose gains are known: it costs what it changes.

While there are forbidden entries or broken rows, a change has to leave fewer of them; afterwards,
no change may bring one back.
"""

from __future__ import annotations

import cython
import numpy as np

from rote.types import BoolArray, FloatArray, IntArray

if not cython.compiled:
    from rote.kernels.arrays import *
    from rote.kernels.bundles import GlobalFeatures, Graph, Questions, fit_outputs, past_all
    from rote.kernels.constants import NO_TERM, WORD
    from rote.kernels.dual.ascent import entries_of
    from rote.kernels.inlined import change_rows, mixed, repeat_row
    from rote.kernels.local_search.clusters import cluster_of, look_at_moves
    from rote.kernels.local_search.global_features import share_changes
    from rote.kernels.local_search.hash_random import Draw, draw_start, seed_of
    from rote.kernels.local_search.state import (
        Extra,
        Landscape,
        SearchState,
        change,
        copy_state,
        is_on,
        is_right,
        look_for,
        loss_at,
        pair_up,
        settle,
        stand_at,
        whole_worth,
    )
    from rote.kernels.neighbourhood.neighbours import Entries, new_entries, read_entries


class AllEntries(Bundle):
    """The scores of the entries of several inputs, with what is forbidden apart."""

    def __init__(
        self,
        theta: OutFloats2,  # (m, entries): 0 where it is forbidden
        forbidden: OutFlags2,
    ) -> None:
        self.theta = theta
        self.forbidden = forbidden


class Instances(Bundle):
    """What climbs of several inputs go over."""

    def __init__(self, entries: AllEntries, graph: Graph, features: GlobalFeatures) -> None:
        self.entries = entries
        self.graph = graph
        self.features = features


class Restarts(Bundle):
    """How often to climb, and from where."""

    def __init__(
        self,
        n_resampled: Int,  # variables of a guess
        climbs: Int,
        seed: Int,
    ) -> None:
        self.n_resampled = n_resampled
        self.climbs = climbs
        self.seed = seed


def best_of_each(graph: Graph, linked: Bool, at: SearchState, least: float) -> tuple[int, int]:
    """The best change where nothing is wrong, and gains of a variable change by its neighbours.

    Of all others, the best change is remembered.
    """
    variable, chosen, best = -1, -1, least
    for j in range(at.labels.shape[0]):
        if at.stale[j]:
            first, top, lead = graph.offsets[j], -1, -inf
            for a in range(graph.sizes[j]):
                gain = at.gains.score[first + a]
                if linked:
                    gain += at.clusters.added[first + a]
                if gain > lead and a != at.labels[j] and at.gains.faults[first + a] <= 0:
                    top, lead = a, gain
            at.chosen[j] = top
            at.lead[j] = lead
            at.stale[j] = False
        if at.lead[j] > best:
            variable, chosen, best = j, at.chosen[j], at.lead[j]
    return variable, chosen


def best_change(
    landscape: Landscape, extra: Extra, at: SearchState, least: float
) -> tuple[int, int]:
    """The variable and label of the best change, or -1.

    While something is forbidden or broken, this is the change that leaves least of it, and of such
    the one that gains most; afterwards, one that gains more than ``least``.
    """
    n = at.labels.shape[0]
    wrong = at.faults + at.broken
    now = loss_at(extra, n, at.right, at.on)
    shared: Bool = landscape.features.bins > 0
    linked: Bool = landscape.features.items.values > 0
    if shared:
        share_changes(landscape.features, at.having, n, at.changes)
    variable, chosen, best, fewest = -1, -1, least, 0
    if wrong > 0:
        best, fewest = -inf, wrong - 1
    for j in range(n):
        first, own = landscape.graph.offsets[j], at.labels[j]
        for a in range(landscape.graph.sizes[j]):
            gain: float = at.gains.score[first + a]
            if extra.kind != NO_TERM:
                right = at.right + is_right(extra, j, a) - is_right(extra, j, own)
                gain += loss_at(extra, n, right, at.on + is_on(a) - is_on(own)) - now
            if shared:
                gain += at.changes[own, a]
            if linked:
                gain += at.clusters.added[first + a]
            if a == own or (wrong == 0 and gain <= best):
                continue
            left = wrong + at.gains.faults[first + a]
            if wrong == 0 and left > 0:
                continue
            left += change_rows(landscape.graph, j, own, a, at.activity, False)
            if left < fewest or (left == fewest and gain > best):
                variable, chosen, best, fewest = j, a, gain, left
    return variable, chosen


def go_to(landscape: Landscape, extra: Extra, at: SearchState, draw: Draw, drawn: Int) -> None:
    """Go to a start, by giving the variables that were drawn its labels."""
    for k in range(drawn):
        j = draw.order[k]
        if draw.labels[j] != at.labels[j]:
            change(landscape, extra, at, j, draw.labels[j])
    if drawn > 0:
        settle(landscape, at)


def climb(
    landscape: Landscape, extra: Extra, at: SearchState, least: float, steps: OutInts2
) -> int:
    """Make the best change as long as there is one; how many there were.

    As many as fit are written to ``steps``, of shape (·, 2): a variable and its label.
    """
    linked: Bool = landscape.features.items.values > 0
    # Rows, terms, histograms and dense pairs let every change look different after each.
    local: Bool = landscape.graph.rows.lower.shape[0] == 0 and landscape.pairs.shape[0] == 0
    local = local and extra.kind == NO_TERM and landscape.features.bins == 0
    count = 0
    while True:
        j, label = -1, -1
        if local and at.faults == 0:
            j, label = best_of_each(landscape.graph, linked, at, least)
        else:
            j, label = best_change(landscape, extra, at, least)
        if j < 0:
            return count
        before = cluster_of(at.clusters, j) if linked else 0
        if linked:
            at.clusters.worth += at.clusters.added[landscape.graph.offsets[j] + label]
        change(landscape, extra, at, j, label)
        if linked:
            after = cluster_of(at.clusters, j)
            look_at_moves(landscape.features, landscape.graph.offsets, at.clusters, before, after)
        if count < steps.shape[0]:
            steps[count, 0] = j
            steps[count, 1] = label
        count += 1


def max_of_all(graph: Graph, entries: Entries) -> float:
    """The sum of what every variable and every table gives at most."""
    total = 0.0
    for k in range(graph.sizes.shape[0] + graph.tables.ptr.shape[0] - 1):
        begin, end = entries_of(graph, k)
        most = -inf
        for e in range(begin, end):
            if not entries.forbidden[e]:
                most = max(most, entries.theta[e])
        total += most
    return total


def all_entries(questions: Questions, graph: Graph, as_it_is: Bool) -> AllEntries:
    """What is read of scores, once for many climbs.

    Where entries lie ``as_it_is``, in the order of parts and none forbidden, they are copied.
    """
    questions.fit(graph.source.reach, 0)
    m, size = questions.scores.shape[0], graph.tables.ptr[graph.tables.ptr.shape[0] - 1]
    theta: OutFloats2 = np.empty((m, size))
    forbidden: OutFlags2 = np.zeros((m, size), np.bool_)
    work = floats(questions.scores.shape[1])
    copied: Bool = as_it_is and questions.closed.shape[0] == 0
    with cython.nogil:
        for i in range(m):
            if copied:
                copy_into(theta[i], questions.scores[i])
            else:
                read_entries(questions, i, graph.source, work, theta[i], forbidden[i])
    return AllEntries(theta, forbidden)


def climb_all(
    instances: Instances,
    members: Ints,
    ties: Floats,
    starts: Ints2,
    gold: Ints2,
    kind: Int,
    paired: Bool,
    most: Int,
) -> tuple[IntArray, BoolArray, IntArray, IntArray]:
    """Where climbs from given starts end, whether these obey, and the changes on the way.

    ``members`` are the rows of the instances that climbs go over. Changes are of shape
    (m, most, 2), of which so many are there; of longer ways the first.
    """
    fit_outputs("starts", starts, instances.graph, members.shape[0])
    fit_outputs("gold", gold, instances.graph, members.shape[0])
    expect("ties", "entries", members.shape[0], ties.shape[0])
    m, n = starts.shape[0], starts.shape[1]
    # Both are put where an input is, one after the other.
    entries, extra = Entries(floats(0), flags(0)), Extra(kind, ints(0))
    landscape = Landscape(instances.graph, entries, instances.features, n, n if paired else 0)
    at = SearchState(instances.graph, instances.features, n)
    ends, obeys = np.empty((m, n), np.int64), np.empty(m, np.bool_)
    ways, lengths = np.full((m, most, 2), -1, np.int64), np.empty(m, np.int64)
    labels: OutInts2 = ends
    is_feasible: OutFlags = obeys
    steps: OutInts3 = ways
    counts: OutInts = lengths
    with cython.nogil:
        for i in range(m):
            entries.theta = instances.entries.theta[members[i]]
            entries.forbidden = instances.entries.forbidden[members[i]]
            if paired:
                pair_up(instances.graph, entries.theta, landscape.pairs)
            look_for(extra, gold[i])
            copy_into(at.labels, starts[i])
            stand_at(landscape, extra, at)
            counts[i] = min(climb(landscape, extra, at, ties[i], steps[i]), most)
            copy_into(labels[i], at.labels)
            is_feasible[i] = at.faults + at.broken == 0
    return ends, obeys, ways, lengths


def search_greedily(
    questions: Questions,
    initial: Ints2,
    gold: Ints2,
    kind: Int,
    features: GlobalFeatures,
    graph: Graph,
    restarts: Restarts,
) -> tuple[IntArray, IntArray, FloatArray]:
    """The best output of each input that was climbed to, the restart that found it, and a bound.

    Starts are ``guess`` with so many labels redrawn, or more where that start was there before.
    Labels are -1, and the restart is 0, where every climb ended at an output that breaks a rule.
    ``kind`` is that of the term, and ``gold`` what it compares with. The bound adds up the best
    that every label and every table can give; what global features give is for the caller to add.
    """
    questions.fit(graph.source.reach, 0)
    fit_outputs("initial", initial, graph, questions.scores.shape[0])
    fit_outputs("gold", gold, graph, questions.scores.shape[0])
    m, n = initial.shape[0], initial.shape[1]
    work, entries = floats(questions.scores.shape[1]), new_entries(graph)
    landscape, extra = Landscape(graph, entries, features, n, 0), Extra(kind, ints(0))
    base, at = SearchState(graph, features, n), SearchState(graph, features, n)
    draw, steps = Draw(n, restarts.climbs), ints2(0, 2)
    outputs, needed, most = np.empty((m, n), np.int64), np.zeros(m, np.int64), np.empty(m)
    answers: OutInts2 = outputs
    found: OutInts = needed
    bounds: OutFloats = most
    with cython.nogil:
        for i in range(m):
            fill(answers[i], -1)
            read_entries(questions, i, graph.source, work, entries.theta, entries.forbidden)
            bounds[i] = max_of_all(graph, entries) + (1 if kind != NO_TERM else 0)
            if not all_there(initial[i]):
                continue
            look_for(extra, gold[i])
            copy_into(base.labels, initial[i])
            stand_at(landscape, extra, base)
            first = seed_of(questions.scores, i, restarts.seed)
            best = -inf
            for r in range(restarts.climbs):
                copy_state(base, at)
                drawn = draw_start(
                    graph.offsets,
                    entries.forbidden,
                    mixed((first + cython.cast(Word, r)) & WORD),
                    restarts.n_resampled,
                    initial[i],
                    draw,
                    r,
                )
                go_to(landscape, extra, at, draw, drawn)
                climb(landscape, extra, at, questions.ties[i], steps)
                if at.faults + at.broken > 0:
                    continue
                value = whole_worth(features, extra, at)
                if value > best + questions.ties[i]:
                    best = value
                    copy_into(answers[i], at.labels)
                    found[i] = r + 1
    return outputs, needed, most


def all_there(labels: Ints) -> bool:
    """Whether every variable has a label."""
    there: Bool = True
    for j in range(labels.shape[0]):
        there = there and labels[j] >= 0
    return there


def outputs_along(starts: Ints2, steps: Ints3, counts: Ints) -> tuple[IntArray, IntArray]:
    """All outputs on the paths of inputs, each start first; and whose they are."""
    expect("steps", "rows", starts.shape[0], steps.shape[0])
    expect("counts", "entries", starts.shape[0], counts.shape[0])
    expect_least("steps", "columns", past_all(counts) - 1, steps.shape[1])
    expect("steps", "numbers", 2, steps.shape[2])
    m, n = starts.shape[0], starts.shape[1]
    total: Int = m
    for i in range(m):
        total += counts[i]
        for k in range(counts[i]):
            variable: Int = steps[i, k, 0]
            expect_least("starts", "columns", variable + 1, n)
    outputs, owner = np.empty((total, n), np.int64), np.empty(total, np.int64)
    labels: OutInts2 = outputs
    whose: OutInts = owner
    with cython.nogil:
        row = 0
        for i in range(m):
            for k in range(counts[i] + 1):
                if k == 0:
                    for j in range(n):
                        labels[row, j] = starts[i, j]
                else:
                    repeat_row(labels, row)
                    labels[row, steps[i, k - 1, 0]] = steps[i, k - 1, 1]
                whose[row] = i
                row += 1
    return outputs, owner
