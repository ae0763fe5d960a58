"""Online least squares: compiled, as plain Python, and with features written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.kernels.regression import add_output, predicted, predictions, regress
from rote.types import frozen
from tests.kernels.bodies import plain
from tests.kernels.parts import phi, random_columns, random_parts, whole

seeds = st.integers(0, 2**32 - 1)


def example(seed, count=4):
    """Vectors, slots, first vectors, outputs by columns, and φ of each as one dense row."""
    vectors, slots, firsts, size = random_parts(seed)
    rng = np.random.default_rng(seed)
    own = whole(rng.choice(firsts, size=count))
    columns = random_columns(rng, slots, count).reshape(count, len(slots.vector))
    rows = np.array(
        [phi(vectors, slots, first, row, size) for first, row in zip(own, columns, strict=True)]
    )
    return vectors, slots, own, columns, rows.reshape(count, size)


@given(seeds)
@settings(max_examples=40)
def test_predictions_and_steps_are_those_of_dense_features(seed):
    vectors, slots, firsts, columns, rows = example(seed)
    weights = np.random.default_rng(seed).normal(size=rows.shape[1])
    for run, add in ((predicted, add_output), (plain(predicted), plain(add_output))):
        for first, column, row in zip(firsts, columns, rows, strict=True):
            assert run(weights, vectors, slots, first, column) == pytest.approx(weights @ row)
            moved = weights.copy()
            add(moved, vectors, slots, first, column, 0.5)
            assert moved == pytest.approx(weights + 0.5 * row)


@given(seeds, st.booleans(), st.integers(1, 3))
@settings(max_examples=40)
def test_learning_is_that_of_dense_features(seed, adagrad, passes):
    vectors, slots, firsts, columns, rows = example(seed)
    rng, size = np.random.default_rng(seed), rows.shape[1]
    targets = rng.normal(size=len(rows))
    expected, past, first_errors = np.zeros(size), np.zeros(size), []
    for turn in range(passes):
        for row, target in zip(rows, targets, strict=True):
            error, norm = target - expected @ row, row @ row
            if turn == 0:
                first_errors.append(error**2)
            if norm == 0:
                continue
            if adagrad:
                gradient = error * row / np.sqrt(norm)
                past += gradient**2
                moved = gradient != 0
                expected[moved] += 0.3 * gradient[moved] / np.sqrt(past[moved])
            else:
                expected += 0.3 * error * row / norm
    for run in (regress, plain(regress)):
        weights, features = np.zeros(size), np.zeros(size)
        squares = np.zeros(size if adagrad else 0)
        mean = run(
            weights, squares, features, vectors, slots, firsts, columns, targets, 0.3, passes
        )
        assert weights == pytest.approx(expected, abs=1e-9)
        assert mean == pytest.approx(np.mean(first_errors))
        assert not features.any()
        assert not adagrad or squares == pytest.approx(past, abs=1e-9)


def test_what_can_be_predicted_is_learned():
    rng = np.random.default_rng(0)
    vectors, slots, firsts, columns, rows = example(3, count=40)
    targets = rows @ rng.normal(size=rows.shape[1])
    weights, none = np.zeros(rows.shape[1]), np.zeros(0)
    errors = [
        regress(
            weights, none, np.zeros(rows.shape[1]), vectors, slots, firsts, columns, targets, 0.5, 5
        )
        for _ in range(60)
    ]
    assert errors[-1] < 0.01 * errors[0]


def test_no_examples_have_no_error():
    vectors, slots, firsts, columns, rows = example(0, count=0)
    weights, features = np.zeros((2, rows.shape[1]))
    none = np.zeros(0)
    mean = regress(weights, none, features, vectors, slots, firsts, columns, none, 0.1, 5)
    assert mean == 0.0
    assert not weights.any()


@given(seeds)
@settings(max_examples=30)
def test_predictions_of_a_batch_are_those_of_each(seed):
    vectors, slots, firsts, columns, rows = example(seed)
    weights = np.random.default_rng(seed).normal(size=rows.shape[1])
    for run in (predictions, plain(predictions)):
        found = run(frozen(weights), vectors, slots, firsts, columns)
        assert found == pytest.approx(rows @ weights, abs=1e-9)
