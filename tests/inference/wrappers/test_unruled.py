"""Unruled finds the best output of a space without its rules, and leaves all else as it is."""

from __future__ import annotations

from itertools import product

import numpy as np

from rote import SpaceBuilder
from rote.inference import Exact, Exhaustive, Objective, Status, clamp
from rote.inference.wrappers.unruled import Unruled
from rote.space.losses import ZeroOne
from rote.tasks.entity_relation import entity_relation_space


def ruled_space():
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "abc") for name in "xyz")
    builder.factor(x, y)
    builder.require(x["a"] >> y["b"])
    builder.require(~z["c"])
    return builder.build()


def best_of_all(space, scores):
    outputs = np.array(list(product(range(3), repeat=3)))
    values = space.value(scores, outputs)
    return outputs[values.argmax()], values.max()


def test_it_finds_what_a_search_over_all_labels_finds():
    space = ruled_space()
    scores = np.random.default_rng(0).normal(size=(50, space.parts))
    found = Unruled().solve(space, scores)
    for row, labels, value in zip(scores, found.labels, found.value, strict=True):
        best, worth = best_of_all(space, row)
        assert labels.tolist() == best.tolist()
        np.testing.assert_allclose(value, worth)
    assert (found.status == Status.OPTIMAL).all()
    assert not space.holds(found.labels).all()
    assert (found.value >= Exact().solve(space, scores).value).all()


def test_where_the_best_labels_obey_the_rules_nothing_changes():
    space = entity_relation_space(2)
    scores = np.random.default_rng(1).normal(size=(200, space.parts))
    free, ruled = Unruled().solve(space, scores), Exact().solve(space, scores)
    held = space.holds(free.labels)
    assert held.any()
    assert not held.all()
    np.testing.assert_array_equal(free.labels[held], ruled.labels[held])
    np.testing.assert_array_equal(free.value[held], ruled.value[held])


def test_values_are_those_of_the_space_it_was_given():
    space = ruled_space()
    scores = np.random.default_rng(2).normal(size=(20, space.parts))
    found = Unruled().solve(space, scores)
    np.testing.assert_array_equal(found.value, space.value(scores, found.labels))
    np.testing.assert_array_equal(found.bound, found.value)


def test_given_labels_stay_given():
    space = ruled_space()
    scores = space.scores({"x": {"a": 1.0}, "y": {"a": 1.0}, "z": {"c": 1.0}})
    found = Unruled().solve(space, clamp(space, scores, {"y": "c"}))
    assert space.decode(found.labels) == [{"x": "a", "y": "c", "z": "c"}]


def test_a_term_goes_to_the_engine_inside():
    space = ruled_space()
    gold = np.array([[0, 0, 2]])
    scores = np.zeros((1, space.parts))
    scores[0, [space.part("x", "a"), space.part("y", "a"), space.part("z", "c")]] = 0.1
    found = Unruled(Exhaustive()).solve(space, Objective(scores, term=ZeroOne().term(gold)))
    assert (found.labels != gold).any()
    np.testing.assert_allclose(found.value, 1.2)


def test_a_space_with_no_possible_output_has_one_without_rules():
    builder = SpaceBuilder()
    x = builder.variable("x", "ab")
    builder.require(~x["a"])
    builder.require(~x["b"])
    space = builder.build()
    assert Unruled().solve(space, space.scores({"x": {"b": 1.0}})).labels.tolist() == [[1]]
