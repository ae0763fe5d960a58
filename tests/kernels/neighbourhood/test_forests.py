"""Forests with clamped borders, and the same by trying all labels of a set."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rote.kernels.neighbourhood.forests import Forest, best_forests, plant
from rote.space import SpaceBuilder, at_most
from rote.types import readonly
from tests.kernels.bodies import (
    asked,
    loaded,
    naive_neighbours,
    networks,
    numbers,
)
from tests.kernels.parts import around_of, whole
from tests.strategies import rules_as_rows

seeds = st.integers(0, 2**32 - 1)
TIE = 1e-10


def graph_of(n, *scopes, labels="ab"):
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", labels) for j in range(n)]
    for scope in scopes:
        builder.factor(*(variables[j] for j in scope))
    return builder.build().network.graph


def scopes_of(graph):
    tables = graph.tables
    return [
        list(tables.scope[tables.scope_ptr[b] : tables.scope_ptr[b + 1]])
        for b in range(len(tables.ptr) - 1)
    ]


def is_forest(graph, members):
    """Take leaves away until nothing is left, or nothing more can be."""
    source, ptr = graph.source, graph.tables.ptr
    scored = [source.ptr[ptr[b]] < source.ptr[ptr[b + 1]] for b in range(len(ptr) - 1)]
    inside = [set(scope) & set(members) for scope in scopes_of(graph)]
    inside = [scope for scope, own in zip(inside, scored, strict=True) if own]
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


def new_forest(graph, members, n):
    forest = Forest(graph, n, len(members) * graph.widest**2)
    forest.rank[list(members)] = n
    return forest


def planted(graph, members, n):
    forest = new_forest(graph, members, n)
    fine = plant(graph, whole(members), forest)
    rank, order, parent = map(np.asarray, (forest.rank, forest.order, forest.parent))
    return fine, rank, order[: len(members)].tolist(), parent


# -- planting -----------------------------------------------------------------------------------


@given(networks(), seeds)
def test_parents_come_first_and_loops_are_seen(found, seed):
    _, net = found
    graph, rng = net.graph, np.random.default_rng(seed)
    n = len(graph.sizes)
    members = rng.permutation(n)[: rng.integers(n + 1)].tolist()
    fine, rank, order, parent = planted(graph, members, n)
    assert fine == is_forest(graph, members)
    if not fine:
        return
    assert sorted(order) == sorted(members)
    edges = {frozenset(set(s) & set(members)) for s in scopes_of(graph)}
    assert {frozenset({j, int(parent[j])}) for j in members if parent[j] >= 0} <= edges
    for at, j in enumerate(order):
        assert rank[j] == at
        assert parent[j] < 0 or rank[parent[j]] < at


def test_tables_without_scores_close_no_loop():
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    for pair in ((x, y), (y, z)):
        builder.factor(*pair)
    builder.require(x["a"] >> z["b"])
    builder.require(at_most(2, x["a"], y["a"], z["a"]))
    graph = builder.build().network.per_factor_tables.graph
    assert len(scopes_of(graph)) == 4
    fine, _, order, parent = planted(graph, [0, 1, 2], 3)
    assert fine
    assert order == [0, 1, 2]
    assert parent.tolist() == [-1, 0, 1]


# -- what is known of an edge -------------------------------------------------------------------


# -- the best of all sets -----------------------------------------------------------------------


@given(
    networks(least=1),
    seeds,
    st.sampled_from(["real", "whole", "near"]),
    st.booleans(),
    st.sampled_from([0, 2, 5, 1 << 14]),
    st.booleans(),
)
def test_the_best_around_gold_is_that_of_enumeration(found, seed, kind, close, nodes, high):
    space, net = found
    assume(net.variables == net.own)
    graph, rng, m = net.per_factor_tables.graph, np.random.default_rng(seed), 3
    n = len(space.variables)
    scores = numbers(rng, kind, (m, space.parts))
    closed = rng.random((m, space.labels)) < 0.15 if close else None
    gold = whole([[rng.integers(size) for size in space.sizes] for _ in range(m)])
    lists = [
        [rng.permutation(n)[: rng.integers(1, n + 1)].tolist() for _ in range(rng.integers(4))]
        for _ in range(m)
    ]
    floors = rng.normal(size=m) if high else np.full(m, -np.inf)
    arguments = (
        asked(scores, closed, TIE),
        gold,
        graph,
        around_of(lists),
        readonly(floors),
        nodes,
    )
    answers, doubts, bounds = best_forests(*arguments)
    left = iter(bounds.tolist())
    for i in range(m):
        shown = scores[i].copy()
        if close:
            shown[: space.labels][closed[i]] = -np.inf
        theta, settled = loaded(graph, shown), []
        for one in lists[i]:
            bound = next(left)
            valued = naive_neighbours(graph, theta, gold[i], [one], n)
            if bound == -np.inf:
                settled.append(one)
            elif bound < np.inf:  # nodes ran out: no more than this
                assert max(valued.values(), default=-np.inf) <= bound + TIE
                assert nodes < 1 << 14
            else:
                assert not is_forest(graph, one)
        valued = naive_neighbours(graph, theta, gold[i], settled, n)
        valued = {labels: value for labels, value in valued.items() if value >= floors[i]}
        answer = tuple(answers[i].tolist())
        if -1 in answer:
            assert not valued or doubts[i]
            assert max(valued.values(), default=-np.inf) <= floors[i] + TIE
            continue
        everywhere = naive_neighbours(graph, theta, gold[i], lists[i], n)
        top = max(valued.values(), default=-np.inf)
        assert everywhere[answer] >= max(top, floors[i]) - TIE
        equal = [labels for labels, value in valued.items() if value >= top - TIE]
        assert doubts[i] or equal == [answer] or everywhere[answer] > top


def run_on(graph, scores, gold, lists, closed=None, nodes=1 << 14):
    questions = asked(np.atleast_2d(scores), closed, TIE)
    floors = readonly(np.full(len(questions.scores), -np.inf))
    return best_forests(questions, whole(gold), graph, around_of(lists), floors, nodes)


def test_ways_that_break_a_row_or_a_table_are_left():
    builder = SpaceBuilder()
    x = [builder.variable(f"x{j}", "ab") for j in range(4)]
    for j in range(3):
        builder.factor(x[j], x[j + 1])
    builder.require(at_most(2, [v["b"] for v in x]))
    builder.require(x[0]["b"] >> x[3]["a"])
    scores = np.zeros(20)
    scores[1:8:2] = [3.0, 1.0, 2.0, 4.0]
    for limit in (None, 4, 1):  # all rules are tables, some are, none is
        with rules_as_rows(limit):
            graph = builder.build().network.per_factor_tables.graph
            answers, doubts, bounds = run_on(graph, scores, [[0] * 4], [[range(4)]])
            assert answers.tolist() == [[0, 0, 1, 1]]
            assert not doubts.any()
            assert bounds.tolist() == [-np.inf]
            answers, _, bounds = run_on(graph, scores, [[0] * 4], [[range(4)]], nodes=2)
            assert bounds[0] == pytest.approx(10.0)


def test_many_equals_are_not_all_looked_at():
    graph, n = graph_of(30, *((j, j + 1) for j in range(29))), 30
    answers, doubts, bounds = run_on(
        graph, np.zeros(60 + 4 * 29), [[0] * n], [[range(n)]], nodes=40
    )
    assert answers.tolist() == [[0] * n]
    assert doubts.tolist() == [True]
    assert bounds.tolist() == [-np.inf]


def test_loops_are_left_open():
    graph = graph_of(3, (0, 1), (1, 2), (2, 0))
    answers, _, bounds = run_on(graph, np.zeros(18), [[1, 0, 1]], [[[0, 1, 2], [0, 1]]])
    assert bounds.tolist() == [np.inf, -np.inf]
    assert answers.min() >= 0
