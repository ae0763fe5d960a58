"""Binary variables that look at points: tasks for data made from numbers alone.

An output is a 0 or 1 per variable, and each variable has weights of its own. In `BinaryPoints` they
look at a point each, to which a constant 1 is appended, whose weights are the threshold; the rule
is a list of allowed outputs. In `BinaryVector` all look at the same vector; rules are linear.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rote import (
    DataError,
    Frame,
    LabelError,
    Slot,
    Space,
    SpaceBuilder,
    Task,
    count,
    one_of,
    register,
)
from rote.types import AnyArray, FloatArray

POINT = "point"
LABELS = ("0", "1")

Outputs = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class BinaryPoints(Task[AnyArray, Sequence[int]]):
    """Outputs are those in ``feasible``; None allows all of them.

    An input is an array of shape (variables, coordinates).

    >>> from papers.data.synthetic import binary_constrained
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
        return _binary(y, self.variables)

    def decode(self, x: AnyArray, labels: Sequence[int]) -> tuple[int, ...]:
        return tuple(labels)


@lru_cache(maxsize=64)
def _frame(variables: int, feasible: Outputs | None) -> Frame:
    slots = tuple(Slot(f"variable {i}", i) for i in range(variables))
    return Frame(_space(variables, feasible), slots, (POINT,) * variables)


@lru_cache(maxsize=64)
def _space(variables: int, feasible: Outputs | None) -> Space:
    builder = SpaceBuilder()
    chosen = [builder.variable(str(i), LABELS) for i in range(variables)]
    if feasible is not None:
        tuples = [[LABELS[label] for label in output] for output in feasible]
        builder.require(one_of(chosen, tuples), "the output is feasible")
    return builder.build()


Linear = tuple[tuple[tuple[int, ...], int], ...]


@dataclass(frozen=True)
class BinaryVector(Task[AnyArray, Sequence[int]]):
    """Binary variables that all look at one vector, under linear ``rules``.

    A rule is its coefficients, one per variable, and the most that they may add up to over the
    variables that are 1.

    >>> task = BinaryVector(3, (((1, 1, -1), 1),))
    >>> task.frame(np.zeros(4)).space
    Space(3 variables, 0 factors, 1 rules, 6 parts)
    """

    variables: int
    rules: Linear = ()

    @classmethod
    def of(cls, coefficients: AnyArray, upper: AnyArray) -> BinaryVector:
        """The task with the rules coefficients @ y <= upper."""
        pairs = zip(coefficients.tolist(), upper.tolist(), strict=True)
        return cls(coefficients.shape[1], tuple((tuple(row), most) for row, most in pairs))

    def frame(self, x: AnyArray) -> Frame:
        return _ruled_frame(self.variables, self.rules)

    def vectors(self, x: AnyArray) -> list[FloatArray]:
        if np.ndim(x) != 1:
            raise DataError(f"an input is one vector; got the shape {np.shape(x)}")
        return [np.asarray(x, dtype=np.float64)]

    def encode(self, x: AnyArray, y: Sequence[int]) -> list[int]:
        return _binary(y, self.variables)

    def decode(self, x: AnyArray, labels: Sequence[int]) -> tuple[int, ...]:
        return tuple(labels)


@lru_cache(maxsize=64)
def _ruled_frame(variables: int, rules: Linear) -> Frame:
    builder = SpaceBuilder()
    chosen = [builder.variable(str(i), LABELS) for i in range(variables)]
    for number, (coefficients, most) in enumerate(rules):
        terms = (c * y["1"] for c, y in zip(coefficients, chosen, strict=True))
        builder.require(sum(terms, start=count()) <= most, f"rule {number}")
    slots = tuple(Slot(f"variable {i}", 0) for i in range(variables))
    return Frame(builder.build(), slots, (POINT,))


def _binary(y: Sequence[int], variables: int) -> list[int]:
    labels = [int(label) for label in y]
    if len(labels) != variables or not set(labels) <= {0, 1}:
        raise LabelError(f"an output is {variables} labels, each 0 or 1; got {labels}")
    return labels


register(BinaryPoints)
register(BinaryVector)
