"""Beam search, by a search over dictionaries from the definition."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.inference.approximate.beam_plan import (
    HeuristicFeatures,
    WeightIndex,
    beam_plan_of,
)
from rote.kernels.beam.beam import (
    Nodes,
    Progress,
    Search,
    expand,
    find_twins,
    keep_best,
    leap,
    proceed,
    search_beam,
    take,
)
from rote.space import SpaceBuilder
from rote.types import readonly
from tests.kernels.beams import Case, left_in
from tests.kernels.bodies import networks
from tests.strategies import known_value, spaces

seeds = st.integers(0, 2**32 - 1)
widths = st.sampled_from([1, 2, 3, 7])
NO_WEIGHTS = readonly(np.empty(0))


def same_nodes(one, other):
    return [left_in(one, i) == left_in(other, i) for i in range(len(one.size))]


@given(networks(), seeds, widths, st.sampled_from([np.inf, 0.0, 0.125, 100.0]))
def test_the_search_is_the_one_of_the_definition(network, seed, width, theta):
    case = Case(network[0], seed)
    nodes, skipped = search_beam(case.scores, case.shut, case.weights, width, theta, case.course)
    for i in range(len(case.scores)):
        beam, by_h = case.input(i).search(width, theta)
        assert left_in(nodes, i) == beam
        assert skipped[i] == by_h


@given(networks(), seeds, widths, st.sampled_from([np.inf, 0.0, 0.25]))
def test_step_by_step_it_is_the_same_search(network, seed, width, theta):
    case = Case(network[0], seed)
    expected, by_h = search_beam(case.scores, case.shut, case.weights, width, theta, case.course)
    n = len(case.order)
    nodes, there = Nodes(3, width, case.course), np.zeros((3, n), np.bool_)
    steps, skipped = np.zeros(3, np.int64), np.zeros(3, np.int64)
    progress = Progress(nodes, there, steps, skipped)
    known = case.scores, case.shut, case.weights, theta, case.course, progress
    while (wanted := proceed(*known)).any():
        assert not (wanted & there).any()
        there |= wanted
    assert steps.tolist() == [n] * 3
    assert all(same_nodes(nodes, expected))
    assert skipped.tolist() == by_h.tolist()
    assert (there.sum(axis=1) == n - skipped).all()


@given(spaces(1, 4, max_rules=0), seeds)
def test_a_beam_with_room_for_everything_has_the_best_output_first(space, seed):
    case = Case(space, seed, closed=0.0)
    everything = list(itertools.product(*map(range, space.sizes.tolist())))
    nodes, _ = search_beam(
        case.scores,
        case.shut,
        readonly(np.zeros(case.ledger.size)),
        len(everything),
        np.inf,
        case.course,
    )
    for i, scores in enumerate(case.scores):
        values = [known_value(space, scores, labels) for labels in everything]
        assert nodes.size[i] == len(everything)
        assert list(nodes.score[i]) == sorted(values, reverse=True)
        assert values[everything.index(tuple(nodes.labels[i, 0]))] == max(values)


def pair(**options):
    builder = SpaceBuilder()
    x, y = builder.variable("x", "abc"), builder.variable("y", "ab")
    builder.factor(x, y)
    return Case(builder.build(), 0, m=1, closed=0.0, **options)


def test_of_equals_the_child_of_the_better_parent_and_the_smaller_label_come_first():
    case = pair()
    course = beam_plan_of(case.space, lambda _: [0, 1], None, WeightIndex())
    shut = readonly(np.zeros((1, 5), np.bool_))
    scores = np.zeros((1, 11))
    nodes, _ = search_beam(readonly(scores), shut, NO_WEIGHTS, 4, np.inf, course)
    assert nodes.labels[0].tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    # c is the best parent; (c, a) loses what c was ahead by, and is still first among equals.
    scores[0, 2], scores[0, 5 + 4] = 1.0, -1.0
    nodes, _ = search_beam(readonly(scores), shut, NO_WEIGHTS, 4, np.inf, course)
    assert nodes.labels[0].tolist() == [[2, 1], [2, 0], [0, 0], [0, 1]]
    assert list(nodes.score[0]) == [1.0, 0.0, 0.0, 0.0]


def test_what_h_decides_looks_at_no_score():
    """By hand: y follows x. h says b after b by 2, and θ is 1.5; x has no pattern of its own."""
    case = pair(patterns=HeuristicFeatures(triples=False))
    course = beam_plan_of(
        case.space, lambda _: [0, 1], HeuristicFeatures(triples=False), ledger := WeightIndex()
    )
    assert ledger.size == 6
    weights = np.zeros(6)
    weights[course.origin[0] + 1 + course.other_stride[0, 0] * 1] = 2.0
    scores = np.zeros((2, 11))
    scores[:, 1] = 1.0  # x is b
    scores[:, 3] = 50.0  # y would be a
    shut = readonly(np.zeros((2, 5), np.bool_))
    nodes, skipped = search_beam(readonly(scores), shut, readonly(weights), 1, 1.5, course)
    assert nodes.labels[:, 0].tolist() == [[1, 1]] * 2
    assert skipped.tolist() == [1, 1]
    assert nodes.score[:, 0].tolist() == [1.0, 1.0]  # of x alone
    assert nodes.heuristic[:, 0].tolist() == [2.0, 2.0]
    nodes, skipped = search_beam(readonly(scores), shut, readonly(weights), 1, 2.0, course)
    assert nodes.labels[:, 0].tolist() == [[1, 0]] * 2
    assert skipped.tolist() == [0, 0]


@st.composite
def ranked(draw):
    """Nodes, some of them twins, and what labels add; closed ones add -inf."""
    size, labels = draw(st.integers(0, 4)), draw(st.integers(1, 3))
    some = st.sampled_from([-np.inf, -2.0, -1.0, 0.0, 1.0, 2.0])
    base = draw(st.lists(st.integers(-2, 2), min_size=size, max_size=size))
    twin: list[int] = []
    for node in range(size):
        twin.append(draw(st.sampled_from(sorted({*twin, node}))))
    more = [[draw(some) for _ in range(labels)] for _ in range(size)]
    return np.array(twin, int), np.array(base, float), np.array(more).reshape(size, labels)


@given(ranked(), st.integers(1, 6))
def test_the_best_are_kept_in_order(successors, most):
    twin, base, more = successors
    size, labels = more.shape
    builder = SpaceBuilder()
    builder.variable("x", "abc")
    course = beam_plan_of(builder.build(), lambda _: [0], None, WeightIndex())
    search = Search(course, Nodes(1, 6, course))
    search.twin[:size], search.base[:size] = twin, base
    search.more[:size, :labels] = more
    search.top[:size] = more.max(axis=1, initial=-np.inf)
    kept = keep_best(search, size, labels, most)
    every = itertools.product(range(size), range(labels))
    ranks = {(v, a): base[v] + more[twin[v], a] for v, a in every}
    expected = sorted(
        (key for key, value in ranks.items() if value > -np.inf), key=lambda key: -ranks[key]
    )[:most]
    assert list(zip(search.node[:kept], search.label[:kept], strict=True)) == expected
    assert list(search.rank[:kept]) == [ranks[key] for key in expected]


def test_twins_are_nodes_that_a_step_cannot_tell_apart():
    """By hand: z looks at y alone, which a factor ties it to."""
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    builder.factor(x, y)
    builder.factor(y, z)
    course = beam_plan_of(builder.build(), lambda _: [0, 1, 2], HeuristicFeatures(), WeightIndex())
    nodes = Nodes(1, 4, course)
    labels, search = nodes.labels[0], Search(course, nodes)
    labels[:, :2] = [[1, 0], [0, 1], [0, 0], [1, 1]]
    find_twins(search, 0, 2, 4)
    assert list(search.twin) == [0, 1, 0, 1]
    labels[:, 0] = [1, 0, 0, 1]
    find_twins(search, 0, 1, 3)
    assert list(search.twin[:3]) == [0, 1, 1]


@pytest.mark.parametrize(("largest", "rows"), [(1 << 62, 0), (1 << 62, 5), (0, 0), (3, 3)])
@given(networks(), seeds, widths)
@settings(max_examples=15)
def test_with_few_rows_or_without_codes_it_is_the_same_search(largest, rows, network, seed, width):
    full = Case(network[0], seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rote.inference.approximate.beam_plan.LARGEST_CODE", largest)
        patch.setattr("rote.inference.approximate.beam_plan.MAX_ROWS", rows)
        small = Case(network[0], seed)
    assert small.course.rows <= rows
    for theta in (np.inf, 0.125):
        arguments = full.scores, full.shut, full.weights, width, theta
        one, by_h = search_beam(*arguments, full.course)
        other, also = search_beam(*arguments, small.course)
        assert all(same_nodes(one, other))
        assert by_h.tolist() == also.tolist()


# -- Theorem 2 ----------------------------------------------------------------------------


def copy_of(nodes, course):
    same = Nodes(nodes.score.shape[0], nodes.score.shape[1], course)
    for name in ("labels", "score", "heuristic", "counts"):
        getattr(same, name)[:] = getattr(nodes, name)
    return same


def test_where_the_gap_of_h_is_larger_than_that_of_g_both_keep_the_same_nodes():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(4)]
    for x, y in itertools.pairwise(variables):
        builder.factor(x, y)
    builder.require(variables[0]["a"] >> variables[2]["b"])
    space, decided = builder.build(), 0
    for seed in range(40):
        case = Case(space, seed, m=1, closed=0.0, heavy=16.0)
        for width in (1, 2, 4):
            nodes, size = Nodes(1, width, case.course), 1
            search = Search(case.course, nodes)
            search.look_at(case.scores, case.shut, case.weights, np.inf)
            for t in range(4):
                expand(search, 0, t, size, True)
                rows = search.twin[:size]
                gain = search.gain[search.row[rows], :3]
                h = (nodes.heuristic[0, :size, None] + gain).ravel()
                added = search.added[rows, :3]
                g = (nodes.score[0, :size, None] + added).ravel()
                order = np.argsort(-h, kind="stable")
                gap = h[order[width - 1]] - h[order[width]] if len(h) > width else -np.inf
                kept = keep_best(search, size, 3, width)
                by_both = chosen(search, kept)
                if gap > g.max() - g.min():
                    decided += 1
                    assert by_both == set(order[:width].tolist())
                    strict = Search(case.course, copy_of(nodes, case.course))
                    strict.look_at(case.scores, case.shut, case.weights, g.max() - g.min())
                    assert leap(strict, 0, t, size)
                    assert chosen(strict, width) == by_both
                take(search, 0, t, size, kept)
                size = kept
    assert decided > 40


def chosen(search, kept):
    return {3 * node + label for node, label in zip(search.node, search.label[:kept], strict=False)}
