"""What an inference of training takes as a plain integer program, beside what ours take.

A plain call builds the program of one input and solves it, without a relaxation before it and
without regard to ties. It is timed on problems drawn at random from a training, and so are `Milp`,
whose relaxation stays warm from one input to the next, and `Amortized` over `Milp`, which begins
with nothing remembered and has seen no other problem of the training.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import NamedTuple

import numpy as np

from papers.chang2015.shared import AUTO, Bench
from rote import Context, Engine, Exact, Learner, Milp, Problem, Solutions, Space, Wrapper, fit
from rote.inference.solvers.highs import HighsSession
from rote.inference.solvers.integer_program import integer_program
from rote.types import FloatArray, IntArray, readonly


class Problems(NamedTuple):
    """Some problems of one space."""

    space: Space
    scores: FloatArray


class Timing(NamedTuple):
    """Seconds per problem, and by how much the values of the plain calls are off at most."""

    problems: int
    plain: float
    milp: float
    amortized: float
    off: float


class Sampler(Wrapper):
    """An engine that keeps a random sample of the problems it passes on to another."""

    def __init__(self, inner: Engine, size: int, seed: int) -> None:
        self.inner = inner
        self.size = size
        self._rng = np.random.default_rng(seed)
        self._seen = 0
        self._kept: list[tuple[Space, FloatArray]] = []

    def answer(self, problem: Problem, context: Context) -> Solutions:
        space = problem.space
        for row in problem.scores if len(space.variables) else ():
            self._seen += 1
            if len(self._kept) < self.size:
                self._kept.append((space, row.copy()))
            elif (place := int(self._rng.integers(self._seen))) < self.size:
                self._kept[place] = space, row.copy()
        return self.inner.answer(problem, context)

    def problems(self) -> list[Problems]:
        """The sample, by space."""
        spaces: dict[Space, list[FloatArray]] = {}
        for space, row in self._kept:
            spaces.setdefault(space, []).append(row)
        return [Problems(space, readonly(np.stack(rows))) for space, rows in spaces.items()]


def sampled(bench: Bench, learner: Learner, size: int, seed: int) -> list[Problems]:
    """Problems of a training with exact inference."""
    sampler = Sampler(Exact(), size, seed)
    fit(learner, bench.model.with_engine(sampler), bench.learned)
    return sampler.problems()


def timed(problems: Sequence[Problems]) -> Timing:
    """What each way of solving takes; programs, kernels and plans are made before."""
    count = sum(len(each.scores) for each in problems)
    plain = [PlainMip(each.space) for each in problems]
    amortized = AUTO.engine(Milp())
    AUTO.engine(Exact()).solve(*problems[0])

    def values(solve: Callable[[int, Problems], FloatArray]) -> tuple[float, FloatArray]:
        start = perf_counter()
        found = [solve(k, each) for k, each in enumerate(problems)]
        return (perf_counter() - start) / count, np.concatenate(found)

    by_plain, theirs = values(lambda k, each: plain[k].values(each.scores))
    by_milp, ours = values(lambda _, each: Milp().solve(*each).value)
    by_amortized, _ = values(lambda _, each: amortized.solve(*each).value)
    return Timing(count, by_plain, by_milp, by_amortized, float(np.abs(ours - theirs).max()))


class PlainMip:
    """HiGHS on the integer program of a space, without regard to ties."""

    def __init__(self, space: Space) -> None:
        self.space = space
        self.program = integer_program(space)
        self.session = HighsSession(self.program)

    def labels(self, scores: FloatArray) -> IntArray:
        """The best output of each input."""
        limits = self.program.limits(self.program.allowed)
        found = []
        for row in scores:
            outcome = self.session.whole(self.program.costs(row), limits, 0.0, np.inf, 0.0)
            assert outcome.columns is not None
            found.append(self.program.read(outcome.columns))
        return readonly(np.array(found))

    def values(self, scores: FloatArray) -> FloatArray:
        """The value of the best output of each input."""
        return self.space.value(scores, self.labels(scores))
