"""What learners have in common: they iterate, and can be resumed from every state they yield.

    for state in learner.iterate(model, prepared): ...

yields a `State` after each pass over the data. Randomness is drawn anew in every iteration
from (seed, iteration), so a run that is stopped and resumed from a state makes the same
steps, bit for bit, as one that was not.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, ParamSpec, Protocol

import numpy as np

from rote.errors import DataError, SettingError
from rote.model import Batch, Dataset, Model
from rote.settings import Setting
from rote.space.losses import Hamming, Loss
from rote.types import AnyArray, FloatArray, readonly

Arguments = ParamSpec("Arguments")
LEARNER = Setting(
    "one such as StructuredSVM(C=0.1)",
    lambda value: not isinstance(value, type) and callable(getattr(value, "iterate", None)),
)
LOSS = Setting(
    "one such as Hamming()",
    lambda value: not isinstance(value, type) and callable(getattr(value, "offsets", None)),
)


class State:
    """A learner after some iterations.

    Weights and memory are copied when they are first asked for, which is not possible any more once
    the learner has gone on: ask in time, or collect states with ``[state.kept() for state in …]``.
    The last state can always be asked.

    Parameters
    ----------
    iteration
        How many passes over the data were made.
    weights
        What a model should predict with, or a function that copies them.
    done
        Whether the stop rule is met.
    measures
        What the learner measured in this iteration, by name.
    memory
        Arrays that the learner needs to go on, by name, or a function that copies them.
    """

    def __init__(
        self,
        iteration: int,
        weights: FloatArray | Callable[[], FloatArray],
        done: bool,
        measures: Mapping[str, float] | None = None,
        memory: Mapping[str, AnyArray] | Callable[[], Mapping[str, AnyArray]] | None = None,
    ) -> None:
        self.iteration = iteration
        self.done = done
        self.measures = {} if measures is None else measures
        self._weights = weights
        self._memory = {} if memory is None else memory
        self._past = False

    def __repr__(self) -> str:
        return f"State({self.iteration}, done={self.done}, measures={dict(self.measures)})"

    @property
    def weights(self) -> FloatArray:
        if callable(self._weights):
            self._check()
            self._weights = readonly(self._weights())
        return self._weights

    @property
    def memory(self) -> Mapping[str, AnyArray]:
        if callable(self._memory):
            self._check()
            self._memory = self._memory()
        return self._memory

    def kept(self) -> State:
        """The same state, whatever the learner does next."""
        _ = self.weights, self.memory
        return self

    def expire(self) -> None:
        """Say that the learner goes on."""
        self._past = True

    def _check(self) -> None:
        if self._past:
            raise DataError(
                f"the learner has gone on since iteration {self.iteration}, and nobody had asked "
                "for this state's weights or memory; ask in time, or keep it with state.kept()"
            )


class Learner(Protocol):
    """Moves weights with an engine's answers."""

    def iterate(
        self, model: Model[Any, Any], prepared: Dataset, state: State | None = None
    ) -> Iterator[State]:
        """States after each iteration, beginning anew or going on from ``state``.

        Perceptrons begin with the model's weights; a structural SVM begins with zero, since its
        weights are the sum of what its duals hold.
        """
        ...


def expiring(
    iterate: Callable[Arguments, Iterator[State]],
) -> Callable[Arguments, Iterator[State]]:
    """Let every state expire when the next one is there; the last one stays."""

    @wraps(iterate)
    def in_time(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Iterator[State]:
        previous: State | None = None
        for state in iterate(*args, **kwargs):
            if previous is not None:
                previous.expire()
            yield (previous := state)

    return in_time


def fit(
    learner: Learner,
    model: Model[Any, Any],
    prepared: Dataset,
    *,
    state: State | None = None,
    watch: Callable[[State], None] | None = None,
) -> Model[Any, Any]:
    """A model with the weights that a learner ends with.

    Parameters
    ----------
    learner
        What moves the weights.
    model
        Its engine is used for inference; perceptrons begin with its weights.
    prepared
        The examples, with outputs.
    state
        A state to go on from; None to begin anew.
    watch
        Sees every state on the way.
    """
    last = state
    for last in learner.iterate(model, prepared, state):
        if watch is not None:
            watch(last)
    return model if last is None else model.with_weights(last.weights)


def iterations_left(state: State | None, iterations: int) -> range:
    """The numbers of the iterations still to make; none after a state that is done."""
    if state is None:
        return range(1, iterations + 1)
    return range(0) if state.done else range(state.iteration + 1, iterations + 1)


def check_examples(prepared: Dataset, loss: Loss | None = None) -> None:
    """Refuse what nothing can be learned from, and a loss that speaks of labels nothing has."""
    if not len(prepared):
        raise DataError("there are no examples to learn from")
    if any(group.gold is None for group in prepared.groups):
        raise DataError("the examples have no outputs to learn from; prepare them with ys")
    if loss is not None:
        variables = [v for group in prepared.groups for v in group.space.variables]
        check_labels(loss, {label for variable in variables for label in variable.labels})


def check_labels(loss: Loss, labels: Collection[str]) -> None:
    """Refuse a loss that weighs a label which is none of these."""
    if not isinstance(loss, Hamming):
        return
    unknown = [label for label in dict(loss.weights) if label not in labels]
    if unknown:
        raise SettingError(
            f"the loss has a weight for {unknown[0]!r}, which no variable has for a label; "
            f"labels are {', '.join(sorted(labels)):.200}"
        )


def half_norm(weights: FloatArray) -> float:
    """½ ‖w‖², without BLAS, whose threads would go on spinning after so short a sum."""
    return 0.5 * float(np.einsum("i,i->", weights, weights))


@dataclass
class AveragedWeights:
    """The weights of a perceptron and what their average is read from.

    ``sums`` holds every step times the number of decisions ``seen`` before it, so that the average
    over all decisions is weights - sums / seen.
    """

    weights: FloatArray
    sums: FloatArray
    seen: float

    @staticmethod
    def begun(model: Model[Any, Any], state: State | None) -> AveragedWeights:
        """Those of a model, or those in the memory of a state."""
        if state is None:
            return AveragedWeights(model.weights.copy(), np.zeros_like(model.weights), 0.0)
        memory = state.memory
        return AveragedWeights(
            memory["weights"].copy(), memory["sums"].copy(), float(memory["seen"][0])
        )

    def average(self) -> FloatArray:
        average = np.multiply(self.sums, -1.0 / max(1.0, self.seen))
        average += self.weights
        return average

    def memory(self) -> dict[str, AnyArray]:
        seen = np.array([self.seen])
        return {"weights": self.weights.copy(), "sums": self.sums.copy(), "seen": seen}

    def states(
        self, left: range, epoch: Callable[[int], int], inferences: int, *, average: bool
    ) -> Iterator[State]:
        """The state after each iteration, whose mistakes ``epoch`` counts; done without any."""
        weights = self.average if average else self.weights.copy
        for iteration in left:
            mistakes = epoch(iteration)
            measures = {"mistakes": mistakes, "inferences": inferences}
            yield State(iteration, weights, mistakes == 0, measures, self.memory)
            if mistakes == 0:
                return


def mini_batches(prepared: Dataset, most: int, seed: int, iteration: int) -> list[Batch]:
    """All examples in random order, in batches of at most so many that share a space."""
    rng = np.random.default_rng([seed, iteration])
    batches = []
    for group in prepared.groups:
        order = rng.permutation(len(group))
        batches += [group.rows(order[k : k + most]) for k in range(0, len(group), most)]
    return [batches[k] for k in rng.permutation(len(batches)).tolist()]


def shuffled(count: int, seed: int, iteration: int) -> list[int]:
    """The order of examples in one iteration, the same whenever it is asked for."""
    return np.random.default_rng([seed, iteration]).permutation(count).tolist()  # type: ignore[no-any-return]
