"""Teaching a `LearnedBeam`: the model's own engine answers inputs without outputs, and it learns.

Inputs come in small pieces of one space, in mixed order: taught space by space, it would be left
with what the last one was like.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rote.errors import SettingError, check_whole
from rote.inference.approximate import LearnedBeam
from rote.inference.engine import find
from rote.model import Dataset, Model

PIECE = 50  # inputs of one space that are learned from together


def distill(
    model: Model[Any, Any],
    prepared: Dataset,
    *,
    epochs: int = 2,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[int]:
    """Let the model's `LearnedBeam` learn from inputs; how many mistakes it made in each epoch.

    ``progress`` is told how many pieces are done, and of how many.
    """
    engine = find(model.engine, LearnedBeam)
    if engine is None:
        raise SettingError(
            f"only a LearnedBeam can be taught, and the model's engine is {model.engine!r}"
        )
    check_whole("epochs", epochs, least=1)
    rng = np.random.default_rng(seed)
    chunks = [
        (group, slice(k, k + PIECE))
        for group in prepared.groups
        for k in range(0, len(group), PIECE)
    ]
    mistakes = [0] * epochs
    for epoch in range(epochs):
        for done, k in enumerate(rng.permutation(len(chunks)).tolist(), start=1):
            group, rows = chunks[k]
            piece = group.rows(rows)
            problem = prepared.problem(model.weights, piece)
            mistakes[epoch] += engine.learn(piece.space, problem)
            if progress is not None:
                progress(epoch * len(chunks) + done, epochs * len(chunks))
    return mistakes
