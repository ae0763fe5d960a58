"""Traits in kernels, and by their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.kernels.local_search.global_features import (
    add_tuples,
    pass_on_tuples,
    share_changes,
    shares_worth,
)
from rote.space.global_features import (
    GlobalFeatureScores,
    GlobalFeatureSet,
    LabelCounts,
    tuples_along,
)
from rote.types import readonly

seeds = st.integers(0, 2**32 - 1)


def drawn(seed, n=5, k=3):
    """Triples along a sequence and the shares of its labels, under weights; and an output."""
    rng = np.random.default_rng(seed)
    families = tuples_along("triples", n, 3, k), LabelCounts("shares", k, 4)
    origins = np.repeat([2, 2 + k**3], [families[0].count, k])
    weights = readonly(rng.normal(size=2 + k**3 + 4 * k))
    scores = GlobalFeatureScores(GlobalFeatureSet(families, n), readonly(origins), weights)
    return scores, scores.compiled, rng.integers(k, size=n)


def tuples_worth(scores, labels):
    values = scores.global_features.families[0].values(np.asarray([labels]))
    return scores.weights[2 + values].sum()


def gains_by_definition(scores, labels, k):
    now = tuples_worth(scores, labels)
    return [
        tuples_worth(scores, [*labels[:j], a, *labels[j + 1 :]]) - now
        for j in range(len(labels))
        for a in range(k)
    ]


@given(seeds, st.integers(1, 6), st.integers(2, 4))
def test_gains_of_tuples_are_differences_and_stay_so_after_a_change(seed, n, k):
    scores, features, labels = drawn(seed, n, k)
    offsets = np.arange(0, (n + 1) * k, k)
    rng = np.random.default_rng(seed)
    gains = np.zeros(n * k)
    known_value = add_tuples(features, labels, offsets, gains)
    assert known_value == pytest.approx(tuples_worth(scores, labels))
    assert gains == pytest.approx(gains_by_definition(scores, labels.tolist(), k), abs=1e-12)
    j, label = int(rng.integers(n)), int(rng.integers(k))
    own = slice(j * k, (j + 1) * k)
    passed = gains.copy()
    pass_on_tuples(features, labels, offsets, j, label, passed)
    assert passed[own].tolist() == gains[own].tolist()
    passed[own] -= passed[j * k + label]
    labels[j] = label
    assert passed == pytest.approx(gains_by_definition(scores, labels.tolist(), k), abs=1e-12)


@given(seeds, st.integers(1, 7))
def test_shares_are_worth_what_the_histogram_says_before_and_after_every_change(seed, n):
    scores, features, labels = drawn(seed, n)
    histogram = scores.global_features.families[1]
    origin = scores.origins[-1]

    def known_value(output):
        return scores.weights[origin + histogram.values(np.asarray([output]))].sum()

    counts = np.bincount(labels, minlength=3)
    assert shares_worth(features, counts, n) == pytest.approx(known_value(labels))
    changes = np.full((3, 3), np.nan)
    share_changes(features, counts, n, changes)
    for j in range(n):
        for a in range(3):
            other = labels.copy()
            other[j] = a
            gain = known_value(other) - known_value(labels)
            assert changes[labels[j], a] == pytest.approx(gain, abs=1e-12)
