"""Distillation: a `LearnedBeam` learns from another engine's answers to inputs without outputs.

Inputs come in small batches of one space, in mixed order: taught space by space, it would be left
with what the last one was like.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rote.errors import SettingError
from rote.inference.approximate import LearnedBeam
from rote.inference.engine import find
from rote.model import Dataset, Model
from rote.settings import check, whole

BATCH = 50  # inputs of one space that are learned from together


def distill(
    model: Model[Any, Any],
    prepared: Dataset,
    *,
    epochs: int = 2,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> list[int]:
    """Let the model's `LearnedBeam` learn from inputs; how many mistakes it made in each epoch.

    Parameters
    ----------
    model
        Its engine is a `LearnedBeam`, or has one inside.
    prepared
        Inputs; outputs are not looked at.
    epochs
        Passes over the inputs, at least 1.
    seed
        Of the order of inputs.
    progress
        Is called with how many batches are done, and of how many.
    """
    engine = find(model.engine, LearnedBeam)
    if engine is None:
        raise SettingError(
            f"only a LearnedBeam can be taught, and the model's engine is {model.engine!r}"
        )
    check("epochs", epochs, whole(1))
    rng = np.random.default_rng(seed)
    batches = [
        group.rows(slice(k, k + BATCH))
        for group in prepared.groups
        for k in range(0, len(group), BATCH)
    ]
    mistakes = [0] * epochs
    for epoch in range(epochs):
        for done, k in enumerate(rng.permutation(len(batches)).tolist(), start=1):
            problem = prepared.problem(model.weights, batches[k])
            mistakes[epoch] += engine.learn(problem.space, problem)
            if progress is not None:
                progress(epoch * len(batches) + done, epochs * len(batches))
    return mistakes
