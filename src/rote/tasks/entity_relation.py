"""Entities and relations in a sentence, the task of Roth and Yih (2004).

One decision per entity, what it is, and one per ordered pair of entities, how the
first stands to the second. Rules tie them together: a relation needs entities of its
two argument types, and at most one direction of a pair is related.

Variables, in order: ``e0``, ``e1``, … and then ``r0_1``, ``r0_2``, …, ``r1_0``, … for the
ordered pairs, lexicographically. The first label of a relation means "none".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from types import MappingProxyType

import numpy as np

from rote.errors import LabelError, ScoreError, SpaceError
from rote.space import Space, SpaceBuilder, template
from rote.types import AnyArray, FloatArray

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
RELATION_LABELS = ("none", *ARGUMENTS)


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


def entity_relation_scores(
    space: Space, entity_scores: AnyArray, relation_scores: AnyArray
) -> FloatArray:
    """Scores of shape (m, parts) for m sentences with n entities each.

    ``entity_scores`` has the shape (m, n, entity labels), ``relation_scores`` the shape
    (m, n·(n-1), relation labels), its pairs in the order of `pairs`.
    """
    entities = np.asarray(entity_scores, dtype=np.float64)
    relations = np.asarray(relation_scores, dtype=np.float64)
    if entities.ndim != 3 or relations.ndim != 3 or len(entities) != len(relations):
        raise ScoreError(
            "entity_scores and relation_scores have three axes and the same number of sentences; "
            f"got {entities.shape} and {relations.shape}"
        )
    m, n, _ = entities.shape
    # No -1 in a shape: a batch of no sentences, or of sentences without entities, has size 0.
    flat = np.concatenate(
        [table.reshape(m, table.shape[1] * table.shape[2]) for table in (entities, relations)],
        axis=1,
    )
    fits = relations.shape[1] == n * (n - 1) and len(space.variables) == n * n
    if not fits or flat.shape[1] != space.parts:
        raise ScoreError(
            f"for {space!r}, entity_scores has the shape (m, n, labels) and relation_scores the "
            f"shape (m, n(n-1), labels); got {entities.shape} and {relations.shape}"
        )
    return flat


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
