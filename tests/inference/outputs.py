"""A plain local search, for spaces that are too large for the judge of `tests.strategies`."""

from __future__ import annotations

import numpy as np

from rote.space import Space


def local_search(space: Space, scores) -> float:
    """What improving one variable at a time reaches without rules: below any bound."""
    labels = np.zeros(len(space.variables), dtype=np.int64)
    for _ in range(5):
        for j, size in enumerate(space.sizes):
            trials = np.repeat(labels[None], size, axis=0)
            trials[:, j] = np.arange(size)
            labels = trials[space.value(scores, trials).argmax()]
    return space.value(scores, labels)[0]
