"""`Periodic`: an engine that finds good outputs, and now and then one that finds the best.

A structural SVM that learns from whatever outputs are found stops at weights that need not be
right: an output that was missed may violate its margin. Exact inference at least once in τ inputs
is enough for dual coordinate descent to end where it would end with exact inference alone (Chang
et al. 2015, Theorem 3; Ma et al. 2019, section 5).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from rote.inference.approximate.greedy import RGS
from rote.inference.engine import ANY_ENGINE, Capability, Engine, Stats, Wrapper
from rote.inference.exact.exact import Exact
from rote.inference.problem import Context, Problem
from rote.inference.solutions import Solutions
from rote.settings import instance_of, whole
from rote.space.space import Space


@dataclass(frozen=True, eq=False)
class Periodic(Wrapper):
    """One input in so many goes to an exact engine, and the others to the ``inner`` one.

    Inputs are counted as they come, over all spaces and threads.

    Parameters
    ----------
    inner
        The engine of most inputs.
    every
        The period, a whole number of at least 1: every so many inputs, one is solved exactly.
    exact
        The engine of that one.

    >>> from rote import Periodic, SpaceBuilder
    >>> builder = SpaceBuilder()
    >>> x = builder.variable("x", "ab")
    >>> engine = Periodic(every=2)
    >>> engine.solve(builder.build(), [[1.0, 2.0]] * 4)
    Solutions(4: 4 optimal; by 2 argmax, 2 greedy)
    """

    inner: Engine = field(default_factory=RGS)
    every: int = 10
    exact: Engine = field(default_factory=Exact)
    _stats: Stats = field(default_factory=lambda: Stats("inputs", "exact"), init=False, repr=False)

    transparent = True
    checks: ClassVar = {
        "inner": instance_of(Engine, ANY_ENGINE),
        "exact": instance_of(Engine, ANY_ENGINE),
        "every": whole(1),
    }

    @property
    def supports(self) -> frozenset[Capability]:
        return super().supports & (self.exact.supports | {Capability.GOLD, Capability.FEATURES})

    def refuses(self, space: Space) -> str | None:
        return self.inner.refuses(space) or self.exact.refuses(space)

    @property
    def stats(self) -> Stats:
        """Inputs, and those of them that were solved exactly."""
        return self._stats

    def answer(self, problem: Problem, context: Context) -> Solutions:
        m = len(problem)
        with self._stats.lock:
            number = self._stats["inputs"] + np.arange(1, m + 1)
            exactly = number % self.every == 0
            self._stats.add(inputs=m, exact=int(exactly.sum()))
        if exactly.all() or not exactly.any():
            return (self.exact if exactly.all() else self.inner).answer(problem, context)
        asked = [(self.inner, np.flatnonzero(~exactly)), (self.exact, np.flatnonzero(exactly))]
        found = [engine.answer(problem.rows(rows), context.rows(rows)) for engine, rows in asked]
        # Where each input stands among those of the first engine, then of the second.
        place = np.argsort(np.concatenate([rows for _, rows in asked]))
        return Solutions.joined(found).rows(place)
