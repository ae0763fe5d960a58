"""Entities and relations in a sentence, the task of Roth and Yih (2004).

One decision per entity, what it is, and one per ordered pair of entities, how the
first stands to the second. Rules tie them together: a relation needs entities of its
two argument types, and at most one direction of a pair is related.

Variables, in order: ``e0``, ``e1``, … and then ``r0_1``, ``r0_2``, …, ``r1_0``, … for the
ordered pairs, lexicographically. The first label of a relation means "none".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from rote.errors import LabelError, SpaceError, in_order
from rote.features import FeatureReader, Names, spelled
from rote.io.conll import Sentence
from rote.space import Space, SpaceBuilder, template
from rote.space.compiled import keep_recent
from rote.tasks.entity_relation_features import ENTITY, PAIR, SentenceReader
from rote.tasks.task import Frame, Slot, Task

ENTITY_LABELS = ("Peop", "Loc", "Org", "Other")
ARGUMENTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "Kill": ("Peop", "Peop"),
        "Live_In": ("Peop", "Loc"),
        "Work_For": ("Peop", "Org"),
        "OrgBased_In": ("Org", "Loc"),
        "Located_In": ("Loc", "Loc"),
    }
)
NONE = "none"  # the label of a pair that is not related
RELATION_LABELS = (NONE, *ARGUMENTS)
RELATION = "relation"  # the block of weights of pairs; that of entities has their kind's name


class Extraction(NamedTuple):
    """The label of each entity, and of each ordered pair of entities that is related.

    >>> Extraction(("Peop", "Loc"), {(0, 1): "Live_In"})
    Extraction(entities=('Peop', 'Loc'), relations={(0, 1): 'Live_In'})
    """

    entities: tuple[str, ...]
    relations: Mapping[tuple[int, int], str]

    @classmethod
    def of(cls, sentence: Sentence) -> Extraction:
        """What the corpus says of a sentence."""
        return cls(
            tuple(entity.label for entity in sentence.entities),
            {(r.first, r.second): r.label for r in sentence.relations},
        )


@dataclass(frozen=True)
class EntityRelation(Task[Sentence, Extraction]):
    """An input is a sentence whose entities' spans are given; nothing else of them is looked at.

    ``arguments`` says which labels the two entities of a relation have; a relation that it
    does not name holds between any two. Outputs are of the kind `Extraction`.
    """

    entity_labels: tuple[str, ...] = ENTITY_LABELS
    relation_labels: tuple[str, ...] = RELATION_LABELS
    arguments: Mapping[str, tuple[str, str]] = field(default_factory=lambda: ARGUMENTS, hash=False)

    def __post_init__(self) -> None:
        for name in ("entity_labels", "relation_labels"):
            object.__setattr__(self, name, in_order(name, getattr(self, name)))
        # A plain dict: tasks are copied and pickled, which read-only views of one cannot be.
        arguments = {label: (first, second) for label, (first, second) in self.arguments.items()}
        object.__setattr__(self, "arguments", arguments)
        # Labels that do not fit together are refused here, not at the first sentence.
        entity_relation_space(2, self.entity_labels, self.relation_labels, self.arguments)

    @classmethod
    def of(cls, outputs: Sequence[Extraction]) -> EntityRelation:
        """The task of examples: conll04's if its labels are enough, else one with their own labels.

        Then a relation that joins the same two labels of entities in all examples needs these, and
        one that joins several holds between any two.

        >>> EntityRelation.of([Extraction(("Drug", "Gene"), {(0, 1): "Blocks"})]).arguments
        {'Blocks': ('Drug', 'Gene')}
        """
        entities = {label for y in outputs for label in y.entities}
        joined: dict[str, set[tuple[str, str]]] = {}
        for y in outputs:
            for (first, second), label in y.relations.items():
                joined.setdefault(label, set()).add((y.entities[first], y.entities[second]))
        if entities.issubset(ENTITY_LABELS) and joined.keys() <= set(RELATION_LABELS):
            return cls()
        relations = sorted(joined.keys() - {NONE})
        arguments = {label: min(joined[label]) for label in relations if len(joined[label]) == 1}
        return cls(tuple(sorted(entities)), (NONE, *relations), arguments)

    def frame(self, x: Sentence) -> Frame:
        return _frame(
            len(x.entities),
            self.entity_labels,
            self.relation_labels,
            tuple(self.arguments.items()),
        )

    def vectors(self, x: Sentence) -> list[list[str]]:
        names = {ENTITY: Names(), PAIR: Names()}
        count = len(x.entities) ** 2
        reader = SentenceReader([x], lambda kind, *_, **__: names[kind])
        lines = reader.lines(np.zeros(count, dtype=np.int64), np.arange(count))
        return [row for kind, own in lines.items() for row in spelled(own, names[kind])]

    @property
    def feature_reader(self) -> FeatureReader:
        """Reads the same vectors of many sentences at once, and only those that are asked for."""
        return SentenceReader

    def obeys(self, x: Sentence) -> bool:
        """Whether what the corpus says of a sentence obeys the rules."""
        labels = np.array([self.encode(x, Extraction.of(x))])
        return bool(self.frame(x).space.satisfied(labels)[0])

    def encode(self, x: Sentence, y: Extraction) -> list[int]:
        n = len(x.entities)
        if len(y.entities) != n:
            raise LabelError(f"an output has one label per entity; got {len(y.entities)} for {n}")
        ordered = pairs(n)
        stray = y.relations.keys() - set(ordered)
        if stray:
            raise LabelError(
                f"a relation is of two different entities, counted from 0, of {n} there are; "
                f"got {min(stray)}"
            )
        none = self.relation_labels[0]
        labels = [_position(self.entity_labels, label, "an entity") for label in y.entities]
        return labels + [
            _position(self.relation_labels, y.relations.get(pair, none), "a relation")
            for pair in ordered
        ]

    def decode(self, x: Sentence, labels: Sequence[int]) -> Extraction:
        n = len(x.entities)
        related = zip(pairs(n), labels[n:], strict=True)
        return Extraction(
            tuple(self.entity_labels[label] for label in labels[:n]),
            {pair: self.relation_labels[label] for pair, label in related if label},
        )


def entity_relation_space(
    n_entities: int,
    entity_labels: Sequence[str] = ENTITY_LABELS,
    relation_labels: Sequence[str] = RELATION_LABELS,
    arguments: Mapping[str, tuple[str, str]] = ARGUMENTS,
) -> Space:
    """The space of a sentence with this many entities; each shape is built once.

    A relation that ``arguments`` does not name holds between any two entities.

    >>> entity_relation_space(2)
    Space(4 variables, 0 factors, 11 rules, 20 parts)
    """
    if n_entities < 0:
        raise SpaceError(f"a sentence has no fewer than 0 entities, got {n_entities}")
    unknown = [label for label in arguments if label not in relation_labels[1:]]
    if unknown:
        raise LabelError(
            f"arguments speaks of {unknown[0]!r}; the relations are "
            f"{', '.join(relation_labels[1:])}, and {relation_labels[0]!r} stands for none"
        )
    return _space(
        n_entities, tuple(entity_labels), tuple(relation_labels), tuple(arguments.items())
    )


def pairs(n_entities: int) -> list[tuple[int, int]]:
    """The ordered pairs of entities, in the order of the relation variables."""
    return list(permutations(range(n_entities), 2))


def _position(labels: tuple[str, ...], label: str, what: str) -> int:
    try:
        return labels.index(label)
    except ValueError:
        known = ", ".join(labels)
        raise LabelError(f"{label!r} is no label of {what}; the labels are {known}") from None


@keep_recent
def _frame(
    n: int,
    entity_labels: tuple[str, ...],
    relation_labels: tuple[str, ...],
    arguments: tuple[tuple[str, tuple[str, str]], ...],
) -> Frame:
    space = entity_relation_space(n, entity_labels, relation_labels, dict(arguments))
    slots = [Slot(ENTITY if k < n else RELATION, k) for k in range(n * n)]
    return Frame(space, tuple(slots), (ENTITY,) * n + (PAIR,) * (n * n - n))


@template
def _space(
    builder: SpaceBuilder,
    n: int,
    entity_labels: tuple[str, ...],
    relation_labels: tuple[str, ...],
    arguments: tuple[tuple[str, tuple[str, str]], ...],
) -> None:
    entity = [builder.variable(f"e{i}", entity_labels) for i in range(n)]
    relation = {(i, j): builder.variable(f"r{i}_{j}", relation_labels) for i, j in pairs(n)}
    none = relation_labels[0]
    for (i, j), variable in relation.items():
        for label, (first, second) in arguments:
            builder.require(
                variable[label] >> (entity[i][first] & entity[j][second]),
                f"{label}(e{i}, e{j}) needs {first} and {second}",
            )
        if i < j:
            builder.require(
                variable[none] | relation[j, i][none],
                f"e{i} and e{j} are related in one direction at most",
            )
