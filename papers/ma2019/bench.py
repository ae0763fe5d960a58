"""A case of Ma et al. (2019) with features of the highest order, learned and judged by RGS.

Sequences have factors for pairs of labels, and triples and quadruples as traits; sets of labels,
coreference and images are as their cases have them. α is chosen on validation examples by models
that were trained with it, from as many training examples as a plan says. All else that is needed
for that is in the plan too, so that a record can say it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from papers.ma2019.tasks import Case, Examples
from rote import (
    RGS,
    Engine,
    Model,
    StructuredSVM,
    Tagging,
    Task,
    fit,
    fit_unary_classifier,
    prepare,
)
from rote.engines import UnaryClassifier
from rote.model import Dataset

WIDEST = 4  # labels in a row that are scored together
NOISE = 0.2  # points that are no difference


@dataclass(frozen=True)
class Searching:
    """How a case is searched: restarts in training and in testing, and the classifier's fit.

    ``sweep`` is the number of training examples while α is chosen, ``validation`` that of the
    examples it is chosen by, ``learned`` that of the examples the models of the table learn from,
    and ``iterations`` those of all trainings; None leaves them as they are in the case. α is judged
    by ``sweep_trials`` models that differ in their seeds, and so are the models of the table by
    ``trials``.
    """

    restarts: int = 50
    training_restarts: int = 3
    classifier_iterations: int = 60
    sweep: int | None = None
    validation: int | None = None
    learned: int | None = None
    iterations: int | None = None
    sweep_trials: int = 1
    trials: int = 3


class Trained(NamedTuple):
    """A model that searches, and the seconds that its training took."""

    model: Model[Any, Any]
    seconds: float


def highest(task: Task[Any, Any]) -> Task[Any, Any]:
    """The task with features of the highest order."""
    return replace(task, order=1, max_ngram=WIDEST) if isinstance(task, Tagging) else task


def first(examples: Examples, count: int | None) -> Examples:
    """So many of them, spread evenly; None for all."""
    total = len(examples.ys)
    if count is None or count >= total:
        return examples
    return examples.rows([int(k) for k in np.linspace(0, total - 1, count).round()])


class Bench:
    """Examples of a case made ready, with the classifier that starts come from."""

    def __init__(
        self, case: Case, searching: Searching, examples: Examples, task: Task[Any, Any]
    ) -> None:
        self.case, self.searching, self.task = case, searching, task
        self.learned: Dataset = prepare(task, *examples)
        start = perf_counter()
        self.classifier: UnaryClassifier = fit_quietly(
            self.learned, searching.classifier_iterations
        )
        self.classifier_seconds = perf_counter() - start

    @property
    def learner(self) -> StructuredSVM:
        own = self.case.learner
        wanted = self.searching.iterations
        return own if wanted is None else replace(own, iterations=wanted)

    def blank(self, engine: Engine) -> Model[Any, Any]:
        return Model(self.task, self.learned.layout, self.learned.layout.zeros(), engine)

    def trained(self, alpha: float, seed: int = 0) -> Trained:
        """A model trained with RGS(α), which searches by it."""
        search = RGS(alpha, self.searching.training_restarts, self.classifier, seed)
        start = perf_counter()
        model = fit(replace(self.learner, seed=seed), self.blank(search), self.learned)
        spent = perf_counter() - start
        return Trained(model.with_engine(replace(search, restarts=self.searching.restarts)), spent)

    def guessed(self, examples: Examples) -> dict[str, float]:
        """What the classifier alone is worth."""
        prepared = prepare(self.task, examples.xs, layout=self.learned.layout)
        outputs: list[Any] = [None] * len(examples.xs)
        for group in prepared.groups:
            problem = prepared.problem(self.classifier.weights, group)
            found = self.classifier.initial(problem, prepared.context(group)).tolist()
            for member, labels in zip(group.members.tolist(), found, strict=True):
                outputs[member] = self.task.decode(examples.xs[member], labels)
        return self.case.measures(examples.ys, outputs)


def judged(
    case: Case, model: Model[Any, Any], examples: Examples, prepared: Dataset | None = None
) -> dict[str, float]:
    """The measures of a model on examples."""
    prepared = model.prepare(examples.xs) if prepared is None else prepared
    outputs = model.decode(examples.xs, model.answers(prepared))
    return case.measures(examples.ys, outputs)


def chosen_alpha(
    bench: Bench, alphas: Sequence[float], validation: Examples
) -> tuple[float, dict[float, float]]:
    """The smallest α that is as good as the best on validation examples; and what each reached.

    As good is what is behind by noise alone: an α above 0 has to be worth it.
    """
    prepared = prepare(bench.task, validation.xs, layout=bench.learned.layout)
    reached = {}
    for alpha in alphas:
        found = [
            judged(bench.case, bench.trained(alpha, trial).model, validation, prepared)
            for trial in range(bench.searching.sweep_trials)
        ]
        reached[alpha] = float(np.mean([next(iter(each.values())) for each in found]))
    best = max(reached.values())
    return min(alpha for alpha in alphas if reached[alpha] >= best - NOISE), reached


def fit_quietly(prepared: Dataset, iterations: int) -> UnaryClassifier:
    """A classifier whose fitting may end early: starts need not be the best there are."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return fit_unary_classifier(prepared, iterations=iterations)
