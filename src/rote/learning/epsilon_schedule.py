"""Learning with amortized inference whose ε changes on the way: AI-DCD and AI-SP.

A *stage* has an ε. A learner goes through the stages one after the other, each to its stop rule or
for a number of iterations, and goes on from where the stage before has left it; the last stage
decides when it is done. `adaptive_schedule` is that of Chang et al. (2015): ε = 10, then 0.1, then
0, each to the stop rule. With ε = 0 in the end, or with exact inference every so many calls, the
structural SVM reaches the optimum of exact training (their Theorem 3).

    EpsilonSchedule(StructuredSVM()) is AI-DCD, EpsilonSchedule(Perceptron()) is AI-SP.

A run that is resumed takes the same steps as one that was not, bit for bit, where ε is 0; where it
is above, answers depend on the solution cache, which begins anew.

Every state's measures tell what its iteration cost: ``queries``, ``solver_calls``, ``hits``,
``distinct_outputs`` (an oracle's calls), ``testing_seconds``, ``solving_seconds``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from rote.errors import SettingError
from rote.inference.engine import find, rebuilt
from rote.inference.wrappers.amortized import Amortized, Counters
from rote.learning.base import LEARNER, Learner, State
from rote.model import Dataset, Model
from rote.settings import Checked, Setting, check, number, optional, whole
from rote.types import AnyArray


@dataclass(frozen=True)
class EpsilonStage(Checked):
    """An ε of amortized inference, for some iterations.

    Parameters
    ----------
    epsilon
        How far below the optimum an answer may be, at least 0.
    iterations
        How long the stage lasts, at least 1; None for to the learner's stop rule.
    exact_period
        τ: at least one of any τ inferences in a row is exact; None for no such promise.
    """

    epsilon: float
    iterations: int | None = None
    exact_period: int | None = None

    checks: ClassVar = {
        "epsilon": number(least=0),
        "iterations": optional(whole(1)),
        "exact_period": optional(whole(1)),
    }


STAGES = Setting(
    "one or more of EpsilonStage(epsilon), as in adaptive_schedule()",
    lambda value: (
        isinstance(value, Sequence)
        and len(value) > 0
        and all(isinstance(stage, EpsilonStage) for stage in value)
    ),
    tuple,
)


def adaptive_schedule(*epsilons: float) -> tuple[EpsilonStage, ...]:
    """One ε after the other, each to the stop rule; 10, 0.1, 0 where none are given."""
    return tuple(EpsilonStage(epsilon) for epsilon in epsilons or (10.0, 0.1, 0.0))


def geometric(first: float, factor: float, steps: int) -> tuple[EpsilonStage, ...]:
    """ε shrinks by a factor in every iteration, and is 0 in the end.

    Parameters
    ----------
    first
        The ε of the first iteration, above 0.
    factor
        By which it is multiplied in each iteration, above 0 and below 1.
    steps
        For how many iterations it is above 0, at least 1.

    >>> [stage.epsilon for stage in geometric(1.0, 0.5, 3)]
    [1.0, 0.5, 0.25, 0.0]
    """
    check("first", first, number(above=0))
    check("factor", factor, number(above=0, below=1))
    check("steps", steps, whole(1))
    shrinking = [EpsilonStage(first * factor**step, 1) for step in range(steps)]
    return (*shrinking, EpsilonStage(0.0))


def exact_at_times(epsilon: float, every: int, after: int) -> tuple[EpsilonStage, ...]:
    """The same ε throughout, and exact inference from time to time.

    Parameters
    ----------
    epsilon
        How far below the optimum an answer may be, at least 0.
    every
        At least one of so many inferences in a row is exact; at least 1.
    after
        From this iteration on, at least 1.
    """
    check("every", every, whole(1))
    check("after", after, whole(1))
    return EpsilonStage(epsilon, after), EpsilonStage(epsilon, None, every)


@dataclass(frozen=True)
class EpsilonSchedule(Checked):
    """A learner over stages of ε; the model's engine is `Amortized`, or has one inside.

    Parameters
    ----------
    learner
        What moves the weights, in all stages.
    stages
        One or more of `EpsilonStage`, one after the other.
    """

    learner: Learner
    stages: Sequence[EpsilonStage] = (EpsilonStage(0.0),)

    checks: ClassVar = {"learner": LEARNER, "stages": STAGES}

    def iterate(
        self, model: Model[Any, Any], prepared: Dataset, state: State | None = None
    ) -> Iterator[State]:
        engine = find(model.engine, Amortized)
        if engine is None:
            raise SettingError(
                f"EpsilonSchedule sets the ε of an Amortized engine; the model has {model.engine!r}"
            )
        at, made = (0, 0) if state is None else _place(state, self.stages)
        while at < len(self.stages) and not (state is not None and state.done):
            stage, last = self.stages[at], at + 1 == len(self.stages)
            if made == stage.iterations:
                return  # a state from the end of the last stage
            change = partial(Amortized.at, epsilon=stage.epsilon, exact_period=stage.exact_period)
            staged = model.with_engine(rebuilt(model.engine, Amortized, change))
            before = engine.counters
            for now in self.learner.iterate(staged, prepared, state):
                made += 1
                over = now.done or made == stage.iterations
                place = (at + 1, 0) if over and not last else (at, made)
                cost = engine.counters - before
                state = _costed(now, cost, stage.epsilon, place, done=now.done and last)
                yield state
                before = engine.counters  # what others have asked meanwhile is not ours
                if over:
                    break
            else:
                return  # the learner has come to its own limit
            at, made = at + 1, 0


def _costed(
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
        raise SettingError("this state is not that of an EpsilonSchedule")
    at, made = (int(number) for number in state.memory["schedule"])
    if at >= len(stages):
        raise SettingError(f"this state is of a schedule with more than {len(stages)} stages")
    return at, made
