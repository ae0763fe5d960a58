"""Multiclass classification: one input, one label.

An input is a feature vector: a mapping from names to values, a sequence of names, an array with
one axis, or one row of a SciPy sparse array. The score of a label is its own weights times the
vector. In JSON, it is an object of features and their values, a list of names or a list of numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from rote.errors import DataError, LabelError
from rote.features import Features
from rote.io.shapes import check_shape, shown
from rote.settings import FLAG, LIST, Checked
from rote.space import SpaceBuilder
from rote.space.rule_text import Rules, Vocabulary
from rote.tasks.adapter import Adapter, Examples, Measured, register
from rote.tasks.task import Frame, Slot, Task

INPUT = "input"
ALWAYS = "(always)"


@dataclass(frozen=True)
class Multiclass(Checked, Task[Features, str]):
    """With ``constant``, every vector gets one more feature that is always 1: a threshold.

    ``rules`` are a text (`rote.space.rule_text`) about the label, as in "label is not spam", or a
    function that adds rules, given a builder and its variables.

    >>> task = Multiclass(("ham", "spam"))
    >>> task.vectors(["word=free", "word=prize"])
    [['word=free', 'word=prize', '(always)']]
    >>> task.decode([], task.encode([], "spam"))
    'spam'
    """

    labels: tuple[str, ...]
    constant: bool = True
    rules: Rules | None = None

    checks: ClassVar = {"labels": LIST, "constant": FLAG}

    def __post_init__(self) -> None:
        super().__post_init__()
        self._vocabulary.check(self.rules)

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
    if isinstance(x, dict):
        return {name: _number(value) for name, value in x.items()}
    if isinstance(x, list) and all(isinstance(value, str) for value in x):
        return x
    if isinstance(x, list) and not any(isinstance(value, str) for value in x):
        return np.array([_number(value) for value in x])
    raise DataError(
        f'"x" is an object of features and their values, a list of names or a list of numbers; '
        f"got {shown(x)}"
    )


def _number(value: Any) -> float:
    return float(check_shape("the value of a feature", value, float))


def _alike(first: Features, other: Features) -> None:
    """Refuse vectors of one file that are not of one sort."""
    arrays = [isinstance(x, np.ndarray) for x in (first, other)]
    if arrays[0] != arrays[1]:
        raise DataError('"x" is a list of numbers in some lines and has names in others')
    if all(arrays) and len(first) != len(other):
        raise DataError(f'"x" has {len(first)} numbers in the first line, got {len(other)}')


def _build(examples: Examples, settings: Mapping[str, Any]) -> Multiclass:
    return Multiclass(tuple(sorted(set(examples.ys or ()))), rules=settings.get("rules"))


def _measure(_task: Multiclass, gold: Sequence[str], found: Sequence[str]) -> Measured:
    from rote.metrics.labels import label_f1

    labels = label_f1(gold, found)
    # Every example has one label and gets one, so micro F1 is the share that is right.
    return {"accuracy": labels.micro.f1, "macro F1": labels.macro.f1}, {"labels": labels}


ADAPTER: Adapter[Any] = Adapter(
    "multiclass",
    Multiclass,
    from_json=_features,
    output_from_json=lambda _, value: check_shape('"y"', value, str),
    to_json=lambda _task, _x, y: y,
    alike=_alike,
    build=_build,
    typed=lambda _, text: text.split(),
    hint=lambda _: "Names of features with blanks between them, or their values as JSON.",
    example=lambda _: '{"red": 1, "small": 0.5}',
    measure=_measure,
)
register(ADAPTER)
