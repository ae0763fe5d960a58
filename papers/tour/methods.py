"""The methods of the tour: each learns from the same sentences and is judged on the same others.

Solvers are rote's own `Exact` and integer programs by HiGHS (`Milp`), whose answers are the same.
Each has a `Timed` around it, which counts what it is asked, by a method or by a wrapper within.

Predicting is timed after a rehearsal: planning spaces is no part of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from papers.answers import answers_without_rules
from rote import (
    RGS,
    Amortized,
    Decomposed,
    Engine,
    EntityRelation,
    EntityRelationOutput,
    Exact,
    HammingBall,
    IndependentPerceptron,
    LearnedBeam,
    Learner,
    Milp,
    Model,
    Perceptron,
    StructuredSVM,
    Timed,
    WithoutRules,
    distill,
    prepare,
)
from rote.io import Sentence
from rote.metrics import EntityRelations, entity_f1, relation_f1
from rote.types import FloatArray

LO, RULED, IBT = "LO", "L+I", "IBT"
EXACT, HIGHS = "SVM by Exact", "SVM by HiGHS"
AMORTIZED, DECOMPOSED = "SVM amortized", "SVM decomposed"
GREEDY, SPEEDUP = "SVM, then RGS", "speed-up"


@dataclass(frozen=True)
class Plan:
    """How much is done: at most so many sentences, and the settings of the methods."""

    train: int = 250
    unlabelled: int = 600
    test: int = 200
    iterations: int = 6
    C: float = 0.1
    around: int = 2  # labels that may be others than the right ones, for decomposed learning
    restarts: int = 10
    width: int = 8
    epochs: int = 8
    step: float = 0.003


class Sentences(NamedTuple):
    """Sentences to learn from, to be taught by without their outputs, and to be judged on."""

    source: str
    train: tuple[Sentence, ...]
    unlabelled: tuple[Sentence, ...]
    test: tuple[Sentence, ...]


class Learned(NamedTuple):
    """Weights, and what it took to learn them."""

    weights: FloatArray
    inferences: int
    calls: int  # of the solver
    seconds: float
    inference_seconds: float  # of them, those spent on inference

    def and_then(self, more: Learned) -> Learned:
        """What it took to learn these weights, and something else after them."""
        return Learned(
            self.weights,
            self.inferences + more.inferences,
            self.calls + more.calls,
            self.seconds + more.seconds,
            self.inference_seconds + more.inference_seconds,
        )


class Predicted(NamedTuple):
    """What a method says of the test sentences; shares are of all of them."""

    outputs: tuple[EntityRelations, ...]
    entity_f1: float
    relation_f1: float
    obey: float
    proved: float  # to be the best output that obeys
    gap: float  # between what they are worth and their bounds, the mean
    values: FloatArray
    calls: int
    seconds: float


class Taken(NamedTuple):
    """A method that has been through all of it."""

    name: str
    learned: Learned
    predicted: Predicted


class Bench:
    """Sentences made ready once for all methods."""

    def __init__(self, sentences: Sentences, *, rules: bool = True) -> None:
        task: Any = EntityRelation() if rules else WithoutRules(EntityRelation())
        kept = [s for s in sentences.train if task.is_feasible(s)]
        self.left_out = len(sentences.train) - len(kept)
        self.learned = prepare(task, kept, map(EntityRelationOutput.of, kept))
        self.model = Model(task, self.learned.layout, self.learned.layout.zeros())
        self.unlabelled = self.model.prepare(sentences.unlabelled)
        self.sentences = sentences.test
        self.judged = self.model.prepare(sentences.test)
        self.gold = tuple(EntityRelations(*EntityRelationOutput.of(s)) for s in sentences.test)

    def learn(
        self, learner: Learner, engine: Engine, solver: Timed, step: Callable[[], None]
    ) -> Learned:
        """What a learner comes to with an engine, which may ask the solver."""
        asked, before, start = Timed(engine), solver.stats["inputs"], perf_counter()
        weights = self.model.weights
        for state in learner.iterate(self.model.with_engine(asked), self.learned):
            weights = state.weights
            step()
        seconds = perf_counter() - start
        calls = int(solver.stats["inputs"] - before)
        spent = asked.stats
        return Learned(weights, int(spent["inputs"]), calls, seconds, spent["seconds"])

    def predict(
        self,
        weights: FloatArray,
        engine: Engine,
        solver: Timed,
        rehearsal: Engine | None = None,
        *,
        rules: bool = True,
    ) -> Predicted:
        """What a model says of the test sentences; an engine that remembers rehearses by another.

        An answer that breaks a rule proves nothing, whatever it says of itself.
        """
        model: Model[Sentence, EntityRelationOutput] = self.model.with_weights(weights)
        answer = Model.answers if rules else answers_without_rules
        answer(model.with_engine(engine if rehearsal is None else rehearsal), self.judged)
        before, start = solver.stats["inputs"], perf_counter()
        answers = answer(model.with_engine(engine), self.judged)
        seconds = perf_counter() - start
        found = tuple(EntityRelations(*y) for y in model.decode(self.sentences, answers))
        is_feasible = np.concatenate([group.space.holds(each.labels) for group, each in answers])
        optimal = np.concatenate([each.optimal for _, each in answers])
        return Predicted(
            found,
            100 * entity_f1(self.gold, found).micro.f1,
            100 * relation_f1(self.gold, found).micro.f1,
            float(is_feasible.mean()),
            float((is_feasible & optimal).mean()),
            float(np.concatenate([each.gap for _, each in answers]).mean()),
            np.concatenate([each.value for _, each in answers]),
            int(solver.stats["inputs"] - before),
            seconds,
        )

    def distill(
        self, weights: FloatArray, engine: LearnedBeam, plan: Plan, seed: int, solver: Timed
    ) -> Learned:
        """What it takes to teach a speed-up by sentences whose outputs nobody gave."""
        before, asking, start = solver.stats["inputs"], solver.stats["seconds"], perf_counter()
        distill(
            self.model.with_weights(weights).with_engine(engine),
            self.unlabelled,
            epochs=plan.epochs,
            seed=seed,
        )
        seconds, calls = perf_counter() - start, int(solver.stats["inputs"] - before)
        return Learned(weights, calls, calls, seconds, solver.stats["seconds"] - asking)


def steps_of(plan: Plan) -> int:
    """How many steps `take` tells of: iterations of learners, and of other methods their end."""
    return 6 * plan.iterations + 3


def take(
    bench: Bench, plan: Plan, seed: int, doing: Callable[[str], None], step: Callable[[], None]
) -> Iterator[Taken]:
    """All methods, one after the other."""
    own, highs = Timed(Exact()), Timed(Milp())
    svm = StructuredSVM(plan.C, iterations=plan.iterations, seed=seed)

    doing(LO)
    learned = bench.learn(IndependentPerceptron(plan.iterations, seed=seed), own, own, step)
    yield Taken(LO, learned, bench.predict(learned.weights, Exact(), own, rules=False))
    doing(RULED)
    yield Taken(RULED, learned, bench.predict(learned.weights, own, own))
    step()

    doing(IBT)
    learned = bench.learn(Perceptron(plan.iterations, seed=seed), own, own, step)
    yield Taken(IBT, learned, bench.predict(learned.weights, own, own))

    doing(EXACT)
    exact = bench.learn(svm, own, own, step)
    yield Taken(EXACT, exact, bench.predict(exact.weights, own, own))
    doing(HIGHS)
    learned = bench.learn(svm, highs, highs, step)
    yield Taken(HIGHS, learned, bench.predict(learned.weights, highs, highs))

    doing(AMORTIZED)
    remembering, other = (Amortized(highs, admission="always") for _ in range(2))
    learned = bench.learn(svm, remembering, highs, step)
    yield Taken(AMORTIZED, learned, bench.predict(learned.weights, remembering, highs, other))

    doing(DECOMPOSED)
    around = Decomposed(highs, HammingBall(plan.around))
    learned = bench.learn(svm, around, highs, step)
    yield Taken(DECOMPOSED, learned, bench.predict(learned.weights, around, highs))

    doing(GREEDY)
    greedy = RGS(restarts=plan.restarts, seed=seed)
    yield Taken(GREEDY, exact, bench.predict(exact.weights, greedy, own))
    step()

    doing(SPEEDUP)
    fast = LearnedBeam(own, width=plan.width, step=plan.step)
    learned = exact.and_then(bench.distill(exact.weights, fast, plan, seed, own))
    yield Taken(SPEEDUP, learned, bench.predict(exact.weights, fast, own))
    step()


def agreement(one: Sequence[object], other: Sequence[object]) -> float:
    """The share of equal pairs."""
    return sum(bool(a == b) for a, b in zip(one, other, strict=True)) / max(1, len(one))
