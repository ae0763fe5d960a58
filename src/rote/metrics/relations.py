"""F1 over entities and over relations, where the spans of the entities are given.

An entity counts under its label. A relation counts when it is not "none", and is right when
its label and both its arguments, in their order, are; in the strict reading the labels of
both argument entities must be right as well. A pair of entities that an output does not
name has no relation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import isqrt

from rote.errors import DataError
from rote.metrics.labels import F1Table, table_of_counts, table_of_labels
from rote.metrics.pairing import Label, paired

NONE = "none"


@dataclass(frozen=True)
class EntityRelations:
    """The labels of a sentence's entities and, by ordered pair of entities, of its relations.

    Entities are known by their place, counted from 0.

    >>> EntityRelations(["Peop", "Loc"], {(0, 1): "Live_In"})
    EntityRelations(entities=['Peop', 'Loc'], relations={(0, 1): 'Live_In'})
    """

    entities: Sequence[str]
    relations: Mapping[tuple[int, int], str]

    def __post_init__(self) -> None:
        n = len(self.entities)
        for (first, second), label in self.relations.items():
            if not (0 <= first < n and 0 <= second < n and first != second):
                raise DataError(
                    f"relation {label!r} of ({first}, {second}): expected the places of two "
                    f"different entities, counted from 0, of {n} there are"
                )

    @classmethod
    def of(cls, labels: Sequence[str]) -> EntityRelations:
        """From the labels of n entities and then of the n·(n-1) pairs in lexicographic order.

        >>> dict(EntityRelations.of(["Peop", "Loc", "Live_In", "none"]).relations)
        {(0, 1): 'Live_In', (1, 0): 'none'}
        """
        n = isqrt(len(labels))
        if n * n != len(labels):
            raise DataError(
                "expected the labels of n entities and of their n(n-1) ordered pairs, n² in all, "
                f"got {len(labels)} labels"
            )
        return cls(labels[:n], dict(zip(permutations(range(n), 2), labels[n:], strict=True)))


def entity_f1(
    gold: Sequence[EntityRelations],
    predicted: Sequence[EntityRelations],
    ignored: Collection[str] = (),
) -> F1Table:
    """F1 over the labels of entities; a label that is ignored is neither true nor predicted.

    Where no label is ignored, micro F1 is the share of entities that are right.

    >>> gold = [EntityRelations(["Peop", "Other", "Loc"], {})]
    >>> predicted = [EntityRelations(["Peop", "Loc", "Loc"], {})]
    >>> entity_f1(gold, predicted, ignored=["Other"]).micro.f1
    0.8
    """
    counted: Counter[tuple[Label, Label]] = Counter(
        pair
        for g, p in _paired(gold, predicted)
        for pair in zip(g.entities, p.entities, strict=True)
    )
    return table_of_labels(counted, ignored)


def relation_f1(
    gold: Sequence[EntityRelations],
    predicted: Sequence[EntityRelations],
    *,
    strict: bool = False,
    none: str = NONE,
) -> F1Table:
    """F1 over relations other than ``none``; ``strict`` asks for right arguments' labels as well.

    >>> gold = [EntityRelations(["Peop", "Loc"], {(0, 1): "Live_In"})]
    >>> predicted = [EntityRelations(["Peop", "Org"], {(0, 1): "Live_In"})]
    >>> relation_f1(gold, predicted).micro.f1, relation_f1(gold, predicted, strict=True).micro.f1
    (1.0, 0.0)
    """
    true: Counter[Label] = Counter()
    answered: Counter[Label] = Counter()
    right: Counter[Label] = Counter()
    for g, p in _paired(gold, predicted):
        there = {(pair, label) for pair, label in g.relations.items() if label != none}
        said = {(pair, label) for pair, label in p.relations.items() if label != none}
        true.update(label for _, label in there)
        answered.update(label for _, label in said)
        right.update(
            label
            for pair, label in there & said
            if not strict or all(g.entities[i] == p.entities[i] for i in pair)
        )
    return table_of_counts(true, answered, right)


def _paired(
    gold: Sequence[EntityRelations], predicted: Sequence[EntityRelations]
) -> list[tuple[EntityRelations, EntityRelations]]:
    pairs = paired(gold, predicted, "sentences")
    for number, (g, p) in enumerate(pairs):
        if len(g.entities) != len(p.entities):
            raise DataError(
                f"sentence {number}: expected the same entities on both sides, got "
                f"{len(g.entities)} gold and {len(p.entities)} predicted; the spans of entities "
                "are given, only their labels are decided"
            )
    return pairs
