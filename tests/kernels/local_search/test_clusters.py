"""Traits of clusters in kernels: compiled, as plain Python, and by their definition."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.kernels.local_search.clusters import (
    STATES,
    Changes,
    cluster_changes,
    cluster_values,
    clusters_worth,
    find_roots,
    size_bucket,
)
from rote.space.global_features import FORMS, ClusterAgreement
from rote.types import readonly
from tests.kernels.bodies import plain

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


@given(seeds, st.integers(1, 8), st.integers(0, 3))
@settings(max_examples=40)
def test_values_and_worth_are_those_of_the_definition(seed, n, attributes):
    family, labels, weights = drawn(seed, n, attributes)
    expected = by_definition(family, labels.tolist())
    for run in (cluster_values, plain(cluster_values)):
        assert run(family.items(0), readonly(labels[None])).tolist() == [expected]
    for run in (clusters_worth, plain(clusters_worth)):
        known_value = run(family.items(2), weights, readonly(labels))
        assert known_value == pytest.approx(weights[2:][expected].sum())


@given(seeds, st.integers(1, 8), st.integers(0, 3), st.integers(0, 5))
@settings(max_examples=40)
def test_changes_are_differences_and_stay_so_when_only_what_was_touched_is_looked_at(
    seed, n, attributes, steps
):
    family, labels, weights = drawn(seed, n, attributes)
    items = family.items(2)
    sizes = np.arange(1, n + 1)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    rng = np.random.default_rng(seed)
    changes, body = np.full(offsets[-1], np.nan), np.full(offsets[-1], np.nan)
    touched = -1, -1
    for _ in range(1 + steps):
        arguments = items, weights, offsets
        stale = [np.zeros(n, dtype=np.bool_) for _ in range(2)]
        before = changes.copy()
        cluster_changes(*arguments, Changes(labels, changes, stale[0]), *touched)
        plain(cluster_changes)(*arguments, Changes(labels, body, stale[1]), *touched)
        assert stale[0].tolist() == stale[1].tolist()
        moved = np.repeat(stale[0], sizes)
        assert (changes == before)[~moved].all()
        assert changes.tolist() == body.tolist()
        now = weights[2:][by_definition(family, labels.tolist())].sum()
        for j in range(n):
            for a in range(j + 1):
                other = labels.copy()
                other[j] = a
                after = weights[2:][by_definition(family, other.tolist())].sum()
                assert changes[offsets[j] + a] == pytest.approx(after - now, abs=1e-9)
        root = np.empty(n, dtype=np.int64)
        find_roots(labels, root)
        j = int(rng.integers(n))
        before = root[j]
        labels[j] = rng.integers(j + 1)
        find_roots(labels, root)
        touched = int(before), int(root[j])


@pytest.mark.parametrize("run", [size_bucket, plain(size_bucket)])
def test_sizes_fall_into_buckets(run):
    assert [run(count) for count in range(7)] == [0, 1, 2, 3, 3, 4, 4]
