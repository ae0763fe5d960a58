"""Traits of clusters in kernels, and by their definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.kernels.bundles import GlobalFeatures
from rote.kernels.constants import STATES
from rote.kernels.local_search.clusters import (
    Clusters,
    look_at_moves,
)
from rote.kernels.local_search.global_features import no_global_features
from rote.space.global_features import FORMS, ClusterAgreement
from rote.types import readonly

seeds = st.integers(0, 2**32 - 1)


def drawn(seed, n, attributes):
    """Items with attributes, an output of links, and weights."""
    rng = np.random.default_rng(seed)
    own = tuple(tuple(rng.integers(3, size=attributes).tolist()) for _ in range(n))
    family = ClusterAgreement("entity", own, tuple(rng.integers(FORMS, size=n).tolist()))
    labels = np.array([rng.integers(i + 1) for i in range(n)], dtype=np.int64)
    return family, labels, readonly(rng.normal(size=2 + family.width))


def by_definition(family, labels):
    """Attribute, form and state of every trait."""
    entity = []
    for i, back in enumerate(labels):
        entity.append(entity[i - back] if back else i)
    global_features = []
    for i, own in enumerate(family.attributes):
        before = [h for h in range(i) if entity[h] == entity[i]]
        for a, value in enumerate(own):
            others = [family.attributes[h][a] for h in before]
            known = [other for other in others if other]
            state = "unknown"
            if not before:
                state = "first"
            elif value and known:
                state = "same" if value in known else "other"
            global_features.append(
                (a, family.forms[i], ["first", "unknown", "same", "other"].index(state))
            )
        count = len(before)
        bucket = count if count <= 2 else 3 if count <= 4 else 4
        global_features.append((len(own), family.forms[i], bucket))
    return [(a * FORMS + form) * STATES + state for a, form, state in global_features]


def wide_of(family, weights):
    """What kernels are told of these traits alone."""
    names = ("origin", "ptr", "variable", "stride", "of_ptr", "of", "of_stride", "shares", "bins")
    none = no_global_features()
    return GlobalFeatures(weights, *(getattr(none, name) for name in names), family.items(2))


def first_of(labels, j):
    while labels[j]:
        j -= labels[j]
    return int(j)


@given(seeds, st.integers(1, 8), st.integers(0, 3), st.integers(0, 5))
def test_changes_are_differences_and_stay_so_when_only_what_was_touched_is_looked_at(
    seed, n, attributes, steps
):
    family, labels, weights = drawn(seed, n, attributes)
    features, sizes = wide_of(family, weights), np.arange(1, n + 1)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    rng, stale = np.random.default_rng(seed), np.zeros(n, dtype=np.bool_)
    clusters = Clusters(labels, stale, offsets[-1], features.items.values)
    changes = clusters.added
    changes[:] = np.nan
    touched = -1, -1
    for _ in range(1 + steps):
        before, stale[:] = changes.copy(), False
        now = look_at_moves(features, offsets, clusters, *touched)
        assert now == pytest.approx(weights[2:][by_definition(family, labels.tolist())].sum())
        assert (changes == before)[~np.repeat(stale, sizes)].all()
        for j in range(n):
            for a in range(j + 1):
                other = labels.copy()
                other[j] = a
                after = weights[2:][by_definition(family, other.tolist())].sum()
                assert changes[offsets[j] + a] == pytest.approx(after - now, abs=1e-9)
        j = int(rng.integers(n))
        home = first_of(labels, j)
        labels[j] = rng.integers(j + 1)
        touched = home, first_of(labels, j)
