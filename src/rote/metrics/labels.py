"""How many labels are right, how many outputs are right as a whole, and F1 by label.

The gold side comes before the predicted one, and both belong together one by one. Precision,
recall and F1 are 0 where they are undefined: precision when nothing is predicted, recall when
nothing is true, F1 when there is neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import Any, TypeAlias, TypeVar

import numpy as np

from rote.errors import DataError
from rote.types import AnyArray, IntArray, is_unknown

Label: TypeAlias = str | int
Labels: TypeAlias = Sequence[Label] | AnyArray
T = TypeVar("T")
IGNORED = -100  # what padded arrays have where there is no label


@dataclass(frozen=True)
class F1:
    """Precision, recall and F1, and what they were made of.

    Parameters
    ----------
    precision, recall, f1
        From 0 to 1; 0 where they are undefined.
    true, predicted, right
        How many things are in the gold outputs, in the predicted ones, and in both.
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
            ratio(right, predicted),
            ratio(right, true),
            ratio(2 * right, true + predicted),
            true,
            predicted,
            right,
        )


@dataclass(frozen=True)
class F1Table:
    """F1 of each label, and of all together.

    Parameters
    ----------
    micro
        From the counts of all labels, added up.
    macro
        The means of precision, recall and F1 over the labels; its counts are those of ``micro``.
    by_label
        F1 of each label that is true or predicted; numbers come before words.
    """

    micro: F1
    macro: F1
    by_label: Mapping[Label, F1]


def right_labels(gold: Sequence[Labels], predicted: Sequence[Labels]) -> IntArray:
    """For each output, how many of its labels are right and how many it has: shape (outputs, 2).

    Parameters
    ----------
    gold, predicted
        For each output its labels, one by one.

    >>> right_labels(["DNV", "DN"], ["DNN", "DN"])
    array([[2, 3],
           [2, 2]])
    """
    outputs = [(_plain(g), _plain(p)) for g, p in paired(gold, predicted, "outputs")]
    counts = [
        [sum(a == b for a, b in paired(g, p, "labels", f"output {number}: ")), len(g)]
        for number, (g, p) in enumerate(outputs)
    ]
    return np.array(counts, dtype=np.int64)


def token_accuracy(gold: Sequence[Labels], predicted: Sequence[Labels]) -> float:
    """The share of labels that are right, over all outputs together; 1 minus the Hamming loss.

    Parameters
    ----------
    gold, predicted
        For each output its labels, one by one.

    >>> token_accuracy(["DNV", "DN"], ["DNN", "DN"])
    0.8
    """
    right, total = right_labels(gold, predicted).sum(axis=0)
    if not total:
        raise DataError("there are no labels to evaluate: every output is empty")
    return float(right / total)


def exact_match(gold: Sequence[Labels], predicted: Sequence[Labels]) -> float:
    """The share of outputs whose labels are all right; an output without variables is right.

    Parameters
    ----------
    gold, predicted
        For each output its labels, one by one.

    >>> exact_match(["DNV", "DN"], ["DNN", "DN"])
    0.5
    """
    right, total = right_labels(gold, predicted).T
    return float(np.mean(right == total))


def label_f1(gold: Labels, predicted: Labels, ignored: Collection[Label] = ()) -> F1Table:
    """F1 over labels that stand side by side.

    Parameters
    ----------
    gold, predicted
        The labels of all outputs, one by one.
    ignored
        Labels that count neither as true nor as predicted: to predict one is to say nothing, and to
        miss it costs nothing.

    >>> label_f1("aab", "acb").micro.f1
    0.6666666666666666
    >>> label_f1("aab", "acb", ignored="b").micro.f1
    0.5
    """
    pairs = paired(_plain(gold), _plain(predicted), "labels")
    other = [label for pair in pairs for label in pair if not isinstance(label, str | int)]
    if other:
        raise DataError(
            f"a label is a text or a number, got {other[0]!r:.80}; give the labels of all outputs "
            "in one sequence"
        )
    return table_of_pairs(pairs, ignored)


def table_of_pairs(
    pairs: Collection[tuple[Label | None, Label | None]], ignored: Collection[Label] = ()
) -> F1Table:
    """F1 of every label that is true or predicted, from pairs; None stands for nothing there."""
    true, predicted = Counter(g for g, _ in pairs), Counter(p for _, p in pairs)
    right = Counter(g for g, p in pairs if g == p)
    # A word is a collection of letters too; as what is ignored, it can only be meant whole.
    out = {None, *([ignored] if isinstance(ignored, str) else ignored)}
    seen = [label for label in {**true, **predicted} if label is not None and label not in out]
    return table_of_counts({label: (true[label], predicted[label], right[label]) for label in seen})


def table_of_counts(counts: Mapping[Label, tuple[int, int, int]]) -> F1Table:
    """F1 from how often each label is true, predicted, and right; numbers come before words."""
    names = sorted(counts, key=lambda label: (isinstance(label, str), label))
    by_label = {label: F1.of(*counts[label]) for label in names}
    micro = F1.of(*(sum(column) for column in zip((0, 0, 0), *counts.values(), strict=True)))
    own = list(by_label.values()) or [micro]
    macro = replace(
        micro,
        precision=fmean(f.precision for f in own),
        recall=fmean(f.recall for f in own),
        f1=fmean(f.f1 for f in own),
    )
    return F1Table(micro, macro, by_label)


def ratio(part: float, whole: float) -> float:
    """A share, 0 where it is undefined."""
    return float(part / whole) if whole else 0.0


def paired(
    gold: Sequence[T], predicted: Sequence[T], things: str, where: str = ""
) -> list[tuple[T, T]]:
    """Each gold thing with its predicted one; one at least, unless ``where`` names their place.

    >>> paired(["a", "b"], ["a", "c"], "labels")
    [('a', 'a'), ('b', 'c')]
    """
    if len(gold) != len(predicted):
        raise DataError(
            f"{where}expected as many predicted {things} as gold ones, got {len(gold)} gold and "
            f"{len(predicted)} predicted; give both in the same order"
        )
    if len(gold) == 0 and not where:
        raise DataError(f"there are no {things} to evaluate; give at least one on each side")
    return list(zip(gold, predicted, strict=True))


def known_only(
    gold: Sequence[Labels], predicted: Sequence[Labels], labels: Sequence[str] = ()
) -> tuple[list[list[Any]], list[list[Any]]]:
    """Both sides without the places whose gold label is unknown: None, "?", -1 or -100.

    Parameters
    ----------
    gold, predicted
        For each output its labels, one by one.
    labels
        Those of the task; a "?" among them is known.

    >>> known_only([["D", None, "V"], ["?"]], [["D", "N", "N"], ["V"]])
    ([['D', 'V'], []], [['D', 'N'], []])
    """
    kept = [
        [
            (one, other)
            for one, other in paired(_plain(g), _plain(p), "labels", f"output {number}: ")
            if not (is_unknown(one, labels) or one == IGNORED)
        ]
        for number, (g, p) in enumerate(paired(gold, predicted, "outputs"))
    ]
    return [[g for g, _ in pairs] for pairs in kept], [[p for _, p in pairs] for pairs in kept]


def _plain(labels: Labels) -> list[Label]:
    """Labels as Python's own values, whether they come in an array or not."""
    if isinstance(labels, Mapping):  # a list of it would be its keys
        raise DataError(
            f"expected a sequence of labels, got the mapping {labels!r:.80}; give sequences of "
            "labels, as in list(y.values())"
        )
    return labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
