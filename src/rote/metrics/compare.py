"""Whether two systems differ by more than luck, and how sure a mean over trials is.

Two systems answer the same n examples. What is known of each answer is a number, whose mean
is compared, or a row of numbers, such as the counts behind an F1: then the rows are added up
over the examples and a ``statistic`` turns sums of shape (r, columns) into r values. Examples
are drawn or swapped whole, so that the two answers to one example stay together.

Every test is two-sided, and the observed data count as one of the resamples: a p-value is never
0. The same seed gives the same answer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import TypeAlias

import numpy as np

from rote.errors import DataError, SettingError
from rote.types import AnyArray, FloatArray

Statistic: TypeAlias = Callable[[FloatArray], FloatArray]

DRAWS = 1 << 21  # how many examples are drawn at a time: what is in memory, not what comes out
TIE = 1e-12  # sums of the same numbers in another order differ by less, relative to their size


@dataclass(frozen=True)
class Comparison:
    """What two systems reach, the second minus the first, and how often luck alone does as much."""

    first: float
    second: float
    difference: float
    p_value: float


@dataclass(frozen=True)
class BootstrapComparison(Comparison):
    """A comparison with the interval, from ``low`` to ``high``, of the difference."""

    low: float
    high: float


@dataclass(frozen=True)
class Interval:
    """A mean over trials, and the interval around it."""

    mean: float
    low: float
    high: float
    trials: int


def paired_bootstrap(
    first: AnyArray | Sequence[float],
    second: AnyArray | Sequence[float],
    *,
    statistic: Statistic | None = None,
    resamples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> BootstrapComparison:
    """Draw the examples anew, with repeats, and see how the difference varies.

    The interval holds the middle of the differences found. The p-value is the share of
    resamples whose difference is as far from the observed one as that is from 0.
    """
    pair = _Pair.of(first, second, statistic)
    _check_resamples(resamples)
    _check_confidence(confidence)
    random = np.random.default_rng(seed)
    one, two = pair.rows
    found = np.concatenate(
        [
            pair.difference(one[drawn].sum(axis=1), two[drawn].sum(axis=1))
            for size in _blocks(resamples, pair.n)
            for drawn in [random.integers(0, pair.n, size=(size, pair.n))]
        ]
    )
    low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2])
    observed = pair.observed
    return BootstrapComparison(
        *observed,
        p_value=_p_value(found - observed[2], observed),
        low=float(low),
        high=float(high),
    )


def randomization_test(
    first: AnyArray | Sequence[float],
    second: AnyArray | Sequence[float],
    *,
    statistic: Statistic | None = None,
    resamples: int = 10_000,
    seed: int = 0,
) -> Comparison:
    """Swap the two answers to each example by the toss of a coin (approximate randomization).

    If the systems were alike, it would not matter which answer is whose: the p-value is the
    share of swaps whose difference is as large as the observed one.
    """
    pair = _Pair.of(first, second, statistic)
    _check_resamples(resamples)
    random = np.random.default_rng(seed)
    one, two = pair.rows
    found = np.concatenate(
        [
            pair.difference(one.sum(axis=0) + moved, two.sum(axis=0) - moved)
            for size in _blocks(resamples, pair.n)
            for moved in [random.integers(0, 2, size=(size, pair.n)).astype(float) @ (two - one)]
        ]
    )
    return Comparison(*pair.observed, p_value=_p_value(found, pair.observed))


def f1_of_sums(sums: FloatArray) -> FloatArray:
    """The statistic for rows of counts: true, predicted and right; 0 where F1 is undefined.

    >>> f1_of_sums(np.array([[4.0, 2.0, 1.0]]))
    array([0.33333333])
    """
    true, predicted, right = sums.T
    return _share(2 * right, true + predicted)


def share_of_sums(sums: FloatArray) -> FloatArray:
    """The statistic for rows of two counts: how many are right, and of how many.

    >>> share_of_sums(np.array([[3.0, 4.0]]))
    array([0.75])
    """
    right, total = sums.T
    return _share(right, total)


def mean_interval(values: AnyArray | Sequence[float], confidence: float = 0.95) -> Interval:
    """The mean over trials and its interval by Student's t; two trials at least.

    >>> mean_interval([1.0, 2.0, 3.0])
    Interval(mean=2.0, low=-0.484..., high=4.484..., trials=3)
    """
    from scipy.special import stdtrit

    array = np.asarray(values, dtype=np.float64)
    _check_confidence(confidence)
    if array.ndim != 1 or len(array) < 2 or not np.isfinite(array).all():
        raise DataError(
            "an interval needs the finite results of two trials at least, in one row, got the "
            f"shape {array.shape}; run more trials"
        )
    mean = float(array.mean())
    half = float(stdtrit(len(array) - 1, (1 + confidence) / 2) * array.std(ddof=1))
    half /= sqrt(len(array))
    return Interval(mean, mean - half, mean + half, len(array))


@dataclass(frozen=True)
class _Pair:
    """The rows of both systems, and how their sums become values."""

    rows: tuple[FloatArray, FloatArray]
    statistic: Statistic

    @classmethod
    def of(
        cls,
        first: AnyArray | Sequence[float],
        second: AnyArray | Sequence[float],
        statistic: Statistic | None,
    ) -> _Pair:
        one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
        if one.shape != two.shape or one.ndim not in (1, 2) or len(one) < 2:
            raise DataError(
                "expected what two systems reach on the same examples, two at least, got the "
                f"shapes {one.shape} and {two.shape}"
            )
        if one.ndim == 2 and statistic is None:
            raise DataError(
                f"each example has {one.shape[1]} numbers; say which statistic is made of their "
                "sums, such as f1_of_sums, or give one number for each example"
            )
        if not (np.isfinite(one).all() and np.isfinite(two).all()):
            raise DataError("expected finite numbers for every example; leave none of them open")
        n = len(one)
        return cls(
            (one.reshape(n, -1), two.reshape(n, -1)),
            statistic or (lambda sums: sums[:, 0] / n),
        )

    @property
    def n(self) -> int:
        return len(self.rows[0])

    @property
    def observed(self) -> tuple[float, float, float]:
        """The value of the first, of the second, and their difference."""
        one, two = (float(self.statistic(rows.sum(axis=0)[None])[0]) for rows in self.rows)
        return one, two, two - one

    def difference(self, first: FloatArray, second: FloatArray) -> FloatArray:
        return self.statistic(second) - self.statistic(first)


def _p_value(differences: FloatArray, observed: tuple[float, float, float]) -> float:
    first, second, difference = observed
    least = abs(difference) - TIE * max(abs(first), abs(second))
    return float((1 + np.count_nonzero(np.abs(differences) >= least)) / (1 + len(differences)))


def _blocks(resamples: int, n: int) -> Iterator[int]:
    size = max(1, DRAWS // n)
    for start in range(0, resamples, size):
        yield min(size, resamples - start)


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.zeros_like(part), where=whole != 0)


def _check_resamples(resamples: int) -> None:
    if resamples < 1:
        raise SettingError(f"resamples is 1 or more, got {resamples}")


def _check_confidence(confidence: float) -> None:
    if not 0 < confidence < 1:
        raise SettingError(f"confidence lies between 0 and 1, such as 0.95, got {confidence}")
