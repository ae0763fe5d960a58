"""How sure a mean over trials is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from rote.errors import DataError
from rote.settings import check, number
from rote.types import AnyArray


@dataclass(frozen=True)
class Interval:
    """A mean over trials, and the interval around it."""

    mean: float
    low: float
    high: float
    trials: int


def mean_interval(values: AnyArray | Sequence[float], confidence: float = 0.95) -> Interval:
    """The mean over trials and its interval by Student's t; two trials at least.

    >>> mean_interval([1.0, 2.0, 3.0])
    Interval(mean=2.0, low=-0.484..., high=4.484..., trials=3)
    """
    from scipy.special import stdtrit

    array = np.asarray(values, dtype=np.float64)
    check("confidence", confidence, number(above=0, below=1))
    if array.ndim != 1 or len(array) < 2 or not np.isfinite(array).all():
        raise DataError(
            "an interval needs the finite results of two trials at least, in one row, got the "
            f"shape {array.shape}; run more trials"
        )
    mean = float(array.mean())
    half = float(stdtrit(len(array) - 1, (1 + confidence) / 2) * array.std(ddof=1))
    half /= sqrt(len(array))
    return Interval(mean, mean - half, mean + half, len(array))
