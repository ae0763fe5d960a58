"""Whether two systems differ by more than luck.

Two systems answer the same n examples. What is known of each answer is a number, whose mean
is compared, or a row of numbers, such as the counts behind an F1: then the rows are added up
over the examples and a ``statistic`` turns sums of shape (..., columns) into values of shape
(...). Examples are drawn or swapped whole, so that the two answers to one example stay together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from rote.errors import DataError
from rote.settings import check, number, whole
from rote.types import AnyArray, FloatArray

Statistic: TypeAlias = Callable[[FloatArray], FloatArray]

DRAWS = 1 << 21  # how many examples are drawn at a time: what is in memory, not what comes out


@dataclass(frozen=True)
class Comparison:
    """What two systems reach, and how far apart they are.

    Parameters
    ----------
    first, second
        What each system reaches on all examples.
    difference
        The second minus the first.
    low, high
        The ends of the confidence interval of the difference.
    p_value
        How often luck alone gives a difference as large; never 0.
    """

    first: float
    second: float
    difference: float
    low: float
    high: float
    p_value: float


def compare_systems(
    first: AnyArray | Sequence[float],
    second: AnyArray | Sequence[float],
    *,
    statistic: Statistic | None = None,
    resamples: int = 10_000,
    confidence: float = 0.95,
    seed: int = 0,
) -> Comparison:
    """Compare two systems by what they reach on the same examples.

    The interval is that of the paired bootstrap, the p-value that of a two-sided permutation test,
    which swaps the two answers to an example by the toss of a coin.

    Parameters
    ----------
    first, second
        For each of the same examples a number, or a row of numbers.
    statistic
        What is made of the sums of rows, such as `f1_of_sums`; without it, the mean of numbers.
    resamples
        How often examples are drawn and answers swapped, 1 at least; all swaps are tried where
        there are no more than so many. Time grows with it.
    confidence
        The share of differences inside the interval, between 0 and 1.
    seed
        The same one gives the same answer.

    >>> found = compare_systems([0, 1, 0, 0, 1, 0], [1, 1, 0, 1, 1, 1])
    >>> round(found.difference, 3), found.p_value
    (0.5, 0.25)
    """
    from scipy.stats import bootstrap, permutation_test

    one, two = _rows(first, second, statistic)
    check("confidence", confidence, number(above=0, below=1))
    check("resamples", resamples, whole(1))
    n = len(one)
    value = statistic or (lambda sums: sums[..., 0] / n)

    def drawn(index: AnyArray, **_: int) -> FloatArray:
        return value(two[index].sum(axis=-2)) - value(one[index].sum(axis=-2))

    def swapped(swaps: FloatArray, *_: FloatArray, **__: int) -> FloatArray:
        moved = swaps @ (two - one)
        return np.abs(value(two.sum(axis=0) - moved) - value(one.sum(axis=0) + moved))

    a, b = (float(value(rows.sum(axis=0))) for rows in (one, two))
    how: dict[str, Any] = {
        "vectorized": True,
        "n_resamples": resamples,
        "batch": max(1, DRAWS // n),
        "random_state": np.random.default_rng(seed),
    }
    low, high = bootstrap(
        (np.arange(n),), drawn, method="percentile", confidence_level=confidence, **how
    ).confidence_interval
    test = permutation_test(
        (np.zeros(n), np.ones(n)),
        swapped,
        permutation_type="samples",
        alternative="greater",
        **how,
    )
    return Comparison(a, b, b - a, float(low), float(high), float(test.pvalue))


def f1_of_sums(sums: FloatArray) -> FloatArray:
    """The statistic for rows of counts; 0 where F1 is undefined.

    Parameters
    ----------
    sums
        How many things are true, predicted, and right, along the last axis.

    >>> f1_of_sums(np.array([[4.0, 2.0, 1.0]]))
    array([0.33333333])
    """
    true, predicted, right = np.moveaxis(sums, -1, 0)
    both = true + predicted
    found: FloatArray = np.divide(2 * right, both, out=np.zeros_like(both), where=both != 0)
    return found


def _rows(
    first: AnyArray | Sequence[float],
    second: AnyArray | Sequence[float],
    statistic: Statistic | None,
) -> tuple[FloatArray, FloatArray]:
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
    return one.reshape(len(one), -1), two.reshape(len(two), -1)
