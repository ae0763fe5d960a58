"""Max-sum with clamped borders: compiled, as plain Python, and by trying all labels of a set."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.kernels.forests import DOUBTFUL, LOOP, NONE, SURE, best_forests, collect, plant
from rote.space import SpaceBuilder
from rote.types import frozen
from tests.kernels.bodies import entries_of, entry_of, loaded, networks, plain, scores_of
from tests.kernels.parts import whole

seeds = st.integers(0, 2**32 - 1)
NONE_CLOSED = frozen(np.empty((0, 0), dtype=np.bool_))
TIE = 1e-10
each_plant = pytest.mark.parametrize("run", [plant, plain(plant)], ids=["compiled", "plain"])


def graph_of(n, *scopes, labels="ab"):
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", labels) for j in range(n)]
    for scope in scopes:
        builder.factor(*(variables[j] for j in scope))
    return builder.build().network.graph


def scopes_of(graph):
    tables = graph.tables
    return [
        tables.scope[tables.scope_ptr[b] : tables.scope_ptr[b + 1]].tolist()
        for b in range(len(tables.ptr) - 1)
    ]


def is_forest(graph, members):
    """Take leaves away until nothing is left, or nothing more can be."""
    inside = [set(scope) & set(members) for scope in scopes_of(graph)]
    if any(len(scope) > 2 for scope in inside):
        return False
    edges = {frozenset(scope) for scope in inside if len(scope) == 2}
    while edges:
        ends = [j for edge in edges for j in edge]
        leaves = {edge for edge in edges if any(ends.count(j) == 1 for j in edge)}
        if not leaves:
            return False
        edges -= leaves
    return True


def planted(run, graph, members, n):
    rank = np.full(n, -1)
    rank[list(members)] = n
    order, parent = np.full(n, -9), np.full(n, -1)
    fine = run(graph, whole(members), rank, order, parent)
    return fine, rank, order[: len(members)].tolist(), parent


# -- planting -----------------------------------------------------------------------------------


@given(networks(), seeds)
@settings(max_examples=60)
def test_parents_come_first_and_loops_are_seen(found, seed):
    _, net = found
    graph, rng = net.graph, np.random.default_rng(seed)
    n = len(graph.sizes)
    members = rng.permutation(n)[: rng.integers(n + 1)].tolist()
    expected = is_forest(graph, members)
    for run in (plant, plain(plant)):
        fine, rank, order, parent = planted(run, graph, members, n)
        assert fine == expected
        if not fine:
            continue
        assert sorted(order) == sorted(members)
        edges = {frozenset(set(s) & set(members)) for s in scopes_of(graph)}
        edges = {edge for edge in edges if len(edge) == 2}
        assert edges == {frozenset({j, int(parent[j])}) for j in members if parent[j] >= 0}
        for at, j in enumerate(order):
            assert rank[j] == at
            assert parent[j] < 0 or rank[parent[j]] < at


@each_plant
def test_a_chain_is_planted_from_its_first_member_on(run):
    graph = graph_of(4, (0, 1), (1, 2), (2, 3))
    fine, _, order, parent = planted(run, graph, [1, 2, 0], 4)
    assert fine
    assert order == [1, 0, 2]
    assert parent.tolist() == [1, -1, 1, -1]


@each_plant
def test_a_loop_is_none_once_one_of_its_variables_is_fixed(run):
    graph = graph_of(3, (0, 1), (1, 2), (2, 0))
    assert not planted(run, graph, [0, 1, 2], 3)[0]
    assert planted(run, graph, [0, 2], 3)[0]


@each_plant
def test_a_table_over_three_is_an_edge_once_one_of_them_is_fixed(run):
    graph = graph_of(3, (0, 1, 2))
    assert not planted(run, graph, [0, 1, 2], 3)[0]
    assert planted(run, graph, [2, 0], 3)[0]


@each_plant
def test_two_tables_over_the_same_pair_are_one_edge(run):
    graph = graph_of(4, (0, 1, 2), (3, 1, 0))
    fine, _, order, parent = planted(run, graph, [0, 1], 4)
    assert fine
    assert order == [0, 1]
    assert parent.tolist() == [-1, 0, -1, -1]


@each_plant
def test_nothing_is_a_forest(run):
    assert planted(run, graph_of(2, (0, 1)), [], 2)[0]
    assert planted(run, graph_of(0), [], 0)[0]


# -- what is known of an edge -------------------------------------------------------------------


@pytest.mark.parametrize("run", [collect, plain(collect)], ids=["compiled", "plain"])
def test_scores_of_a_child_are_collected_with_its_border_fixed(run):
    graph = graph_of(5, (2, 1, 0), (0, 1, 3), (1, 4))
    theta = np.arange(float(graph.tables.ptr[-1])) ** 1.5
    gold, rank = whole([1, 0, 1, 0, 1]), np.array([0, 1, -1, -1, -1])
    belief, edge = np.zeros(10), np.full(4, np.nan)
    run(graph, theta, gold, rank, 1, 0, belief, edge)
    one, two, out = (scopes_of(graph).index(s) for s in ([2, 1, 0], [0, 1, 3], [1, 4]))
    for a in range(2):
        labels = [1, a, 1, 0, 1]
        assert belief[2 + a] == pytest.approx(theta[2 + a] + theta[entry_of(graph, out, labels)])
        for b in range(2):
            labels[0] = b
            expected = theta[entry_of(graph, one, labels)] + theta[entry_of(graph, two, labels)]
            assert edge[2 * a + b] == pytest.approx(expected)
    assert np.delete(belief, [2, 3]).tolist() == [0.0] * 8
    # A root has no edge, and leaves to its child what the two share.
    belief[:], edge[:] = 0.0, np.nan
    run(graph, theta, gold, rank, 0, -1, belief, edge)
    assert belief[:2].tolist() == theta[:2].tolist()
    assert edge[:2].tolist() == [0.0, 0.0]


# -- the best of a set --------------------------------------------------------------------------


def naive_set(graph, theta, gold, members):
    """Values by labels of all labellings of a set, of what touches the set alone."""
    n, scopes = len(gold), scopes_of(graph)
    touched = [j in members for j in range(n)]
    touched += [bool(set(scope) & set(members)) for scope in scopes]
    found = {}
    for choice in product(*(range(graph.sizes[j]) for j in members)):
        labels = [int(a) for a in gold]
        for j, a in zip(members, choice, strict=True):
            labels[j] = a
        # Auxiliary variables are in no table; any label of theirs will do.
        entries = np.array(entries_of(graph, labels + [0] * (len(graph.sizes) - n)))
        own = np.concatenate([entries[:n], entries[len(graph.sizes) :]])
        found[tuple(labels)] = float(theta[own[np.array(touched, dtype=np.bool_)]].sum())
    return found


@given(networks(least=1), seeds, st.sampled_from(["real", "whole", "near"]), st.booleans())
@settings(max_examples=150)
def test_the_best_labels_of_a_set_are_those_of_enumeration(found, seed, kind, close):
    space, net = found
    graph, rng, m = net.graph, np.random.default_rng(seed), 2
    n = len(space.variables)
    scores = scores_of(space, seed, m)
    if kind == "whole":
        scores = np.round(scores)
    elif kind == "near":
        scores = 3e-11 * np.round(2 * scores)
    closed = frozen(rng.random((m, space.labels)) < 0.2) if close else NONE_CLOSED
    gold = whole([[rng.integers(size) for size in space.sizes] for _ in range(m)])
    sets = [rng.permutation(n)[: rng.integers(n + 1)].tolist() for _ in range(4)]
    owner, ptr = [0, 0, 1, 1], np.concatenate([[0], np.cumsum([len(one) for one in sets])])
    arguments = (
        frozen(scores),
        closed,
        frozen(np.full(m, TIE)),
        gold,
        graph,
        whole(owner),
        whole(ptr),
        whole([j for one in sets for j in one]),
    )
    labels, known = best_forests(*arguments)
    body = plain(best_forests)(*arguments)
    assert labels.tolist() == body[0].tolist()
    assert known.tolist() == body[1].tolist()
    for s, (i, members) in enumerate(zip(owner, sets, strict=True)):
        assert (known[s] == LOOP) == (not is_forest(graph, members))
        if known[s] == LOOP:
            assert labels[s].tolist() == gold[i].tolist()
            continue
        shown = scores[i].copy()
        if close:
            shown[: space.labels][closed[i]] = -np.inf
        valued = naive_set(graph, loaded(graph, shown), gold[i], members)
        top = max(valued.values())
        if known[s] == NONE or top == -np.inf:
            assert known[s] == NONE or not members
            assert top == -np.inf or not members
            continue
        answer = tuple(labels[s].tolist())
        assert valued[answer] == pytest.approx(top, abs=1e-12)
        equal = [one for one, value in valued.items() if value >= top - 0.999 * TIE]
        near = [one for one, value in valued.items() if value >= top - 1.001 * TIE]
        assert known[s] != SURE or equal == [answer]
        assert known[s] != DOUBTFUL or len(near) > 1


@pytest.mark.parametrize("run", [best_forests, plain(best_forests)], ids=["compiled", "plain"])
def test_a_chain_by_hand_with_its_ends_fixed(run):
    # The inner two would rather be equal (2), and equal to the outer ones (1); gold is a a b b.
    graph = graph_of(4, (0, 1), (1, 2), (2, 3))
    scores = np.zeros(8 + 12)
    scores[8:12] = [1, 0, 0, 1]
    scores[12:16] = [2, 0, 0, 2]
    scores[16:20] = [1, 0, 0, 1]
    scores[3] = 0.5  # x1 = b
    labels, known = run(
        frozen(scores[None]),
        NONE_CLOSED,
        frozen(np.array([TIE])),
        whole([[0, 0, 1, 1]]),
        graph,
        whole([0, 0, 0]),
        whole([0, 2, 3, 3]),
        whole([1, 2, 1]),
    )
    assert labels.tolist() == [[0, 1, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1]]
    assert known.tolist() == [SURE] * 3


@pytest.mark.parametrize("run", [best_forests, plain(best_forests)], ids=["compiled", "plain"])
def test_no_sets_one_variable_and_nothing_allowed(run):
    graph = graph_of(1, labels="abc")
    ties = frozen(np.array([TIE]))
    scores = frozen(np.array([[1.0, 3.0, 3.0]]))
    labels, known = run(
        scores, NONE_CLOSED, ties, whole([[0]]), graph, whole([]), whole([0]), whole([])
    )
    assert labels.shape == (0, 1)
    assert known.shape == (0,)
    one_set = whole([0]), whole([0, 1]), whole([0])
    labels, known = run(scores, NONE_CLOSED, ties, whole([[0]]), graph, *one_set)
    assert labels.tolist() == [[1]]
    assert known.tolist() == [DOUBTFUL]
    closed = frozen(np.array([[False, True, False]]))
    labels, known = run(scores, closed, ties, whole([[0]]), graph, *one_set)
    assert labels.tolist() == [[2]]
    assert known.tolist() == [SURE]
    _, known = run(scores, frozen(~closed | closed), ties, whole([[0]]), graph, *one_set)
    assert known.tolist() == [NONE]
