"""Multiclass classification: one input, one label.

An input is a feature vector: a mapping from names to values, a sequence of names, an array with
one axis, or one row of a SciPy sparse array. The score of a label is its own weights times the
vector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rote.errors import DataError, LabelError, in_order
from rote.features import Features
from rote.space import SpaceBuilder
from rote.tasks.task import Frame, Slot, Task

INPUT = "input"
ALWAYS = "(always)"


@dataclass(frozen=True)
class Multiclass(Task[Features, str]):
    """With ``constant``, every vector gets one more feature that is always 1: a threshold.

    >>> task = Multiclass(("ham", "spam"))
    >>> task.vectors(["word=free", "word=prize"])
    [['word=free', 'word=prize', '(always)']]
    >>> task.decode([], task.encode([], "spam"))
    'spam'
    """

    labels: tuple[str, ...]
    constant: bool = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", in_order("labels", self.labels))

    def frame(self, x: Features) -> Frame:
        return self._frame

    def vectors(self, x: Features) -> list[Features]:
        return [with_constant(x) if self.constant else x]

    def encode(self, x: Features, y: str) -> list[int]:
        try:
            return [self._positions[y]]
        except (KeyError, TypeError):  # a list cannot even be looked up
            known = ", ".join(self.labels)
            raise LabelError(f"{y!r} is not a label; the labels are {known}") from None

    def decode(self, x: Features, labels: Sequence[int]) -> str:
        return self.labels[labels[0]]

    @cached_property
    def _positions(self) -> Mapping[str, int]:
        return {label: position for position, label in enumerate(self.labels)}

    @cached_property
    def _frame(self) -> Frame:
        builder = SpaceBuilder()
        builder.variable("label", self.labels)
        return Frame(builder.build(), (Slot("label", 0),), (INPUT,))


def with_constant(features: Features) -> Features:
    """The same vector with one more feature that is always 1, the last of an array.

    >>> with_constant(np.array([0.5, 2.0]))
    array([0.5, 2. , 1. ])
    """
    if isinstance(features, np.ndarray):
        return np.append(features, np.ones(1)) if features.ndim == 1 else features
    if hasattr(features, "tocsr"):
        row = features.tocsr()
        if row.ndim == 2 and row.shape[0] != 1:
            return features
        from scipy.sparse import csr_array

        columns = np.append(row.indices, row.shape[-1])
        pointers = np.array([0, len(columns)])
        values = np.append(row.data, 1.0)
        return csr_array((values, columns, pointers), shape=(1, row.shape[-1] + 1))
    if isinstance(features, Mapping):
        return {**features, ALWAYS: 1.0}
    if isinstance(features, Sequence) and not isinstance(features, str):
        return [*features, ALWAYS]
    raise DataError(
        "a feature vector is a mapping, a sequence of names, an array or a sparse row; "
        f"got {features!r}"
    )
