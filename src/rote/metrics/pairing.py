"""What is gold and what is predicted belong together one by one; a metric asks for that first.

Every function of this room takes the gold side before the predicted one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TypeAlias, TypeVar

import numpy as np

from rote.errors import DataError
from rote.types import AnyArray

Label: TypeAlias = str | int
Labels: TypeAlias = Sequence[Label] | AnyArray
T = TypeVar("T")


def paired(gold: Sequence[T], predicted: Sequence[T], things: str) -> list[tuple[T, T]]:
    """Each gold thing with its predicted one; there must be one at least.

    >>> paired(["a", "b"], ["a", "c"], "labels")
    [('a', 'a'), ('b', 'c')]
    """
    if len(gold) != len(predicted):
        raise DataError(
            f"expected as many predicted {things} as gold ones, got {len(gold)} gold and "
            f"{len(predicted)} predicted; give both in the same order"
        )
    if len(gold) == 0:
        raise DataError(f"there are no {things} to evaluate; give at least one on each side")
    return list(zip(gold, predicted, strict=True))


def paired_outputs(
    gold: Sequence[Labels], predicted: Sequence[Labels]
) -> list[tuple[list[Label], list[Label]]]:
    """Each gold output with its predicted one, both with the same number of labels."""
    pairs = [(plain(g), plain(p)) for g, p in paired(gold, predicted, "outputs")]
    for number, (g, p) in enumerate(pairs):
        if len(g) != len(p):
            raise DataError(
                f"output {number}: expected as many predicted labels as gold ones, got {len(g)} "
                f"gold and {len(p)} predicted; an output has one label for every variable"
            )
    return pairs


def counted_labels(gold: Labels, predicted: Labels) -> Counter[tuple[Label, Label]]:
    """How often each gold label stands beside each predicted one."""
    pairs = paired(plain(gold), plain(predicted), "labels")
    try:
        return Counter(pairs)
    except TypeError:  # what cannot be a key
        other = next(a for pair in pairs for a in pair if not isinstance(a, str | int))
        raise DataError(
            f"a label is a text or a number, got {other!r:.80}; give the labels of all outputs in "
            "one sequence"
        ) from None


def plain(labels: Labels) -> list[Label]:
    """Labels as Python's own values, whether they come in an array or not."""
    if isinstance(labels, Mapping):  # a list of it would be its keys
        raise DataError(
            f"expected a sequence of labels, got the mapping {labels!r:.80}; give sequences of "
            "labels, as in list(y.values())"
        )
    return labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
