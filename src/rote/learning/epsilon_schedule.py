"""Learning with amortized inference whose ε changes on the way: AI-DCD and AI-SP.

A *stage* has an ε. A learner goes through the stages one after the other, each to its stop rule or
for a number of iterations, and goes on from where the stage before has left it; the last stage
decides when it is done. `adaptive` is the schedule of Chang et al. (2015): ε = 10, then 0.1, then
0, each to the stop rule. With ε = 0 in the end, or with exact inference every so many calls, the
structural SVM reaches the optimum of exact training (their Theorem 3).

    StructuredSVM under Staged is AI-DCD, Perceptron under Staged is AI-SP.

A run that is resumed takes the same steps as one that was not, bit for bit, where ε is 0; where it
is above, answers depend on what is remembered, and memory begins anew.

Every state's measures tell what its iteration cost: ``queries``, ``solver_calls``, ``hits``,
``distinct_outputs`` (an oracle's calls), ``testing_seconds``, ``solving_seconds``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rote.errors import SettingError, check_number, check_whole
from rote.inference.engine import Engine, find, rebuilt
from rote.inference.wrappers.amortized import Amortized, Counters
from rote.learning.base import Learner, State
from rote.model import Dataset, Model
from rote.types import AnyArray


class EpsilonStage(NamedTuple):
    """ε, for so many iterations, or to the learner's stop rule.

    With ``exact_period`` = τ, at least one of any τ inferences in a row is exact.
    """

    epsilon: float
    iterations: int | None = None
    exact_period: int | None = None


def adaptive_schedule(*epsilons: float) -> tuple[EpsilonStage, ...]:
    """One ε after the other, each to the stop rule; 10, 0.1, 0 where none are given."""
    return tuple(EpsilonStage(epsilon) for epsilon in epsilons or (10.0, 0.1, 0.0))


def geometric(first: float, factor: float, steps: int) -> tuple[EpsilonStage, ...]:
    """ε shrinks by a factor in every iteration, ``steps`` times, and is 0 from then on.

    >>> [stage.epsilon for stage in geometric(1.0, 0.5, 3)]
    [1.0, 0.5, 0.25, 0.0]
    """
    check_number("first", first, least=0, above=True)
    check_number("factor", factor, least=0, above=True)
    check_whole("steps", steps, least=1)
    if factor >= 1:
        raise SettingError(f"factor is below 1, got {factor}")
    shrinking = [EpsilonStage(first * factor**step, 1) for step in range(steps)]
    return (*shrinking, EpsilonStage(0.0))


def exact_at_times(epsilon: float, every: int, after: int) -> tuple[EpsilonStage, ...]:
    """ε, and after so many iterations exact inference at least once every so many calls."""
    check_whole("every", every, least=1)
    check_whole("after", after, least=1)
    return EpsilonStage(epsilon, after), EpsilonStage(epsilon, None, every)


@dataclass(frozen=True)
class EpsilonSchedule:
    """A learner over stages of ε. The model's engine must be `Amortized`."""

    learner: Learner
    stages: Sequence[EpsilonStage] = (EpsilonStage(0.0),)

    def __post_init__(self) -> None:
        stages = (self.stages,) if isinstance(self.stages, EpsilonStage) else tuple(self.stages)
        if not stages or not all(isinstance(stage, EpsilonStage) for stage in stages):
            raise SettingError(
                f"stages are one or more of Stage(epsilon), as in adaptive(); got {self.stages!r}"
            )
        for stage in stages:
            check_number("epsilon", stage.epsilon, least=0)
            for name in ("iterations", "exact_period"):
                if getattr(stage, name) is not None:
                    check_whole(f"{name} of a stage", getattr(stage, name), least=1)
        object.__setattr__(self, "stages", stages)

    def iterate(
        self, model: Model[Any, Any], prepared: Dataset, state: State | None = None
    ) -> Iterator[State]:
        engine = find(model.engine, Amortized)
        if engine is None:
            raise SettingError(
                "a staged learner sets the ε of an Amortized engine; the model has "
                f"{model.engine!r}"
            )
        at, made = (0, 0) if state is None else _place(state, self.stages)
        while at < len(self.stages) and not (state is not None and state.done):
            stage, last = self.stages[at], at + 1 == len(self.stages)
            if made == stage.iterations:
                return  # a state from the end of the last stage
            at_stage = engine.at(stage.epsilon, stage.exact_period)
            staged = model.with_engine(_with_stage(model.engine, at_stage))
            before = engine.counters
            for now in self.learner.iterate(staged, prepared, state):
                made += 1
                over = now.done or made == stage.iterations
                place = (at + 1, 0) if over and not last else (at, made)
                cost = engine.counters - before
                state = _told(now, cost, stage.epsilon, place, done=now.done and last)
                yield state
                before = engine.counters  # what others have asked meanwhile is not ours
                if over:
                    break
            else:
                return  # the learner has come to its own limit
            at, made = at + 1, 0


def _told(
    state: State, cost: Counters, epsilon: float, place: tuple[int, int], *, done: bool
) -> State:
    """The learner's state, with what it cost and where in the schedule it is."""
    measures = {
        **state.measures,
        "epsilon": epsilon,
        "queries": cost.queries,
        "solver_calls": cost.solver_calls,
        "hits": sum(cost.hits.values()),
        "distinct_outputs": cost.distinct_outputs,
        "testing_seconds": cost.testing_seconds,
        "solving_seconds": cost.solving_seconds,
    }

    def memory() -> dict[str, AnyArray]:
        return {**state.memory, "schedule": np.array(place)}

    return State(state.iteration, lambda: state.weights, done, measures, memory)


def _place(state: State, stages: Sequence[EpsilonStage]) -> tuple[int, int]:
    """The stage that a state is in, and how many iterations of it were made."""
    if "schedule" not in state.memory:
        raise SettingError("this state is not that of a staged learner")
    at, made = (int(number) for number in state.memory["schedule"])
    if at >= len(stages):
        raise SettingError(f"this state is of a schedule with more than {len(stages)} stages")
    return at, made


def _with_stage(engine: Engine, amortized: Amortized) -> Engine:
    """The layers of an engine with another `Amortized` in the place of its own."""
    return rebuilt(engine, Amortized, lambda _: amortized)
