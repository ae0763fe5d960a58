"""The structured perceptron: inference-based training (IBT) of Punyakanok et al. (2005).

For one example after the other, with the model's engine,

    ŷ = argmax_y w · φ(x, y)          if ŷ ≠ y:  w += φ(x, y) - φ(x, ŷ)

Averaging is lazy: beside w we keep the sum u of all steps, each times the number of examples
seen before it, and the average of w over n examples is w - u / n.

*Which part of the output is learned from.* "full" takes the whole of it, as above. "early" and
"largest" look at prefixes in the order of the space's variables, with the parts that lie wholly
inside: "early" takes the shortest prefix whose labels are wrong and score no less than the right
ones, "largest" the one whose lead over the right labels is largest (Huang et al. 2012). Only
prefixes that outscore the right labels are learned from, which keeps the mistake bound when the
engine does not find the best output.

*Learning only* (LO) decides every variable by itself, without rules and factors:

    ŷ_t = argmax_a w^a · φ(x, t)       if ŷ_t ≠ y_t:  w^{y_t} += φ(x, t),  w^{ŷ_t} -= φ(x, t)

These are the same weights that inference-based training moves. Predicting with them and an
engine that enforces rules is *learning plus inference* (L+I).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from rote.errors import NoSolution, ScoreError, SettingError, relocate
from rote.inference.asking import ask
from rote.inference.engine import Engine, require
from rote.inference.problem import TIE, Problem
from rote.kernels.bundles import ChainPlan
from rote.kernels.learning.perceptron import (
    NOTHING,
    WRONG,
    Average,
    Decisions,
    Example,
    StepRoom,
    chain_step,
    learn_locally,
    move_average,
    wrong_prefix,
)
from rote.learning.base import (
    AveragedWeights,
    State,
    check_examples,
    expiring,
    iterations_left,
    shuffled,
)
from rote.model import Batch, Dataset, Model
from rote.settings import FLAG, Checked, one_of, whole
from rote.types import IntArray, offsets_from_counts, readonly

Update = Literal["full", "early", "largest"]


@dataclass(frozen=True)
class Perceptron(Checked):
    """The structured perceptron; it stops after an iteration without mistakes.

    Parameters
    ----------
    iterations
        At most so many passes over the examples, at least 1.
    average
        Whether the weights are the mean over all steps, which generalises better.
    update
        Which part of a wrong output is learned from: "full", "early" or "largest".
    seed
        Of the order of examples; a whole number of at least 0.
    """

    iterations: int = 10
    average: bool = True
    update: Update = "full"
    seed: int = 0

    checks: ClassVar = {
        "iterations": whole(1),
        "average": FLAG,
        "update": one_of(*get_args(Update)),
        "seed": whole(0),
    }

    @expiring
    def iterate(
        self, model: Model[Any, Any], prepared: Dataset, state: State | None = None
    ) -> Iterator[State]:
        check_examples(prepared)
        own = AveragedWeights.begun(model, state)
        learn = _Steps(self.update, model.engine, prepared, own)

        def epoch(iteration: int) -> int:
            mistakes = 0
            for number in shuffled(len(prepared), self.seed, iteration):
                group, place = prepared.places[number]
                if group.sample_weight[place] > 0:
                    mistakes += learn(group, place)
                own.seen += 1
            return mistakes

        left = iterations_left(state, self.iterations)
        yield from own.states(left, epoch, len(prepared), average=self.average)


class _Steps:
    """Learning from one example, by one kernel where the engine would solve a chain."""

    def __init__(
        self, update: Update, engine: Engine, prepared: Dataset, own: AveragedWeights
    ) -> None:
        self.update = update
        self.engine = engine
        self.prepared, self.vectors = prepared, prepared.vectors
        self.own = own
        self.average = Average(own.weights, own.sums)
        self.view = readonly(own.weights)  # the same memory: it sees every step
        full = update == "full"
        if not full and any(group.frame.global_features for group in prepared.groups):
            raise SettingError('prefixes have no global features; take update="full"')
        self.chains = {
            id(group): self._chain(engine, group)
            if full and not group.frame.global_features
            else None
            for group in prepared.groups
        }

    @staticmethod
    def _chain(engine: Engine, group: Batch) -> tuple[ChainPlan, StepRoom] | None:
        chain, layout = engine.chain(group.space), group.space.layout
        return None if chain is None else (chain, StepRoom(chain, layout, group.slots))

    def __call__(self, group: Batch, place: int) -> bool:
        """Whether the example was taken for a mistake."""
        found = self.chains[id(group)]
        if found is None:
            return self._step(group, place)
        chain, room = found
        example, slots, layout = self._example(group, place), group.slots, group.space.layout
        how = chain_step(self.average, self.vectors, slots, chain, layout, example, TIE, room)
        return self._step(group, place) if how == NOTHING else how == WRONG

    def _step(self, group: Batch, place: int) -> bool:
        one = group.rows(slice(place, place + 1))
        space, slots = group.space, group.slots
        problem = self.prepared.problem(self.view, one, "example")
        toward, away = group.gold_slots[place], group.columns(self._predicted(problem, one))[0]
        if self.update != "full":
            early, scores = self.update == "early", problem.scores[0]
            away = wrong_prefix(scores, slots.start, space.slot_ends, toward, away, early)
        if away.tolist() == toward.tolist():
            return False
        example = self._example(group, place)
        move_average(self.average, self.vectors, slots, example, away)
        return True

    def _predicted(self, problem: Problem, one: Batch) -> IntArray:
        require(self.engine, problem)
        try:
            return ask(self.engine, problem, self.prepared.context(one)).require_outputs()
        except (NoSolution, ScoreError) as error:
            relocate(error, "example", one.members.tolist())
            raise

    def _example(self, group: Batch, place: int) -> Example:
        return Example(
            group.firsts[place], group.gold_slots[place], group.sample_weight[place], self.own.seen
        )


@dataclass(frozen=True)
class IndependentPerceptron(Checked):
    """A perceptron for every variable by itself; it stops after an iteration without mistakes.

    Parameters
    ----------
    iterations, average, seed
        As those of `Perceptron`.
    """

    iterations: int = 10
    average: bool = True
    seed: int = 0

    checks: ClassVar = {"iterations": whole(1), "average": FLAG, "seed": whole(0)}

    @expiring
    def iterate(
        self, model: Model[Any, Any], prepared: Dataset, state: State | None = None
    ) -> Iterator[State]:
        check_examples(prepared)
        decisions = _decisions(prepared)
        own = AveragedWeights.begun(model, state)
        average, vectors = Average(own.weights, own.sums), prepared.vectors

        def epoch(iteration: int) -> int:
            order = np.array(shuffled(len(prepared), self.seed, iteration), dtype=np.int64)
            mistakes = learn_locally(average, vectors, decisions, readonly(order), own.seen)
            own.seen += len(decisions.vector)
            return mistakes

        left = iterations_left(state, self.iterations)
        yield from own.states(left, epoch, 0, average=self.average)


def _decisions(prepared: Dataset) -> Decisions:
    counts = np.zeros(len(prepared), dtype=np.int64)
    for group in prepared.groups:
        counts[group.members] = len(group.space.variables)
    ptr = readonly(offsets_from_counts(counts))
    fields = np.empty((6, int(ptr[-1])), dtype=np.int64)
    sample_weight = np.empty(len(prepared))
    for group in prepared.groups:
        n = len(group.space.variables)
        sample_weight[group.members] = group.sample_weight
        slots = group.slots
        own = slots.vector[:n]
        assert group.gold is not None
        at = (ptr[group.members][:, None] + np.arange(n)).ravel()
        vector = np.where(own < 0, 0, group.firsts[:, None] + own)
        known = (slots.origin[:n], slots.stride[:n], slots.each[:n], group.space.sizes)
        for field, values in zip(fields, (vector, *known, group.gold), strict=True):
            field[at] = np.broadcast_to(values, (len(group), n)).ravel()
    vector, origin, stride, each, width, gold = (readonly(field) for field in fields)
    return Decisions(
        ptr, vector, origin, stride, readonly(each > 0), width, gold, readonly(sample_weight)
    )
