"""Online least squares, against features written out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.kernels.learning.value_regression import (
    Outputs,
    Schedule,
    entries_of,
    regress_all,
)
from rote.types import readonly
from tests.kernels.parts import phi, random_columns, random_parts, whole

seeds = st.integers(0, 2**32 - 1)


def example(seed, count=5):
    """Vectors, slots, first vectors, outputs by columns, and φ of each as one dense row."""
    vectors, slots, firsts, size = random_parts(seed)
    rng = np.random.default_rng(seed)
    own = whole(rng.choice(firsts, size=count))
    columns = random_columns(rng, slots, count).reshape(count, len(slots.vector))
    rows = np.array(
        [phi(vectors, slots, first, row, size) for first, row in zip(own, columns, strict=True)]
    )
    return vectors, slots, own, columns, rows.reshape(count, size)


def sizes(vectors, slots, firsts, columns):
    outputs = Outputs(firsts, columns, readonly(np.zeros(len(firsts))))
    return [entries_of(vectors, slots, outputs, i) for i in range(len(firsts))]


def moved(weights, past, row, target, step):
    """Weights and squares after one step, by the formulas."""
    error, norm = target - weights @ row, row @ row
    if norm == 0:
        return weights, past
    if len(past) == 0:
        return weights + step * error * row / norm, past
    gradient = error * row / np.sqrt(norm)
    past = past + gradient**2
    share = np.divide(gradient, np.sqrt(past), out=np.zeros_like(past), where=gradient != 0)
    return weights + step * share, past


@given(seeds, st.booleans(), st.integers(1, 3), st.sampled_from([0.0, 0.5, 10.0]), st.booleans())
def test_outputs_are_learned_from_one_after_the_other(seed, adagrad, passes, tolerance, narrow):
    vectors, slots, firsts, columns, dense = example(seed)
    rng, size = np.random.default_rng(seed), dense.shape[1]
    targets, before = readonly(rng.normal(size=len(firsts))), rng.normal(size=size)
    # With no room, every output is a piece; with enough, all are one.
    chunks = [[i] for i in range(len(firsts))] if narrow else [[*range(len(firsts))]]
    expected, past, count = before, np.zeros(size if adagrad else 0), 0
    for piece in chunks:
        errors = {i: abs(targets[i] - dense[i] @ expected) for i in piece}
        far = [i for i in piece if errors[i] > tolerance * max(1, abs(targets[i]))]
        count += len(far)
        for i in far * passes:
            expected, past = moved(expected, past, dense[i], targets[i], 0.3)
    room = 0 if narrow else sum(sizes(vectors, slots, firsts, columns))
    weights, squares = before.copy(), np.zeros(size if adagrad else 0)
    outputs, how = Outputs(firsts, columns, targets), Schedule(0.3, passes, tolerance, room)
    assert regress_all(weights, squares, vectors, slots, outputs, how) == count
    assert weights == pytest.approx(expected, abs=1e-9)
    assert squares == pytest.approx(past, abs=1e-9)


def test_what_can_be_predicted_is_learned():
    vectors, slots, firsts, columns, dense = example(3, count=40)
    targets = readonly(dense @ np.random.default_rng(0).normal(size=dense.shape[1]))
    weights, none = np.zeros(dense.shape[1]), np.zeros(0)

    def error():
        return float(np.square(targets - dense @ weights).mean())

    before = error()
    for _ in range(60):
        outputs, how = Outputs(firsts, columns, targets), Schedule(0.5, 5, 0.0, 1 << 20)
        regress_all(weights, none, vectors, slots, outputs, how)
    assert error() < 0.01 * before
