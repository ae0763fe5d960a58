"""The seam of learners: they iterate, and every state they yield is enough to go on from.

    for state in learner.iterate(model, prepared): ...

yields a `State` after each pass over the data. Randomness is drawn anew in every iteration
from (seed, iteration), so a run that is stopped and resumed from a state makes the same
steps, bit for bit, as one that was not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, Protocol

import numpy as np

from rote.errors import DataError, SettingError
from rote.model import Group, Model, Prepared
from rote.types import AnyArray, FloatArray


@dataclass(frozen=True, eq=False)
class State:
    """A learner after some iterations."""

    iteration: int
    weights: FloatArray  # what a model should predict with
    done: bool  # the stop rule is met
    measures: Mapping[str, float] = field(default_factory=dict)
    memory: Mapping[str, AnyArray] = field(default_factory=dict, repr=False)  # needed to go on


class Learner(Protocol):
    """Moves weights with an engine's answers."""

    def iterate(
        self, model: Model[Any, Any], prepared: Prepared, state: State | None = None
    ) -> Iterator[State]:
        """States after each iteration, beginning anew or going on from ``state``.

        Perceptrons begin with the model's weights; a structural SVM begins with zero, since its
        weights are the sum of what its duals hold.
        """
        ...


def fit(
    learner: Learner,
    model: Model[Any, Any],
    prepared: Prepared,
    *,
    state: State | None = None,
    watch: Callable[[State], None] | None = None,
) -> Model[Any, Any]:
    """Iterate to the end; ``watch`` sees every state on the way."""
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


def check_examples(prepared: Prepared) -> None:
    """Refuse what nothing can be learned from."""
    if not len(prepared):
        raise DataError("there are no examples to learn from")
    if any(group.gold is None for group in prepared.groups):
        raise DataError("the examples have no outputs to learn from; prepare them with ys")


def check_whole(name: str, value: int, *, least: int) -> None:
    """Refuse a setting that is not a whole number of at least ``least``."""
    if not isinstance(value, Integral) or value < least:
        raise SettingError(f"{name} is a whole number of at least {least}, got {value!r}")


def check_number(name: str, value: float, *, least: float, above: bool = False) -> None:
    """Refuse a setting that is not a finite number of at least ``least``, or above it."""
    if not np.isfinite(value) or value < least or (above and value == least):
        raise SettingError(
            f"{name} is a number {'above' if above else 'of at least'} {least}, got {value}"
        )


def averaged(weights: FloatArray, sums: FloatArray, seen: float) -> FloatArray:
    """weights - sums / seen, the lazy average of perceptrons, in one array."""
    average = np.multiply(sums, -1.0 / max(1.0, seen))
    average += weights
    return average


def pieces_of(prepared: Prepared, most: int, seed: int, iteration: int) -> list[Group]:
    """All examples in random order, in pieces of at most so many that share a space."""
    rng = np.random.default_rng([seed, iteration])
    pieces = []
    for group in prepared.groups:
        order = rng.permutation(len(group))
        pieces += [group.rows(order[k : k + most]) for k in range(0, len(group), most)]
    return [pieces[k] for k in rng.permutation(len(pieces)).tolist()]


def shuffled(count: int, seed: int, iteration: int) -> list[int]:
    """The order of examples in one iteration, the same whenever it is asked for."""
    return np.random.default_rng([seed, iteration]).permutation(count).tolist()  # type: ignore[no-any-return]
