"""`Model`: a task, weights over its features, and the engine that predicts.

score(x, y) = Σ over the slots of x of weights · features,    predict = the best y in its space

Traits are slots as well, and their features are constants.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np

from rote.errors import InfeasibleSpace, ScoreError, say_about
from rote.inference import Engine, Exact, Solutions
from rote.inference.engine import Capability, check_engine
from rote.model.dataset import Group, Prepared, check_many, prepare
from rote.model.layout import Layout
from rote.tasks.task import Task, WithoutRules
from rote.types import FloatArray, frozen

if TYPE_CHECKING:
    from rote.viz import Picture

X = TypeVar("X")
Y = TypeVar("Y")


@dataclass(frozen=True, eq=False)
class Model(Generic[X, Y]):
    """What predicts: frozen; learners return a new one."""

    task: Task[X, Y]
    layout: Layout
    weights: FloatArray
    engine: Engine = field(default_factory=Exact)

    def __post_init__(self) -> None:
        if self.weights.shape != (self.layout.size,):
            raise ScoreError(
                f"the layout has {self.layout.size} weights, got an array of shape "
                f"{self.weights.shape}"
            )
        if not np.isfinite(self.weights).all():
            place = int(np.argmin(np.isfinite(self.weights)))
            raise ScoreError(
                f"weights are finite; number {place} is {self.weights[place]}; learn from features "
                "of a smaller scale"
            )
        check_engine("the engine of a model", self.engine)
        object.__setattr__(self, "weights", frozen(self.weights))

    def with_weights(self, weights: FloatArray) -> Model[X, Y]:
        """The same model with other weights."""
        return replace(self, weights=weights)

    def with_engine(self, engine: Engine) -> Model[X, Y]:
        """The same model with another engine."""
        return replace(self, engine=engine)

    def without_rules(self) -> Model[X, Y]:
        """The same model for outputs that need not obey the rules."""
        return replace(self, task=cast(Task[X, Y], WithoutRules(self.task)))

    def save(self, folder: str | Path) -> None:
        """Write the model into a folder; `rote.model.files` says how."""
        from rote.model.files import save

        save(self, folder)

    @staticmethod
    def load(
        folder: str | Path, task: Task[Any, Any] | None = None, engine: Engine | None = None
    ) -> Model[Any, Any]:
        """The model of a folder; a task of your own, or an engine, is given again."""
        from rote.model.files import load

        return load(folder, task, engine)

    def prepare(self, xs: Iterable[X], ys: Iterable[Y] | None = None, **options: Any) -> Prepared:
        """Examples made ready for this model; features it does not know are left out."""
        return prepare(self.task, xs, ys, layout=self.layout, **options)

    def answers(self, prepared: Prepared) -> list[tuple[Group, Solutions]]:
        """The answers to all inputs, group by group, each with its proof."""
        return [
            (group, Solutions.joined([self._answer(prepared, piece) for piece in group.pieces()]))
            for group in prepared.groups
        ]

    def _answer(self, prepared: Prepared, group: Group) -> Solutions:
        problem, context = (
            prepared.problem(self.weights, group),
            prepared.context(group).without_gold(),
        )
        try:
            return self.engine.solve(group.space, problem, context)
        except InfeasibleSpace as error:
            say_about(error, "input", int(group.members[0]))
            raise

    def predict(self, xs: Iterable[X]) -> list[Y]:
        """The best output of every input; by an engine that need not look at all of it, lazily."""
        check_many("inputs", xs)
        inputs = list(xs)
        if Capability.LAZY_SCORES in self.engine.supports:
            from rote.model.lazy import predict_lazily

            return predict_lazily(self, inputs).outputs
        return self.decode(inputs, self.answers(self.prepare(inputs)))

    def show(self, x: X, gold: Y | None = None) -> Picture:
        """The best output of an input, to look at; with the gold one, where they differ."""
        from rote.tasks.adapter import show

        answers = self.answers(self.prepare([x]))
        (y,) = self.decode([x], answers)
        return show(self.task, x, y, gold, facts=[answers[0][1].proof()])

    def decode(self, inputs: Sequence[X], answers: Iterable[tuple[Group, Solutions]]) -> list[Y]:
        """The outputs that `answers` to these inputs stand for, in the order of the inputs."""
        outputs: list[Any] = [None] * len(inputs)
        for group, solutions in answers:
            labels_of = solutions.require_outputs("input", group.members).tolist()
            for member, labels in zip(group.members.tolist(), labels_of, strict=True):
                outputs[member] = self.task.decode(inputs[member], labels)
        return outputs
