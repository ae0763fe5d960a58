"""Multi-label metrics against hand-worked rows and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from rote.errors import DataError
from rote.metrics import F1, example_scores, multilabel_scores

GOLD = [[1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
PREDICTED = [[1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]]


def test_hand_worked_rows_with_empty_sets_on_either_side():
    scores = example_scores(GOLD, PREDICTED)
    assert scores.hamming.tolist() == [2 / 4, 1, 3 / 4, 3 / 4]
    assert scores.f1.tolist() == [2 * 1 / (2 + 2), 1, 0, 0]
    assert scores.accuracy.tolist() == [1 / 3, 1, 0, 0]
    assert scores.exact.tolist() == [0, 1, 0, 0]


def test_hand_worked_means_and_labels():
    scores = multilabel_scores(GOLD, PREDICTED)
    assert scores.hamming_accuracy == (2 + 4 + 3 + 3) / 16
    assert scores.example_f1 == (0.5 + 1) / 4
    assert scores.example_accuracy == pytest.approx((1 / 3 + 1) / 4)
    assert scores.exact_match == 1 / 4
    assert scores.f1.by_label == {
        0: F1.of(2, 1, 1),
        1: F1.of(1, 1, 0),
        2: F1.of(0, 1, 0),
        3: F1.of(0, 0, 0),
    }
    assert scores.f1.micro == F1.of(3, 3, 1)
    assert scores.f1.macro.f1 == pytest.approx((2 / 3) / 4)


@st.composite
def two_arrays(draw):
    shape = draw(st.integers(1, 6)), draw(st.integers(1, 5))
    bits = st.lists(st.integers(0, 1), min_size=shape[0] * shape[1], max_size=shape[0] * shape[1])
    return [np.array(draw(bits)).reshape(shape) for _ in range(2)]


@given(two_arrays())
def test_every_metric_agrees_with_scikit_learn(arrays):
    gold, predicted = arrays
    ours = multilabel_scores(gold, predicted)
    assert ours.hamming_accuracy == pytest.approx(1 - metrics.hamming_loss(gold, predicted))
    assert ours.exact_match == pytest.approx((gold == predicted).all(axis=1).mean())
    if gold.shape[1] == 1:
        return  # scikit-learn reads a single column as plain labels
    assert ours.exact_match == pytest.approx(metrics.accuracy_score(gold, predicted))
    samples = {"average": "samples", "zero_division": 1.0}
    assert ours.example_f1 == pytest.approx(metrics.f1_score(gold, predicted, **samples))
    assert ours.example_accuracy == pytest.approx(metrics.jaccard_score(gold, predicted, **samples))
    for average, table in (("micro", ours.f1.micro), ("macro", ours.f1.macro)):
        theirs = metrics.precision_recall_fscore_support(
            gold, predicted, average=average, zero_division=0
        )[:3]
        assert (table.precision, table.recall, table.f1) == pytest.approx(theirs)


def test_arrays_of_any_kind_of_number_mean_the_same():
    expected = multilabel_scores(GOLD, PREDICTED)
    for kind in (np.bool_, np.uint8, np.float64):
        assert multilabel_scores(np.array(GOLD, kind), np.array(PREDICTED, kind)) == expected


@pytest.mark.parametrize(
    ("gold", "predicted"),
    [([[1, 0]], [[1]]), ([1, 0], [1, 0]), (np.zeros((0, 3)), np.zeros((0, 3))), ([[]], [[]])],
    ids=["unequal", "one axis", "no rows", "no labels"],
)
def test_arrays_of_the_wrong_shape_are_refused(gold, predicted):
    with pytest.raises(DataError, match=r"one shape \(rows, labels\)"):
        multilabel_scores(gold, predicted)


@pytest.mark.parametrize("stray", [2, -1, 0.5, float("nan")])
def test_anything_but_0_and_1_is_refused(stray):
    with pytest.raises(DataError, match="expected the predicted array to hold 0 and 1 only"):
        example_scores([[0, 1]], [[0, stray]])
