"""`LearnedRestarts`: greedy search that learns where to start, Algorithm 2 of Ma et al. (2019).

    climb the scores F from a start           → the path, and its end
    learn E(x, y) = θ · φ(x, y) ≈ F(end)      from all outputs on the path
    climb E from the end                      → the next start; a random one if E leads nowhere

until no better output has been found for some rounds. E predicts the value that a start leads to,
and θ is kept from one problem to the next, so that starts get better with use.

Beyond the paper, E can lead to the first start as well, from the classifier's output; and it is not
followed to where a climb began before, or twice in a row in vain. The next start is then drawn
around where E leads, as those of `RGS` are around the classifier's output.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from rote.errors import SettingError
from rote.inference.approximate.greedy import RGS
from rote.inference.approximate.search_trace import (
    Best,
    HillClimber,
    RestartResult,
    RestartSampler,
    SearchTrace,
    hill_climb,
)
from rote.inference.engine import Engine, Locked, Stats
from rote.inference.problem import Context, Problem
from rote.inference.solutions import FoundBy, Solutions, Status
from rote.kernels.learning.value_regression import Outputs, Schedule, regress_all
from rote.settings import FLAG, instance_of, number, optional, whole
from rote.space.global_features import columns_of
from rote.types import AnyArray, BoolArray, FloatArray, IntArray, readonly

ROOM = 1 << 20  # features of outputs that are learned from together


class Evaluation(Locked):
    """The weights θ of E, and AdaGrad's sums of squares; empty before anything was asked."""

    def __init__(self, weights: FloatArray | None) -> None:
        super().__init__()
        self.weights = None if weights is None else np.array(weights, dtype=np.float64)
        self.squares = None if weights is None else np.zeros(len(weights))


@dataclass(frozen=True, eq=False)
class LearnedRestarts(Engine):
    """`RGS` whose later starts are learned.

    It needs feature vectors, and so a model that asks, or a context with ``features``.

    Parameters
    ----------
    inner
        How starts are drawn, and how many climbs there are at most.
    step
        Of the regression of E, above 0 and below 2.
    passes
        Of the regression over the outputs of each round, at least 1.
    adagrad
        Whether AdaGrad sets the steps of single weights.
    patience
        An input is left when so many climbs in a row found nothing better; at least 1.
    tolerance
        E is not moved where its error is smaller, relative to the value; at least 0.
    outputs
        How many of each path are learned from, evenly spread, at least 2; None for all of them, as
        in the paper.
    predict_first_start
        Whether E says where the first climb begins; otherwise ``inner`` does.
    learned
        The ``weights`` of another one, to go on from.
    """

    inner: RGS = field(default_factory=RGS)
    step: float = 0.1
    passes: int = 5
    adagrad: bool = False
    patience: int = 2
    tolerance: float = 0.05
    outputs: int | None = 8
    predict_first_start: bool = True
    learned: FloatArray | None = field(default=None, repr=False)
    _learned: Evaluation = field(init=False, repr=False)
    _stats: Stats = field(
        default_factory=lambda: Stats("inputs", "climbs", "learned"), init=False, repr=False
    )

    capabilities = RGS.capabilities
    transparent = True

    checks: ClassVar = {
        "inner": instance_of(RGS, "RGS(restarts=10)"),
        "step": number(above=0, below=2),
        "passes": whole(1),
        "adagrad": FLAG,
        "patience": whole(1),
        "tolerance": number(least=0),
        "outputs": optional(whole(2)),
        "predict_first_start": FLAG,
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "_learned", Evaluation(self.learned))

    @property
    def stats(self) -> Stats:
        """Inputs; climbs of the scores; and those of them that began where E led."""
        return self._stats

    @property
    def weights(self) -> FloatArray | None:
        """θ, or None before anything was asked."""
        with self._learned.lock:
            weights = self._learned.weights
            return None if weights is None else readonly(weights.copy())

    def answer(self, problem: Problem, context: Context) -> Solutions:
        return self.searched(problem, context)[0]

    def searched(self, problem: Problem, context: Context) -> tuple[Solutions, IntArray]:
        """The answers, and how many climbs each of them needed; 0 where there is none."""
        if context.features is None:
            raise SettingError(
                "the values of starts are learned from feature vectors, and the context has none; "
                "ask through a model, or use RGS"
            )
        rounds = self.rounds(problem, context)
        last = first = next(rounds)
        for later in rounds:  # one at a time: a round holds all of its paths
            last = later
        labels, needed = last.labels, last.needed
        # What is not even climbed for has a variable without a label.
        status = np.full(len(labels), Status.INFEASIBLE.value)
        status[first.climbed] = Status.TIMED_OUT
        status[needed > 0] = Status.FEASIBLE
        bound = np.full(len(labels), np.inf)
        found = Solutions.of(problem, labels, FoundBy.GREEDY, bound=bound, status=status)
        return found, needed

    def rounds(self, problem: Problem, context: Context) -> Iterator[RestartResult]:
        """Round after round, until all inputs are left; others may ask between two of them."""
        initial = self.inner.initials(problem, context)
        n_resampled = self.inner.n_resampled(problem.space)
        best, idle = Best(*initial.shape), np.zeros(len(initial), dtype=np.int64)
        active = np.flatnonzero(initial.min(axis=1, initial=0) >= 0)
        part, own_context = _some(problem, context, active)
        members = np.arange(len(active))
        starts = RestartSampler(part, int(self.inner.seed), self.inner.restarts)
        climber, likely = HillClimber(part), readonly(initial[active])
        own, by_e = self._first(part, own_context, starts, likely)
        for restart in range(1, self.inner.restarts + 1):
            paths = climber.climb(own, members)
            values = part.value(paths.ends)
            better = best.take(active, paths, values, part.ties)
            inputs = len(initial) if restart == 1 else 0
            self._stats.add(inputs=inputs, climbs=len(active), learned=int(by_e.sum()))
            yield best.now(active, paths)
            idle[active] = np.where(better, 0, idle[active] + 1)
            self._learn(part, own_context, paths, values)
            kept = idle[active] < self.patience
            if restart == self.inner.restarts or not kept.any():
                return
            in_vain = by_e & ~better
            active, members, ends = active[kept], members[kept], readonly(paths.ends[kept])
            part, own_context = _some(part, own_context, np.flatnonzero(kept))
            starts.keep(kept)
            led, moved = self._led(part, own_context, ends)
            around = readonly(np.where(moved[:, None], led, initial[active]))
            own, by_e = starts.given(led, moved & ~in_vain[kept], around, n_resampled)

    def _first(
        self, problem: Problem, context: Context, starts: RestartSampler, initial: IntArray
    ) -> tuple[IntArray, BoolArray]:
        """The first starts, and which of them E led to."""
        n_resampled = self.inner.n_resampled(problem.space)
        if not self.predict_first_start:
            return starts.drawn(initial, n_resampled), np.zeros(len(initial), dtype=np.bool_)
        led, moved = self._led(problem, context, initial)
        return starts.given(led, moved, initial, n_resampled)

    def _learn(
        self, problem: Problem, context: Context, paths: SearchTrace, values: FloatArray
    ) -> None:
        """Regress E on the value of each path's end, for the outputs on it that E is far from."""
        assert context.features is not None
        features = context.features
        outputs, owner = paths.outputs(self.outputs)
        columns = columns_of(problem.space, features.global_features, outputs)
        with self._learned.lock:
            regress_all(
                *self._weights(features.size),
                features.vectors,
                features.slots,
                Outputs(readonly(features.firsts[owner]), columns, readonly(values[owner])),
                Schedule(float(self.step), int(self.passes), float(self.tolerance), ROOM),
            )

    def _led(self, problem: Problem, context: Context, ends: IntArray) -> tuple[IntArray, AnyArray]:
        """Where E leads from the ends of paths, and from which of them it leads anywhere."""
        assert context.features is not None
        with self._learned.lock:  # nobody learns while E is climbed
            weights = self._weights(context.features.size)[0]
            learned = context.features.problem(problem.space, weights)
            if problem.closed is not None:
                learned = learned.with_open(~problem.closed)
            paths = hill_climb(learned, ends)
        return paths.ends, paths.is_feasible & (paths.counts > 0)

    def _weights(self, size: int) -> tuple[FloatArray, FloatArray]:
        own = self._learned
        if own.weights is None:
            own.weights = np.zeros(size)
        if own.squares is None or len(own.squares) != (size if self.adagrad else 0):
            own.squares = np.zeros(size if self.adagrad else 0)
        if len(own.weights) != size:
            raise SettingError(
                f"this search has learned {len(own.weights)} weights, and the model that "
                f"asks has {size}; use another one for it"
            )
        return own.weights, own.squares


def _some(problem: Problem, context: Context, rows: IntArray) -> tuple[Problem, Context]:
    """The problem of some inputs; the same one for all of them, with what it knows already."""
    if len(rows) == len(problem):
        return problem, context
    return problem.rows(rows), context.rows(rows)
