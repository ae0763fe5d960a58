"""`Model`: a task, weights over its features, and the engine that predicts.

score(x, y) = Σ over the slots of x of weights · features,    predict = the best y in its space

Global features of whole outputs are slots as well, and their vectors are constants.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np

from rote.errors import InfeasibleSpace, ScoreError, locate, relocate
from rote.inference.asking import ask_all
from rote.inference.engine import Capability, Engine, check_engine, in_threads, require
from rote.inference.exact.exact import Exact
from rote.inference.solutions import Solutions
from rote.model.batch import Batch
from rote.model.dataset import Dataset, check_many, pairs_of, prepare
from rote.model.layout import Layout
from rote.model.progress import progress_of
from rote.settings import check, whole
from rote.tasks.task import Task, WithoutRules, labels_of
from rote.types import FloatArray, readonly

if TYPE_CHECKING:
    from rote.inference.explain import Explanation
    from rote.inference.rule_report import RuleReport
    from rote.viz import Picture

SOFT = "rule "  # what the names of blocks of soft rules begin with
AT_ONCE, LOOKS = 200, 50  # a bar is looked at after so many inputs, and so often at most
X = TypeVar("X")
Y = TypeVar("Y")


@dataclass(frozen=True, eq=False)
class Model(Generic[X, Y]):
    """What predicts: frozen; learners return a new one.

    Parameters
    ----------
    task
        What an input looks like, and what its outputs mean.
    layout, weights
        Where each weight lies, and the weights, of shape (layout.size,); finite.
    engine
        What finds the best output; exact MAP inference unless given.
    """

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
        object.__setattr__(self, "weights", readonly(self.weights))

    def with_weights(self, weights: FloatArray) -> Model[X, Y]:
        """The same model with other weights."""
        return replace(self, weights=weights)

    @property
    def rule_costs(self) -> dict[str, float]:
        """What breaking each soft rule costs whose weight was learned, by the name of the rule."""
        blocks = [b.name for b in self.layout.blocks if b.name.startswith(SOFT)]
        found = {name: self.layout.block(self.weights, name)[0] for name in blocks}
        return {name.removeprefix(SOFT): float(k - b) for name, (k, b) in found.items()}

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

    def prepare(self, xs: Iterable[X], ys: Iterable[Y] | None = None, **options: Any) -> Dataset:
        """Examples made ready for this model; features it does not know are left out.

        Those of inputs without outputs are worked out later, if the engine asks for few of them.
        """
        lazy = ys is None and self._is_lazy
        return prepare(self.task, xs, ys, layout=self.layout, lazy=lazy, **options)

    @property
    def _is_lazy(self) -> bool:
        return Capability.LAZY_SCORES in self.engine.supports

    def answers(
        self, prepared: Dataset, n_jobs: int = 1, given: Sequence[Sequence[int]] | None = None
    ) -> list[tuple[Batch, Solutions]]:
        """The answers to all inputs, group by group, each with its proof, by so many threads.

        Parameters
        ----------
        prepared
            The inputs.
        n_jobs
            How many threads do inference.
        given
            The position of the label of each variable of each input; -1 where none is given.
        """
        check("n_jobs", n_jobs, whole(1))
        found: dict[int, list[Solutions]] = {id(group.frame): [] for group in prepared.groups}
        # Scores that are worked out when they are asked for are asked for together, by one thread.
        n_jobs = 1 if self._is_lazy else n_jobs
        batches = list(prepared.batches(n_jobs))

        def answer(batch: list[Batch]) -> list[Solutions]:
            return list(self._answered(prepared, batch, given))

        for batch, answers in zip(batches, in_threads(answer, batches, n_jobs), strict=True):
            for piece, solutions in zip(batch, answers, strict=True):
                found[id(piece.frame)].append(solutions)
        return [(group, Solutions.joined(found[id(group.frame)])) for group in prepared.groups]

    def _answered(
        self,
        prepared: Dataset,
        batch: Sequence[Batch],
        given: Sequence[Sequence[int]] | None = None,
    ) -> Iterator[Solutions]:
        lazy = self._is_lazy and given is None
        pairs = [prepared.question(self.weights, group, lazy=lazy) for group in batch]
        if given is not None:
            known = [[given[k] for k in group.members.tolist()] for group in batch]
            pairs = [
                (problem.with_known(labels_of(problem.space, own, unknown=True)), context)
                for (problem, context), own in zip(pairs, known, strict=True)
            ]
        for problem, _ in pairs:
            require(self.engine, problem)
        answers = ask_all(self.engine, pairs)
        for group in batch:
            try:
                yield next(answers)
            except InfeasibleSpace as error:
                locate(error, "input", int(group.members[0]))
                raise
            except ScoreError as error:
                relocate(error, "input", group.members.tolist())
                raise

    def predict(
        self,
        xs: Iterable[X],
        n_jobs: int = 1,
        *,
        given: Iterable[Y] | None = None,
        progress: bool = False,
    ) -> list[Y]:
        """The best output of every input.

        Parameters
        ----------
        xs
            The inputs.
        n_jobs
            How many threads do inference.
        given
            Outputs that are known in part, with None, "?" or -1 in place of labels that are not:
            the best ones that have the labels given.
        progress
            Whether a bar shows how many inputs are done and the time left, in a terminal or in a
            notebook.
        """
        check_many("inputs", xs)
        inputs = list(xs)
        known = None if given is None else self._encoded(inputs, given)
        size, found = len(inputs), list[Y]()
        shown: AbstractContextManager[Callable[..., None] | None] = nullcontext()
        if progress:
            size = max(AT_ONCE, -(-size // LOOKS))
            shown = progress_of("predict", len(inputs), only_seen=True)
        with shown as update:
            for start in range(0, len(inputs), max(1, size)):
                some = slice(start, start + size)
                try:
                    found += self._predicted(inputs[some], n_jobs, known and known[some])
                except Exception as error:
                    if start:
                        relocate(error, "input", range(start, len(inputs)))
                    raise
                if update is not None:
                    update(len(found))
        return found

    def _encoded(self, xs: Sequence[X], ys: Iterable[Y]) -> list[Sequence[int]]:
        """Outputs that are known in part, as positions."""
        check_many("outputs", ys)
        known: list[Sequence[int]] = []
        for number, (x, y) in enumerate(pairs_of(xs, ys)):
            try:
                known.append(list(self.task.encode(x, y)))
            except Exception as error:
                locate(error, "input", number)
                raise
        return known

    def _predicted(
        self, xs: Sequence[X], n_jobs: int, known: Sequence[Sequence[int]] | None
    ) -> list[Y]:
        if known is None:
            return self.decode(xs, self.answers(self.prepare(xs), n_jobs))
        prepared = prepare(self.task, xs, layout=self.layout)
        return self.decode(xs, self.answers(prepared, n_jobs, known))

    def show(self, x: X, gold: Y | None = None) -> Picture:
        """The best output of an input, to look at; with the gold one, where they differ."""
        from rote.tasks.adapter import show

        answers = self.answers(self.prepare([x]))
        (y,) = self.decode([x], answers)
        costs = [f"{name}: costs {cost:.3g}" for name, cost in self.rule_costs.items()]
        return show(self.task, x, y, gold, facts=[answers[0][1].proof(), *costs])

    def explain(
        self, x: X, wanted: Mapping[str, str] | None = None, *, limit: int = 20
    ) -> Explanation:
        """Why the output of an input has not some labels; see `rote.explain`.

        Parameters
        ----------
        x
            The input.
        wanted
            Labels by the name of their variable in ``model.task.frame(x).space``.
        limit
            At most so many sets of rules.
        """
        from rote.inference.explain import explain

        prepared = self.prepare([x])
        problem = prepared.problem(self.weights, prepared.groups[0])
        return explain(problem.space, problem, wanted, engine=self.engine, limit=limit)

    def rule_report(
        self,
        xs: Iterable[X],
        ys: Iterable[Y] | None = None,
        *,
        by: Callable[[str], str] | None = None,
        most: int = 2,
        limit: int = 100,
    ) -> RuleReport:
        """What each rule changes in the outputs of some inputs; see `rote.rule_report`.

        Parameters
        ----------
        xs, ys
            The inputs, and their right outputs where they are known; these may break rules.
        by
            Makes the name of a kind of the name of a rule; its name without numbers unless given.
        most
            At most so many kinds are looked at together.
        limit
            At most so many sets that bind are looked for in an input.
        """
        from rote.inference.rule_report import Corpus, kind_of, report_of

        prepared = self.prepare(xs, ys, allow_infeasible_gold=True)
        corpora = (
            Corpus(prepared.problem(self.weights, piece), piece.members, piece.gold)
            for pieces in prepared.batches()
            for piece in pieces
        )
        return report_of(corpora, self.engine, kind_of if by is None else by, most, limit)

    def decode(self, inputs: Sequence[X], answers: Iterable[tuple[Batch, Solutions]]) -> list[Y]:
        """The outputs that `answers` to these inputs stand for, in the order of the inputs."""
        outputs: list[Any] = [None] * len(inputs)
        for group, solutions in answers:
            labels_of = solutions.require_outputs("input", group.members)
            own = labels_of[:, : group.space.own].tolist()
            for member, labels in zip(group.members.tolist(), own, strict=True):
                outputs[member] = self.task.decode(inputs[member], labels)
        return outputs
