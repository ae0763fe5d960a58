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
