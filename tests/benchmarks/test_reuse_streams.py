"""Streams: one problem that moves, batches of one, and a training written down."""

import numpy as np

from benchmarks.reuse_streams import Asked, grids, one_by_one, one_home, svm
from rote import MultiLabel, prepare
from rote.tasks.entity_relation import entity_relation_space


def test_problems_come_once_as_they_are_and_then_moved():
    stream = grids(0.01, 2, 3)
    assert [each.keys for each in stream] == [[0], [1]] * 4
    first, later = stream[0].scores, stream[2].scores
    there = first != 0
    change = later[there] / first[there] - 1
    assert 0.005 < np.sqrt((change**2).mean()) < 0.015


def test_questions_one_by_one_are_the_same_questions():
    space = grids(0.01, 1, 0)[0].space
    scores = np.arange(2.0 * space.parts).reshape(2, -1)
    one, two = one_by_one([Asked(space, scores, [4, 7])])
    assert (one.keys, two.keys) == ([4], [7])
    assert np.array_equal(np.concatenate([one.scores, two.scores]), scores)


def test_a_training_is_written_down_after_its_first_iterations():
    rng = np.random.default_rng(0)
    xs = list(rng.normal(size=(6, 3)))
    ys = [tuple(label for label in "abc" if rng.random() < 0.5) for _ in xs]
    task = MultiLabel(tuple("abc"))
    prepared = prepare(task, xs, ys)
    stream = svm(task, prepared, 1, 2)
    assert [sorted(each.keys) for each in stream] == [list(range(6))] * 2
    assert np.abs(stream[0].scores).max() > 0  # weights are those of a later iteration


def test_nobody_has_two_homes():
    space = entity_relation_space(3, rules=one_home)
    plain = entity_relation_space(3)
    assert len(space.rules) == len(plain.rules) + 3
    entities, pairs = ["Peop", "Loc", "Loc"], ["Live_In", "Live_In", *["none"] * 4]
    labels = [v.position(a) for v, a in zip(space.variables, entities + pairs, strict=True)]
    assert plain.holds([labels]).tolist() == [True]
    assert space.holds([labels]).tolist() == [False]
