"""Randomised greedy search: from many starts, the best single change again and again.

What every label would add to an output as it stands, its *gain*, is kept up to date, so that a
change costs the tables of its variable and looking for the next one costs one number per label. A
start is reached by changes as well, from an output whose gains are known: it costs what it changes.

Forbidden entries and broken rows are counted apart from scores. While there are some, a change has
to leave fewer of them; afterwards, no change may bring one back.

Where all variables have two labels and all tables are over two variables and forbid nothing, as in
multi-label classification, a change is passed on by one row of a matrix: with

    w[j, k] = the sum over tables of j and k of  θ(1, 1) - θ(1, 0) - θ(0, 1) + θ(0, 0)

changing j to 1 adds w[j, k] to what 1 instead of 0 is worth to k, and changing it to 0 takes it
away again.

A term that looks at the whole output (F1, Jaccard, zero-one) depends on two counts alone: labels
that are right, and labels that are on. What a change adds to it is the difference of two numbers.
Traits are looked up as `rote.kernels.wide` says.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rote.kernels.draws import draw_start, mixed, seed_of
from rote.kernels.entities import entities_worth, entity_changes
from rote.kernels.jit import inlined, kernel
from rote.kernels.neighbours import change_rows, pass_on, take_gains
from rote.kernels.outputs import read_scores
from rote.kernels.ranges import add_up
from rote.kernels.structs import Graph, Wide
from rote.kernels.wide import add_tuples, pass_on_tuples, share_changes, shares_worth
from rote.types import BoolArray, FloatArray, IntArray

NO_TERM, F1, JACCARD, WRONG = 0, 1, 2, 3


class Ground(NamedTuple):
    """The scores of entries, of several inputs, as climbs need them."""

    theta: FloatArray  # (m, entries); 0 where it is forbidden
    forbidden: BoolArray  # (m, entries)


class Terrain(NamedTuple):
    """What the climbs of one input go over."""

    graph: Graph
    theta: FloatArray  # per entry; 0 where it is forbidden
    forbidden: BoolArray  # per entry
    pairs: FloatArray  # the matrix of tables where there is one, and empty elsewhere
    wide: Wide


class Standing(NamedTuple):
    """An output, and what is known of it."""

    labels: IntArray
    gains: FloatArray  # per label of every variable: what it would add to the score
    faults: IntArray  # per label: how many forbidden entries it would add
    activity: FloatArray  # per row
    value: FloatArray  # one number: the score
    wrong: IntArray  # forbidden entries; broken rows
    counts: IntArray  # of the term: labels that are right, labels that are on
    having: IntArray  # per label, where there is a histogram: how many variables have it
    entities: FloatArray  # one number: what their traits are worth
    moves: FloatArray  # per label, where there are entities: what it would add to their traits
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
    entries = graph.tables.ptr[-1]
    forbidden = np.empty(entries, np.bool_)
    return Terrain(graph, np.empty(entries), forbidden, np.empty((0, 0)), wide)


@kernel
def standing_for(graph: Graph, wide: Wide, variables: int) -> Standing:
    """Room for what is known of an output."""
    labels = graph.widest if wide.bins > 0 else 0
    return Standing(
        np.empty(variables, np.int64),
        np.empty(graph.offsets[-1]),
        np.empty(graph.offsets[-1], np.int64),
        np.empty(graph.rows.lower.shape[0]),
        np.empty(1),
        np.empty(2, np.int64),
        np.empty(2, np.int64),
        np.empty(labels, np.int64),
        np.zeros(1),
        np.empty(graph.offsets[-1] if wide.mentions.values > 0 else 0),
        np.empty(variables, np.bool_),
        np.empty(variables, np.int64),
        np.empty(variables),
        np.empty((labels, labels)),
    )


@inlined
def copy_standing(source: Standing, target: Standing) -> None:
    """Stand where another one stands."""
    target.labels[:] = source.labels
    target.gains[:] = source.gains
    target.faults[:] = source.faults
    target.activity[:] = source.activity
    target.value[:] = source.value
    target.wrong[:] = source.wrong
    target.counts[:] = source.counts
    target.having[:] = source.having
    target.entities[:] = source.entities
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
    """What changes add to entities, worked out again for two of them, or with -1 for all."""
    graph, wide = terrain.graph, terrain.wide
    touched = np.array([one, other])
    entity_changes(
        wide.mentions,
        wide.weights,
        graph.sizes,
        graph.offsets,
        at.labels,
        touched,
        at.moves,
        at.stale,
    )


@kernel
def root_of(labels: IntArray, j: int) -> int:
    """The first mention of an entity."""
    while labels[j] > 0:
        j -= labels[j]
    return j


@kernel
def settle(terrain: Terrain, at: Standing) -> None:
    """Find out about entities."""
    mentions, weights = terrain.wide.mentions, terrain.wide.weights
    if mentions.values > 0:
        at.entities[0] = entities_worth(mentions, weights, at.labels)
        look_at_moves(terrain, at, -1, -1)


@kernel
def stand_at(terrain: Terrain, extra: Extra, at: Standing) -> None:
    """Find out all there is to know of the output whose labels are there."""
    graph, theta, forbidden, _, wide = terrain
    labels = at.labels
    at.stale[:] = True
    at.value[0], at.wrong[0] = take_gains(graph, theta, forbidden, labels, at.gains, at.faults)
    at.value[0] += add_tuples(wide, labels, graph.sizes, graph.offsets, at.gains)
    if wide.bins > 0:
        at.having[:] = 0
        for j in range(labels.shape[0]):
            at.having[labels[j]] += 1
    settle(terrain, at)
    at.wrong[1] = add_up(graph.rows, graph.offsets, labels, at.activity)
    at.counts[:] = 0
    if extra.kind != NO_TERM:
        for j in range(labels.shape[0]):
            at.counts[0] += is_right(extra, j, labels[j])
            at.counts[1] += int(labels[j] > 0)


@kernel
def whole_worth(wide: Wide, extra: Extra, at: Standing) -> float:
    """What an output is worth: its score, the term, and what looks at the whole of it."""
    n = at.labels.shape[0]
    worth: float = at.value[0] + at.entities[0] + loss_at(extra, n, at.counts[0], at.counts[1])
    if wide.bins > 0:
        worth += shares_worth(wide, at.having, n)
    return worth


@kernel
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

    Entities are left as they were.
    """
    graph, theta, forbidden, pairs, wide = terrain
    first, last = graph.offsets[j], graph.offsets[j + 1]
    gain, fault, before = at.gains[first + label], at.faults[first + label], at.labels[j]
    at.value[0] += gain
    at.wrong[0] += fault
    at.wrong[1] += change_rows(graph.rows, graph.offsets, j, before, label, at.activity, True)
    if extra.kind != NO_TERM:
        at.counts[0] += is_right(extra, j, label) - is_right(extra, j, before)
        at.counts[1] += int(label > 0) - int(before > 0)
    if wide.bins > 0:
        at.having[before] -= 1
        at.having[label] += 1
    if wide.origin.shape[0] > 0:
        pass_on_tuples(wide, at.labels, graph.sizes, graph.offsets, j, label, at.gains)
    if pairs.shape[0] > 0:
        row, sign = pairs[j], 1.0 if label == 1 else -1.0
        for k in range(row.shape[0]):
            # What the label that k does not have would add; 1 is the second label of all.
            mine = at.labels[k]
            at.gains[2 * k + 1 - mine] += sign * row[k] * (1 - 2 * mine)
    else:
        rank[j] = 0
        pass_on(graph, theta, forbidden, at.labels, j, label, rank, at.gains, at.faults)
        rank[j] = 1
        mark_neighbours(graph, wide, j, at.stale)
    for e in range(first, last):
        at.gains[e] -= gain
        at.faults[e] -= fault
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
def best_of_each(graph: Graph, linked: bool, at: Standing, least: float) -> tuple[int, int]:
    """The best change where nothing is wrong, and gains of a variable change by its neighbours.

    Of all others, the best change is remembered.
    """
    variable, chosen, best = -1, -1, least
    for j in range(at.labels.shape[0]):
        if at.stale[j]:
            first, top, lead = graph.offsets[j], -1, -np.inf
            for a in range(graph.sizes[j]):
                gain = at.gains[first + a]
                if linked:
                    gain += at.moves[first + a]
                if gain > lead and a != at.labels[j] and at.faults[first + a] <= 0:
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
    rows, offsets, labels = graph.rows, graph.offsets, at.labels
    wrong = at.wrong[0] + at.wrong[1]
    now = loss_at(extra, labels.shape[0], at.counts[0], at.counts[1])
    shared, linked = wide.bins > 0, wide.mentions.values > 0
    if shared:
        share_changes(wide, at.having, labels.shape[0], at.changes)
    variable, chosen, best, fewest = -1, -1, least, 0
    if wrong > 0:
        best, fewest = -np.inf, wrong - 1
    for j in range(labels.shape[0]):
        first, own = offsets[j], labels[j]
        for a in range(graph.sizes[j]):
            gain = at.gains[first + a]
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
            left = wrong + at.faults[first + a]
            if wrong == 0 and left > 0:
                continue
            left += change_rows(rows, offsets, j, own, a, at.activity, False)
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
    linked, offsets = wide.mentions.values > 0, graph.offsets
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
            at.entities[0] += at.moves[offsets[j] + label] if climbs else 0.0
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


@kernel
def most_of_all(graph: Graph, theta: FloatArray, forbidden: BoolArray, variables: int) -> float:
    """The sum of what every variable and every table gives at most."""
    total = 0.0
    for k in range(variables + graph.tables.ptr.shape[0] - 1):
        ptr = graph.offsets if k < variables else graph.tables.ptr
        b = k if k < variables else k - variables
        most = -np.inf
        for e in range(ptr[b], ptr[b + 1]):
            if not forbidden[e]:
                most = max(most, theta[e])
        total += most
    return total


@kernel
def read_entries(
    scores: FloatArray,
    closed: BoolArray,
    i: int,
    work: FloatArray,
    graph: Graph,
    theta: FloatArray,
    forbidden: BoolArray,
) -> None:
    """The scores of every entry for one input; what is forbidden scores 0, and is marked."""
    source = graph.source
    read_scores(scores, closed, i, work)
    for e in range(theta.shape[0]):
        value = 0.0
        for g in range(source.ptr[e], source.ptr[e + 1]):
            value += work[source.gather[g]]
        forbidden[e] = not source.allowed[e] or value == -np.inf
        theta[e] = 0.0 if forbidden[e] else value


@inlined
def count_on(gold: IntArray) -> int:
    """How many labels are not the first."""
    on = 0
    for j in range(gold.shape[0]):
        on += int(gold[j] > 0)
    return on


@kernel
def ground_of(scores: FloatArray, closed: BoolArray, graph: Graph, as_it_is: bool) -> Ground:
    """What is read of scores, once for many climbs.

    Where entries lie ``as_it_is``, in the order of parts and none forbidden, they are copied.
    """
    m, entries = scores.shape[0], graph.tables.ptr[-1]
    ground = Ground(np.empty((m, entries)), np.zeros((m, entries), np.bool_))
    if as_it_is and closed.shape[0] == 0:
        ground.theta[:] = scores
        return ground
    work = np.empty(scores.shape[1])
    for i in range(m):
        read_entries(scores, closed, i, work, graph, ground.theta[i], ground.forbidden[i])
    return ground


@kernel
def climb_all(
    ground: Ground,
    members: IntArray,
    ties: FloatArray,
    starts: IntArray,
    gold: IntArray,
    kind: int,
    wide: Wide,
    graph: Graph,
    paired: bool,
    most: int,
) -> tuple[IntArray, BoolArray, IntArray, IntArray]:
    """Where climbs from given starts end, whether these obey, and the changes on the way.

    ``members`` are the rows of the ground that climbs go over. Changes are of shape (m, most, 2),
    of which so many are there; of longer ways the first.
    """
    m, n = starts.shape
    square = n if paired else 0
    pairs = np.empty((square, square))
    at, rank = standing_for(graph, wide, n), np.ones(n, np.int64)
    ends, obeys = np.empty((m, n), np.int64), np.empty(m, np.bool_)
    steps, counts = np.full((m, most, 2), -1), np.empty(m, np.int64)
    nothing = np.empty(0, np.int64)
    for i in range(m):
        k = members[i]
        terrain = Terrain(graph, ground.theta[k], ground.forbidden[k], pairs, wide)
        if paired:
            pair_up(graph, terrain.theta, pairs)
        extra = Extra(kind, gold[i], count_on(gold[i]))
        at.labels[:] = starts[i]
        stand_at(terrain, extra, at)
        count = climb(terrain, extra, at, rank, nothing, starts[i], ties[i], steps[i])
        counts[i] = min(count, most)
        ends[i] = at.labels
        obeys[i] = at.wrong[0] + at.wrong[1] == 0
    return ends, obeys, steps, counts


@kernel
def search_greedily(
    scores: FloatArray,
    closed: BoolArray,
    ties: FloatArray,
    guess: IntArray,
    gold: IntArray,
    kind: int,
    wide: Wide,
    graph: Graph,
    redrawn: int,
    restarts: int,
    seed: int,
) -> tuple[IntArray, IntArray, FloatArray]:
    """The best output of each input that was climbed to, the restart that found it, and a bound.

    Starts are ``guess`` with so many labels ``redrawn``. Labels are -1, and the restart is 0, where
    every climb ended at an output that breaks a rule. ``kind`` is that of the term, and ``gold``
    what it compares with. The bound adds up the best that every label and every table can give;
    what traits can give is for the caller to add.
    """
    m, n = guess.shape
    work, terrain = np.empty(scores.shape[1]), terrain_of(graph, wide)
    base, at = standing_for(graph, wide, n), standing_for(graph, wide, n)
    start, order, rank = np.empty(n, np.int64), np.empty(n, np.int64), np.ones(n, np.int64)
    steps = np.empty((0, 2), np.int64)
    answers = np.full((m, n), -1)
    found = np.zeros(m, np.int64)
    bounds = np.empty(m)
    for i in range(m):
        forbidden = terrain.forbidden
        read_entries(scores, closed, i, work, graph, terrain.theta, forbidden)
        bounds[i] = most_of_all(graph, terrain.theta, forbidden, n) + int(kind != NO_TERM)
        if n > 0 and guess[i].min() < 0:
            continue
        extra = Extra(kind, gold[i], count_on(gold[i]))
        base.labels[:] = guess[i]
        stand_at(terrain, extra, base)
        first, best = seed_of(scores, i, seed), -np.inf
        for r in range(restarts):
            copy_standing(base, at)
            start[:] = guess[i]
            state = mixed(first + np.uint64(r))
            draw_start(graph.sizes, graph.offsets, forbidden, state, redrawn, order, start)
            climb(terrain, extra, at, rank, order[:redrawn], start, ties[i], steps)
            if at.wrong[0] + at.wrong[1] > 0:
                continue
            value = whole_worth(wide, extra, at)
            if value > best + ties[i]:
                best = value
                answers[i] = at.labels
                found[i] = r + 1
    return answers, found, bounds


@kernel
def gains_of(scores: FloatArray, labels: IntArray, graph: Graph) -> FloatArray:
    """What every label of every variable would add to the scores of outputs; rules are left aside.

    Of shape (m, labels).
    """
    m, n = labels.shape
    # Auxiliary variables, which come last, are in no table.
    gains = np.zeros((m, graph.offsets[n]))
    theta = np.empty(graph.tables.ptr[-1])
    none, faults = np.zeros(theta.shape[0], np.bool_), np.empty(graph.offsets[n], np.int64)
    source = graph.source
    for i in range(m):
        for e in range(theta.shape[0]):
            theta[e] = 0.0
            for g in range(source.ptr[e], source.ptr[e + 1]):
                theta[e] += scores[i, source.gather[g]]
        take_gains(graph, theta, none, labels[i], gains[i], faults)
    return gains


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
