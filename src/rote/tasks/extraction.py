"""Joint extraction: entities and relations of one text, chosen together under a schema.

A model gives candidates with scores: spans with an entity type, and relations between two of them.
`ExtractionSchema` says which of them can be there together, and finds those that add up to the
most. A score above 0 speaks for a candidate, one below 0 against it; a log-odds is such a score.
The schema is compiled once, and the answers are exact and proved.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

from rote.errors import LabelError, SpaceError
from rote.inference.engine import Engine, check_engine
from rote.inference.solutions import Status
from rote.settings import FLAG, LIST, Checked, one_of, optional, whole
from rote.tasks.candidates import (
    ALLOW,
    AT_ONCE,
    DISALLOW,
    NESTED,
    CandidateRules,
    Entity,
    Limit,
    Relation,
    RelationRules,
    best_candidates,
)


class EntityCandidate(NamedTuple):
    """A span that may be an entity of a type.

    Parameters
    ----------
    start
        Its first token or character.
    end
        The one behind its last.
    type
        One of the schema's entity types.
    score
        What speaks for it, above 0, or against it; -inf rules it out.
    """

    start: int
    end: int
    type: str
    score: float


class RelationCandidate(NamedTuple):
    """A relation that may be there between two entity candidates.

    Parameters
    ----------
    head
        The position of an entity candidate.
    type
        One of the schema's relations.
    tail
        The position of another one.
    score
        What speaks for it, above 0, or against it.
    """

    head: int
    type: str
    tail: int
    score: float


@dataclass(frozen=True)
class RelationType(Checked):
    """What a schema says of a relation.

    Parameters
    ----------
    name
        Different from that of every other relation.
    head
        The entity types that its first end may have; none stands for any.
    tail
        The same of its second end.
    max_per_head
        At most so many of one head; 1 makes it functional.
    max_per_tail
        At most so many of one tail; 1 makes it inverse functional.
    symmetric
        Whether it leads both ways wherever it is.
    inverse
        The relation that leads the other way wherever this one is.
    acyclic
        Whether nobody comes back to where he started by following it.
    loops
        Whether both ends may be one candidate.
    """

    name: str
    head: Sequence[str] = ()
    tail: Sequence[str] = ()
    max_per_head: int | None = None
    max_per_tail: int | None = None
    symmetric: bool = False
    inverse: str | None = None
    acyclic: bool = False
    loops: bool = False

    checks: ClassVar = {
        "head": LIST,
        "tail": LIST,
        "max_per_head": optional(whole(0)),
        "max_per_tail": optional(whole(0)),
        "symmetric": FLAG,
        "acyclic": FLAG,
        "loops": FLAG,
    }


@dataclass(frozen=True)
class Extracted:
    """What is extracted from one text.

    Parameters
    ----------
    entities
        The positions of the entity candidates that are taken.
    relations
        The positions of the relation candidates that are taken.
    implied
        Relations that come with these, since they are symmetric or inverse: head, type, tail.
    value
        What the scores of all that is taken add up to.
    status
        Whether that is proved to be the most.
    """

    entities: tuple[int, ...]
    relations: tuple[int, ...]
    implied: tuple[tuple[int, str, int], ...]
    value: float
    status: Status


@dataclass(frozen=True)
class ExtractionSchema(Checked):
    """Entity types, relations between them, and what entities may overlap.

    Parameters
    ----------
    entities
        The entity types.
    relations
        What is said of each relation.
    overlap
        "disallow": no two entities share a token; "nested": they may if one is inside the other;
        "allow": they may.

    >>> schema = ExtractionSchema(
    ...     ["person", "city"],
    ...     [RelationType("lives in", ["person"], ["city"], max_per_head=1)],
    ... )
    >>> found = schema.best(
    ...     [(0, 1, "person", 2.0), (3, 4, "city", -0.5), (6, 7, "city", 1.0)],
    ...     [(0, "lives in", 1, 3.0), (0, "lives in", 2, 2.0)],
    ... )
    >>> found.entities, found.relations, found.value
    ((0, 1, 2), (0,), 5.5)
    """

    entities: Sequence[str]
    relations: Sequence[RelationType] = ()
    overlap: str = DISALLOW

    checks: ClassVar = {
        "entities": LIST,
        "relations": LIST,
        "overlap": one_of(ALLOW, NESTED, DISALLOW),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        names = [relation.name for relation in self.relations]
        for what, given in (("entity type", self.entities), ("relation", names)):
            if len(set(given)) != len(given):
                twice = next(name for name in given if list(given).count(name) > 1)
                raise SpaceError(f"the schema has the {what} {twice!r} twice")
        for relation in self.relations:
            for kind in (*relation.head, *relation.tail):
                _position(self._types, kind, f"relation {relation.name!r} has the entity type")
            if relation.inverse is not None:
                _position(self._names, relation.inverse, f"the inverse of {relation.name!r} is")

    @cached_property
    def _types(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.entities)}

    @cached_property
    def _names(self) -> dict[str, int]:
        return {relation.name: k for k, relation in enumerate(self.relations)}

    @cached_property
    def _rules(self) -> CandidateRules:
        links = tuple((r.name, r.name) for r in self.relations if r.symmetric)
        links += tuple((r.name, r.inverse) for r in self.relations if r.inverse)
        return CandidateRules(self._rules_of, self.overlap, links)

    def _rules_of(self, name: str) -> RelationRules:
        said = self.relations[_position(self._names, name, "a candidate has the relation")]
        both = ((False, said.max_per_head), (True, said.max_per_tail))
        return RelationRules(
            frozenset(said.head) or None,
            frozenset(said.tail) or None,
            said.loops,
            limits=tuple(Limit(name, side, most) for side, most in both if most is not None),
            acyclic=(name,) if said.acyclic else (),
        )

    def best(
        self,
        entities: Sequence[EntityCandidate | tuple[int, int, str, float]],
        relations: Sequence[RelationCandidate | tuple[int, str, int, float]] = (),
        engine: Engine = AT_ONCE,
    ) -> Extracted:
        """The candidates that are allowed together and add up to the most.

        Parameters
        ----------
        entities
            Candidates: start, end, type and score of each.
        relations
            Candidates: head, type, tail and score of each, where head and tail are positions
            among the entity candidates.
        engine
            What finds them.
        """
        check_engine("engine", engine)
        spans = [Entity(*each) for each in entities]
        for each in spans:
            _position(self._types, each.type, "a candidate has the entity type")
        links = [Relation(*each) for each in relations]
        for k, one in enumerate(links):
            if not (0 <= one.head < len(spans) and 0 <= one.tail < len(spans)):
                raise LabelError(
                    f"relation candidate {k} is between {one.head} and {one.tail}; head and tail "
                    f"are positions of the {len(spans)} entity candidates"
                )
        taken = best_candidates(self._rules, [Entity(*each) for each in spans], links, engine)
        own = {links[j][:3]: None for j in taken.relations}
        implied = {
            ((tail, name, head) if flipped else (head, name, tail)): None
            for head, kind, tail in own
            for name, flipped in self._rules.of(kind)[0]
        }
        return Extracted(
            tuple(taken.entities),
            tuple(taken.relations),
            tuple(one for one in implied if one not in own),
            taken.value,
            taken.status,
        )

    def to_json(self) -> str:
        """The schema as JSON, which `from_json` reads."""
        return json.dumps(asdict(self), indent=2)

    @classmethod
    def from_json(cls, text: str | Mapping[str, Any]) -> ExtractionSchema:
        """The schema that `to_json` wrote, from its text or from what is in it.

        Parameters
        ----------
        text
            ``{"entities": [...], "relations": [{"name": ..., ...}], "overlap": ...}``; all of a
            relation but its name may be left out, and so may relations and overlap.
        """
        said = json.loads(text) if isinstance(text, str) else text
        _check_keys("a schema", said, [each.name for each in fields(cls)])
        known = [each.name for each in fields(RelationType)]
        for each in said.get("relations", ()):
            _check_keys("a relation", each, known)
        relations = [RelationType(**each) for each in said.get("relations", ())]
        return cls(**{**said, "relations": relations})

    @classmethod
    def from_models(cls, *models: Any, overlap: str = DISALLOW) -> ExtractionSchema:
        """A schema of pydantic models, or of JSON Schemas: an entity type each.

        A property that is another model is a relation to it, functional unless it is a list; the
        number of items a list may have at most is `RelationType.max_per_head`. What else is to be
        said of it stands beside its type, as in ``Field(json_schema_extra={"acyclic": True})``.

        Parameters
        ----------
        *models
            Classes of pydantic, or mappings as JSON Schema has them.
        overlap
            As of `ExtractionSchema`.

        >>> person = {
        ...     "title": "Person",
        ...     "properties": {"parents": {"type": "array", "items": {"$ref": "#/$defs/Person"},
        ...                                "maxItems": 2, "acyclic": True}},
        ... }
        >>> ExtractionSchema.from_models(person).relations[0].max_per_head
        2
        """
        kinds: dict[str, Mapping[str, Any]] = {}
        for model in models:
            said = model if isinstance(model, Mapping) else model.model_json_schema()
            kinds |= {k: d for k, d in said.get("$defs", {}).items() if "properties" in d}
            if "properties" in said:
                kinds[said["title"]] = said
        found = dict[str, dict[str, Any]]()
        more = {each.name for each in fields(RelationType)} - {"name", "head", "tail"}
        for kind, said in kinds.items():
            for name, about in said["properties"].items():
                others = [other for other in _references(about) if other in kinds]
                if not others:
                    continue
                alone = {} if about.get("type") == "array" else {"max_per_head": 1}
                alone |= {"max_per_head": about["maxItems"]} if "maxItems" in about else {}
                own = {**alone, **{key: about[key] for key in more & set(about)}}
                known = found.setdefault(name, {"head": [], "tail": [], **own})
                known["head"].append(kind)
                known["tail"] += [other for other in others if other not in known["tail"]]
        relations = [RelationType(name, **about) for name, about in found.items()]
        return cls(tuple(kinds), relations, overlap)


def _references(about: Any) -> list[str]:
    """The definitions that a property speaks of, in order."""
    if isinstance(about, Mapping):
        found = [about["$ref"].rsplit("/", 1)[-1]] if "$ref" in about else []
        inner = (about.get(key, ()) for key in ("items", "anyOf", "allOf", "oneOf"))
        return found + [name for each in inner for name in _references(each)]
    return [name for each in about for name in _references(each)]


def _position(known: Mapping[str, int], name: str, what: str) -> int:
    try:
        return known[name]
    except KeyError:
        raise LabelError(f"{what} {name!r}; the schema has {', '.join(map(repr, known))}") from None


def _check_keys(what: str, given: Any, known: Sequence[str]) -> None:
    if not isinstance(given, Mapping) or not set(given) <= set(known):
        raise SpaceError(f"{what} is a mapping that may have {', '.join(known)}; got {given!r:.80}")
