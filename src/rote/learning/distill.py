"""Teaching a `Speedup`: the model's own engine answers inputs without outputs, and it learns.

Inputs come in small pieces of one space, in mixed order: taught space by space, it would be left
with what the last one was like.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rote.errors import SettingError, check_whole
from rote.inference.approximate import Speedup
from rote.inference.engine import find
from rote.model import Model, Prepared

PIECE = 50  # inputs of one space that are learned from together


def teach(
    model: Model[Any, Any],
    prepared: Prepared,
    *,
    epochs: int = 2,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[int]:
    """Let the model's `Speedup` learn from inputs; how many mistakes it made in each epoch.

    ``progress`` is told how many pieces are done, and of how many.
    """
    engine = find(model.engine, Speedup)
    if engine is None:
        raise SettingError(
            f"only a Speedup can be taught, and the model's engine is {model.engine!r}"
        )
    check_whole("epochs", epochs, least=1)
    rng = np.random.default_rng(seed)
    pieces = [
        (group, slice(k, k + PIECE))
        for group in prepared.groups
        for k in range(0, len(group), PIECE)
    ]
    mistakes = [0] * epochs
    for epoch in range(epochs):
        for done, k in enumerate(rng.permutation(len(pieces)).tolist(), start=1):
            group, rows = pieces[k]
            piece = group.rows(rows)
            problem = prepared.problem(model.weights, piece)
            mistakes[epoch] += engine.learn(piece.space, problem)
            if progress is not None:
                progress(epoch * len(pieces) + done, epochs * len(pieces))
    return mistakes
