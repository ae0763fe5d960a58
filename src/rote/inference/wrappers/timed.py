"""A wrapper that says how long an engine took, and for how many inputs."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from time import perf_counter

from rote.inference.engine import Engine, check_engine
from rote.inference.problem import Problem
from rote.inference.solutions import Solutions
from rote.inference.exact.exact import Exact
from rote.space.space import Space
from rote.types import AnyArray


@dataclass(eq=False)
class Timed(Wrapper):
    """``seconds`` and ``inputs`` so far, over all threads; answers are those of the engine."""

    inner: Engine = field(default_factory=Exact)
    seconds: float = field(default=0.0, init=False)
    inputs: int = field(default=0, init=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        check_engine("the engine underneath", self.inner)

    def __reduce__(self) -> tuple[type, tuple[Engine]]:
        return Timed, (self.inner,)

    def solve(self, space: Space, problem: Problem | AnyArray) -> Solutions:
        start = perf_counter()
        solutions = self.inner.solve(space, problem)
        took = perf_counter() - start
        with self._lock:
            self.seconds += took
            self.inputs += len(solutions)
        return solutions
