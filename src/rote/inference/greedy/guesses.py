"""Outputs to start from: those of a classifier that decides every variable by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from rote.errors import SettingError
from rote.inference.base import Objective
from rote.kernels.chains import best_labels
from rote.space.space import Space
from rote.types import FloatArray, IntArray, frozen


class Guesses(Protocol):
    """Says an output for every input of a batch; it need not obey the rules."""

    def guess(self, space: Space, objective: Objective) -> IntArray:
        """Labels of shape (m, variables)."""
        ...


@dataclass(frozen=True, eq=False)
class IID:
    """argmax_a w^a · φ(x, j) for every variable j; `fit_iid` of `rote.learning` finds the weights.

    The weights are laid out as those of a model are; what they say of factors is not looked at.
    """

    weights: FloatArray

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen(self.weights))

    def guess(self, space: Space, objective: Objective) -> IntArray:
        if objective.inputs is None:
            raise SettingError(
                "a classifier looks at feature vectors, and the objective has none; ask through a "
                "model, or give Objective(..., inputs=...)"
            )
        scores = objective.inputs.label_scores(self.weights, len(space.variables))
        return likely_labels(space, Objective(scores, objective.allowed))


def likely_labels(space: Space, objective: Objective) -> IntArray:
    """The best label of every variable by itself, of those it may have; -1 where it has none."""
    scores, closed, allowed = objective.scores, objective.closed, space.network.allowed
    return frozen(best_labels(scores, closed, objective.ties, space.offsets, allowed))
