"""The best around a given output, and the same by enumeration."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rote.kernels.neighbourhood.neighbours import (
    Entries,
    Gains,
    best_neighbours,
    max_gain,
    pass_on,
    take_better,
)
from rote.space import SpaceBuilder
from rote.types import readonly
from tests.kernels.bodies import (
    activities,
    asked,
    entries_of,
    labellings,
    loaded,
    naive_neighbours,
    networks,
    numbers,
    scores_of,
)
from tests.kernels.parts import around_of, whole

seeds = st.integers(0, 2**32 - 1)


def split_scores(graph, scores):
    """Scores of entries with 0 for forbidden ones, and which those are."""
    theta = loaded(graph, scores)
    forbidden = np.isinf(theta)
    theta[forbidden] = 0.0
    return Entries(theta, forbidden)


def some_labels(graph, rng):
    return np.array([rng.integers(size) for size in graph.sizes], dtype=np.int64)


def changed(labels, j, a):
    other = labels.copy()
    other[j] = a
    return other


def stock(graph, entries, labels):
    """Value, forbidden entries and broken rows, in plain words."""
    chosen = entries_of(graph, labels)
    totals = activities(graph, labels)
    broken = (totals < graph.rows.lower) | (totals > graph.rows.upper)
    value = entries.theta[chosen].sum()
    faults = entries.forbidden[chosen].sum()
    return value, int(faults), int(broken.sum())


# -- the pieces -----------------------------------------------------------------------------


@given(networks(least=1), seeds)
def test_gains_passed_on_are_those_that_would_be_set_afresh(found, seed):
    space, net = found
    graph, rng = net.graph, np.random.default_rng(seed)
    entries = split_scores(graph, scores_of(space, seed))
    labels, n = some_labels(graph, rng), len(graph.sizes)
    rank = rng.permutation(n)
    rank[rng.random(n) < 0.2] = -1  # outside of the set
    inside = np.flatnonzero(rank >= 0)
    assume(len(inside))
    j = int(rng.choice(inside))
    a = int(rng.integers(graph.sizes[j]))
    gains, gained = gains_of(graph, entries, labels)
    before, faults_before = gains, gained
    room, base = Gains(2 * len(gains)), len(gains)
    room.score[base:], room.faults[base:] = gains, gained
    pass_on(graph, entries, labels, j, a, rank, room, base)
    gains, gained = room.score[base:], room.faults[base:]
    fresh, faults = gains_of(graph, entries, changed(labels, j, a))
    for k in range(n):
        own = slice(graph.offsets[k], graph.offsets[k + 1])
        if rank[k] <= rank[j]:
            fresh[own], faults[own] = before[own], faults_before[own]
    assert gains.tolist() == pytest.approx(fresh.tolist(), abs=1e-9)
    assert gained.tolist() == faults.tolist()


@given(networks(least=1), seeds)
def test_nothing_gains_more_than_the_most(found, seed):
    space, net = found
    graph = net.graph
    entries = split_scores(graph, scores_of(space, seed))
    gold = some_labels(graph, np.random.default_rng(seed))
    for j in range(len(graph.sizes)):
        most = max_gain(graph, entries.theta, j, gold[j])
        assert most >= 0.0
        alone = sum(j in f.variables for f in space.factors) <= 1
        seen = 0.0
        for labels in labellings(graph):
            if labels[j] == gold[j]:
                was = stock(graph, entries, np.array(labels))[0]
                for a in range(graph.sizes[j]):
                    now = stock(graph, entries, changed(np.array(labels), j, a))[0]
                    seen = max(seen, now - was)
        assert seen <= most + 1e-9
        if alone:  # one table or none: then it is reached
            assert seen == pytest.approx(most, abs=1e-9)


def gains_of(graph, entries, labels):
    """What each label would add, as differences of whole outputs."""
    value, faults, _ = stock(graph, entries, labels)
    other = [
        stock(graph, entries, changed(labels, j, a))
        for j, size in enumerate(graph.sizes)
        for a in range(size)
    ]
    gains = np.array([then - value for then, _, _ in other], dtype=np.float64)
    return gains, np.array([wrong - faults for _, wrong, _ in other], dtype=np.int64)


# -- the search -------------------------------------------------------------------------------


@given(
    networks(least=1),
    seeds,
    st.sampled_from(["real", "whole", "near", "near"]),
    st.booleans(),
    st.sampled_from([1, 2, 3, 1 << 62]),
    st.booleans(),
)
def test_the_best_around_gold_is_that_of_enumeration(found, seed, kind, close, most, settle):
    space, net = found
    assume(net.variables == net.own)
    graph, rng, m = net.graph, np.random.default_rng(seed), 3
    n = len(space.variables)
    scores = numbers(rng, kind, (m, space.parts))
    closed = rng.random((m, space.labels)) < 0.15 if close else None
    gold = whole([some_labels(graph, rng) for _ in range(m)])
    lists = [
        [rng.permutation(n)[: rng.integers(n + 1)].tolist() for _ in range(rng.integers(4))]
        for _ in range(m)
    ]
    around = around_of(lists, most)
    arguments = asked(scores, closed), gold, graph, around, settle
    answers, doubts = best_neighbours(*arguments)
    for i in range(m):
        shown = scores[i].copy()
        if close:
            shown[: space.labels][closed[i]] = -np.inf
        valued = naive_neighbours(graph, loaded(graph, shown), gold[i], lists[i], most)
        if not valued:
            assert (answers[i] == -1).all()
            assert not doubts[i]
            continue
        top, answer = max(valued.values()), tuple(answers[i].tolist())
        equal = sorted(labels for labels, value in valued.items() if value >= top - 1e-10)
        if settle:
            assert answer == equal[0]
            assert not doubts[i]
        else:
            assert valued[answer] >= top - 1e-10
            assert doubts[i] or equal == [answer]


def two_variables():
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    builder.variable("y", "ab")
    return builder.build().network.graph


def test_gold_itself_is_one_of_the_equals():
    questions = asked([[0.0, 3e-11, 0.0, 0.0]])
    for gold in ([0, 0], [0, 1]):
        around = around_of([[[0], [1]]])
        labels, doubts = best_neighbours(questions, whole([gold]), two_variables(), around, True)
        assert labels.tolist() == [[0, 0]]
        assert not doubts.any()


# -- the better of two ------------------------------------------------------------------------


def test_better_outputs_take_the_place_of_others_and_near_ones_leave_a_doubt():
    tie = 0.1
    cases = [
        # value so far, doubt, offered, worth, also → first label, value, doubt
        (1.0, False, 1, 2.0, False, 1, 2.0, False),
        (1.0, True, 1, 2.0, False, 1, 2.0, False),  # far better: old doubts are gone
        (1.0, False, 1, 2.0, True, 1, 2.0, True),
        (1.0, False, 1, 1.15, False, 1, 1.15, True),
        (1.0, False, 1, 0.85, False, 0, 1.0, True),
        (1.0, True, 1, 0.5, True, 0, 1.0, True),
        (1.0, False, 1, 0.5, True, 0, 1.0, False),
        (1.0, False, 0, 1.0, False, 0, 1.0, False),  # the same again
        (1.0, False, 0, 1.0, True, 0, 1.0, True),
        (-np.inf, False, 1, -3.0, False, 1, -3.0, False),
    ]
    for value, doubt, label, known_value, also, then, now, doubtful in cases:
        labels, values = np.array([[7], [0]]), np.array([5.0, value])
        if value == -np.inf:
            labels[1] = -1
        doubts = np.array([False, doubt])
        take_better(
            labels,
            values,
            doubts,
            np.full(2, tie),
            whole([1]),
            whole([[label]]),
            readonly(np.array([known_value])),
            readonly(np.array([also])),
        )
        assert labels.tolist() == [[7], [then]]
        assert values.tolist() == [5.0, now]
        assert doubts.tolist() == [False, doubtful]


@given(seeds)
def test_what_is_left_is_the_best_and_equals_are_never_missed(seed):
    rng = np.random.default_rng(seed)
    tie, count = 1.0, 8
    offered = rng.integers(3, size=(count, 2))
    # The same output always has the same worth.
    table = np.round(rng.uniform(0, 4, size=(3, 3)), 1)
    known_value = table[offered[:, 0], offered[:, 1]]
    labels, values, doubts = np.full((1, 2), -1), np.full(1, -np.inf), np.zeros(1, np.bool_)
    take_better(
        labels,
        values,
        doubts,
        np.array([tie]),
        whole([0] * count),
        whole(offered),
        readonly(known_value),
        readonly(np.zeros(count, np.bool_)),
    )
    assert values[0] == known_value.max() == table[labels[0, 0], labels[0, 1]]
    near = {
        tuple(o) for o, w in zip(offered.tolist(), known_value, strict=True) if w >= values - tie
    }
    assert doubts[0] or len(near) == 1
