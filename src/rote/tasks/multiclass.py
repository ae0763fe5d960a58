"""Multiclass classification: one input, one label.

An input is a feature vector: a mapping from names to values, a sequence of names, an array with
one axis, or one row of a SciPy sparse array. The score of a label is its own weights times the
vector. In JSON, it is an object of features and their values, a list of names or a list of numbers.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np

from rote.errors import DataError
from rote.features import Features
from rote.io.shapes import check_shape, shown
from rote.settings import FLAG, LIST, Checked
from rote.space import SpaceBuilder
from rote.space.rule_text import Rules, Vocabulary
from rote.tasks.adapter import Adapter, Measured, labels_in, register
from rote.tasks.task import Frame, Slot, Task, positions

INPUT = "input"
ALWAYS = "(always)"
Y = TypeVar("Y")


class VectorTask(Checked, Task[Features, Y]):
    """A task whose input is one feature vector; all inputs have one frame."""

    labels: tuple[str, ...]
    constant: bool
    rules: Rules | None

    checks: ClassVar = {"labels": LIST, "constant": FLAG}

    def __post_init__(self) -> None:
        super().__post_init__()
        self._vocabulary.check(self.rules)

    def frame(self, x: Features) -> Frame:
        return self._frame

    def vectors(self, x: Features) -> list[Features]:
        return [with_constant(x) if self.constant else x]

    @property
    @abstractmethod
    def _vocabulary(self) -> Vocabulary: ...

    @cached_property
    @abstractmethod
    def _frame(self) -> Frame: ...


@dataclass(frozen=True)
class Multiclass(VectorTask[str]):
    """One label for each input, which is a feature vector.

    Parameters
    ----------
    labels
        The labels, in an order that counts.
    constant
        Whether every vector gets one more feature that is always 1: a threshold.
    rules
        A text (`rote.space.rule_text`) about the label, as in "label is not spam", or a function
        that adds rules, given a builder and its variables.

    Examples
    --------
    >>> task = Multiclass(("ham", "spam"))
    >>> task.vectors(["word=free", "word=prize"])
    [['word=free', 'word=prize', '(always)']]
    >>> task.decode([], task.encode([], "spam"))
    'spam'
    """

    labels: tuple[str, ...]
    constant: bool = True
    rules: Rules | None = None

    def encode(self, x: Features, y: str) -> list[int]:
        return positions(self.labels, [y], unknown=True)

    def decode(self, x: Features, labels: Sequence[int]) -> str:
        return self.labels[labels[0]]

    @property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary({"label": (0, self.labels)})

    @cached_property
    def _frame(self) -> Frame:
        builder = SpaceBuilder()
        label = builder.variable("label", self.labels)
        self._vocabulary.require(builder, self.rules, [label], {"label": {(): label}})
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


def _features(_task: Any, x: Any) -> Features:
    """The feature vector that JSON has as an object, a list of names or a list of numbers."""
    if isinstance(x, list) and all(isinstance(value, str) for value in x):
        return x
    what = "the value of a feature"
    if isinstance(x, dict):
        return {name: float(check_shape(what, value, float)) for name, value in x.items()}
    if isinstance(x, list) and not any(isinstance(value, str) for value in x):
        return np.array([float(check_shape(what, value, float)) for value in x])
    raise DataError(
        f'"x" is an object of features and their values, a list of names or a list of numbers; '
        f"got {shown(x)}"
    )


def _shape(x: Features) -> dict[str, str]:
    return {'"x"': f"{len(x)} numbers" if isinstance(x, np.ndarray) else "names"}


def _measure(task: Multiclass, gold: Sequence[str], found: Sequence[str]) -> Measured:
    from rote.metrics.labels import known_only, label_f1

    (gold,), (found,) = known_only([gold], [found], task.labels)
    labels = label_f1(gold, found)
    # Every example has one label and gets one, so micro F1 is the share that is right.
    return {"accuracy": labels.micro.f1, "macro F1": labels.macro.f1}, {"labels": labels}


ADAPTER: Adapter[Any] = Adapter(
    "multiclass",
    Multiclass,
    from_json=_features,
    output_from_json=lambda _, value: check_shape('"y"', value, str),
    to_json=lambda _task, _x, y: y,
    shape=_shape,
    build=lambda examples, settings: Multiclass(labels_in([examples.ys or ()]), **settings),
    typed=lambda _, text: text.split(),
    hint=lambda _: "Names of features with blanks between them, or their values as JSON.",
    example=lambda _: '{"red": 1, "small": 0.5}',
    measure=_measure,
)
register(ADAPTER)
