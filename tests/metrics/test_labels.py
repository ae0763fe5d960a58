"""Accuracy and F1 against hand-worked cases and scikit-learn."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from rote.errors import DataError
from rote.metrics import F1, exact_match, label_f1, right_labels, token_accuracy
from rote.metrics.labels import paired

label_pairs = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from("abcd")), min_size=1, max_size=30
)


def test_f1_from_counts_is_the_harmonic_mean_of_precision_and_recall():
    scores = F1.of(true=10, predicted=5, right=4)
    assert (scores.precision, scores.recall) == (4 / 5, 4 / 10)
    assert scores.f1 == pytest.approx(2 * 0.8 * 0.4 / (0.8 + 0.4))
    assert (scores.true, scores.predicted, scores.right) == (10, 5, 4)


@pytest.mark.parametrize(("true", "predicted"), [(0, 0), (3, 0), (0, 3)])
def test_what_is_undefined_is_zero(true, predicted):
    scores = F1.of(true, predicted, 0)
    assert (scores.precision, scores.recall, scores.f1) == (0, 0, 0)


def test_long_outputs_weigh_more_in_token_accuracy_and_the_same_in_exact_match():
    gold, predicted = ["aaaa", "b", ""], ["aaab", "b", ""]
    assert right_labels(gold, predicted).tolist() == [[3, 4], [1, 1], [0, 0]]
    assert token_accuracy(gold, predicted) == 4 / 5
    assert exact_match(gold, predicted) == 2 / 3


def test_outputs_may_be_the_rows_of_an_array():
    gold = np.array([[0, 1, 2], [2, 2, 2]])
    predicted = np.array([[0, 1, 2], [2, 0, 2]])
    assert token_accuracy(gold, predicted) == 5 / 6
    assert exact_match(gold, predicted) == 1 / 2


def test_outputs_without_any_label_have_no_accuracy():
    with pytest.raises(DataError, match="every output is empty"):
        token_accuracy([[], []], [[], []])


def test_an_output_of_another_length_is_named_by_its_number():
    message = "output 1: expected as many predicted labels as gold ones, got 2 gold and 3 predicted"
    with pytest.raises(DataError, match=message):
        exact_match(["a", "ab"], ["a", "abc"])


def test_arrays_and_lists_may_stand_side_by_side():
    assert right_labels([np.array([0, 1], dtype=np.int8)], [[0, 2]]).tolist() == [[1, 2]]
    assert list(label_f1(np.array(["a", "b"]), ("a", "b")).by_label) == ["a", "b"]


def test_sides_of_unequal_length_and_empty_ones_are_no_basis_for_a_metric():
    with pytest.raises(DataError, match="as many predicted tags as gold ones, got 2 gold and 1"):
        paired("ab", "a", "tags")
    with pytest.raises(DataError, match="there are no documents to evaluate"):
        paired([], [], "documents")
    assert paired("", "", "tags", "sentence 3: ") == []


def test_a_hand_worked_table():
    # gold a a a b c, predicted a a b b b
    table = label_f1("aaabc", "aabbb")
    assert table.by_label == {"a": F1.of(3, 2, 2), "b": F1.of(1, 3, 1), "c": F1.of(1, 0, 0)}
    assert table.micro == F1.of(5, 5, 3)
    assert table.macro.precision == pytest.approx((2 / 2 + 1 / 3 + 0) / 3)
    assert table.macro.recall == pytest.approx((2 / 3 + 1 / 1 + 0) / 3)
    assert table.macro.f1 == pytest.approx((4 / 5 + 2 / 4 + 0) / 3)


@given(label_pairs)
def test_f1_agrees_with_scikit_learn(pairs):
    gold, predicted = map(list, zip(*pairs, strict=True))
    table = label_f1(gold, predicted)
    for average, ours in (("micro", table.micro), ("macro", table.macro)):
        theirs = metrics.precision_recall_fscore_support(
            gold, predicted, average=average, zero_division=0
        )[:3]
        assert (ours.precision, ours.recall, ours.f1) == pytest.approx(theirs)
    theirs = metrics.precision_recall_fscore_support(
        gold, predicted, labels=list(table.by_label), zero_division=0
    )
    for ours, *expected in zip(table.by_label.values(), *theirs, strict=True):
        assert [ours.precision, ours.recall, ours.f1, ours.true] == pytest.approx(expected)


@given(label_pairs)
def test_ignoring_a_label_is_scikit_learns_choice_of_the_other_labels(pairs):
    gold, predicted = map(list, zip(*pairs, strict=True))
    table = label_f1(gold, predicted, ignored=["a", "b"])
    assert list(table.by_label) == sorted({*gold, *predicted} - {"a", "b"})
    theirs = metrics.precision_recall_fscore_support(
        gold, predicted, labels=["c", "d"], average="micro", zero_division=0
    )[:3]
    assert (table.micro.precision, table.micro.recall, table.micro.f1) == pytest.approx(theirs)


def test_a_word_to_be_ignored_is_meant_whole():
    gold, predicted = ["Other", "r", "t"], ["r", "r", "t"]
    assert label_f1(gold, predicted, ignored="Other") == label_f1(
        gold, predicted, ignored=["Other"]
    )
    assert list(label_f1(gold, predicted, ignored="Other").by_label) == ["r", "t"]


def test_a_table_of_nothing_but_ignored_labels_is_zero():
    table = label_f1("aa", "aa", ignored="a")
    assert table.by_label == {}
    assert table.micro == table.macro == F1.of(0, 0, 0)


def test_numbers_are_sorted_as_numbers_and_come_before_words():
    table = label_f1([10, "x", 9], [10, "x", "a"])
    assert list(table.by_label) == [9, 10, "a", "x"]


def test_a_table_can_be_written_as_json():
    table = label_f1(np.array([0, 1, 1]), np.array([0, 1, 0]))
    assert json.loads(json.dumps(asdict(table)))["micro"]["right"] == 2


BY_NAME = {"team": "sales"}


@pytest.mark.parametrize(
    ("metric", "gold", "reason"),
    [
        (token_accuracy, [BY_NAME], r"as in list\(y.values"),
        (exact_match, [BY_NAME], r"as in list\(y.values"),
        (label_f1, BY_NAME, r"as in list\(y.values"),
        (label_f1, [BY_NAME], "a label is a text or a number"),
        (label_f1, [["a"]], "a label is a text or a number"),
        (label_f1, "", "there are no labels"),
    ],
)
def test_what_are_no_labels_is_refused(metric, gold, reason):
    with pytest.raises(DataError, match=reason):
        metric(gold, gold)
