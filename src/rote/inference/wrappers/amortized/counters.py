"""What an amortized engine has done so far: how often, by which proof, and in what time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(frozen=True)
class Counters:
    """Numbers since the engine was made; ``later - earlier`` is what happened between."""

    queries: int = 0  # inputs asked
    solver_calls: int = 0  # inputs that the inner engine has solved, and margins it was asked for
    hits: Mapping[str, int] = field(default_factory=dict)  # inputs answered, by certificate
    bypassed: int = 0  # of the solver calls, those made at once since testing did not pay
    distinct_outputs: int = 0  # tested inputs whose answer had never been seen: an oracle's calls
    second_bests: int = 0  # problems whose margin a search had to find
    testing_seconds: float = 0.0  # looking up, proving and remembering
    solving_seconds: float = 0.0  # in the engine underneath
    largest_m: float = 0.0  # the largest M of Theorem 1 among outputs taken by a condition
    # After how many queries each M came that no later one reached: what a difference needs.
    maxima: tuple[tuple[int, float], ...] = field(default=(), repr=False, compare=False)

    def __add__(self, other: Counters) -> Counters:
        return self._with(other, 1)

    def __sub__(self, other: Counters) -> Counters:
        return self._with(other, -1)

    def _with(self, other: Counters, sign: int) -> Counters:
        new: dict[str, Any] = {}
        for each in fields(self):
            mine, theirs = getattr(self, each.name), getattr(other, each.name)
            if each.name == "hits":
                names = {**mine, **theirs}
                sums = {name: mine.get(name, 0) + sign * theirs.get(name, 0) for name in names}
                new["hits"] = {name: count for name, count in sums.items() if count}
            elif each.name == "largest_m" and sign > 0:
                new[each.name] = max(mine, theirs)
            elif each.name == "largest_m":
                since = (m for queries, m in self.maxima if queries > other.queries)
                new[each.name] = next(since, mine if mine > theirs else 0.0)
            elif each.name != "maxima":
                new[each.name] = mine + sign * theirs
        return Counters(**new)

    @property
    def seconds(self) -> float:
        """All time spent on inference."""
        return self.testing_seconds + self.solving_seconds


class Tally:
    """The numbers that `Counters` are read from, as they grow."""

    def __init__(self) -> None:
        self.queries = self.solver_calls = self.bypassed = 0
        self.distinct_outputs = self.second_bests = 0
        self.hits: dict[str, int] = {}
        self.testing_seconds = self.solving_seconds = 0.0
        self.maxima: list[tuple[int, float]] = []  # of M, falling

    def hit(self, certificate: str, count: int) -> None:
        self.hits[certificate] = self.hits.get(certificate, 0) + count

    def reach(self, m: float) -> None:
        """An M among the queries that were counted last."""
        if m > 0:
            while self.maxima and self.maxima[-1][1] <= m:
                self.maxima.pop()
            self.maxima.append((self.queries, m))

    def counters(self) -> Counters:
        """The numbers as they are now."""
        largest = self.maxima[0][1] if self.maxima else 0.0
        copies = {"hits": dict(self.hits), "maxima": tuple(self.maxima), "largest_m": largest}
        return Counters(**{**vars(self), **copies})
