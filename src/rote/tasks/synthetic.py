"""Binary variables that each look at a point of their own, under a list of allowed outputs.

An input is an array of shape (variables, coordinates); an output is a 0 or 1 per variable. Each
variable has its own block, so its weights are a linear function of its own point. A constant 1
is appended to every point: its weights are the threshold.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rote.errors import DataError, LabelError
from rote.space import Space, SpaceBuilder, one_of
from rote.tasks.base import Frame, Slot
from rote.types import AnyArray, FloatArray

POINT = "point"
LABELS = ("0", "1")

Outputs = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class BinaryPoints:
    """Outputs are those in ``feasible``; None allows all of them.

    >>> from rote.data.synthetic import binary_constrained
    >>> data = binary_constrained(20, kappa=0.1, seed=0)
    >>> task = BinaryPoints.of(data.feasible)
    >>> task.frame(data.train.points[0]).space
    Space(5 variables, 0 factors, 1 rules, 10 parts)
    """

    variables: int
    feasible: Outputs | None = None

    @classmethod
    def of(cls, feasible: AnyArray) -> BinaryPoints:
        """The task whose outputs are the rows of an array."""
        return cls(feasible.shape[1], tuple(map(tuple, feasible.tolist())))

    def frame(self, x: AnyArray) -> Frame:
        return _frame(self.variables, self.feasible)

    def vectors(self, x: AnyArray) -> list[FloatArray]:
        if np.ndim(x) != 2 or len(x) != self.variables:
            raise DataError(
                f"an input has one point per variable, {self.variables} rows in all; got the "
                f"shape {np.shape(x)}"
            )
        return list(np.column_stack([x, np.ones(len(x))]))

    def encode(self, x: AnyArray, y: Sequence[int]) -> list[int]:
        labels = [int(label) for label in y]
        if len(labels) != self.variables or not set(labels) <= {0, 1}:
            raise LabelError(f"an output is {self.variables} labels, each 0 or 1; got {labels}")
        return labels

    def decode(self, x: AnyArray, labels: Sequence[int]) -> tuple[int, ...]:
        return tuple(labels)


@lru_cache(maxsize=256)
def _frame(variables: int, feasible: Outputs | None) -> Frame:
    slots = tuple(Slot(f"variable {i}", i) for i in range(variables))
    return Frame(_space(variables, feasible), slots, (POINT,) * variables)


@lru_cache(maxsize=256)
def _space(variables: int, feasible: Outputs | None) -> Space:
    builder = SpaceBuilder()
    chosen = [builder.variable(str(i), LABELS) for i in range(variables)]
    if feasible is not None:
        tuples = [[LABELS[label] for label in output] for output in feasible]
        builder.require(one_of(chosen, tuples), "the output is feasible")
    return builder.build()
