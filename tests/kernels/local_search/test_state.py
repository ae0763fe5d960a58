"""Outputs as they stand, and by changing one label after the other."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rote.kernels.local_search.greedy import all_entries
from rote.kernels.local_search.state import (
    Extra,
    Landscape,
    SearchState,
    change,
    pair_up,
    stand_at,
    whole_worth,
)
from rote.kernels.neighbourhood.neighbours import Entries
from tests.kernels.bodies import asked, networks
from tests.kernels.local_search.test_greedy import (
    KINDS,
    global_features_of,
    is_paired,
    question,
    seeds,
    told,
)


@given(networks(least=1), seeds, st.sampled_from(KINDS))
def test_changes_lead_to_what_standing_there_anew_says(found, seed, kind):
    space, net = found
    assume(net.variables == net.own)
    scores, _, gold, labels = question(space, net, seed)
    graph, features = net.per_factor_tables.graph, told(global_features_of(space, seed), space)
    every = all_entries(asked(scores), graph, False)
    entries, n = Entries(every.theta[0], every.forbidden[0]), labels.shape[1]
    landscape = Landscape(graph, entries, features, n, n if is_paired(graph) else 0)
    if is_paired(graph):
        pair_up(graph, entries.theta, landscape.pairs)
    extra = Extra(kind, gold[0])
    moved, anew = (SearchState(graph, features, n) for _ in range(2))
    moved.labels[:] = labels[0]
    stand_at(landscape, extra, moved)
    rng = np.random.default_rng(seed)
    for _ in range(4):
        j = int(rng.integers(n))
        label = int(rng.integers(space.sizes[j]))
        if label != moved.labels[j]:
            change(landscape, extra, moved, j, label)
        anew.labels[:] = moved.labels
        stand_at(landscape, extra, anew)
        for name in ("score", "faults"):
            one, other = (getattr(at.gains, name) for at in (moved, anew))
            assert one == pytest.approx(other, abs=1e-9), name
        for name in ("activity", "value", "faults", "broken", "right", "on", "having"):
            one, other = (getattr(at, name) for at in (moved, anew))
            assert one == pytest.approx(other, abs=1e-9), name
        one, other = (whole_worth(features, extra, at) for at in (moved, anew))
        assert one == pytest.approx(other, abs=1e-9)
