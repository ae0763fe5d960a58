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
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, get_args

from rote.errors import SettingError
from rote.inference import Objective
from rote.kernels.linear import move_both, scores_of
from rote.kernels.prefixes import wrong_prefix
from rote.learning.base import (
    Averaged,
    State,
    check_examples,
    check_whole,
    iterations_left,
    shuffled,
)
from rote.model import Model, Prepared
from rote.types import frozen

Update = Literal["full", "early", "largest"]


@dataclass(frozen=True)
class Perceptron:
    """Stops after an iteration without mistakes, or after ``iterations``."""

    iterations: int = 10
    average: bool = True
    update: Update = "full"
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole("iterations", self.iterations, least=1)
        if self.update not in get_args(Update):
            raise SettingError(
                f"update is one of {', '.join(get_args(Update))}; got {self.update!r}"
            )

    def iterate(
        self, model: Model[Any, Any], prepared: Prepared, state: State | None = None
    ) -> Iterator[State]:
        check_examples(prepared)
        own = Averaged.begun(model, state)
        view = frozen(own.weights)  # the same memory: it sees every step
        vectors, places = prepared.vectors, prepared.places
        now: State | None = None
        for iteration in iterations_left(state, self.iterations):
            if now is not None:
                now.expire()
            mistakes = 0
            for number in shuffled(len(prepared), self.seed, iteration):
                group, place = places[number]
                own.seen += 1
                importance = group.importance[place]
                if importance == 0:
                    continue
                space, here = group.space, slice(place, place + 1)
                firsts = group.firsts[here]
                scores = scores_of(view, vectors, group.slots, firsts)
                found = model.engine.solve(space, Objective(frozen(scores), checked=space)).labels
                assert group.gold is not None
                if (found == group.gold[here]).all():
                    continue
                toward, away = group.gold_columns[place], group.columns(found)[0]
                if self.update != "full":
                    away = wrong_prefix(
                        scores[0],
                        group.slots.start,
                        space.slot_ends,
                        toward,
                        away,
                        self.update == "early",
                    )
                    if (away == toward).all():
                        continue
                mistakes += 1
                move_both(
                    own.weights,
                    own.sums,
                    vectors,
                    group.slots,
                    firsts[0],
                    toward,
                    away,
                    importance,
                    own.seen - 1,
                )
            yield (now := own.state(iteration, mistakes, len(prepared), average=self.average))
            if now.done:
                return
