"""How many labels are right, how many outputs are right as a whole, and F1 by label.

Precision, recall and F1 are 0 where they are undefined: precision when nothing is
predicted, recall when nothing is true, F1 when there is neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

import numpy as np

from rote.errors import DataError, LabelError
from rote.metrics.pairing import Label, Labels, counted_labels, paired_outputs
from rote.types import IntArray, frozen


@dataclass(frozen=True)
class F1:
    """Precision, recall and F1, and what they were made of.

    ``true`` things are in the gold outputs, ``predicted`` ones in the predicted outputs,
    and ``right`` ones in both.
    """

    precision: float
    recall: float
    f1: float
    true: int
    predicted: int
    right: int

    @classmethod
    def of(cls, true: int, predicted: int, right: int) -> F1:
        """From counts.

        >>> F1.of(true=4, predicted=2, right=1)
        F1(precision=0.5, recall=0.25, f1=0.3333333333333333, true=4, predicted=2, right=1)
        """
        return cls(
            precision=ratio(right, predicted),
            recall=ratio(right, true),
            f1=ratio(2 * right, true + predicted),
            true=int(true),
            predicted=int(predicted),
            right=int(right),
        )


@dataclass(frozen=True)
class F1Table:
    """F1 of each label; ``micro`` adds up the counts of all, ``macro`` averages the ratios of all.

    The counts of ``macro`` are those of ``micro``.
    """

    micro: F1
    macro: F1
    by_label: Mapping[Label, F1]


class Confusion(NamedTuple):
    """``counts[i, j]``: how often ``labels[j]`` was predicted where ``labels[i]`` is true."""

    labels: tuple[Label, ...]
    counts: IntArray


def ratio(part: float, whole: float) -> float:
    """A share, 0 where it is undefined."""
    return float(part / whole) if whole else 0.0


def right_labels(gold: Sequence[Labels], predicted: Sequence[Labels]) -> IntArray:
    """For each output, how many of its labels are right and how many it has: shape (outputs, 2).

    >>> right_labels(["DNV", "DN"], ["DNN", "DN"])
    array([[2, 3],
           [2, 2]])
    """
    counts = [
        (sum(a == b for a, b in zip(g, p, strict=True)), len(g))
        for g, p in paired_outputs(gold, predicted)
    ]
    return np.array(counts, dtype=np.int64)


def token_accuracy(gold: Sequence[Labels], predicted: Sequence[Labels]) -> float:
    """The share of labels that are right, over all outputs together; 1 minus the Hamming loss.

    >>> token_accuracy(["DNV", "DN"], ["DNN", "DN"])
    0.8
    """
    right, total = right_labels(gold, predicted).sum(axis=0)
    if not total:
        raise DataError("there are no labels to evaluate: every output is empty")
    return float(right / total)


def exact_match(gold: Sequence[Labels], predicted: Sequence[Labels]) -> float:
    """The share of outputs whose labels are all right; an output without variables is right.

    >>> exact_match(["DNV", "DN"], ["DNN", "DN"])
    0.5
    """
    right, total = right_labels(gold, predicted).T
    return float(np.mean(right == total))


def label_f1(gold: Labels, predicted: Labels, ignored: Collection[Label] = ()) -> F1Table:
    """F1 over labels that stand side by side.

    A label that is ignored counts neither as true nor as predicted: to predict it is to
    say nothing, and to miss it costs nothing.

    >>> label_f1("aab", "acb").micro.f1
    0.6666666666666666
    >>> label_f1("aab", "acb", ignored="b").micro.f1
    0.5
    """
    return table_of_labels(counted_labels(gold, predicted), ignored)


def table_of_labels(
    counted: Counter[tuple[Label, Label]], ignored: Collection[Label] = ()
) -> F1Table:
    """The same, from counts of pairs of a gold label and a predicted one; there may be none."""
    true: Counter[Label] = Counter()
    predicted: Counter[Label] = Counter()
    right: Counter[Label] = Counter()
    for (g, p), times in counted.items():
        true[g] += times
        predicted[p] += times
        right[g] += times * (g == p)
    # A word is a collection of letters too; as what is ignored, it can only be meant whole.
    for label in (ignored,) if isinstance(ignored, str) else ignored:
        del true[label], predicted[label], right[label]
    return table_of_counts(true, predicted, right)


def table_of_counts(
    true: Mapping[Label, int], predicted: Mapping[Label, int], right: Mapping[Label, int]
) -> F1Table:
    """F1 of every label that is true or predicted somewhere, in the labels' order."""
    by_label = {
        label: F1.of(true.get(label, 0), predicted.get(label, 0), right.get(label, 0))
        for label in in_order({*true, *predicted})
    }
    own = list(by_label.values())
    micro = F1.of(
        sum(f.true for f in own), sum(f.predicted for f in own), sum(f.right for f in own)
    )
    macro = F1(
        precision=fmean(f.precision for f in own) if own else 0.0,
        recall=fmean(f.recall for f in own) if own else 0.0,
        f1=fmean(f.f1 for f in own) if own else 0.0,
        true=micro.true,
        predicted=micro.predicted,
        right=micro.right,
    )
    return F1Table(micro, macro, by_label)


def confusion(gold: Labels, predicted: Labels, labels: Sequence[Label] | None = None) -> Confusion:
    """How often each label was predicted for each; by default of all labels that occur, sorted.

    >>> confusion("aab", "abb").counts
    array([[1, 1],
           [0, 1]])
    """
    counted = counted_labels(gold, predicted)
    seen = {label for pair in counted for label in pair}
    names = tuple(in_order(seen) if labels is None else labels)
    unknown = in_order(seen.difference(names))
    if unknown:
        raise LabelError(
            f"label {unknown[0]!r} is not one of {', '.join(map(str, names))}; add it to labels"
        )
    place = {name: i for i, name in enumerate(names)}
    counts = np.zeros((len(names), len(names)), dtype=np.int64)
    for (g, p), times in counted.items():
        counts[place[g], place[p]] = times
    return Confusion(names, frozen(counts))


def in_order(labels: Iterable[Label]) -> list[Label]:
    """Labels sorted, numbers before words."""
    return sorted(labels, key=lambda label: (isinstance(label, str), label))
