"""Multi-label: outputs in both forms, pairs of labels, and learning with and without pairs."""

import numpy as np
import pytest

from rote.errors import DataError, LabelError, SettingError
from rote.learning import StructuredSVM, fit
from rote.model import Model, prepare
from rote.tasks.multilabel import MultiLabel, correlated_pairs

ABC = ("a", "b", "c")


def trained(task, xs, ys, learner):
    prepared = prepare(task, xs, ys)
    return fit(learner, Model(task, prepared.layout, prepared.layout.zeros()), prepared)


@pytest.mark.parametrize(
    ("pairs", "scopes"),
    [
        ("none", []),
        ("complete", [(0, 1), (0, 2), (1, 2)]),
        (((2, 1), (0, 2)), [(0, 2), (1, 2)]),
        ((), []),
    ],
)
def test_labels_are_variables_and_pairs_are_factors(pairs, scopes):
    task = MultiLabel(ABC, pairs)
    frame = task.frame([])
    assert [(v.name, v.labels) for v in frame.space.variables] == [(a, ("off", "on")) for a in ABC]
    assert [factor.variables for factor in frame.space.factors] == scopes
    assert frame.kinds == ("input",)
    assert [slot.vector for slot in frame.slots] == [0, 0, 0] + [None] * len(scopes)
    assert len({slot.block for slot in frame.slots}) == len(frame.slots)
    assert task.frame(["x"]) is frame


def test_an_output_is_given_by_names_or_by_an_array_and_comes_back_in_order():
    task = MultiLabel(ABC)
    for y in (("c", "a"), {"a", "c"}, frozenset("ac"), np.array([1, 0, 1]), np.array([True, 0, 1])):
        assert task.encode([], y) == [1, 0, 1]
    assert task.encode([], ()) == [0, 0, 0]
    assert task.decode([], [1, 0, 1]) == ("a", "c")
    assert task.decode([], [0, 0, 0]) == ()


def test_an_output_that_cannot_be_is_refused():
    task = MultiLabel(ABC)
    with pytest.raises(LabelError, match="'d' is not a label; the labels are a, b, c"):
        task.encode([], ("a", "d"))
    with pytest.raises(LabelError, match="a tuple of labels, got the string 'abc'"):
        task.encode([], "abc")
    for wrong in (np.array([1, 0]), np.array([0, 1, 2]), np.zeros((1, 3))):
        with pytest.raises(LabelError, match="has 3 entries, 0 or 1"):
            task.encode([], wrong)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ("all", "'complete', 'none' or a tuple"),
        (((0, 3),), "positions from 0 to 2"),
        (((1, 1),), "two different positions"),
        (((0, 1, 2),), "two different positions"),
        (((0, 1), (1, 0)), "given twice"),
    ],
)
def test_pairs_that_cannot_be_are_refused(pairs, message):
    with pytest.raises(SettingError, match=message):
        MultiLabel(ABC, pairs)


def test_pairs_are_ordered_by_their_mutual_information():
    from sklearn.metrics import mutual_info_score

    rng = np.random.default_rng(5)
    Y = rng.integers(0, 2, size=(60, 5))
    Y[:, 3] = np.where(rng.random(60) < 0.1, 1 - Y[:, 1], Y[:, 1])
    Y[:, 4] = 1 - Y[:, 0]
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    expected = sorted(pairs, key=lambda pair: -mutual_info_score(Y[:, pair[0]], Y[:, pair[1]]))
    assert correlated_pairs(Y, 10) == tuple(expected)
    assert correlated_pairs(Y, 2) == ((0, 4), (1, 3))
    assert correlated_pairs(Y, 0) == ()
    assert len(MultiLabel(tuple("vwxyz"), correlated_pairs(Y, 3)).frame([]).space.factors) == 3


def test_labels_that_say_nothing_of_each_other_make_no_pair():
    assert correlated_pairs(np.array([[0, 0, 1], [0, 1, 1], [1, 0, 1], [1, 1, 1]]), 5) == ()


def test_correlated_pairs_refuses_what_is_no_matrix_of_0_and_1():
    for wrong in (np.zeros(3), np.full((2, 2), 2), np.zeros((0, 2))):
        with pytest.raises(DataError, match="a matrix of 0 and 1"):
            correlated_pairs(wrong, 1)
    with pytest.raises(SettingError, match="most is a whole number"):
        correlated_pairs(np.zeros((1, 2)), -1)


def test_pairs_say_what_no_label_knows_by_itself():
    # One label for each third of a line: no line separates the middle third from the others.
    xs = [np.array([at]) for at in np.linspace(-3, 3, 30)]
    ys = [("left",)] * 10 + [("middle",)] * 10 + [("right",)] * 10
    labels = ("left", "middle", "right")
    learner = StructuredSVM(C=10.0, iterations=100)
    assert trained(MultiLabel(labels, "complete"), xs, ys, learner).predict(xs) == ys
    apart = trained(MultiLabel(labels, "none"), xs, ys, learner).predict(xs)
    assert [apart[0], apart[-1]] == [ys[0], ys[-1]]
    assert ("middle",) not in apart[10:20]
