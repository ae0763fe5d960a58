"""Metrics over sets of labels, given as 0/1 arrays of shape (rows, labels), one row per example.

Two empty sets agree: an example with no label, for which none is predicted, has example F1
and example accuracy 1. If only one of the two sets is empty, both are 0. A label that is never
true and never predicted has F1 0 and counts in the macro average, as every label does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from rote.errors import DataError
from rote.metrics.labels import F1Table, table_of_counts
from rote.types import AnyArray, BoolArray, FloatArray

Sets: TypeAlias = AnyArray | Sequence[Sequence[int]]


class ExampleScores(NamedTuple):
    """One number per example, 1 for a perfect one.

    Parameters
    ----------
    hamming
        The share of labels decided rightly.
    f1
        That of the two sets.
    accuracy
        What the two sets share of what they cover (Jaccard).
    exact
        1 where the two sets are the same, else 0.
    """

    hamming: FloatArray
    f1: FloatArray
    accuracy: FloatArray
    exact: FloatArray


@dataclass(frozen=True)
class MultilabelScores:
    """All the metrics of multi-label classification.

    Parameters
    ----------
    hamming_accuracy, example_f1, example_accuracy, exact_match
        The means of `ExampleScores` over the examples.
    f1
        F1 by label; the names of labels are the numbers of their columns.
    """

    hamming_accuracy: float
    example_f1: float
    example_accuracy: float
    exact_match: float
    f1: F1Table


def example_scores(gold: Sets, predicted: Sets) -> ExampleScores:
    """The scores of each example.

    Parameters
    ----------
    gold, predicted
        0/1 arrays of shape (rows, labels).

    >>> example_scores([[1, 1, 0]], [[1, 0, 0]]).accuracy
    array([0.5])
    """
    g, p = _sets(gold, predicted)
    both = (g & p).sum(axis=1)
    either = (g | p).sum(axis=1)
    empty = either == 0
    # Two empty sets share nothing and cover nothing; here 0/0 is written 1/1.
    shared, covered = np.where(empty, 1, both), np.where(empty, 1, either)
    same = g == p
    return ExampleScores(
        hamming=same.mean(axis=1),
        f1=2 * shared / (shared + covered),
        accuracy=shared / covered,
        exact=same.all(axis=1).astype(np.float64),
    )


def multilabel_scores(gold: Sets, predicted: Sets) -> MultilabelScores:
    """All the metrics of multi-label classification.

    Parameters
    ----------
    gold, predicted
        0/1 arrays of shape (rows, labels).

    >>> scores = multilabel_scores([[1, 1, 0], [0, 0, 0]], [[1, 0, 0], [0, 0, 0]])
    >>> scores.example_accuracy, scores.exact_match
    (0.75, 0.5)
    """
    g, p = _sets(gold, predicted)
    by_example = example_scores(g, p)
    counts = [sets.sum(axis=0).tolist() for sets in (g, p, g & p)]
    return MultilabelScores(
        hamming_accuracy=float(by_example.hamming.mean()),
        example_f1=float(by_example.f1.mean()),
        example_accuracy=float(by_example.accuracy.mean()),
        exact_match=float(by_example.exact.mean()),
        f1=table_of_counts(dict(enumerate(zip(*counts, strict=True)))),
    )


def _sets(gold: Sets, predicted: Sets) -> tuple[BoolArray, BoolArray]:
    g, p = np.asarray(gold), np.asarray(predicted)
    if g.ndim != 2 or g.shape != p.shape or g.size == 0:
        raise DataError(
            "expected two arrays of one shape (rows, labels), with a row and a label at least, "
            f"got {g.shape} gold and {p.shape} predicted"
        )
    for side, array in (("gold", g), ("predicted", p)):
        if not np.isin(array, (0, 1)).all():
            raise DataError(
                f"expected the {side} array to hold 0 and 1 only, got other values; "
                "give one column for each label, 1 where an example has it"
            )
    return g.astype(np.bool_), p.astype(np.bool_)
