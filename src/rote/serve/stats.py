"""What a service has done: counts since it began, and time per answer over its whole life.

The curve has at most `POINTS` points, however long the service runs. A point stands for so many
answers; when there are too many points, every two become one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from threading import Lock
from time import monotonic
from typing import Any

from rote.serve.predictor import Answer

POINTS = 120


class Curve:
    """Seconds per answer, from the first to the last."""

    def __init__(self, most: int = POINTS) -> None:
        self.most = most
        self.each = 1  # answers that a point stands for, at least
        self.points: list[tuple[int, float]] = []  # answers, one after the other, and their seconds

    def add(self, answers: int, seconds: float) -> None:
        """Enter a batch."""
        if self.points and self.points[-1][0] < self.each:
            before = self.points.pop()
            answers, seconds = before[0] + answers, before[1] + seconds
        self.points.append((answers, seconds))
        if len(self.points) > self.most:
            pairs = [self.points[k : k + 2] for k in range(0, len(self.points), 2)]
            self.points = [(sum(a for a, _ in pair), sum(s for _, s in pair)) for pair in pairs]
            self.each *= 2

    def record(self) -> list[list[float]]:
        """How many answers each point stands for, and the seconds of one."""
        return [[answers, seconds / answers] for answers, seconds in self.points]


class ServiceStats:
    """Counts that one thread writes and others read."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._begun = monotonic()
        self._curve = Curve()
        self._counts = {"asked": 0, "requests": 0, "batches": 0, "largest_batch": 0}
        self._seconds = 0.0
        self._sources, self._statuses, self._refused = (
            Counter[str](),
            Counter[str](),
            Counter[str](),
        )

    @property
    def seconds_per_answer(self) -> float:
        with self._lock:
            return self._seconds / max(1, self._counts["asked"])

    def enter(self, requests: int, answers: Sequence[Answer], seconds: float) -> None:
        """Enter the requests that were answered together."""
        with self._lock:
            self._counts["asked"] += len(answers)
            self._counts["requests"] += requests
            self._counts["batches"] += 1
            self._counts["largest_batch"] = max(self._counts["largest_batch"], requests)
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
                **self._counts,
                "by_source": dict(self._sources.most_common()),
                "by_status": dict(self._statuses.most_common()),
                "refused": dict(self._refused.most_common()),
                "seconds_up": monotonic() - self._begun,
                "seconds_answering": self._seconds,
                "curve": self._curve.record(),
            }
