"""What an amortized engine has done so far: how often, by which proof, and in what time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from rote.inference.engine import Stats

HITS = "hits by "  # how the names of a certificate's hits begin


@dataclass(frozen=True)
class Counters:
    """Numbers since the engine was made; ``later - earlier`` is what happened between.

    Parameters
    ----------
    queries
        Inputs asked.
    solver_calls
        Inputs that the inner engine has solved, and margins it was asked for.
    hits
        Inputs answered, by certificate.
    bypassed
        Of the solver calls, those made at once since testing did not pay.
    distinct_outputs
        Tested inputs whose answer had never been seen: an oracle's calls.
    second_bests
        Problems whose margin a search had to find.
    testing_seconds
        Time of looking up, proving and remembering.
    solving_seconds
        Time in the inner engine.
    largest_m
        The largest M of Theorem 1 among outputs taken by a condition.
    reused
        Inputs whose answer one pass over what is remembered has proved.
    warm
        Inputs finished from a remembered start, by the inner engine or by dual ascent.
    cold
        Inputs solved from nothing, by whatever code. The three add up to the queries.
    maxima
        After how many queries each M came that no later one reached: what a difference needs.
    """

    queries: int = 0
    solver_calls: int = 0
    hits: Mapping[str, int] = field(default_factory=dict)
    bypassed: int = 0
    distinct_outputs: int = 0
    second_bests: int = 0
    testing_seconds: float = 0.0
    solving_seconds: float = 0.0
    largest_m: float = 0.0
    reused: int = 0
    warm: int = 0
    cold: int = 0
    maxima: tuple[tuple[int, float], ...] = field(default=(), repr=False, compare=False)

    def __add__(self, other: Counters) -> Counters:
        return self._with(other, 1, max(self.largest_m, other.largest_m))

    def __sub__(self, other: Counters) -> Counters:
        since = (m for queries, m in self.maxima if queries > other.queries)
        grown = self.largest_m if self.largest_m > other.largest_m else 0.0
        return self._with(other, -1, next(since, grown))

    def _with(self, other: Counters, sign: int, largest_m: float) -> Counters:
        sums = {name: getattr(self, name) + sign * getattr(other, name) for name in SUMS}
        mine, theirs = self.hits, other.hits
        hits = {n: mine.get(n, 0) + sign * theirs.get(n, 0) for n in {**mine, **theirs}}
        return Counters(
            hits={name: count for name, count in hits.items() if count}, largest_m=largest_m, **sums
        )

    @property
    def seconds(self) -> float:
        """All time spent on inference."""
        return self.testing_seconds + self.solving_seconds


OTHERS = {"hits", "largest_m", "maxima"}
SUMS = tuple(each.name for each in fields(Counters) if each.name not in OTHERS)


class AmortizedStats(Stats):
    """The numbers that `Counters` are read from, as they grow."""

    def __init__(self) -> None:
        super().__init__("asked", *SUMS)
        self._maxima: list[tuple[int, float]] = []  # of M, falling

    def hit(self, certificate: str, count: int) -> None:
        self.add(**{HITS + certificate: count})

    def reach(self, m: float) -> None:
        """An M among the queries that were counted last."""
        if m > 0:
            while self._maxima and self._maxima[-1][1] <= m:
                self._maxima.pop()
            self._maxima.append((int(self["queries"]), m))

    def counters(self) -> Counters:
        """The numbers as they are now."""
        counts: dict[str, Any] = dict(self.now())
        return Counters(
            hits={name[len(HITS) :]: counts[name] for name in counts if name.startswith(HITS)},
            largest_m=self._maxima[0][1] if self._maxima else 0.0,
            maxima=tuple(self._maxima),
            **{name: counts[name] for name in SUMS},
        )
