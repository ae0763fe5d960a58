"""What the experiments after Chang et al. (2015) share: methods, what they cost, and sentences.

A method is an `Amortized` engine with its certificates, and the ε of each stage of learning. All
inferences of all methods go through such an engine, also those of the baseline, whose engine has
no certificate: so they are counted and timed in one way. An engine tests every input
(``admission="always"``), as its counts would hang on the clock otherwise.

Spaces are planned and solvers loaded before anything is timed (`warm_up`).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

import numpy as np

from papers.data.conll04 import load_conll04
from papers.data.folder import VARIABLE
from papers.records import Metric
from rote import (
    Amortized,
    Engine,
    EntityRelation,
    EntityRelationOutput,
    EpsilonSchedule,
    Exact,
    Learner,
    Milp,
    Model,
    Perceptron,
    StructuredSVM,
    adaptive_schedule,
    prepare,
)
from rote.datasets import english_sentences
from rote.engines import Counters
from rote.io import Sentence
from rote.metrics import EntityRelations, entity_f1, relation_f1
from rote.model import Dataset
from rote.types import FloatArray

PAPER = "Chang et al. (2015)"
CORPUS = "conll04"
MADE_UP = f"made-up English sentences, as {VARIABLE} is not set"
SAME = 1e-6  # how much objectives that are called the same may differ, relative to their size
TEST_SHARE = 0.2  # of sentences that have no common split
SOLVERS: Mapping[str, Engine] = {"Milp": Milp(), "Exact": Exact()}

Iterating = TypeVar("Iterating", StructuredSVM, Perceptron)


@dataclass(frozen=True)
class Method:
    """How answers are proved, and the ε of each stage; ``limit`` is in bytes of memory."""

    name: str
    certificate: str = "condition"
    epsilons: tuple[float, ...] = (0.0,)
    limit: int | None = None

    @property
    def exact(self) -> bool:
        """Whether every answer is the best output."""
        return not any(self.epsilons)

    def engine(self, base: Engine) -> Amortized:
        """A new engine over another, which remembers nothing yet."""
        engine = Amortized(base, certificate=self.certificate, admission="always")
        return engine if self.limit is None else replace(engine, max_bytes=self.limit)


BASELINE = Method("baseline", "none")
CONDITION = Method("epsilon=0")
ADAPTIVE = Method("adaptive", epsilons=(10.0, 0.1, 0.0))
AUTO = Method("auto", "auto")


def condition(epsilon: float) -> Method:
    """The paper's condition (4) with this ε."""
    return Method(f"epsilon={epsilon:g}", epsilons=(epsilon,))


class Trained(NamedTuple):
    """What a method has learned, and what it cost; ``told`` has the measures of each iteration."""

    method: Method
    weights: FloatArray
    told: Sequence[Mapping[str, float]]
    done: bool  # the stop rule was met
    counters: Counters
    seconds: float

    @property
    def inferences(self) -> int:
        """Also those whose output was taken again without asking an engine."""
        names = ("inferences", "reused")
        return int(sum(measures.get(name, 0) for measures in self.told for name in names))

    @property
    def calls(self) -> int:
        return self.counters.solver_calls

    @property
    def calls_percent(self) -> float:
        return 100 * self.calls / self.inferences

    @property
    def dual(self) -> float:
        """The dual objective, of a structural SVM."""
        return self.told[-1]["dual"]

    @property
    def guarantee(self) -> dict[str, Metric]:
        """M of Theorem 1 and 1 / (1 + M ε), of a condition with one ε above 0."""
        (epsilon, *others), largest = self.method.epsilons, self.counters.largest_m
        if others or not epsilon or self.method.certificate != "condition":
            return {}
        return {"largest_m": largest, "guaranteed_share": 1 / (1 + largest * epsilon)}

    def same_objective(self, other: Trained) -> bool:
        return abs(self.dual - other.dual) <= SAME * abs(other.dual)

    def same_weights(self, other: Trained) -> bool:
        """To the last bit."""
        return bool(np.array_equal(self.weights, other.weights))


@dataclass(frozen=True, eq=False)
class Bench:
    """Examples to learn from, and how good a model is on those it is judged by."""

    model: Model[Any, Any]
    learned: Dataset
    judge: Callable[[Model[Any, Any]], dict[str, float]]
    about: Mapping[str, Metric]  # how many examples there are of what kind

    def train(self, method: Method, learner: Learner, base: Engine) -> Trained:
        engine = method.engine(base)
        staged = EpsilonSchedule(learner, adaptive_schedule(*method.epsilons))
        start = perf_counter()
        told = []
        for state in staged.iterate(self.model.with_engine(engine), self.learned):
            told.append(state.measures)
        seconds = perf_counter() - start
        return Trained(method, state.weights, told, state.done, engine.counters, seconds)

    def judged(self, trained: Trained) -> dict[str, float]:
        return self.judge(self.model.with_weights(trained.weights))

    def warm_up(
        self, methods: Iterable[Method], learner: Iterating, solvers: Iterable[str]
    ) -> None:
        """Plan and load all that methods need, so that no time is told of it."""
        short = replace(learner, iterations=2)
        for method in methods:
            self.train(method, short, Exact())
        for group in self.learned.groups:
            easy = np.zeros((1, group.space.parts))  # the right output, whatever the others do
            assert group.gold is not None
            easy[:, group.space.parts_of(group.gold[:1])] = 1.0
            for solver in solvers:
                SOLVERS[solver].solve(group.space, easy)


def costs(trained: Trained, baseline: Trained) -> dict[str, Metric]:
    """What training took, beside what it takes to solve everything."""
    taken, whole = trained.counters.seconds, baseline.counters.seconds
    return {
        "inferences": trained.inferences,
        "solver_calls": trained.calls,
        "calls_percent": trained.calls_percent,
        "inference_seconds": taken,
        "training_seconds": trained.seconds,
        "speedup": whole / taken,
        "iterations": len(trained.told),
        "ended": "by its rule" if trained.done else "by the limit",
    }


def objectives(trained: Trained, baseline: Trained, best: float) -> dict[str, Metric]:
    """How far a structural SVM got: ``best`` is the best dual objective that is known."""
    return {
        "dual_objective": trained.dual,
        "dual_lost_percent": 100 * (1 - trained.dual / best),
        "same_weights": "yes" if trained.same_weights(baseline) else "no",
        **trained.guarantee,
    }


class Sentences(NamedTuple):
    """Sentences to learn from and sentences to be judged on, and where they come from."""

    source: str
    learn: tuple[Sentence, ...]
    judge: tuple[Sentence, ...]


def related_sentences(most: int, seed: int) -> Sentences:
    """Those with a relation, by the common split; learned from are its train and dev sentences.

    Of made-up sentences, and where fewer than all are asked for, the split is made by the seed.
    """
    if os.environ.get(VARIABLE):
        corpus = load_conll04()
        parts = [corpus.split(name) for name in ("train", "dev", "test")]
        if sum(map(len, parts)) <= most:
            return Sentences(f"{CORPUS}, common split", parts[0] + parts[1], parts[2])
        return _split(CORPUS, parts[0] + parts[1] + parts[2], most, seed)
    # About every second sentence that is made up has a relation.
    made = [s for s in english_sentences(3 * most, seed) if s.relations]
    return _split(MADE_UP, made, most, seed)


def all_sentences(most: int, seed: int) -> Sentences:
    """Those without relations as well, split by the seed."""
    if os.environ.get(VARIABLE):
        return _split(CORPUS, load_conll04().sentences, most, seed)
    return _split(MADE_UP, english_sentences(most, seed), most, seed)


def _split(source: str, sentences: Sequence[Sentence], most: int, seed: int) -> Sentences:
    order = np.random.default_rng(seed).permutation(len(sentences))[:most]
    chosen = tuple(sentences[k] for k in order.tolist())
    cut = round((1 - TEST_SHARE) * len(chosen))
    return Sentences(f"{source}, split at random", chosen[:cut], chosen[cut:])


def sentence_bench(sentences: Sentences) -> Bench:
    """Entities and relations of sentences; those that break a rule are not learned from."""
    task = EntityRelation()
    kept = [s for s in sentences.learn if task.is_feasible(s)]
    learned = prepare(task, kept, map(EntityRelationOutput.of, kept))
    model = Model(task, learned.layout, learned.layout.zeros())
    judged = model.prepare(sentences.judge)
    gold = [EntityRelations(*EntityRelationOutput.of(s)) for s in sentences.judge]

    def judge(model: Model[Any, Any]) -> dict[str, float]:
        found = model.decode(sentences.judge, model.answers(judged))
        outputs = [EntityRelations(*y) for y in found]
        return {
            "entity_f1": 100 * entity_f1(gold, outputs).micro.f1,
            "relation_f1": 100 * relation_f1(gold, outputs).micro.f1,
        }

    about: dict[str, Metric] = {
        "source": sentences.source,
        "learned from": len(kept),
        "not learned from, as they break a rule": len(sentences.learn) - len(kept),
        "judged on": len(gold),
        "weights": learned.layout.size,
    }
    return Bench(model, learned, judge, about)
