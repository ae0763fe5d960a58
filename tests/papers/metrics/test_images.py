"""Pixel accuracy against a hand-worked image and scikit-learn over single pixels."""

import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score

from papers.metrics.images import PixelAccuracy, pixel_accuracy
from rote import DataError

# Three superpixels; columns: grass, cow, sky, void.
COUNTS = np.array([[8, 2, 0, 5], [1, 9, 0, 0], [0, 4, 0, 1]], dtype=np.uint16)


def test_a_hand_worked_image():
    assert pixel_accuracy(COUNTS, [0, 1, 0], void=3) == PixelAccuracy(
        overall=(8 + 9) / 24,
        class_average=(8 / 9 + 9 / 15) / 2,
        by_class=(8 / 9, 9 / 15, None, None),
    )


def test_the_void_column_may_be_counted_from_the_end_or_stand_in_front():
    expected = pixel_accuracy(COUNTS, [0, 1, 0], void=3)
    assert pixel_accuracy(COUNTS, [0, 1, 0], void=-1) == expected
    moved = pixel_accuracy(np.roll(COUNTS, 1, axis=1), [1, 2, 1], void=0)
    assert (moved.overall, moved.class_average) == (expected.overall, expected.class_average)
    assert moved.by_class == (None, *expected.by_class[:3])


def test_without_a_void_column_every_pixel_counts():
    assert pixel_accuracy(COUNTS, [3, 1, 1]).overall == (5 + 9 + 4) / 30


def test_random_images_agree_with_scikit_learn_over_single_pixels():
    random = np.random.default_rng(7)
    counts = random.integers(0, 6, (40, 5))
    labels = random.integers(0, 4, 40)
    pixels = [(c, labels[i]) for i in range(40) for c in range(4) for _ in range(counts[i, c])]
    gold, predicted = zip(*pixels, strict=True)
    ours = pixel_accuracy(counts, labels, void=4)
    assert ours.overall == pytest.approx(accuracy_score(gold, predicted))
    assert ours.class_average == pytest.approx(balanced_accuracy_score(gold, predicted))


def test_counts_of_few_bits_do_not_overflow():
    counts = np.full((1000, 2), 60_000, dtype=np.uint16)
    assert pixel_accuracy(counts, np.zeros(1000, dtype=np.uint8)).overall == 0.5


@pytest.mark.parametrize(
    ("counts", "labels", "void", "message"),
    [
        ([1, 2], [0], None, r"shape \(superpixels, classes\)"),
        (np.zeros((0, 3), int), [], None, r"got the shape \(0, 3\)"),
        ([[1, 2]], [0, 1], None, "one class number for each of 1 superpixels"),
        ([[1, 2]], [0.5], None, "one class number"),
        ([[1, 2]], [2], None, "from 0 to 1, void left out, got 2"),
        ([[1, 2]], [-1], None, "got -1"),
        ([[1, 2]], [1], 1, "void left out, got 1"),
        ([[1, 2]], [0], 2, "void is a column of the 2 pixel counts, got 2"),
        ([[1, -2]], [0], None, "0 or more"),
        ([[0.5, 0.5]], [0], None, "whole numbers"),
        ([[0, 7]], [0], 1, "all of them are void"),
    ],
)
def test_bad_input_is_answered_with_a_sentence(counts, labels, void, message):
    with pytest.raises(DataError, match=message):
        pixel_accuracy(np.array(counts), np.array(labels), void=void)


@pytest.mark.usefixtures("real_data")
def test_the_scores_in_the_real_data_reach_what_is_known_of_them():
    folder = os.environ["ROTE_DATA"]
    with np.load(Path(folder) / "msrc21" / "msrc21_graphs.npz") as graphs:
        image = np.repeat(np.arange(591), np.diff(graphs["sp_ptr"]))
        test = ~graphs["is_train"].astype(bool)[image]
        counts = graphs["pixel_counts"][test]
        found = pixel_accuracy(counts, graphs["unary"][test].argmax(axis=1), void=-1)
        best = pixel_accuracy(counts, counts[:, :21].argmax(axis=1), void=-1)
    assert (round(found.overall, 3), round(found.class_average, 3)) == (0.807, 0.709)
    assert best.overall > 0.95
