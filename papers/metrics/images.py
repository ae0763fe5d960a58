"""Pixel accuracy of labelled superpixels.

A superpixel is labelled as a whole, while its pixels may be of several classes, so that
accuracy is counted from the pixels of each class in each superpixel. Void pixels, whose class
nobody said, are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rote import DataError
from rote.types import AnyArray, BoolArray


@dataclass(frozen=True)
class PixelAccuracy:
    """The share of pixels that are right: of all (``overall``), and of each class.

    ``class_average`` is the mean over the classes that have pixels; a class that has none
    is None in ``by_class``, and so is void.
    """

    overall: float
    class_average: float
    by_class: tuple[float | None, ...]


def pixel_accuracy(
    pixel_counts: AnyArray, predicted: AnyArray | Sequence[int], void: int | None = None
) -> PixelAccuracy:
    """Accuracy of one label per superpixel, over the superpixels of all images together.

    ``pixel_counts`` has the shape (superpixels, classes); ``void`` is the column that holds
    void pixels, if one does, and -1 is the last.

    >>> pixel_accuracy([[6, 2, 9], [0, 2, 0]], [0, 1], void=-1)
    PixelAccuracy(overall=0.8, class_average=0.75, by_class=(1.0, 0.5, None))
    """
    counts, labels = np.asarray(pixel_counts), np.asarray(predicted)
    classes = _classes(counts, void)
    _check(counts, labels, classes)
    total = counts.sum(axis=0, dtype=np.int64)
    # Counts may be kept in few bits; bincount would add them up as floats.
    right = np.zeros(len(classes), dtype=np.int64)
    np.add.at(right, labels, counts[np.arange(len(labels)), labels].astype(np.int64))
    seen = classes & (total > 0)
    if not seen.any():
        raise DataError("there are no pixels to evaluate: all of them are void")
    share = right[seen] / total[seen]
    found = iter(share.tolist())
    return PixelAccuracy(
        overall=float(right[seen].sum() / total[seen].sum()),
        class_average=float(share.mean()),
        by_class=tuple(next(found) if there else None for there in seen),
    )


def _classes(counts: AnyArray, void: int | None) -> BoolArray:
    """Which columns are classes."""
    if counts.ndim != 2 or counts.size == 0:
        raise DataError(
            "expected pixel counts of the shape (superpixels, classes), with one of each at "
            f"least, got the shape {counts.shape}"
        )
    classes = np.ones(counts.shape[1], dtype=np.bool_)
    if void is not None:
        if not -len(classes) <= void < len(classes):
            raise DataError(f"void is a column of the {len(classes)} pixel counts, got {void}")
        classes[void] = False
    return classes


def _check(counts: AnyArray, labels: AnyArray, classes: BoolArray) -> None:
    if not np.issubdtype(counts.dtype, np.integer) or counts.min() < 0:
        raise DataError("expected pixel counts that are whole numbers, 0 or more")
    if labels.shape != counts.shape[:1] or not np.issubdtype(labels.dtype, np.integer):
        raise DataError(
            f"expected one class number for each of {len(counts)} superpixels, got the shape "
            f"{labels.shape} of {labels.dtype}"
        )
    inside = (labels >= 0) & (labels < len(classes))
    if not inside.all() or not classes[labels].all():
        stray = labels[~inside] if not inside.all() else labels[~classes[labels]]
        raise DataError(
            f"expected class numbers from 0 to {len(classes) - 1}, void left out, got {stray[0]}"
        )
