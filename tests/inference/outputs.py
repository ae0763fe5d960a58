"""Spaces that tests of inference share, and a plain local search for large ones."""

from itertools import combinations

import numpy as np

from rote.space import Space, SpaceBuilder, at_most


def local_search(space: Space, scores) -> float:
    """What improving one variable at a time reaches without rules: below any bound."""
    labels = np.zeros(len(space.variables), dtype=np.int64)
    for _ in range(5):
        for j, size in enumerate(space.sizes):
            trials = np.repeat(labels[None], size, axis=0)
            trials[:, j] = np.arange(size)
            labels = trials[space.value(scores, trials).argmax()]
    return space.value(scores, labels)[0]


def built(n, scopes=(), rules=(), labels="ab") -> Space:
    """Variables x0, x1, ... with the same labels, factors over some, and rules of all of them."""
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", labels) for j in range(n)]
    for scope in scopes:
        builder.factor(*(variables[j] for j in scope))
    for rule in rules:
        builder.require(rule(variables))
    return builder.build()


def dense(n, labels="ab", m=1, seed=0, whole=False):
    """A factor with random scores over every pair of variables: hard for any bound."""
    space, rng = built(n, combinations(range(n), 2), labels=labels), np.random.default_rng(seed)
    shape = (m, space.parts)
    return space, rng.integers(-1, 2, shape) * 1.0 if whole else rng.normal(size=shape)


def few(variables):
    """A rule that is too long for a table, of ten variables or more."""
    return at_most(3, [x["a"] for x in variables])
