"""Caches with something on them."""

from __future__ import annotations

import numpy as np

from rote.inference.wrappers.amortized.solution_cache import SolutionCache
from rote.types import readonly


def put(
    cache: SolutionCache, labels, scores, margins=0.0, *, rows=None, by_engine=True, duals=None
):
    """Write entries down as the engine does, one per row of ``labels``; returns their rows.

    ``duals`` draws messages and multipliers, which are 0 without it.
    """
    labels = readonly(np.array(labels, dtype=np.int64).reshape(-1, len(cache.space.variables)))
    m = len(labels)
    wide = [(m, width) for width in cache.dual_sizes]
    messages, multipliers = map(np.zeros if duals is None else duals, wide)
    return cache.put(
        np.full(m, -1) if rows is None else np.asarray(rows, dtype=np.int64),
        cache.numbers(labels)[0],
        np.array(scores, dtype=np.float64).reshape(m, cache.space.parts),
        messages,
        multipliers,
        np.broadcast_to(np.asarray(margins, dtype=np.float64), m),
        np.zeros(m),
        by_engine=np.broadcast_to(np.asarray(by_engine), m),
    )
