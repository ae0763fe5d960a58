"""Greedy search over pairs of two-valued variables, beside the search that takes anything."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.kernels.local_search.binary_pairs import search_pairs
from rote.kernels.local_search.global_features import no_global_features
from rote.kernels.local_search.greedy import (
    Instances,
    Restarts,
    all_entries,
    climb_all,
    search_greedily,
)
from rote.space import SpaceBuilder
from rote.types import readonly
from tests.kernels.bodies import asked
from tests.kernels.local_search.test_greedy import KINDS, TIE, is_paired, question

seeds = st.integers(0, 2**32 - 1)


def joined(n, seed):
    """Two-valued variables, some of which are joined, in either order."""
    rng = np.random.default_rng(seed)
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(n)]
    for j in range(n):
        for k in range(j):
            if j == 1 or rng.random() < 0.6:
                one, other = rng.permutation([j, k])
                builder.factor(variables[one], variables[other])
    return builder.build()


@given(seeds, st.integers(2, 6), st.sampled_from(KINDS), st.integers(0, 6))
def test_it_says_what_the_general_search_says(seed, n, kind, n_resampled):
    space = joined(n, seed)
    graph = space.network.per_factor_tables.graph
    assert is_paired(graph)
    scores, _, gold, initial = question(space, space.network, seed, m=3)
    questions, again = asked(scores, ties=TIE), Restarts(min(n_resampled, n), 4, seed)
    arguments = questions, initial, gold, kind
    labels, needed, bounds = search_pairs(*arguments, graph, again)
    other = search_greedily(*arguments, no_global_features(), graph, again)
    assert labels.tolist() == other[0].tolist()
    assert needed.tolist() == other[1].tolist()
    assert bounds == pytest.approx(other[2])


@given(seeds, st.integers(2, 6), st.sampled_from(KINDS))
def test_paths_are_the_same_with_a_matrix_of_pairs(seed, n, kind):
    space = joined(n, seed)
    graph = space.network.per_factor_tables.graph
    scores, _, gold, starts = question(space, space.network, seed, m=3)
    ties = readonly(np.full(3, TIE))
    entries, every = all_entries(asked(scores), graph, True), readonly(np.arange(3))
    instances = Instances(entries, graph, no_global_features())
    one, other = (
        climb_all(instances, every, ties, starts, gold, kind, paired, 12)
        for paired in (True, False)
    )
    for a, b in zip(one, other, strict=True):
        assert a.tolist() == b.tolist()
