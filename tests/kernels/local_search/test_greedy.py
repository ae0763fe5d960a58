"""Greedy search, and the same by looking at all outputs one label away."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rote.kernels.constants import F1, JACCARD, NO_TERM, WRONG
from rote.kernels.local_search.global_features import no_global_features
from rote.kernels.local_search.greedy import (
    Instances,
    Restarts,
    all_entries,
    climb_all,
    outputs_along,
    search_greedily,
)
from rote.kernels.local_search.hash_random import draw_starts, seeds_of
from rote.space import SpaceBuilder
from rote.space.global_features import GlobalFeatureScores, GlobalFeatureSet, LabelCounts, Tuples
from rote.types import readonly
from tests.kernels.bodies import activities, asked, entries_of, loaded, networks, scores_of
from tests.kernels.parts import whole

seeds = st.integers(0, 2**32 - 1)
TIE = 1e-10
KINDS = (NO_TERM, F1, JACCARD, WRONG)


def loss(kind, gold, labels):
    """The term by its definition."""
    gold, labels = np.asarray(gold), np.asarray(labels)
    right = int(((gold == labels) & (gold > 0)).sum())
    gold_on, on = int((gold > 0).sum()), int((labels > 0).sum())
    if kind == WRONG:
        return float((gold != labels).any())
    if kind == F1 and gold_on + on:
        return 1 - 2 * right / (gold_on + on)
    if kind == JACCARD and gold_on + on:
        return 1 - right / (gold_on + on - right)
    return 0.0


class Naive:
    """One input: what outputs are worth, what is wrong with them, and where they lead."""

    def __init__(self, graph, scores, closed, kind, gold, global_features=None):
        shown = scores.copy()
        shown[: len(closed)][closed] = -np.inf
        self.graph, self.kind, self.gold, self.global_features = graph, kind, gold, global_features
        self.theta = loaded(graph, shown)

    def known_value(self, labels):
        entries = self.theta[entries_of(self.graph, labels)]
        more = (
            0.0
            if self.global_features is None
            else self.global_features.known_value(np.array([labels]))[0]
        )
        return entries[entries > -np.inf].sum() + loss(self.kind, self.gold, labels) + more

    def wrong(self, labels):
        rows, totals = self.graph.rows, activities(self.graph, labels)
        forbidden = (self.theta[entries_of(self.graph, labels)] == -np.inf).sum()
        return int(forbidden + ((totals < rows.lower) | (totals > rows.upper)).sum())

    def successors(self, labels):
        for j, size in enumerate(self.graph.sizes):
            for a in range(size):
                if a != labels[j]:
                    yield (*labels[:j], a, *labels[j + 1 :])

    def next(self, labels):
        """The best successor, or None; of equals that which is met first."""
        wrong, known_value = self.wrong(labels), self.known_value(labels)
        best, found = (wrong, known_value + TIE), None
        if wrong:
            best = wrong - 1, -np.inf
        for other in self.successors(labels):
            left, value = self.wrong(other), self.known_value(other)
            if left < best[0] or (left == best[0] and value > best[1] + 1e-12):
                best, found = (left, value), other
        return found

    def climbed(self, labels):
        while (better := self.next(labels)) is not None:
            labels = better
        return labels


def question(space, net, seed, close=False, m=2):
    rng = np.random.default_rng(seed)
    scores = readonly(scores_of(space, seed, m))
    closed = rng.random((m, space.labels)) < (0.2 if close else 0.0)
    # Every variable keeps a label.
    for j in range(len(space.variables)):
        closed[:, space.offsets[j]] &= ~closed[:, space.offsets[j] : space.offsets[j + 1]].all(1)
    gold = whole([[rng.integers(size) for size in space.sizes] for _ in range(m)])
    initial = whole([[rng.integers(size) for size in space.sizes] for _ in range(m)])
    return scores, readonly(closed), gold, initial


def global_features_of(space, seed):
    """Tuples over some variables and, where all have as many labels, a histogram; or nothing."""
    rng = np.random.default_rng(seed)
    n, sizes = len(space.variables), space.sizes
    families = []
    for number in range(rng.integers(3)):
        scope = rng.permutation(n)[: rng.integers(1, 1 + min(n, 3))]
        shape = tuple(sizes[scope].tolist())
        others = [tuple(rng.permutation(n)[: len(scope)].tolist()) for _ in range(3)]
        alike = [other for other in others if tuple(sizes[list(other)].tolist()) == shape]
        families.append(Tuples(f"tuples {number}", (tuple(scope.tolist()), *alike), shape))
    if (sizes == sizes[0]).all() and rng.random() < 0.7:
        families.append(LabelCounts("shares", int(sizes[0]), int(rng.integers(2, 5))))
    if not families:
        return None
    firsts = np.cumsum([3, *(family.width for family in families)])
    counts = [family.count for family in families]
    weights = readonly(rng.integers(-8, 9, size=firsts[-1]) / 4)
    origins = np.repeat(firsts[:-1], counts)
    return GlobalFeatureScores(GlobalFeatureSet(tuple(families), n), readonly(origins), weights)


def told(global_features, space):
    return no_global_features() if global_features is None else global_features.compiled


def is_paired(graph):
    pairwise = all(np.diff(graph.tables.scope_ptr) == 2) and len(graph.tables.ptr) > 1
    return pairwise and set(graph.sizes) == {2} and all(graph.source.allowed)


@given(networks(least=1), seeds, st.sampled_from(KINDS), st.booleans(), st.integers(0, 4))
def test_answers_are_the_best_of_what_is_climbed_to(found, seed, kind, close, n_resampled):
    space, net = found
    assume(net.variables == net.own)
    graph, restarts = net.per_factor_tables.graph, 3
    scores, closed, gold, initial = question(space, net, seed, close)
    n_resampled = min(n_resampled, len(space.variables))
    global_features = global_features_of(space, seed)
    questions = asked(scores, closed if close else None, TIE)
    how = told(global_features, space), graph, Restarts(n_resampled, restarts, seed)
    labels, needed, bounds = search_greedily(questions, initial, gold, kind, *how)
    forbidden = readonly(closed | ~net.allowed[: space.labels])
    seeds = readonly(seeds_of(scores, seed))
    seen = np.empty((len(scores), restarts), np.int64)
    starts = [
        draw_starts(seeds, forbidden, initial, space.offsets, n_resampled, seen, r)
        for r in range(restarts)
    ]
    for i in range(len(scores)):
        naive = Naive(graph, scores[i], closed[i], kind, gold[i], global_features)
        ends = [naive.climbed(tuple(start[i].tolist())) for start in starts]
        values = [-np.inf if naive.wrong(end) else naive.known_value(end) for end in ends]
        if max(values) == -np.inf:
            assert labels[i].tolist() == [-1] * len(space.variables)
            assert needed[i] == 0
            continue
        answer = tuple(labels[i].tolist())
        assert naive.wrong(answer) == 0
        assert naive.known_value(answer) == pytest.approx(max(values), abs=1e-9)
        assert answer == ends[needed[i] - 1]
        assert values[needed[i] - 1] == pytest.approx(max(values), abs=1e-9)
        assert max(values[: needed[i] - 1], default=-np.inf) < max(values)
        assert (
            bounds[i] + (0.0 if global_features is None else global_features.most)
            >= max(values) - 1e-9
        )
        assert naive.next(answer) is None


def test_no_input_no_variables_and_no_label():
    graph = SpaceBuilder().build().network.graph
    none = whole(np.empty((1, 0)))
    once, twice, features = Restarts(0, 1, 0), Restarts(1, 2, 0), no_global_features()
    labels, needed, bounds = search_greedily(
        asked(np.empty((1, 0))), none, none, 0, features, graph, once
    )
    assert labels.shape == (1, 0)
    assert needed.tolist() == [1]
    assert bounds.tolist() == [0.0]
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    graph = builder.build().network.graph
    empty = whole(np.empty((0, 1)))
    labels, _, _ = search_greedily(asked(np.empty((0, 2))), empty, empty, 0, features, graph, twice)
    assert labels.shape == (0, 1)
    questions, missing = asked(np.ones((1, 2)), np.array([[True, True]])), whole([[-1]])
    labels, needed, _ = search_greedily(questions, missing, missing, 0, features, graph, twice)
    assert labels.tolist() == [[-1]]
    assert needed.tolist() == [0]


# -- paths ----------------------------------------------------------------------------------------


@given(networks(least=1), seeds, st.sampled_from(KINDS), st.booleans(), st.integers(0, 6))
def test_paths_are_climbed_step_by_step(found, seed, kind, close, most):
    space, net = found
    assume(net.variables == net.own)
    graph = net.per_factor_tables.graph
    scores, closed, gold, starts = question(space, net, seed, close)
    ties = readonly(np.full(len(scores), TIE))
    questions = asked(scores, closed if close else None, TIE)
    global_features = global_features_of(space, seed)
    more = is_paired(graph), most
    entries = all_entries(questions, graph, False)
    instances = Instances(entries, graph, told(global_features, space))
    as_it_is = net.per_factor_tables.is_plain
    again = all_entries(questions, graph, as_it_is)
    for name in ("theta", "forbidden"):
        one, other = (getattr(each, name) for each in (entries, again))
        assert one.tolist() == other.tolist()
    # The last input comes first: climbs go over the rows of the instances that they are told.
    back = readonly(np.arange(len(scores))[::-1].copy())
    turned = (readonly(each[back].copy()) for each in (ties, starts, gold))
    found = climb_all(instances, back, *turned, kind, *more)
    every = readonly(np.arange(len(scores)))
    ends, is_feasible, steps, counts = climb_all(instances, every, ties, starts, gold, kind, *more)
    for one, other in zip((ends, is_feasible, steps, counts), found, strict=True):
        assert one[back].tolist() == other.tolist()
    outputs, owner = outputs_along(starts, steps, counts)
    for i in range(len(scores)):
        naive = Naive(graph, scores[i], closed[i], kind, gold[i], global_features)
        path = [tuple(starts[i].tolist())]
        while (better := naive.next(path[-1])) is not None:
            path.append(better)
        assert tuple(ends[i].tolist()) == path[-1]
        assert is_feasible[i] == (naive.wrong(path[-1]) == 0)
        assert counts[i] == min(most, len(path) - 1)
        assert [tuple(row) for row in outputs[owner == i].tolist()] == path[: counts[i] + 1]
