"""Stochastic sub-gradient descent on the structural SVM with plain slacks, as in Pegasos.

    min_w  ½ ‖w‖² + C Σ_i ξ_i        ξ_i = max_y Δ(y_i, y) - w · (φ(x_i, y_i) - φ(x_i, y))

Examples lie in p batches, each of one space, and every iteration visits all of them in an order of
its own. Step t looks at one, with the step size 1/t of the strongly convex objective:

    w ← (1 - 1/t) w + (C p / t) Σ (φ(x_i, y_i) - φ(x_i, ŷ_i))      ŷ_i the worst output of i

An example counts the same whether many share its space or none, so batches need not be of one size.
The weights are kept as a scale times an array, so that shrinking them costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from rote.kernels.learning.linear import move_each
from rote.learning.base import (
    LOSS,
    State,
    check_examples,
    half_norm,
    iterations_left,
    mini_batches,
)
from rote.learning.loss_augmented import most_violated_of
from rote.model import Dataset, Model
from rote.settings import FLAG, Checked, number, whole
from rote.space.losses import Hamming, Loss
from rote.types import readonly

SMALLEST = 1e-6  # a smaller scale is multiplied into the array


@dataclass(frozen=True)
class Subgradient(Checked):
    """Stochastic sub-gradient descent; the objective it reports adds up slacks as it met them.

    Parameters
    ----------
    C
        How much slacks weigh against large weights, above 0.
    loss
        How wrong an output is.
    iterations
        So many passes over the examples, at least 1.
    batch
        At most so many examples of one space make a step, at least 1.
    average
        Whether the weights are the mean over iterations, weighed by their number.
    seed
        Of the order of examples; a whole number of at least 0.
    """

    C: float = 0.1
    loss: Loss = field(default_factory=Hamming)
    iterations: int = 20
    batch: int = 8
    average: bool = True
    seed: int = 0

    checks: ClassVar = {
        "C": number(above=0),
        "loss": LOSS,
        "iterations": whole(1),
        "batch": whole(1),
        "average": FLAG,
        "seed": whole(0),
    }

    def iterate(
        self, model: Model[Any, Any], prepared: Dataset, state: State | None = None
    ) -> Iterator[State]:
        check_examples(prepared, self.loss)
        if state is None:
            array, mean = np.zeros(prepared.layout.size), np.zeros(prepared.layout.size)
            scale, step = 1.0, 0
        else:
            array, mean = state.memory["array"].copy(), state.memory["mean"].copy()
            scale, step = float(state.memory["scale"][0]), int(state.memory["step"][0])
        view = readonly(array)  # the same memory, for kernels that only read
        for iteration in iterations_left(state, self.iterations):
            slack = 0.0
            batches = mini_batches(prepared, self.batch, self.seed, iteration)
            for batch in batches:
                step += 1
                worst = most_violated_of(model.engine, prepared, view, self.loss, batch, scale)
                positive = np.maximum(worst.slacks, 0.0) * batch.sample_weight
                slack += float(positive.sum())
                if step == 1:
                    array[:] = 0.0
                else:
                    scale *= 1.0 - 1.0 / step
                if scale < SMALLEST:
                    array *= scale
                    scale = 1.0
                steps = np.where(worst.slacks > 0.0, batch.sample_weight, 0.0)
                steps *= self.C * len(batches) / (step * scale)
                columns = batch.columns(worst.labels)
                move_each(
                    array,
                    prepared.vectors,
                    batch.slots,
                    batch.firsts,
                    batch.gold_slots,
                    columns,
                    readonly(steps),
                )
            weights = array * scale
            mean += (weights - mean) * (2.0 / (iteration + 1.0))
            objective = half_norm(weights) + self.C * slack
            memory = {
                "array": array.copy(),
                "mean": mean.copy(),
                "scale": np.array([scale]),
                "step": np.array([step]),
            }
            yield State(
                iteration,
                readonly(memory["mean"] if self.average else weights),
                False,  # there is no stop rule: more iterations can always be asked for
                {"objective": objective, "inferences": len(prepared)},
                memory,
            )
