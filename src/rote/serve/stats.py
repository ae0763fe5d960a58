"""What a service has done: counts since it began, and time per answer over its whole life.

The curve has at most `POINTS` points, however long the service runs. A point stands for so many
answers; when there are too many points, every two become one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import Any

from rote.serve.predictor import Answer

POINTS = 120


@dataclass
class Point:
    """Some answers, one after the other."""

    answers: int = 0
    seconds: float = 0.0


class Curve:
    """Seconds per answer, from the first to the last."""

    def __init__(self, most: int = POINTS) -> None:
        self.most = most
        self.each = 1  # answers that a point stands for, at least
        self.points: list[Point] = []

    def add(self, answers: int, seconds: float) -> None:
        """Enter a batch."""
        if not self.points or self.points[-1].answers >= self.each:
            self.points.append(Point())
        self.points[-1].answers += answers
        self.points[-1].seconds += seconds
        if len(self.points) > self.most:
            pairs = [self.points[k : k + 2] for k in range(0, len(self.points), 2)]
            self.points = [
                Point(sum(p.answers for p in pair), sum(p.seconds for p in pair)) for pair in pairs
            ]
            self.each *= 2

    def record(self) -> list[list[float]]:
        """How many answers each point stands for, and the seconds of one."""
        return [[point.answers, point.seconds / point.answers] for point in self.points]


class Stats:
    """Counts that one thread writes and others read."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._begun = monotonic()
        self._curve = Curve()
        self._sources: Counter[str] = Counter()
        self._statuses: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._asked = self._requests = self._batches = self._largest = 0
        self._seconds = 0.0

    @property
    def seconds_per_answer(self) -> float:
        with self._lock:
            return self._seconds / max(1, self._asked)

    def enter(self, requests: int, answers: Sequence[Answer], seconds: float) -> None:
        """Enter the requests that were answered together."""
        with self._lock:
            self._requests += requests
            self._batches += 1
            self._largest = max(self._largest, requests)
            self._asked += len(answers)
            self._seconds += seconds
            self._sources.update(answer.source for answer in answers)
            self._statuses.update(answer.status for answer in answers)
            if answers:
                self._curve.add(len(answers), seconds)

    def refuse(self, why: str) -> None:
        """Enter a request without an answer."""
        with self._lock:
            self._refused[why] += 1

    def record(self) -> dict[str, Any]:
        """All of it, as JSON."""
        with self._lock:
            return {
                "asked": self._asked,
                "requests": self._requests,
                "batches": self._batches,
                "largest_batch": self._largest,
                "by_source": dict(self._sources.most_common()),
                "by_status": dict(self._statuses.most_common()),
                "refused": dict(self._refused.most_common()),
                "seconds_up": monotonic() - self._begun,
                "seconds_answering": self._seconds,
                "curve": self._curve.record(),
            }
