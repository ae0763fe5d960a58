"""Elimination at run time, against enumeration of the part it is about."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rote.kernels.dp.runtime_elimination import PartRoom, eliminate_part
from rote.kernels.dual.ascent import close_below
from rote.kernels.search.branch import Parts, components, search_parts
from rote.kernels.search.nodes import Node
from rote.space import SpaceBuilder, at_most
from tests.kernels import bodies
from tests.kernels.bodies import ascent_of, networks, scores_of

seeds = st.integers(0, 2**32 - 1)
PLENTY = 1 << 12


def valued(graph, theta):
    """Every labelling without a closed entry, and what it is worth."""
    nothing = np.zeros(len(graph.rows.lower))
    return {y: bodies.worth_of(graph, theta, nothing, y) for y in bodies.feasible(graph, theta)}


@given(networks(least=1), seeds)
def test_a_part_gets_its_best_labels_while_the_rest_is_held(found, seed):
    space, net = found
    graph = net.graph
    rng = np.random.default_rng(seed)
    theta = bodies.loaded(graph, scores_of(space, seed))
    every = valued(graph, theta)
    assume(every)
    held = list(every)[rng.integers(len(every))]
    part = rng.integers(0, 2, size=len(graph.sizes))
    labels = np.array(held)
    done, gained, margin = eliminate_part(graph, theta, part, 1, PLENTY, PartRoom(), labels)
    with_rows = any(graph.rows.of_ptr[j + 1] > graph.rows.of_ptr[j] for j in np.flatnonzero(part))
    if not done:
        assert with_rows
        assert tuple(labels) == held
        return
    inside = [y for y in every if all(y[j] == held[j] for j in np.flatnonzero(part == 0))]
    best = sorted((every[y] for y in inside), reverse=True)
    assert every[tuple(labels.tolist())] == pytest.approx(best[0], abs=1e-9)
    assert gained == pytest.approx(best[0] - every[held], abs=1e-9)
    if len(best) > 1:
        assert margin == pytest.approx(best[0] - best[1], abs=1e-9)
    else:
        assert margin == np.inf


def cycle(n):
    builder = SpaceBuilder()
    xs = [builder.variable(f"x{j}", "abc") for j in range(n)]
    for j in range(n):
        builder.factor(xs[j], xs[(j + 1) % n])
    return builder, xs


def test_it_gives_up_when_entries_run_out_and_leaves_the_labels_alone():
    space = cycle(5)[0].build()
    graph = space.network.graph
    theta = bodies.loaded(graph, scores_of(space, 0))
    part, room = np.zeros(5, dtype=np.int64), PartRoom()
    for entries in (2, 20, 65):
        labels = np.zeros(5, dtype=np.int64)
        done, _, _ = eliminate_part(graph, theta, part, 0, entries, room, labels)
        assert not done
        assert (labels == 0).all()
    assert eliminate_part(graph, theta, part, 0, PLENTY, room, labels)[0]


def test_it_leaves_variables_in_rows_to_the_search():
    builder, xs = cycle(12)
    builder.require(at_most(3, [x["a"] for x in xs]))
    space = builder.build()
    graph = space.network.graph
    theta = bodies.loaded(graph, scores_of(space, 0))
    labels = np.ones(12, dtype=np.int64)
    part = np.zeros(12, dtype=np.int64)
    assert not eliminate_part(graph, theta, part, 0, PLENTY, PartRoom(), labels)[0]


def test_parts_are_what_undecided_variables_and_tables_join():
    builder = SpaceBuilder()
    xs = [builder.variable(f"x{j}", "ab") for j in range(5)]
    for x, y in pairwise(xs):
        builder.factor(x, y)
    graph = builder.build().network.graph
    theta = np.zeros(graph.tables.ptr[-1])
    root, part = np.empty(5, dtype=np.int64), np.empty(5, dtype=np.int64)
    assert components(graph, theta, root, part) == 1
    assert part.tolist() == [0, 0, 0, 0, 0]
    theta[graph.offsets[2]] = -np.inf  # x2 is decided
    assert components(graph, theta, root, part) == 2
    assert part.tolist() == [0, 0, -1, 1, 1]


@given(networks(least=1), seeds)
def test_closing_below_a_floor_keeps_every_output_above_it(found, seed):
    space, net = found
    graph = net.graph
    theta = bodies.loaded(graph, scores_of(space, seed))
    every = valued(graph, theta)
    assume(every)
    floor = sorted(every.values())[len(every) // 2]
    ascent = ascent_of(graph, theta)
    close_below(graph, ascent, floor)
    left = valued(graph, ascent.theta)
    assert {y for y, known_value in every.items() if known_value > floor + 1e-9} <= set(left)


@given(networks(least=1), seeds)
def test_searching_part_by_part_finds_the_best_of_all(found, seed):
    space, net = found
    graph = net.graph
    rng = np.random.default_rng(seed)
    theta = bodies.loaded(graph, scores_of(space, seed))
    for j in range(len(graph.sizes)):  # decide some variables, so that parts fall apart
        first, stop = graph.offsets[j], graph.offsets[j + 1]
        if rng.random() < 0.4:
            kept = first + rng.integers(stop - first)
            theta[first:stop] = np.where(np.arange(first, stop) == kept, theta[kept], -np.inf)
    every = valued(graph, theta)
    assume(every)
    held = list(every)[rng.integers(len(every))]
    labels = np.array(held)
    room = ascent_of(graph, theta), Node(graph), Parts()
    value, bound, _, _ = search_parts(graph, *room, every[held], 1e-9, 1 << 20, labels)
    assert value == pytest.approx(max(every.values()), abs=1e-8)
    assert every[tuple(labels.tolist())] == pytest.approx(value, abs=1e-8)
    assert bound <= value + 1e-12
