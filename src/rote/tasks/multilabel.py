"""Multi-label classification: any number of labels for one input.

An input is one feature vector, as in `rote.tasks.multiclass`. Each label is a variable, "off" or
"on", with weights of its own over that vector. A pair of labels may have a factor, whose four
weights say how the two go together, whatever the input. An output is the tuple of the labels that
are on, in the order of the task.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise, product
from typing import Any, Literal, TypeAlias

import numpy as np

from rote.errors import DataError, LabelError, SettingError
from rote.features import Features
from rote.io.shapes import shown
from rote.settings import check, whole
from rote.space import SpaceBuilder
from rote.space.rule_text import OFF_ON, Rules, Variables, Vocabulary
from rote.tasks.adapter import Examples, Measured, label_list, labels_in, register
from rote.tasks.multiclass import ADAPTER, INPUT, VectorTask
from rote.tasks.task import Frame, Slot, positions
from rote.types import AnyArray, FloatArray

MANY_LABELS = 15  # of a file: more have no factors between them, unless they are asked for
Pairs: TypeAlias = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class MultiLabel(VectorTask[tuple[str, ...]]):
    """Any number of labels for each input, which is a feature vector.

    Parameters
    ----------
    labels
        The labels, in an order that counts.
    pairs
        Which of them have a factor: "complete", "none", or pairs of positions.
    constant
        Whether every vector gets one more feature that is always 1: a threshold.
    rules
        A text (`rote.space.rule_text`) about labels by their names, as in "if beach then not city",
        or a function that adds rules, given a builder and its variables.

    Examples
    --------
    >>> task = MultiLabel(("beach", "sea", "city"), pairs=((0, 1),))
    >>> task.frame([]).space
    Space(3 variables, 1 factors, 0 rules, 10 parts)
    >>> task.decode([], task.encode([], {"sea", "beach"}))
    ('beach', 'sea')
    """

    labels: tuple[str, ...]
    pairs: Literal["complete", "none"] | Pairs = "complete"
    constant: bool = True
    rules: Rules | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.pairs, str):
            object.__setattr__(self, "pairs", _checked(self.pairs, len(self.labels)))
        elif self.pairs not in ("complete", "none"):
            raise SettingError(
                f"pairs is 'complete', 'none' or a tuple of pairs of positions, got {self.pairs!r}"
            )

    def encode(self, x: Features, y: Collection[str] | AnyArray) -> list[int]:
        """From names, or from an array of 0 and 1 with one entry for each label."""
        if isinstance(y, np.ndarray):
            if y.shape != (len(self.labels),) or not np.isin(y, (0, 1)).all():
                raise LabelError(
                    f"an output that is an array has {len(self.labels)} entries, 0 or 1; "
                    f"got the shape {y.shape}, with values from {y.min(initial=0)} to "
                    f"{y.max(initial=0)}"
                )
            return [int(on) for on in y]
        if isinstance(y, str):
            raise LabelError(f"an output is a tuple of labels, got the string {y!r}")
        on = set(positions(self.labels, list(y)))
        return [int(k in on) for k in range(len(self.labels))]

    def decode(self, x: Features, labels: Sequence[int]) -> tuple[str, ...]:
        return tuple(name for name, on in zip(self.labels, labels, strict=True) if on)

    @property
    def _vocabulary(self) -> Vocabulary:
        return Vocabulary({"label": (1, OFF_ON), **dict.fromkeys(self.labels, (0, OFF_ON))})

    @cached_property
    def _frame(self) -> Frame:
        builder = SpaceBuilder()
        variables = [builder.variable(label, OFF_ON) for label in self.labels]
        slots = [Slot(f"label {label!r}", 0) for label in self.labels]
        if isinstance(self.pairs, str):
            every = combinations(range(len(self.labels)), 2)
            pairs = tuple(every) if self.pairs == "complete" else ()
        else:
            pairs = self.pairs
        for i, j in pairs:
            builder.factor(variables[i], variables[j])
            slots.append(Slot(f"labels {self.labels[i]!r}, {self.labels[j]!r}"))
        places: Variables = {
            "label": {(k,): variable for k, variable in enumerate(variables)},
            **{variable.name: {(): variable} for variable in variables},
        }
        self._vocabulary.require(builder, self.rules, variables, places)
        return Frame(builder.build(), tuple(slots), (INPUT,))


def correlated_pairs(Y: AnyArray, most: int) -> Pairs:  # noqa: N803
    """The pairs of labels that are least independent, for `MultiLabel`.

    They are ordered by falling mutual information, Σ p(a, b) log p(a, b) / (p(a) p(b)). Pairs
    that have none are left out.

    Parameters
    ----------
    Y
        A matrix of 0 and 1, with a row for each example and a column for each label.
    most
        How many pairs there are at most.

    Examples
    --------
    >>> correlated_pairs(np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 1]]), most=2)
    ((0, 1),)
    """
    check("most", most, whole(0))
    table = np.asarray(Y)
    if table.ndim != 2 or not len(table) or not np.isin(table, (0, 1)).all():
        raise DataError(
            "expected a matrix of 0 and 1 with one row per example and one column per label, "
            f"got the shape {table.shape}"
        )
    information = _mutual_information(table.astype(np.float64))
    first, second = np.triu_indices(table.shape[1], k=1)
    shared = information[first, second]
    # Rounding to well below what matters makes equal pairs equal, and their order that of labels.
    order = np.argsort(-np.round(shared, 12), kind="stable")[:most]
    chosen = order[shared[order] > 1e-12]
    return tuple(zip(first[chosen].tolist(), second[chosen].tolist(), strict=True))


def _mutual_information(on: FloatArray) -> FloatArray:
    information = np.zeros((on.shape[1],) * 2)
    for one, other in product((on, 1 - on), repeat=2):
        joint = one.T @ other / len(on)
        apart = np.outer(one.mean(axis=0), other.mean(axis=0))
        there = joint > 0
        information[there] += joint[there] * np.log(joint[there] / apart[there])
    return information


def _checked(pairs: Sequence[Sequence[int]], count: int) -> Pairs:
    """The pairs in order, the smaller position first."""
    ordered = sorted(tuple(sorted(map(int, pair))) for pair in pairs)
    for pair in ordered:
        if len(pair) != 2 or not 0 <= pair[0] < pair[1] < count:
            raise SettingError(
                f"a pair is two different positions from 0 to {count - 1}, got {pair}"
            )
    for pair, following in pairwise(ordered):
        if pair == following:
            raise SettingError(f"the pair {pair} is given twice; name each pair once")
    return tuple((pair[0], pair[1]) for pair in ordered)


def _label_set(x: Features, value: Any) -> tuple[str, ...]:
    labels = label_list(x, value)
    if len(set(labels)) < len(labels):
        raise DataError(f'"y" names each label once, got {shown(value)}')
    return labels


def _build(examples: Examples, settings: Mapping[str, Any]) -> MultiLabel:
    labels = labels_in(examples.ys)
    pairs = settings.get("pairs", "none" if len(labels) > MANY_LABELS else "complete")
    return MultiLabel(labels, pairs, rules=settings.get("rules"))


def _measure(task: MultiLabel, gold: Sequence[Any], found: Sequence[Any]) -> Measured:
    from rote.metrics.labels import F1, F1Table, Label
    from rote.metrics.multilabel import multilabel_scores

    unknown = {label for y in gold for label in y}.difference(task.labels)
    labels = (*task.labels, *sorted(unknown))
    true, said = [[[label in y for label in labels] for y in side] for side in (gold, found)]
    scores = multilabel_scores(true, said)
    by_label: dict[Label, F1] = {labels[int(k)]: f1 for k, f1 in scores.f1.by_label.items()}
    return {
        "hamming accuracy": scores.hamming_accuracy,
        "example F1": scores.example_f1,
        "example accuracy": scores.example_accuracy,
        "exact match": scores.exact_match,
        "micro F1": scores.f1.micro.f1,
        "macro F1": scores.f1.macro.f1,
    }, {"labels": F1Table(scores.f1.micro, scores.f1.macro, by_label)}


register(
    replace(
        ADAPTER,  # the inputs are the same
        name="multilabel",
        task=MultiLabel,
        output_from_json=_label_set,
        to_json=lambda _task, _x, y: list(y),
        settings=("pairs",),
        build=_build,
        measure=_measure,
    )
)
