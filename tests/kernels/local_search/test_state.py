"""Outputs as they stand: compiled, as plain Python, and by changing one label after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rote.kernels.local_search.greedy import all_entries
from rote.kernels.local_search.state import (
    Extra,
    Terrain,
    change,
    count_on,
    gains_of,
    pair_up,
    stand_at,
    standing_for,
    whole_worth,
)
from rote.kernels.neighbourhood.neighbours import Entries
from rote.types import readonly
from tests.kernels.bodies import asked, networks, plain
from tests.kernels.local_search.test_greedy import (
    KINDS,
    is_paired,
    question,
    seeds,
    told,
    traits_of,
)


@given(networks(least=1), seeds)
@settings(max_examples=40)
def test_gains_are_differences_of_scores(found, seed):
    space, net = found
    scores, _, labels, _ = question(space, net, seed)
    graph = net.per_factor_tables.graph
    for run in (gains_of, plain(gains_of)):
        gains = run(scores, labels, graph)
        for i, row in enumerate(labels):
            before = space.known_value(readonly(scores[i : i + 1]), readonly(row[None]))[0]
            for j, size in enumerate(space.sizes):
                for a in range(size):
                    other = row.copy()
                    other[j] = a
                    after = space.known_value(readonly(scores[i : i + 1]), readonly(other[None]))[0]
                    assert gains[i, space.offsets[j] + a] == pytest.approx(after - before, abs=1e-9)


@given(networks(least=1), seeds, st.sampled_from(KINDS))
@settings(max_examples=40)
def test_changes_lead_to_what_standing_there_anew_says(found, seed, kind):
    space, net = found
    assume(net.variables == net.own)
    scores, _, gold, labels = question(space, net, seed)
    graph, wide = net.per_factor_tables.graph, told(traits_of(space, seed), space)
    entries = Entries(*(row[0] for row in plain(all_entries)(asked(scores), graph, False)))
    matrix = np.zeros((len(space.variables),) * 2 if is_paired(graph) else (0, 0))
    if len(matrix):
        plain(pair_up)(graph, entries.theta, matrix)
    terrain = Terrain(graph, entries, matrix, wide)
    extra = Extra(kind, gold[0], plain(count_on)(gold[0]))
    moved, anew = (plain(standing_for)(graph, wide, labels.shape[1]) for _ in range(2))
    moved.labels[:] = labels[0]
    plain(stand_at)(terrain, extra, moved)
    rng, rank = np.random.default_rng(seed), np.ones(labels.shape[1], np.int64)
    for _ in range(4):
        j = int(rng.integers(labels.shape[1]))
        label = int(rng.integers(space.sizes[j]))
        if label != moved.labels[j]:
            plain(change)(terrain, extra, moved, rank, j, label)
        anew.labels[:] = moved.labels
        plain(stand_at)(terrain, extra, anew)
        for one, other in zip(moved.gains, anew.gains, strict=True):
            assert one == pytest.approx(other, abs=1e-9)
        for name in ("activity", "value", "wrong", "counts", "having"):
            assert getattr(moved, name) == pytest.approx(getattr(anew, name), abs=1e-9), name
        one, other = (plain(whole_worth)(wide, extra, at) for at in (moved, anew))
        assert one == pytest.approx(other, abs=1e-9)
