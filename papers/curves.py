"""Curves over trials: a mean and its interval at every place, and which of two is ahead where.

Two methods answer the same trials, so what is judged is the difference within each trial. One
is *ahead* at a place when the interval of the mean difference leaves out 0. A claim looks at all
places, so the intervals of a lead are wide enough to be right at all of them at once with 95 %
(Bonferroni); those of a single curve are for its own place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from papers.metrics.intervals import Interval, mean_interval
from rote.errors import DataError
from rote.types import AnyArray, FloatArray

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Lead:
    """By how much the first method is better than the second at each place."""

    places: tuple[int, ...]
    intervals: tuple[Interval, ...]

    @staticmethod
    def of(places: Sequence[int], first: AnyArray, second: AnyArray) -> Lead:
        """From results of shape (places, trials)."""
        one, two = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
        if one.shape != two.shape or one.ndim != 2 or len(one) != len(places):
            raise DataError(
                f"expected results of shape ({len(places)}, trials) for both methods, got "
                f"{one.shape} and {two.shape}"
            )
        return Lead(tuple(places), intervals(one - two, 1 - (1 - CONFIDENCE) / len(places)))

    @property
    def ahead(self) -> tuple[int, ...]:
        """The places where the first is ahead."""
        return tuple(p for p, i in zip(self.places, self.intervals, strict=True) if i.low > 0)

    @property
    def behind(self) -> tuple[int, ...]:
        """The places where the second is ahead."""
        return tuple(p for p, i in zip(self.places, self.intervals, strict=True) if i.high < 0)

    @property
    def ahead_from(self) -> int | None:
        """The first place from which on the first is ahead everywhere, if there is one."""
        start = None
        for place in reversed(self.places):
            if place not in self.ahead:
                break
            start = place
        return start

    def said(self, place: int) -> str:
        """The difference at a place, for people: "+1.2 points [0.4, 2.0]"."""
        interval = self.intervals[self.places.index(place)]
        mean, low, high = (100 * value for value in (interval.mean, interval.low, interval.high))
        return f"{mean:+.1f} points [{low:.1f}, {high:.1f}]"


def intervals(results: FloatArray, confidence: float = CONFIDENCE) -> tuple[Interval, ...]:
    """The mean over trials and its interval, for each row of results."""
    return tuple(mean_interval(row, confidence) for row in results)


def listed(places: Sequence[int], none: str = "none") -> str:
    """Places for people: "20, 50 and 1,000"."""
    words = [f"{place:,}" for place in places]
    if len(words) < 2:
        return words[0] if words else none
    return f"{', '.join(words[:-1])} and {words[-1]}"
