"""A wrapper that says how long an engine took, and for how many inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import ClassVar

from rote.inference.engine import ANY_ENGINE, Capability, Engine, Stats, Wrapper
from rote.inference.exact.exact import Exact
from rote.inference.problem import Context, Problem
from rote.inference.solutions import Solutions
from rote.settings import instance_of


@dataclass(frozen=True, eq=False)
class Timed(Wrapper):
    """``stats`` has the seconds and inputs so far, over all threads; answers are not changed.

    Parameters
    ----------
    inner
        The engine to measure.
    """

    inner: Engine = field(default_factory=Exact)
    _stats: Stats = field(
        default_factory=lambda: Stats("seconds", "inputs"), init=False, repr=False
    )

    transparent = True
    passes = frozenset(Capability)
    checks: ClassVar = {"inner": instance_of(Engine, ANY_ENGINE)}

    @property
    def stats(self) -> Stats:
        """Seconds, and inputs."""
        return self._stats

    def answer(self, problem: Problem, context: Context) -> Solutions:
        (solutions,) = self.answer_all([(problem, context)])
        return solutions

    def answer_all(self, pairs: Sequence[tuple[Problem, Context]]) -> Iterator[Solutions]:
        start = perf_counter()
        for solutions in self.inner.answer_all(pairs):
            self._stats.add(seconds=perf_counter() - start, inputs=len(solutions))
            yield solutions
            start = perf_counter()
