"""Entities and relations in a sentence, the task of Roth and Yih (2004).

One decision per entity, what it is, and one per ordered pair of entities, how the
first stands to the second. Rules tie them together: a relation needs entities of its
two argument types, and at most one direction of a pair is related.

Variables, in order: ``e0``, ``e1``, … and then ``r0_1``, ``r0_2``, …, ``r1_0``, … for the
ordered pairs, lexicographically. The first label of a relation means "none".

Files are those of `rote.io.conll`, with any labels, or JSON lines. In JSON, a sentence is {"words":
[...], "pos": [...], "entities": [{"start": 0, "stop": 2}, ...]}, whose entities are spans of words,
in order; without "pos", tags are as if never seen before. An output has the words, the entities
with a "label" each and the "relations": [{"first": 0, "second": 1, "label": ...}, ...]. It can be
read as an input: what only outputs have is passed over, and any other key is refused.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise, permutations
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np

from rote.errors import DataError, LabelError, SpaceError
from rote.features import FeatureReader, Names, spelled
from rote.io.conll import Entity, Sentence, numbered_sentences
from rote.io.shapes import check_shape, shown
from rote.settings import LIST, Checked
from rote.space import Space, SpaceBuilder, any_of, template
from rote.space.compiled import keep_recent
from rote.space.rule_text import Rules, Variables, Vocabulary
from rote.tasks.adapter import Adapter, Examples, Measured, register
from rote.tasks.bracketed import bracketed
from rote.tasks.encodings import encoded_spans
from rote.tasks.entity_relation_features import ENTITY, PAIR, SentenceReader
from rote.tasks.show import explained
from rote.tasks.task import Frame, Slot, Task, positions
from rote.types import is_unknown
from rote.viz import Picture, picture_of_extraction

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
MAX_WORDS, MAX_ENTITIES = 1000, 32  # of one input of a service
UNTAGGED = "?"
_SPAN = {"start": int, "stop": int}
# What is read of a sentence, and what outputs have beside it.
_SENTENCE = {"words": [str], "entities": [{**_SPAN, "label?": str}], "pos?": [str]}
_SENTENCE |= {"id?": object, "relations?": object}
_OUTPUT = {
    "entities": [{**_SPAN, "label": str}],
    "relations?": [{"first": int, "second": int, "label": str}],
    "words?": object,
}


class EntityRelationOutput(NamedTuple):
    """The entities and relations of a sentence.

    Parameters
    ----------
    entities
        The label of each entity.
    relations
        The label of each ordered pair of entities, by position, that is related.

    Examples
    --------
    >>> EntityRelationOutput(("Peop", "Loc"), {(0, 1): "Live_In"})
    EntityRelationOutput(entities=('Peop', 'Loc'), relations={(0, 1): 'Live_In'})
    """

    entities: tuple[str, ...]
    relations: Mapping[tuple[int, int], str]

    @classmethod
    def of(cls, sentence: Sentence) -> EntityRelationOutput:
        """What the corpus says of a sentence."""
        return cls(
            tuple(entity.label for entity in sentence.entities),
            {(r.first, r.second): r.label for r in sentence.relations},
        )


@dataclass(frozen=True)
class EntityRelation(Checked, Task[Sentence, EntityRelationOutput]):
    """Entities and relations together: what each entity is, and how each ordered pair is related.

    An input is a sentence whose entities' spans are given; nothing else of them is looked at.

    Parameters
    ----------
    entity_labels, relation_labels
        The labels of entities, and of relations; the first of the latter means "none".
    arguments
        Which labels the two entities of a relation have; a relation that it does not name holds
        between any two.
    symmetric
        Relations that have no direction, such as Spouse: both pairs of two entities have such a
        label or neither has, and outputs name the pair whose first entity comes first.
    rules
        A text (`rote.space.rule_text`) about entity i, relation i j, …, or a function that adds
        rules, given a builder and its variables.

    Examples
    --------
    >>> married = EntityRelation(("Peop",), ("none", "Spouse"), {}, symmetric=("Spouse",))
    >>> sentence = Sentence(0, ("Ada", "Bo"), ("", ""), (Entity(0, 1, ""), Entity(1, 2, "")), ())
    >>> [rule.name for rule in married.frame(sentence).space.rules]
    ['Spouse(e0, e1) has no direction', 'e0 and e1 are related in one direction at most']
    """

    entity_labels: tuple[str, ...] = ENTITY_LABELS
    relation_labels: tuple[str, ...] = RELATION_LABELS
    arguments: Mapping[str, tuple[str, str]] = field(default_factory=lambda: ARGUMENTS, hash=False)
    symmetric: tuple[str, ...] = ()
    rules: Rules | None = None

    checks: ClassVar = dict.fromkeys(("entity_labels", "relation_labels", "symmetric"), LIST)

    def __post_init__(self) -> None:
        super().__post_init__()
        # A plain dict: tasks are copied and pickled, which read-only views of one cannot be.
        arguments = {label: (first, second) for label, (first, second) in self.arguments.items()}
        object.__setattr__(self, "arguments", arguments)
        # Labels that do not fit together are refused here, not at the first sentence.
        entity_relation_space(
            2, self.entity_labels, self.relation_labels, self.arguments, self.symmetric
        )
        _vocabulary(self.entity_labels, self.relation_labels).check(self.rules)

    @classmethod
    def of(
        cls,
        outputs: Sequence[EntityRelationOutput],
        symmetric: Sequence[str] = (),
        rules: Rules | None = None,
    ) -> EntityRelation:
        """The task of examples: conll04's if its labels are enough, else one with their own labels.

        Then a relation that joins the same two labels of entities in all examples needs these, and
        one that joins several holds between any two.

        >>> outputs = [EntityRelationOutput(("Drug", "Gene"), {(0, 1): "Blocks"})]
        >>> EntityRelation.of(outputs).arguments
        {'Blocks': ('Drug', 'Gene')}
        """
        entities = {label for y in outputs for label in y.entities}
        joined: dict[str, set[tuple[str, str]]] = {}
        for y in outputs:
            for (first, second), label in y.relations.items():
                ends = y.entities[first], y.entities[second]
                joined.setdefault(label, set()).add(ends)
                if label in symmetric:
                    joined[label].add((ends[1], ends[0]))
        if entities.issubset(ENTITY_LABELS) and joined.keys() <= set(RELATION_LABELS):
            return cls(symmetric=tuple(symmetric), rules=rules)
        relations = sorted(joined.keys() - {NONE})
        arguments = {label: min(joined[label]) for label in relations if len(joined[label]) == 1}
        labels = tuple(sorted(entities)), (NONE, *relations)
        return cls(*labels, arguments, tuple(symmetric), rules)

    def frame(self, x: Sentence) -> Frame:
        return _frame(len(x.entities), self._shape)

    @cached_property
    def _shape(self) -> _Shape:
        arguments = tuple(self.arguments.items())
        labels = self.entity_labels, self.relation_labels
        return _Shape(*labels, arguments, self.symmetric, self.rules)

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

    def is_feasible(self, x: Sentence) -> bool:
        """Whether what the corpus says of a sentence obeys the rules."""
        labels = np.array([self.encode(x, EntityRelationOutput.of(x))])
        return bool(self.frame(x).space.satisfied(labels)[0])

    def encode(self, x: Sentence, y: EntityRelationOutput) -> list[int]:
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
        none, relations = self.relation_labels[0], dict(y.relations)
        for (first, second), label in y.relations.items():
            if label in self.symmetric:
                relations.setdefault((second, first), label)
        related = [relations.get(pair, none) for pair in ordered]
        return [
            *positions(self.entity_labels, y.entities, "a label of an entity", unknown=True),
            *positions(self.relation_labels, related, "a label of a relation", unknown=True),
        ]

    def decode(self, x: Sentence, labels: Sequence[int]) -> EntityRelationOutput:
        n = len(x.entities)
        related = zip(pairs(n), labels[n:], strict=True)
        return self.directed(
            EntityRelationOutput(
                tuple(self.entity_labels[label] for label in labels[:n]),
                {pair: self.relation_labels[label] for pair, label in related if label},
            )
        )

    def directed(self, y: EntityRelationOutput) -> EntityRelationOutput:
        """The same with each symmetric relation once, its first entity before its second."""
        if not self.symmetric:
            return y
        named = {
            (min(pair), max(pair)) if label in self.symmetric else pair: label
            for pair, label in y.relations.items()
        }
        return EntityRelationOutput(y.entities, named)


def entity_relation_space(
    n_entities: int,
    entity_labels: Sequence[str] = ENTITY_LABELS,
    relation_labels: Sequence[str] = RELATION_LABELS,
    arguments: Mapping[str, tuple[str, str]] = ARGUMENTS,
    symmetric: Sequence[str] = (),
    rules: Rules | None = None,
) -> Space:
    """The space of a sentence with this many entities; each shape is built once.

    A relation that ``arguments`` does not name holds between any two entities; a ``symmetric`` one
    holds in both directions or in none.

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
    for label in symmetric:
        first, second = arguments.get(label, ("", ""))
        if label not in relation_labels[1:] or first != second:
            raise LabelError(
                f"symmetric names relations whose two entities have one label; got {label!r}, and "
                f"the relations are {', '.join(relation_labels[1:])}"
                + (f", of which {label} joins {first} and {second}" if first else "")
            )
    labels = tuple(entity_labels), tuple(relation_labels)
    return _space(n_entities, _Shape(*labels, tuple(arguments.items()), tuple(symmetric), rules))


def pairs(n_entities: int) -> list[tuple[int, int]]:
    """The ordered pairs of entities, in the order of the relation variables."""
    return list(permutations(range(n_entities), 2))


class _Shape(NamedTuple):
    """What the spaces of all sentences share, in a form that can be looked up."""

    entity_labels: tuple[str, ...]
    relation_labels: tuple[str, ...]
    arguments: tuple[tuple[str, tuple[str, str]], ...]
    symmetric: tuple[str, ...]
    rules: Rules | None


@keep_recent
def _frame(n: int, shape: _Shape) -> Frame:
    slots = [Slot(ENTITY if k < n else RELATION, k) for k in range(n * n)]
    return Frame(_space(n, shape), tuple(slots), (ENTITY,) * n + (PAIR,) * (n * n - n))


@template
def _space(builder: SpaceBuilder, n: int, shape: _Shape) -> None:
    entity_labels, relation_labels, arguments, symmetric, rules = shape
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
            back = relation[j, i]
            for label in symmetric:
                same = (variable[label] >> back[label]) & (back[label] >> variable[label])
                builder.require(same, f"{label}(e{i}, e{j}) has no direction")
            once = variable[none] | back[none]
            if symmetric:
                once |= any_of([variable[label] for label in symmetric])
            builder.require(once, f"e{i} and e{j} are related in one direction at most")
    places: Variables = {ENTITY: {(i,): each for i, each in enumerate(entity)}, RELATION: relation}
    vocabulary = _vocabulary(entity_labels, relation_labels)
    vocabulary.require(builder, rules, [*entity, *relation.values()], places)


def _vocabulary(entity_labels: tuple[str, ...], relation_labels: tuple[str, ...]) -> Vocabulary:
    return Vocabulary({ENTITY: (1, entity_labels), RELATION: (2, relation_labels)})


def spoken(rule: str, entities: Sequence[str]) -> str:
    """The name of a rule about entities with their words in place of e0, e1, ….

    >>> spoken("Kill(e0, e1) needs Peop and Peop", ["Oswald", "Kennedy"])
    'Kill(Oswald, Kennedy) needs Peop and Peop'
    """
    return re.sub(
        r"\be(\d+)\b",
        lambda found: entities[int(found[1])] if int(found[1]) < len(entities) else found[0],
        rule,
    )


def _read_columns(path: Path, lines: Sequence[str], _task: EntityRelation | None) -> Examples:
    numbered = tuple(numbered_sentences(path, own=True, lines=lines))
    xs = tuple(sentence for _, sentence in numbered)
    objects = [{"id": x.id, "x": _sentence_json(x)} for x in xs]
    starts = tuple(line for line, _ in numbered)
    return Examples(path, xs, tuple(map(EntityRelationOutput.of, xs)), starts, objects)


def _sentence_json(x: Sentence) -> dict[str, Any]:
    entities = [{"start": entity.start, "stop": entity.stop} for entity in x.entities]
    return {"words": list(x.words), "pos": list(x.pos), "entities": entities}


def _sentence(_task: EntityRelation | None, value: Any) -> Sentence:
    if not isinstance(value, dict):
        raise DataError(
            "an input is a text with entities in brackets, or an object with words, pos and "
            f"entities; got {shown(value)}"
        )
    check_shape("an input", value, _SENTENCE)
    words = value["words"]
    pos = value.get("pos", [UNTAGGED] * len(words))
    if len(pos) != len(words):
        raise DataError(f"pos has one tag per word, {len(words)}; got {len(pos)}")
    return _with_entities(words, pos, [(e["start"], e["stop"]) for e in value["entities"]])


def _typed(_task: EntityRelation, text: str) -> Sentence:
    words, spans = bracketed(text, "entities")
    return _with_entities(words, [UNTAGGED] * len(words), spans)


def marked_sentences(tokens: Sequence[Any], tags: Sequence[Sequence[str]]) -> list[Sentence]:
    """Sentences whose entities are the spans that a tagger found: inputs of `EntityRelation`.

    Parameters
    ----------
    tokens
        For each sentence its tokens: a word each, or a word and its part-of-speech tag.
    tags
        For each sentence a label of each token, such as B-Peop; in any of the encodings BIO, IOB1,
        BILOU and BIOES.

    Examples
    --------
    >>> tokens = [("Ada", "NNP"), ("Lovelace", "NNP"), ("left", "VBD"), ("Rome", "NNP")]
    >>> (sentence,) = marked_sentences([tokens], [["B-Peop", "I-Peop", "O", "B-Loc"]])
    >>> [(sentence.text(entity), entity.label) for entity in sentence.entities]
    [('Ada Lovelace', 'Peop'), ('Rome', 'Loc')]
    """
    found = []
    for number, (sentence, own) in enumerate(zip(tokens, tags, strict=True)):
        cells = [(token,) if isinstance(token, str) else tuple(token) for token in sentence]
        if len(own) != len(cells):
            raise DataError(
                f"input {number}: each of {len(cells)} tokens has a tag, got {len(own)} tags"
            )
        words = tuple(cell[0] for cell in cells)
        pos = tuple(cell[1] if len(cell) > 1 else UNTAGGED for cell in cells)
        entities = tuple(Entity(*span) for span in encoded_spans(own))
        found.append(Sentence(number, words, pos, entities, ()))
    return found


def _with_entities(
    words: Sequence[str], pos: Sequence[str], spans: Sequence[tuple[int, int]]
) -> Sentence:
    for start, stop in spans:
        if not 0 <= start < stop <= len(words):
            raise DataError(
                f"an entity has a word at least, and ends within the {len(words)} words; got "
                f"start {start} and stop {stop}"
            )
    for (_, before), (after, _) in pairwise(spans):
        if after < before:
            raise DataError("entities are in the order of their words, and have none in common")
    entities = tuple(Entity(start, stop, "") for start, stop in spans)
    return Sentence(0, tuple(words), tuple(pos), entities, ())


def _extraction(x: Sentence, value: Any) -> EntityRelationOutput:
    entities = check_shape('"y"', value, _OUTPUT)["entities"]
    spans = [(entity.start, entity.stop) for entity in x.entities]
    if [(each["start"], each["stop"]) for each in entities] != spans:
        raise DataError(f'"y" has the entities of "x", each with its label; got {shown(value)}')
    related = {(r["first"], r["second"]): r["label"] for r in value.get("relations", ())}
    return EntityRelationOutput(tuple(entity["label"] for entity in entities), related)


def _extracted(_task: EntityRelation, x: Sentence, y: EntityRelationOutput) -> dict[str, Any]:
    spans = zip(x.entities, y.entities, strict=True)
    return {
        "words": list(x.words),
        "entities": [{"start": e.start, "stop": e.stop, "label": label} for e, label in spans],
        "relations": [
            {"first": first, "second": second, "label": label}
            for (first, second), label in y.relations.items()
        ],
    }


def _joins(task: EntityRelation) -> dict[str, str]:
    """Each relation with what it joins, so that a slip of the pen in a label is seen."""
    joined = {label: task.arguments.get(label) for label in task.relation_labels[1:]}
    said = (f"{label}({', '.join(ends) if ends else 'any, any'})" for label, ends in joined.items())
    return {"relations": ", ".join(said) or "none"}


def _show(
    task: EntityRelation, x: Sentence, y: EntityRelationOutput, gold: Any, facts: Sequence[str]
) -> Picture:
    broken, said = explained(task, x, y, gold, facts)
    names = [x.text(entity) for entity in x.entities]
    return picture_of_extraction(
        x.words,
        [(entity.start, entity.stop) for entity in x.entities],
        y.entities,
        y.relations,
        gold=None if gold is None else (gold.entities, gold.relations),
        broken=[rule._replace(name=spoken(rule.name, names)) for rule in broken],
        labels=task.entity_labels,
        facts=said,
    )


def _measure(
    task: EntityRelation,
    gold: Sequence[EntityRelationOutput],
    found: Sequence[EntityRelationOutput],
) -> Measured:
    from rote.metrics.relations import EntityRelations, entity_f1, relation_f1

    named = [*task.entity_labels, *task.relation_labels]
    if any(is_unknown(one, named) for y in gold for one in (*y.entities, *y.relations.values())):
        raise DataError("entities and relations are evaluated where all labels are known")
    sides = [[task.directed(y) for y in side] for side in (gold, found)]
    true, said = [[EntityRelations(y.entities, y.relations) for y in side] for side in sides]
    none = task.relation_labels[0]
    entities = entity_f1(true, said)
    relations = relation_f1(true, said, none=none)
    strict = relation_f1(true, said, strict=True, none=none)
    right = [one == other for one, other in zip(*sides, strict=True)]
    return {
        "entity F1": entities.micro.f1,
        "relation F1": relations.micro.f1,
        "relation F1, strict": strict.micro.f1,
        "exact match": sum(right) / len(right),
    }, {"entities": entities, "relations": relations}


register(
    Adapter(
        "entity-relation",
        EntityRelation,
        from_json=_sentence,
        output_from_json=_extraction,
        to_json=_extracted,
        settings=("symmetric",),
        build=lambda examples, settings: EntityRelation.of(examples.ys or (), **settings),
        own_format=_read_columns,
        typed=_typed,
        hint=lambda _: "Words with blanks between them, and every entity in brackets.",
        example=lambda _: "[Maria Lincoln] lives in [New Boston] , and works for [Ford] .",
        limits=(
            ("words", lambda x: len(x.words), MAX_WORDS),
            ("entities", lambda x: len(x.entities), MAX_ENTITIES),
        ),
        show=_show,
        measure=_measure,
        facts=_joins,
    )
)
