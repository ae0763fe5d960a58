"""`Tree`: ties in any order of the variables, and what it refuses."""

from itertools import pairwise

import numpy as np

from rote.inference.exact.tree import Tree, _plan
from rote.inference.problem import clamp
from rote.space import SpaceBuilder


def test_a_long_chain_in_shuffled_order_breaks_all_ties_towards_small_labels():
    """Neighbours want to agree and nothing else counts, so everything takes the first label."""
    rng = np.random.default_rng(10)
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(40)]
    order = rng.permutation(40)
    for left, right in pairwise(order):
        builder.factor(variables[left], variables[right])
    space = builder.build()
    scores = np.concatenate([np.zeros(120), np.tile(np.eye(3).ravel(), 39)])
    found = Tree().solve(space, scores)
    assert not _plan(space).natural
    assert found.value.tolist() == [39.0]
    assert (found.labels == 0).all()
    held = Tree().solve(space, clamp(space, scores, {f"x{order[20]}": "c"}))
    assert held.value.tolist() == [39.0]
    assert (held.labels == 2).all()
