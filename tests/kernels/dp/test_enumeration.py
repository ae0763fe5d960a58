"""The kernels of enumeration, against naive twins."""

from itertools import product

import numpy as np
import pytest

from rote.kernels.dp.enumeration import EndingFactors, best_outputs, outputs_between
from tests.kernels.bodies import asked

SIZES = np.array([2, 3, 2], dtype=np.int64)
OFFSETS = np.array([0, 2, 5, 7], dtype=np.int64)
# Two factors: over the variables (1, 0), which ends at 1, and over (0, 2), which ends at 2.
FACTORS = EndingFactors(
    np.array([0, 0, 1, 2]),
    np.array([7, 13]),
    np.array([0, 2, 4]),
    np.array([1, 0, 0, 2]),
    np.array([2, 1, 2, 1]),
)


def value_of(row, labels):
    a, b, c = labels
    return row[a] + row[2 + b] + row[5 + c] + row[7 + 2 * b + a] + row[13 + 2 * a + c]


@pytest.mark.parametrize("sizes", [[2, 3, 2], [4], [1, 1], [3, 1, 2]])
def test_outputs_come_in_lexicographic_order_from_anywhere(sizes):
    every = [list(labels) for labels in product(*(range(size) for size in sizes))]
    array = np.array(sizes, dtype=np.int64)
    for first in range(len(every) + 1):
        for end in range(first, len(every) + 1):
            assert outputs_between(first, end, array).tolist() == every[first:end]


def test_no_variables_have_one_output():
    nothing = np.empty(0, np.int64)
    assert outputs_between(0, 1, nothing).shape == (1, 0)
    zero = np.zeros(1, np.int64)
    found = best_outputs(
        asked(np.empty((2, 0)), ties=1.0),
        np.array([128], np.uint8),
        nothing,
        zero,
        EndingFactors(zero, nothing, zero, nothing, nothing),
    )
    assert found.shape == (2, 0)


@pytest.mark.parametrize("whole", [False, True])
def test_the_first_of_the_best_feasible_outputs_is_found(whole):
    rng = np.random.default_rng(1)
    every = np.array(list(product(range(2), range(3), range(2))))
    for _ in range(40):
        scores = rng.normal(size=(3, 17))
        if whole:
            scores = np.rint(scores)
        closed = rng.random((3, 7)) < 0.2
        feasible = rng.random(12) < 0.6
        bits = np.packbits(feasible)
        labels = best_outputs(asked(scores, closed), bits, SIZES, OFFSETS, FACTORS)
        for i in range(3):
            good = feasible & ~closed[i][every + OFFSETS[:-1]].any(axis=1)
            values = np.array([value_of(scores[i], y) for y in every])[good]
            if good.any():
                first = every[good][np.argmax(values >= values.max() - 1e-10)]
                assert labels[i].tolist() == first.tolist()
            else:
                assert labels[i].tolist() == [-1, -1, -1]


def test_an_empty_batch_has_no_answers():
    bits = np.array([255, 255], np.uint8)
    found = best_outputs(asked(np.empty((0, 17))), bits, SIZES, OFFSETS, FACTORS)
    assert found.shape == (0, 3)


def test_all_labels_open_is_the_same_as_none_closed():
    scores = np.random.default_rng(2).normal(size=(5, 17))
    rest = np.array([255, 240], np.uint8), SIZES, OFFSETS, FACTORS
    none = best_outputs(asked(scores), *rest)
    opened = best_outputs(asked(scores, np.zeros((5, 7), np.bool_)), *rest)
    assert none.tolist() == opened.tolist()
