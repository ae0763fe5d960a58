"""How well a saved model does on a file: the scores that belong to its task.

tagging           token accuracy, exact match; chunk F1 if all labels are B-X, I-X and O
entity-relation   F1 over entities and relations, exact match
multilabel        scores over sets of labels, F1 by label
multiclass        accuracy, F1 by label
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rote.learning.files import predicted
from rote.metrics.labels import F1, F1Table, Label, exact_match, label_f1, token_accuracy
from rote.metrics.multilabel import multilabel_scores
from rote.metrics.relations import EntityRelations, entity_f1, relation_f1
from rote.metrics.spans import OUTSIDE, chunk_f1
from rote.model import Model
from rote.tasks.entity_relation import EntityRelation, Extraction
from rote.tasks.files import (
    ENTITY_RELATION,
    MULTICLASS,
    MULTILABEL,
    TAGGING,
    Contents,
    check_outputs,
    read_for,
)
from rote.tasks.multilabel import MultiLabel


@dataclass(frozen=True)
class Scores:
    """Numbers by their name, 1 for a perfect model, and F1 by label where a task has it."""

    task: str
    examples: int
    numbers: Mapping[str, float]
    tables: Mapping[str, F1Table] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """The same for JSON."""
        return {
            "task": self.task,
            "examples": self.examples,
            "scores": dict(self.numbers),
            "tables": {name: asdict(table) for name, table in self.tables.items()},
        }


def evaluate_file(folder: str | Path, path: str | Path, *, allow_unknown: bool = False) -> Scores:
    """The scores of a saved model on the examples of a file."""
    model = Model.load(folder)
    return evaluate(model, read_for(model.task, path), allow_unknown=allow_unknown)


def evaluate(model: Model[Any, Any], contents: Contents, *, allow_unknown: bool = False) -> Scores:
    """The scores of a model on examples.

    A label that the model does not know is refused; with ``allow_unknown``, it is one that the
    model has missed.
    """
    check_outputs(contents, model.task, allow_unknown=allow_unknown)
    assert contents.ys is not None
    numbers, tables = _SCORES[contents.name](model.task, contents.ys, predicted(model, contents))
    return Scores(contents.name, len(contents), numbers, tables)


_Found = tuple[dict[str, float], dict[str, F1Table]]


def _tagging(task: Any, gold: Sequence[Any], found: Sequence[Any]) -> _Found:
    numbers = {
        "token accuracy": token_accuracy(gold, found),
        "exact match": exact_match(gold, found),
    }
    # Labels that the model does not know may be of another scheme, which has no chunks.
    if not _are_chunks({*task.labels, *(label for y in gold for label in y)}):
        return numbers, {}
    chunks = chunk_f1(gold, found)
    return {**numbers, "chunk F1": chunks.micro.f1}, {"chunks": chunks}


def _are_chunks(labels: Iterable[str]) -> bool:
    inside = [label for label in labels if label != OUTSIDE]
    return bool(inside) and all(label.startswith(("B-", "I-")) for label in inside)


def _entity_relation(task: EntityRelation, gold: Sequence[Any], found: Sequence[Any]) -> _Found:
    true, said = [[_related(y) for y in side] for side in (gold, found)]
    none = task.relation_labels[0]
    entities = entity_f1(true, said)
    relations = relation_f1(true, said, none=none)
    strict = relation_f1(true, said, strict=True, none=none)
    right = [
        g.entities == p.entities and g.relations == p.relations
        for g, p in zip(gold, found, strict=True)
    ]
    return {
        "entity F1": entities.micro.f1,
        "relation F1": relations.micro.f1,
        "relation F1, strict": strict.micro.f1,
        "exact match": sum(right) / len(right),
    }, {"entities": entities, "relations": relations}


def _related(y: Extraction) -> EntityRelations:
    return EntityRelations(y.entities, y.relations)


def _multilabel(task: MultiLabel, gold: Sequence[Any], found: Sequence[Any]) -> _Found:
    unknown = {label for y in gold for label in y}.difference(task.labels)
    labels = (*task.labels, *sorted(unknown))
    true, said = [[[label in y for label in labels] for y in side] for side in (gold, found)]
    scores = multilabel_scores(true, said)
    by_label: dict[Label, F1] = {labels[int(k)]: f1 for k, f1 in scores.f1.by_label.items()}
    return {
        "hamming accuracy": scores.hamming_accuracy,
        "example F1": scores.example_f1,
        "example accuracy": scores.example_accuracy,
        "exact match": scores.exact_match,
        "micro F1": scores.f1.micro.f1,
        "macro F1": scores.f1.macro.f1,
    }, {"labels": F1Table(scores.f1.micro, scores.f1.macro, by_label)}


def _multiclass(_task: Any, gold: Sequence[Any], found: Sequence[Any]) -> _Found:
    labels = label_f1(gold, found)
    # Every example has one label and gets one, so micro F1 is the share that is right.
    return {"accuracy": labels.micro.f1, "macro F1": labels.macro.f1}, {"labels": labels}


_SCORES: Mapping[str, Callable[[Any, Sequence[Any], Sequence[Any]], _Found]] = MappingProxyType(
    {
        TAGGING: _tagging,
        ENTITY_RELATION: _entity_relation,
        MULTILABEL: _multilabel,
        MULTICLASS: _multiclass,
    }
)
