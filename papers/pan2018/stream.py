"""What a speed-up classifier learns from: a black box, and a stream of inputs that nobody labelled.

*Entities and relations*, as in Section 5 of Pan and Srikumar (2018): conll04's sentences with
relations, of which those that break a rule are left out, 70 % to learn the black box from and 30 %
to judge by. The stream is made of sentences with a given number of entities: those of conll04
without relations, and those of entity_stream in the place of Gigaword.

*Citations*: the black box is learned from the training part of cora_citations, and judged on its
test part; the stream is made of the training part without its outputs and of the unlabelled part.

What has to be chosen is chosen on a fifth of the training examples, with a black box of its own
that is learned from the others. Black boxes learn with `Exact`, or with an engine that is as exact:
weights are those that integer programs would lead to, as answers are the same. Without ROTE_DATA,
sentences and citations are made up by the seed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from papers.data.conll04 import load_conll04
from papers.data.cora_citations import load_cora_citations
from papers.data.entity_stream import stream_sentences
from papers.data.folder import VARIABLE
from papers.ma2019.tasks import Examples
from papers.samdani2012.blocks import Blocks, Hurried
from papers.samdani2012.corpora import Example, made_up_citation
from papers.samdani2012.counts import Counts
from papers.samdani2012.fields import citations
from rote import (
    EntityRelation,
    EntityRelationOutput,
    Exact,
    Model,
    Perceptron,
    SettingError,
    StructuredSVM,
    fit,
    prepare,
    train,
)
from rote.datasets import english_sentences
from rote.io import Sentence
from rote.metrics import EntityRelations, entity_f1, relation_f1, token_accuracy

SENTENCES, CITATIONS = "conll04", "cora"
MADE_UP = f"made up, as {VARIABLE} is not set"
TRAINED, HELD_OUT = 0.7, 5  # the share to learn from, and which part of it is held out
MAX_ENTITIES = 12  # of a sentence of the stream
START = 4.0  # where the perceptron of citations begins, in counts

Measures: TypeAlias = Callable[[Sequence[Any], Sequence[Any]], dict[str, float]]


@dataclass(frozen=True)
class Share:
    """How many examples and inputs of the stream there are at most, and how black boxes learn."""

    examples: int
    stream: int
    iterations: int
    C: tuple[float, ...] = ()  # of the structural SVM, one of which is chosen


@dataclass(frozen=True, eq=False)
class Ready:
    """A case: its black box, and what speed-up classifiers learn from and are judged on."""

    name: str
    source: str
    black_box: Model[Any, Any]
    trial: Model[Any, Any]  # the same, learned without what is held out
    held_out: Examples
    test: Examples
    stream: Sequence[Any]  # inputs
    measures: Measures  # in per cent
    metric: str  # the measure that agreement is judged by
    about: Mapping[str, Any]


def ready(name: str, share: Share, seed: int) -> Ready:
    """One of the cases, as much of it as a share says."""
    if name not in READY:
        raise SettingError(f"the cases are {', '.join(READY)}; got {name!r}")
    return READY[name](share, seed)


def extraction_measures(
    gold: Sequence[EntityRelationOutput], found: Sequence[EntityRelationOutput]
) -> dict[str, float]:
    """F1 of persons, places and organisations, and of relations."""
    right, said = ([EntityRelations(*y) for y in ys] for ys in (gold, found))
    return {
        "entity_f1": 100 * entity_f1(right, said, ignored=("Other",)).micro.f1,
        "relation_f1": 100 * relation_f1(right, said).micro.f1,
    }


def field_measures(gold: Sequence[Any], found: Sequence[Any]) -> dict[str, float]:
    """How many tokens have the right field."""
    return {"accuracy": 100 * token_accuracy(gold, found)}


class _Split(NamedTuple):
    source: str
    train: Examples
    test: Examples
    stream: Sequence[Any]
    left_out: int  # training examples that break a rule


def _apart(train: Examples) -> tuple[Examples, Examples]:
    """What is held out, and the rest."""
    cut = len(train.xs) // HELD_OUT
    return train.rows(range(cut)), train.rows(range(cut, len(train.xs)))


# Entities and relations


def _sentences(share: Share, seed: int) -> Ready:
    split = _split_sentences(share, seed)
    held_out, others = _apart(split.train)

    def learned(examples: Examples, slack: float) -> Model[Any, Any]:
        learner = StructuredSVM(slack, iterations=share.iterations, seed=seed)
        return train(EntityRelation(), *examples, learner=learner, engine=Exact())

    def reached(model: Model[Any, Any]) -> float:
        return sum(extraction_measures(held_out.ys, model.predict(held_out.xs)).values())

    trials = {slack: learned(others, slack) for slack in share.C}
    chosen = max(trials, key=lambda slack: reached(trials[slack]))
    return Ready(
        SENTENCES,
        split.source,
        learned(split.train, chosen),
        trials[chosen],
        held_out,
        split.test,
        split.stream,
        extraction_measures,
        "relation_f1",
        _about(split, held_out) | {"black box": "structural SVM", "C, chosen on held-out": chosen},
    )


def _about(split: _Split, held_out: Examples) -> dict[str, Any]:
    return {
        "source": split.source,
        "left out, as they break a rule": split.left_out,
        "learned from": len(split.train.xs),
        "of these held out to choose by": len(held_out.xs),
        "judged on": len(split.test.xs),
        "inputs of the stream": len(split.stream),
    }


def _split_sentences(share: Share, seed: int) -> _Split:
    if os.environ.get(VARIABLE):
        corpus = load_conll04().sentences
        related = [s for s in corpus if s.relations][: share.examples]
        alone = [s for s in corpus if not s.relations and 1 <= len(s.entities) <= MAX_ENTITIES]
        others = [s for s in stream_sentences() if 2 <= len(s.entities) <= MAX_ENTITIES]
        # Where not all is asked for, there is to be some of both.
        stream = (alone + others)[:: max(1, -(-len(alone + others) // share.stream))]
        source = "conll04 and entity_stream"
    else:
        made = english_sentences(share.examples + share.stream, seed)
        related, rest = list(made[: share.examples]), made[share.examples :]
        stream = [replace(sentence, relations=()) for sentence in rest]
        source = MADE_UP
    task = EntityRelation()
    kept = [s for s in related if task.is_feasible(s)]
    order = np.random.default_rng(seed).permutation(len(kept)).tolist()
    cut = round(TRAINED * len(kept))
    mixed: list[Sentence] = [kept[k] for k in order]
    examples = Examples(mixed, [EntityRelationOutput.of(s) for s in mixed])
    learned, test = examples.rows(range(cut)), examples.rows(range(cut, len(mixed)))
    return _Split(source, learned, test, stream, len(related) - len(kept))


# Citations


def _citations(share: Share, seed: int) -> Ready:
    split = _split_citations(share, seed)
    held_out, others = _apart(split.train)
    task = citations()

    def learned(examples: Examples) -> Model[Any, Any]:
        prepared = prepare(task, *examples)
        weights = prepared.layout.zeros()
        counts = Counts.of(task.labels, list(zip(*examples, strict=True)))
        counts.write(prepared.layout, weights)
        begun: Model[Any, Any] = Model(task, prepared.layout, START * weights, Blocks())
        learner = Perceptron(share.iterations, seed=seed)
        return fit(learner, begun, prepared).with_engine(Hurried())

    return Ready(
        CITATIONS,
        split.source,
        learned(split.train),
        learned(others),
        held_out,
        split.test,
        split.stream,
        field_measures,
        "accuracy",
        _about(split, held_out) | {"black box": "averaged perceptron, begun at counts"},
    )


def _split_citations(share: Share, seed: int) -> _Split:
    if os.environ.get(VARIABLE):
        data = load_cora_citations()
        parts: list[list[Example]] = [
            [(e.x, e.y) for e in data[part][: share.examples]] for part in ("train", "test")
        ]
        labelled, judged = parts
        others: list[Any] = [tuple(e.x) for e in data["unlabeled"]]
        source = "cora_citations"
    else:
        rng = np.random.default_rng(seed)
        made = [made_up_citation(rng) for _ in range(2 * share.examples + share.stream)]
        labelled, judged = made[: share.examples], made[share.examples : 2 * share.examples]
        others = [x for x, _ in made[2 * share.examples :]]
        source = MADE_UP
    task = citations()
    kept = [(x, y) for x, y in labelled if task.is_feasible(x, y)]
    stream = [*(x for x, _ in labelled), *others][: share.stream]
    order = np.random.default_rng(seed).permutation(len(kept)).tolist()
    learned, test = (
        Examples([x for x, _ in pairs], [y for _, y in pairs])
        for pairs in ([kept[k] for k in order], judged)
    )
    return _Split(source, learned, test, stream, len(labelled) - len(kept))


READY: Mapping[str, Callable[[Share, int], Ready]] = MappingProxyType(
    {SENTENCES: _sentences, CITATIONS: _citations}
)
