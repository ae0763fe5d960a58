"""Parts, values and rules of outputs, by naive twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.kernels.bundles import Layout
from rote.kernels.outputs import (
    all_obey,
    best_by_themselves,
    best_parts,
    first_feasible_output,
    is_feasible,
    read_scores,
    spreads,
    ties_of,
    values_of,
)
from rote.space import SpaceBuilder
from rote.types import readonly
from tests.kernels import bodies
from tests.kernels.bodies import asked, networks
from tests.strategies import Judge, known_value, spaces


@given(spaces(most=4), st.integers(0, 2**32 - 1))
def test_values_are_sums_over_parts(space, seed):
    judge = Judge(space)
    batch = readonly(judge.everything_as_array)
    scores = readonly(np.random.default_rng(seed).normal(size=(len(batch), space.parts)))
    found = values_of(scores, batch, space.layout)
    expected = [
        known_value(space, row, labels)
        for row, labels in zip(scores, judge.everything, strict=True)
    ]
    assert found.tolist() == pytest.approx(expected, abs=1e-12)


def test_outputs_without_labels_are_worth_minus_infinity():
    pair = np.array([0, 2]), np.array([0, 1]), np.array([4, 8])
    labels = np.array([[-1, -1], [0, 1], [0, -1]])
    scores = np.ones((3, 8))
    layout = Layout(np.array([2, 2]), np.array([0, 2, 4]), *pair)
    assert values_of(scores, labels, layout).tolist() == [-np.inf, 3.0, -np.inf]


def test_scores_are_read_with_minus_infinity_for_closed_labels():
    scores = np.arange(8.0).reshape(2, 4)
    closed = np.array([[False, False, False], [True, False, True]])
    work = np.full(6, 9.0)
    read_scores(asked(scores), 1, work)
    assert work.tolist() == [4, 5, 6, 7, 9, 9]
    read_scores(asked(scores, closed), 0, work)
    assert work.tolist() == [0, 1, 2, 3, 9, 9]
    read_scores(asked(scores, closed), 1, work)
    assert work.tolist() == [-np.inf, 5, -np.inf, 7, 9, 9]


@given(networks())
def test_obeying_is_staying_inside_domains_tables_and_rows(found):
    _, net = found
    everything = list(bodies.labellings(net.graph))
    batch = readonly(np.array(everything, dtype=np.int64).reshape(len(everything), net.variables))
    inside = set(bodies.feasible(net.graph, np.where(net.allowed, 0.0, -np.inf)))
    expected = [labels in inside for labels in everything]
    assert all_obey(batch, net.masks, net.graph.rows).tolist() == expected
    assert [is_feasible(labels, net.masks, net.graph.rows) for labels in batch] == expected


@given(networks(least=1), st.integers(0, 2**32 - 1))
def test_the_first_output_that_obeys_is_found(problem, seed):
    _, net = problem
    rng = np.random.default_rng(seed)
    sizes = net.graph.sizes
    outputs = readonly(rng.integers(sizes, size=(5, 3, len(sizes))))
    size = readonly(rng.integers(0, 4, size=5))
    labels, there = outputs[:, 0].copy(), np.zeros(5, dtype=bool)
    for i in range(5):
        for k in reversed(range(size[i])):
            if is_feasible(outputs[i, k], net.masks, net.graph.rows):
                labels[i], there[i] = outputs[i, k], True
    found, was_feasible = first_feasible_output(outputs, size, net.masks, net.graph.rows)
    assert found.tolist() == labels.tolist()
    assert was_feasible.tolist() == there.tolist()


@given(
    networks(least=1),
    st.integers(0, 2**32 - 1),
    st.sampled_from(["real", "whole", "near"]),
    st.booleans(),
)
def test_what_is_easy_is_answered_as_by_enumeration(found, seed, kind, some_closed):
    space, net = found
    if space.factors or len(net.rows):
        return  # it is not asked there
    rng = np.random.default_rng(seed)
    shape = 6, space.parts
    scores = rng.normal(size=shape)
    if kind == "whole":
        scores = rng.integers(-1, 2, size=shape).astype(np.float64)
    elif kind == "near":
        scores = 3e-11 * rng.integers(0, 4, size=shape)
    ties = 1e-10 * np.maximum(1.0, np.abs(scores).max(axis=1))
    closed = rng.random(shape) < 0.2 if some_closed else np.empty((0, 0), dtype=np.bool_)
    labels, easy = best_by_themselves(asked(scores, closed, ties), net.masks)
    judge = Judge(space)
    for i in range(6):
        allowed = ~closed[i] if some_closed else None
        best = judge.best(scores[i], allowed)
        if easy[i]:
            assert best is not None
            assert tuple(labels[i].tolist()) == best.labels
        elif kind == "real" and best is not None:  # no label is near another
            shown = np.where(closed[i], -np.inf, scores[i]) if some_closed else scores[i]
            first, last = space.offsets[:-1], space.offsets[1:]
            top = [int(shown[a:b].argmax()) for a, b in zip(first, last, strict=True)]
            assert tuple(top) != best.labels


def test_some_are_easy_and_some_are_not():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(x["a"] >> y["b"])
    masks = builder.build().network.masks
    _, easy = best_by_themselves(asked(np.random.default_rng(0).normal(size=(50, 4))), masks)
    assert 0 < easy.sum() < 50


def test_ties_are_relative_to_the_largest_score():
    scores = readonly(np.array([[0.5, -0.1], [2.0, -8.0], [0.0, 4.0]]))
    assert ties_of(scores, 0.25).tolist() == [0.125, 2.0, 1.0]
    assert ties_of(readonly(np.empty((2, 0))), 0.25).tolist() == [0.0, 0.0]


@given(st.lists(st.floats(-1e301, 1e301), max_size=11))
def test_a_tie_is_that_of_the_largest_of_any_number_of_scores(scores):
    largest = max([0.0, *map(abs, scores)])
    assert ties_of(np.array([scores]), 0.25).tolist() == [0.25 * largest]


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 2.0**1000, -1e302])
def test_one_score_that_is_not_finite_is_seen_wherever_it_stands(bad):
    for count in range(1, 12):
        for place in range(count):
            scores = np.zeros((2, count))
            scores[1, place] = bad
            assert ties_of(scores, 0.25).tolist() == [0.0, np.inf]


def spread(scores, closed=None, sizes=(3, 2)):
    """Ties, best scores, how each is asked; whether all are as they are, and finite."""
    zero = np.zeros(1, np.int64)
    offsets = np.cumsum([0, *sizes])
    layout = Layout(np.array(sizes), offsets, zero, zero[:0], offsets[-1:])
    questions = asked(scores, closed)
    numbers = np.empty((3, len(scores)))
    return (numbers, *spreads(questions, layout, 0.25, numbers))


@given(st.integers(0, 2**32 - 1))
def test_spreads_are_those_of_open_labels(seed):
    rng = np.random.default_rng(seed)
    scores, closed = rng.normal(size=(3, 5)), rng.random((3, 5)) < 0.3
    for found_of in (np.zeros_like(closed), closed):
        numbers, as_they_are, finite = spread(scores, found_of if found_of is closed else None)
        assert as_they_are
        assert finite
        for i in range(3):
            slots = [scores[i, own][~found_of[i, own]] for own in (slice(0, 3), slice(3, 5))]
            there = [slot for slot in slots if len(slot)]
            assert numbers[1, i] == pytest.approx(sum(slot.max() for slot in there), abs=1e-15)
            widest = max((np.ptp(slot) for slot in there), default=0.0)
            if widest:
                assert numbers[0, i] == 0.25 * widest


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 2.0**1000])
def test_spreads_see_scores_that_are_not_finite(bad):
    for place in range(5):
        scores = np.zeros((2, 5))
        scores[1, place] = bad
        assert not spread(scores)[2]
        assert not spread(scores, np.ones((2, 5), np.bool_))[2]


def test_inputs_are_asked_as_losses_where_scores_are_large_beside_them():
    scores = [[1e9, 1e9 + 0.1, 1e9, 0, 0], [-1e12, 0, 0, 0, 1], [5, 5, 5, 0, 0], [1, 2, 3, 0, 0]]
    numbers, as_they_are, finite = spread(np.array(scores, dtype=np.float64))
    assert numbers[2].tolist() == [1, 1, 0, 0]
    assert not as_they_are
    assert finite


def test_the_best_part_of_each_slot_is_one_that_is_open():
    scores = np.array([[1.0, 2.0, -3.0, 5.0, 4.0], [0.0, -1.0, 7.0, -2.0, -2.0]])
    closed = np.array([[False, True, False], [True, False, True]])
    assert best_parts(scores, closed, np.array([0, 2, 3, 5])).tolist() == [
        [1, -3, 5],
        [-1, -np.inf, -2],
    ]
    assert best_parts(scores[:0], closed[:0], np.array([0, 5])).shape == (0, 1)
    assert best_parts(scores, closed, np.array([0])).shape == (2, 0)


def test_a_variable_whose_labels_are_all_closed_is_not_easy():
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    masks = builder.build().network.masks
    closed = np.array([[True, True]])
    _, easy = best_by_themselves(asked(np.zeros((1, 2)), closed), masks)
    assert not easy[0]
