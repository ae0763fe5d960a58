"""Learning only (LO): every variable by itself, no rules and no factors.

    ŷ_t = argmax_a w^a · φ(x, t)       if ŷ_t ≠ y_t:  w^{y_t} += φ(x, t),  w^{ŷ_t} -= φ(x, t)

These are the same weights that inference-based training moves. Predicting with them and an
engine that enforces rules is *learning plus inference* (L+I).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from rote.kernels.learning.perceptron import Average, Decisions, learn_locally
from rote.learning.base import (
    AveragedWeights,
    State,
    check_examples,
    expiring,
    iterations_left,
    shuffled,
)
from rote.model import Dataset, Model
from rote.settings import FLAG, Checked, whole
from rote.types import offsets_from_counts, readonly


@dataclass(frozen=True)
class IndependentPerceptron(Checked):
    """A perceptron for every variable by itself; it stops after an iteration without mistakes.

    Parameters
    ----------
    iterations, average, seed
        As those of `Perceptron`.
    """

    iterations: int = 10
    average: bool = True
    seed: int = 0

    checks: ClassVar = {"iterations": whole(1), "average": FLAG, "seed": whole(0)}

    @expiring
    def iterate(
        self, model: Model[Any, Any], prepared: Dataset, state: State | None = None
    ) -> Iterator[State]:
        check_examples(prepared)
        decisions = _decisions(prepared)
        own = AveragedWeights.begun(model, state)
        for iteration in iterations_left(state, self.iterations):
            order = np.array(shuffled(len(prepared), self.seed, iteration), dtype=np.int64)
            average = Average(own.weights, own.sums)
            mistakes = learn_locally(
                average, prepared.vectors, decisions, readonly(order), own.seen
            )
            own.seen += len(decisions.vector)
            yield (now := own.state(iteration, mistakes, 0, average=self.average))
            if now.done:
                return


def _decisions(prepared: Dataset) -> Decisions:
    counts = np.zeros(len(prepared), dtype=np.int64)
    for group in prepared.groups:
        counts[group.members] = len(group.space.variables)
    ptr = readonly(offsets_from_counts(counts))
    fields = np.empty((6, int(ptr[-1])), dtype=np.int64)
    sample_weight = np.empty(len(prepared))
    for group in prepared.groups:
        n = len(group.space.variables)
        sample_weight[group.members] = group.sample_weight
        own, slots = group.slots.vector[:n], group.slots
        assert group.gold is not None
        at = (ptr[group.members][:, None] + np.arange(n)).ravel()
        vector = np.where(own < 0, 0, group.firsts[:, None] + own)
        known = (slots.origin[:n], slots.stride[:n], slots.each[:n], group.space.sizes)
        for field, values in zip(fields, (vector, *known, group.gold), strict=True):
            field[at] = np.broadcast_to(values, (len(group), n)).ravel()
    vector, origin, stride, each, width, gold = (readonly(field) for field in fields)
    return Decisions(
        ptr, vector, origin, stride, readonly(each > 0), width, gold, readonly(sample_weight)
    )
