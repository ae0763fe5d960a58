"""F1 over entities and over relations, where the spans of the entities are given.

An entity counts under its label. A relation counts when it is not "none", and is right when
its label and both its arguments, in their order, are; in the strict reading the labels of
both argument entities must be right as well. A pair of entities that an output does not
name has no relation.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rote.errors import DataError
from rote.metrics.labels import F1Table, paired, table_of_pairs

NONE = "none"


@dataclass(frozen=True)
class EntityRelations:
    """The entities and relations of a sentence.

    Parameters
    ----------
    entities
        The label of each entity.
    relations
        The labels of ordered pairs of entities, which are known by their place, counted from 0.

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


def entity_f1(
    gold: Sequence[EntityRelations],
    predicted: Sequence[EntityRelations],
    ignored: Collection[str] = (),
) -> F1Table:
    """F1 over the labels of entities.

    Where no label is ignored, micro F1 is the share of entities that are right.

    Parameters
    ----------
    gold, predicted
        The same sentences, with the same entities.
    ignored
        Labels that count neither as true nor as predicted.

    >>> gold = [EntityRelations(["Peop", "Other", "Loc"], {})]
    >>> predicted = [EntityRelations(["Peop", "Loc", "Loc"], {})]
    >>> entity_f1(gold, predicted, ignored=["Other"]).micro.f1
    0.8
    """
    pairs = [
        pair
        for g, p in _paired(gold, predicted)
        for pair in zip(g.entities, p.entities, strict=True)
    ]
    return table_of_pairs(pairs, ignored)


def relation_f1(
    gold: Sequence[EntityRelations],
    predicted: Sequence[EntityRelations],
    *,
    strict: bool = False,
    none: str = NONE,
) -> F1Table:
    """F1 over relations.

    Parameters
    ----------
    gold, predicted
        The same sentences, with the same entities.
    strict
        Whether the labels of both arguments must be right as well.
    none
        The label of pairs without a relation, which does not count.

    >>> gold = [EntityRelations(["Peop", "Loc"], {(0, 1): "Live_In"})]
    >>> predicted = [EntityRelations(["Peop", "Org"], {(0, 1): "Live_In"})]
    >>> relation_f1(gold, predicted).micro.f1, relation_f1(gold, predicted, strict=True).micro.f1
    (1.0, 0.0)
    """
    pairs: list[tuple[str | None, str | None]] = []
    for g, p in _paired(gold, predicted):
        for pair in {**g.relations, **p.relations}:
            true, said = g.relations.get(pair), p.relations.get(pair)
            if true == said and strict and any(g.entities[i] != p.entities[i] for i in pair):
                pairs += [(true, None), (None, said)]
            else:
                pairs.append((true, said))
    return table_of_pairs(pairs, [none])


def _paired(
    gold: Sequence[EntityRelations], predicted: Sequence[EntityRelations]
) -> list[tuple[EntityRelations, EntityRelations]]:
    pairs = paired(gold, predicted, "sentences")
    for number, (g, p) in enumerate(pairs):
        paired(g.entities, p.entities, "entities", f"sentence {number}: ")
    return pairs
