"""Figure 1 of Punyakanok et al. (2005), on entities and relations: by the number of features.

The paper's figure is about semantic roles: with few features, where single decisions are hard to
learn, inference during learning (IBT) does best, and with many features, where they are easy,
inference after learning (L+I) does. Here the decisions are those of the entity-relation corpus
with the spans of its entities given, or of made-up English sentences without ROTE_DATA.

Of the features of entities, and of those of pairs, only the k most frequent in the training
sentences are kept, for growing k and at last for all of them. In each trial the sentences are
shuffled and split anew; within a trial all methods learn from and are judged on the same ones.
Sentences whose own output breaks a rule are not learned from. How hard single decisions are is
measured, too: ``training_mistakes`` is the share of them, in per cent, that LO gets wrong in
the last of its passes over the training sentences.

``f1`` is over entities and relations together, and claims are judged by it; their evidence says
where IBT and L+I stand by relations alone. Splits of the same sentences overlap, so trials are
not independent and intervals are narrower than those of fresh sentences would be. The paper
gives its figure as curves only, and for another task, so rows have no number of it beside them.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from papers.base import Experiment, Outcome, Settings
from papers.curves import Lead, intervals, listed
from papers.data.conll04 import load_conll04
from papers.data.folder import VARIABLE
from papers.plots import Curve, Panel, draw_panels
from papers.records import Claim, Record, Row
from rote import (
    EntityRelation,
    EntityRelationOutput,
    Frame,
    IndependentPerceptron,
    Model,
    Perceptron,
    State,
    Task,
    fit,
    prepare,
)
from rote.datasets import english_sentences
from rote.features import CONSTANT, FeatureIndex, Positions
from rote.io import Sentence
from rote.metrics import EntityRelations, entity_f1, relation_f1
from rote.model import Layout
from rote.tasks.entity_relation_features import ENTITY, PAIR
from rote.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METHODS = ("LO", "L+I", "IBT")
CORPUS = "conll04, sentences with a relation"
MADE_UP = f"made-up English sentences, as {VARIABLE} is not set"


@dataclass(frozen=True)
class Plan:
    """How much is done; ``kept`` are numbers of features of each kind, and all come last."""

    kept: tuple[int, ...] = (10, 30, 100, 300, 1000, 3000, 10000)
    trials: int = 10
    sentences: int = 1441
    test_share: float = 0.2
    iterations: int = 10
    averaged: bool = True


FULL = Plan()
QUICK = Plan(kept=(10, 100, 1000), trials=3, sentences=400, iterations=5)


class Reached(NamedTuple):
    """F1 over all decisions, over entities and over relations, as shares."""

    f1: float
    entity_f1: float
    relation_f1: float


@dataclass(frozen=True, eq=False)
class Measured:
    """Of shape (places, trials): features kept, LO's mistakes in training, and F1 by method."""

    features: FloatArray
    mistakes: FloatArray
    reached: Mapping[str, FloatArray]  # with a last axis as in `Reached`

    @property
    def places(self) -> tuple[int, ...]:
        """How many features are kept, in the mean over trials."""
        return tuple(round(float(mean)) for mean in self.features.mean(axis=1))

    def lead(self, first: str, second: str, by: str) -> Lead:
        """How far one method is ahead of another, by a field of `Reached`."""
        which = Reached._fields.index(by)
        return Lead.of(
            self.places, self.reached[first][..., which], self.reached[second][..., which]
        )


def plan_of(settings: Settings) -> Plan:
    """How much is done under these settings."""
    plan = QUICK if settings.quick else FULL
    return plan if settings.trials is None else replace(plan, trials=settings.trials)


def compare(plan: Plan, settings: Settings) -> Outcome:
    """The experiment, as large as a plan says."""
    source, sentences = sentences_of(plan, settings.seed)
    measured = measure(plan, settings, sentences)
    trained, related = (measured.lead("IBT", "L+I", by) for by in ("f1", "relation_f1"))
    helped = measured.lead("L+I", "LO", "f1")
    return Outcome(
        {
            "data": source,
            "quick": settings.quick,
            "seed": settings.seed,
            **asdict(plan),
            "intervals": "95 %, Student's t over trials",
        },
        list(_rows(measured)),
        list(_claims(trained, related, helped, measured)),
    )


def sentences_of(plan: Plan, seed: int) -> tuple[str, tuple[Sentence, ...]]:
    """The corpus if there is one, and sentences made by the seed if not."""
    if not os.environ.get(VARIABLE):
        return MADE_UP, english_sentences(plan.sentences, seed)
    related = [s for s in load_conll04().sentences if s.relations]
    order = np.random.default_rng(seed).permutation(len(related))
    return CORPUS, tuple(related[k] for k in order[: plan.sentences].tolist())


def measure(plan: Plan, settings: Settings, sentences: Sequence[Sentence]) -> Measured:
    """What every method reaches with every number of features in every trial."""
    task = Computed(sentences)
    limits: tuple[int | None, ...] = (*plan.kept, None)
    shape = len(limits), plan.trials
    measured = Measured(
        np.empty(shape),
        np.empty(shape),
        {method: np.empty((*shape, len(Reached._fields))) for method in METHODS},
    )
    for trial in range(plan.trials):
        order = np.random.default_rng([settings.seed, trial]).permutation(len(sentences)).tolist()
        judged = max(1, round(plan.test_share * len(sentences)))
        test, train = [[sentences[k] for k in part] for part in (order[:judged], order[judged:])]
        bench = Bench(task, [s for s in train if EntityRelation().is_feasible(s)], test)
        for place, limit in enumerate(limits):
            bench.measure(plan, settings.seed + trial, limit, measured, (place, trial))
            settings.progress(trial * len(limits) + place + 1, plan.trials * len(limits))
    return measured


class Computed(Task[Sentence, EntityRelationOutput]):
    """The entity-relation task with the vectors of some sentences, each computed once."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self._task = EntityRelation()
        self._vectors = {sentence.id: self._task.vectors(sentence) for sentence in sentences}

    def frame(self, x: Sentence) -> Frame:
        return self._task.frame(x)

    def vectors(self, x: Sentence) -> Sequence[list[str]]:
        return self._vectors[x.id]

    def encode(self, x: Sentence, y: EntityRelationOutput) -> list[int]:
        return self._task.encode(x, y)

    def decode(self, x: Sentence, labels: Sequence[int]) -> EntityRelationOutput:
        return self._task.decode(x, labels)


class Bench:
    """Sentences to learn from and to be judged on, and how frequent features are in the former."""

    def __init__(self, task: Computed, train: Sequence[Sentence], test: Sequence[Sentence]) -> None:
        self.task, self.train, self.test = task, train, test
        self.gold = [EntityRelations(*EntityRelationOutput.of(sentence)) for sentence in test]
        self.frames = {id(frame): frame for frame in map(task.frame, (*train, *test))}
        self.seen: dict[str, Counter[str]] = {ENTITY: Counter(), PAIR: Counter()}
        for sentence in train:
            kinds = task.frame(sentence).kinds
            for kind, names in zip(kinds, task.vectors(sentence), strict=True):
                self.seen[kind].update(names)

    def layout(self, limit: int | None) -> Layout:
        """Weights for the most frequent features of each kind, or for all of them."""
        indices = {
            kind: FeatureIndex(name for name, _ in seen.most_common(limit))
            for kind, seen in self.seen.items()
        }
        for index in indices.values():
            index.freeze()
        return Layout.of(list(self.frames.values()), {CONSTANT: Positions(1), **indices})

    def measure(
        self,
        plan: Plan,
        seed: int,
        limit: int | None,
        measured: Measured,
        place: tuple[int, int],
    ) -> None:
        """Train and judge all methods with this many features, and enter what they reach."""
        layout = self.layout(limit)
        learned = prepare(
            self.task, self.train, map(EntityRelationOutput.of, self.train), layout=layout
        )
        model = Model(self.task, layout, layout.zeros())
        states: list[State] = []
        local = fit(
            IndependentPerceptron(plan.iterations, average=plan.averaged, seed=seed),
            model,
            learned,
            watch=states.append,
        )
        global_ = fit(Perceptron(plan.iterations, average=plan.averaged, seed=seed), model, learned)
        decisions = sum(len(sentence.entities) ** 2 for sentence in self.train)
        measured.features[place] = sum(len(layout.indices[kind]) for kind in self.seen)
        measured.mistakes[place] = states[-1].measures["mistakes"] / decisions
        for method, trained in (
            ("LO", local.without_rules()),
            ("L+I", local),
            ("IBT", global_),
        ):
            measured.reached[method][place] = self.judged(trained)

    def judged(self, model: Model[Sentence, EntityRelationOutput]) -> Reached:
        """F1 on the sentences to be judged on."""
        found = [EntityRelations(*output) for output in model.predict(self.test)]
        entities, relations = (f1(self.gold, found).micro for f1 in (entity_f1, relation_f1))
        right = entities.right + relations.right
        named = entities.true + entities.predicted + relations.true + relations.predicted
        return Reached(2 * right / named if named else 0.0, entities.f1, relations.f1)


def draw(record: Record) -> Figure:
    """F1 over all decisions, over entities and over relations, from a record."""
    panels = [
        Panel(
            title,
            [
                Curve.of([row for row in record.rows if row.method == method], method, x, metric)
                for method in METHODS
            ],
        )
        for x, metric, title in (
            ("features", "f1", "entities and relations"),
            ("features", "entity_f1", "entities"),
            ("features", "relation_f1", "relations"),
        )
    ]
    return draw_panels(panels, x_label="features that are kept", y_label="F1 on test data, %")


EXPERIMENT = Experiment(
    "punyakanok2005-features",
    "Punyakanok et al. (2005), Figure 1",
    "LO, L+I and IBT by the number of features, on entities and relations",
    compare,
    draw,
    plan=plan_of,
)


def _rows(measured: Measured) -> Iterator[Row]:
    for method, values in measured.reached.items():
        for place, features in enumerate(measured.places):
            metrics: dict[str, float | int | str] = {"features": features}
            for name, interval in zip(Reached._fields, intervals(values[place].T), strict=True):
                metrics[name] = 100 * interval.mean
                metrics[f"{name}_low"] = 100 * interval.low
                metrics[f"{name}_high"] = 100 * interval.high
            if method != "IBT":
                metrics["training_mistakes"] = 100 * float(measured.mistakes[place].mean())
            yield Row(method, metrics)


def _claims(trained: Lead, related: Lead, helped: Lead, measured: Measured) -> Iterator[Claim]:
    places = trained.places
    few, many = places[: len(places) // 2], places[len(places) // 2 :]
    hard, easy = (100 * float(measured.mistakes[k].mean()) for k in (0, -1))
    difficulty = (
        f"LO gets {hard:.1f} % of its training decisions wrong with {places[0]:,} features and "
        f"{easy:.1f} % with all {places[-1]:,}"
    )
    alone = (
        f"By relation F1 alone, IBT is ahead with {listed(related.ahead)} features and L+I with "
        f"{listed(related.behind)}."
    )
    yield Claim(
        "With few features, where single decisions are hard to learn, IBT outperforms L+I",
        any(p in trained.ahead for p in few) and not any(p in trained.behind for p in few),
        f"IBT minus L+I with {_each(trained, few)}; {difficulty}. {alone}",
    )
    yield Claim(
        "With many features, where single decisions are easy to learn, L+I outperforms IBT",
        places[-1] in trained.behind,
        f"IBT minus L+I with {_each(trained, many)}; {difficulty}. {alone}",
    )
    yield Claim(
        "With many features, inference after learning makes LO better still: L+I outperforms LO",
        all(p in helped.ahead for p in many),
        f"L+I minus LO with {_each(helped, many)}.",
    )


def _each(lead: Lead, places: Sequence[int]) -> str:
    return "; ".join(f"{place:,} features: {lead.said(place)}" for place in places)
