"""Linear scores and steps, against dense feature vectors."""

import itertools

import numpy as np
import pytest

from rote.kernels.bundles import Slots
from rote.kernels.learning.linear import move, move_each, place_of, scores_of
from rote.types import readonly
from tests.kernels.parts import phi, random_columns, random_parts, whole

SEEDS = pytest.mark.parametrize("seed", range(6))


@SEEDS
def test_the_score_of_every_output_is_its_feature_vector_times_the_weights(seed):
    vectors, slots, firsts, size = random_parts(seed)
    weights = readonly(np.random.default_rng(seed).normal(size=size))
    scores = scores_of(weights, vectors, slots, firsts)
    assert scores.shape == (3, slots.start[-1])
    for i, first in enumerate(firsts):
        for chosen in itertools.product(*map(range, np.diff(slots.start))):
            own = scores[i, slots.start[:-1] + np.array(chosen)].sum()
            assert own == pytest.approx(weights @ phi(vectors, slots, first, chosen, size))


def test_a_label_is_found_in_the_constant_vector_in_its_own_or_in_that_of_its_slot():
    slots = Slots(
        whole([-1, 2, 1]),
        whole([10, 20, 30]),
        whole([5, 5, 5]),
        readonly(np.array([False, False, True])),
        whole([2, -1, -1]),
        whole([0, 3, 6, 9]),
        whole([0, 1, 0, 0, 1]),
    )
    assert [place_of(slots, s, 4, 2) for s in range(3)] == [(0, 11), (6, 22), (7, 30)]


@SEEDS
def test_a_move_adds_the_difference_of_two_feature_vectors(seed):
    vectors, slots, firsts, size = random_parts(seed)
    rng = np.random.default_rng(seed)
    toward, away = random_columns(rng, slots, 3), random_columns(rng, slots, 3)
    steps = readonly(np.array([1.0, 0.25, -2.0]))
    start = rng.normal(size=size)
    found, again, expected = start.copy(), start.copy(), start.copy()
    move_each(found, vectors, slots, firsts, toward, away, steps)
    for i, first in enumerate(firsts):
        move(again, vectors, slots, first, toward[i], away[i], steps[i])
        right = phi(vectors, slots, first, toward[i], size)
        expected += steps[i] * (right - phi(vectors, slots, first, away[i], size))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(found, again)
