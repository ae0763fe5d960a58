"""`ExactEvery`: an engine that finds good outputs, and now and then one that finds the best.

A structural SVM that learns from whatever outputs are found stops at weights that need not be
right: an output that was missed may violate its margin. Exact inference at least once in τ inputs
is enough for dual coordinate descent to end where it would end with exact inference alone (Chang
et al. 2015, Theorem 3; Ma et al. 2019, section 5).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from rote.errors import check_whole
from rote.inference.approximate.greedy import RGS
from rote.inference.engine import Engine, check_engine
from rote.inference.problem import Problem
from rote.inference.solutions import Solutions
from rote.inference.exact.exact import Exact
from rote.space.space import Space
from rote.types import AnyArray


@dataclass(eq=False)
class ExactEvery(Wrapper):
    """Every ``every``-th input goes to ``exact``, and the others to ``engine``.

    Inputs are counted as they come, over all spaces and threads.

    >>> from rote import ExactEvery, SpaceBuilder
    >>> builder = SpaceBuilder()
    >>> x = builder.variable("x", "ab")
    >>> engine = ExactEvery(every=2)
    >>> engine.solve(builder.build(), [[1.0, 2.0]] * 4)
    Solutions(4: 4 optimal; by 2 argmax, 2 greedy)
    """

    inner: Engine = field(default_factory=RGS)
    every: int = 10
    exact: Engine = field(default_factory=Exact)
    _asked: int = field(default=0, init=False, repr=False)
    _lock: Lock = field(default_factory=Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        check_engine("the engine", self.inner)
        check_engine("the exact engine", self.exact)
        check_whole("every", self.every, least=1)

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return ExactEvery, (self.inner, self.every, self.exact)

    def answer(self, problem: Problem, context: Context) -> Solutions:
        space = problem.space
        m = len(problem)
        with self._lock:
            number = self._asked + np.arange(1, m + 1)
            self._asked += m
        exactly = number % self.every == 0
        if exactly.all():
            return self.exact.solve(space, problem)
        if not exactly.any():
            return self.inner.solve(space, problem)
        found = [
            asked.solve(space, problem.rows(np.flatnonzero(chosen)))
            for asked, chosen in ((self.inner, ~exactly), (self.exact, exactly))
        ]
        # Where each input stands among those of the first engine, then of the second.
        place = np.empty(m, dtype=np.int64)
        place[np.concatenate([np.flatnonzero(~exactly), np.flatnonzero(exactly)])] = np.arange(m)
        return Solutions.joined(found).rows(place)
