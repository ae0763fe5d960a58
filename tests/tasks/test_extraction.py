"""Joint extraction: answers beside enumeration by a plain reading of the schema, and schemas."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote import Exact, LabelError, SettingError, SpaceError
from rote.engines import BranchAndBound, Exhaustive
from rote.inference.solutions import Status
from rote.tasks import ExtractionSchema, RelationType
from rote.tasks.candidates import Entity, Relation, best_candidates

TYPES = ("person", "place")

# -- the judge ----------------------------------------------------------------------------


def implied(schema, taken):
    """All relations that are there, by saying what follows until nothing new follows."""
    there = set(taken)
    while True:
        more = set()
        for head, kind, tail in there:
            for relation in schema.relations:
                if relation.symmetric and relation.name == kind:
                    more.add((tail, kind, head))
                if relation.inverse and relation.name == kind:
                    more.add((tail, relation.inverse, head))
                if relation.inverse == kind:
                    more.add((tail, relation.name, head))
        if more <= there:
            return there
        there |= more


def has_cycle(arcs) -> bool:
    nodes = {node for arc in arcs for node in arc}
    while nodes:
        free = {n for n in nodes if not any(t == n and h in nodes for h, t in arcs)}
        if not free:
            return True
        nodes -= free
    return False


def is_allowed(schema, entities, relations, chosen, taken) -> bool:
    for (s1, e1, *_), (s2, e2, *_) in itertools.combinations([entities[i] for i in chosen], 2):
        apart = e1 <= s2 or e2 <= s1
        inside = (s1 <= s2 and e2 <= e1) or (s2 <= s1 and e1 <= e2)
        if not (apart or schema.overlap == "allow" or (schema.overlap == "nested" and inside)):
            return False
    own = [relations[j][:3] for j in taken]
    if len(set(own)) < len(own) or not {i for h, _, t in own for i in (h, t)} <= set(chosen):
        return False
    there = implied(schema, own)
    for relation in schema.relations:
        arcs = [(h, t) for h, kind, t in there if kind == relation.name]
        for h, t in arcs:
            right = not relation.head or entities[h][2] in relation.head
            right &= not relation.tail or entities[t][2] in relation.tail
            if not right or (h == t and not relation.loops):
                return False
        for side, most in ((0, relation.max_per_head), (1, relation.max_per_tail)):
            counts = [sum(arc[side] == i for arc in arcs) for i in range(len(entities))]
            if most is not None and max(counts, default=0) > most:
                return False
        if relation.acyclic and has_cycle(arcs):
            return False
    return True


def best_value(schema, entities, relations) -> float:
    best = 0.0
    for size in range(len(relations) + 1):
        for taken in itertools.combinations(range(len(relations)), size):
            for more in itertools.product((False, True), repeat=len(entities)):
                chosen = [i for i, yes in enumerate(more) if yes]
                value = sum(entities[i][3] for i in chosen) + sum(relations[j][3] for j in taken)
                if value > best and is_allowed(schema, entities, relations, chosen, taken):
                    best = value
    return best


@st.composite
def schemas(draw):
    names = ("a", "b", "c")
    some = st.lists(st.sampled_from(TYPES), unique=True, max_size=2)
    most = st.one_of(st.none(), st.integers(0, 2))
    rarely = st.integers(0, 3).map(lambda k: k == 0)
    relations = [
        RelationType(
            name,
            draw(some),
            draw(some),
            draw(most),
            draw(most),
            draw(rarely),
            draw(st.sampled_from([None, None, None, *names])),
            draw(rarely),
            draw(st.booleans()),
        )
        for name in names
    ]
    return ExtractionSchema(
        TYPES, relations, draw(st.sampled_from(["allow", "nested", "disallow"]))
    )


@st.composite
def candidates(draw, most_entities=4, most_relations=5):
    score = st.integers(-2, 4).map(float)
    entities = [
        (start, start + draw(st.integers(1, 3)), draw(st.sampled_from(TYPES)), draw(score))
        for start in draw(st.lists(st.integers(0, 5), min_size=1, max_size=most_entities))
    ]
    end = st.integers(0, len(entities) - 1)
    relation = st.tuples(end, st.sampled_from("abc"), end, score)
    return entities, draw(st.lists(relation, max_size=most_relations))


@given(schemas(), candidates())
@settings(max_examples=300)
def test_answers_are_allowed_and_the_best_there_are(schema, given_candidates):
    entities, relations = given_candidates
    found = schema.best(entities, relations)
    assert is_allowed(schema, entities, relations, found.entities, found.relations)
    assert found.value == pytest.approx(best_value(schema, entities, relations))
    own = {relations[j][:3] for j in found.relations}
    assert set(found.implied) == implied(schema, own) - own
    assert found.status == Status.OPTIMAL


@given(schemas(), candidates(3, 4))
@settings(max_examples=50)
def test_every_engine_gives_the_same_answer(schema, given_candidates):
    """Also where many are worth the same, as whole scores often are."""
    found = schema.best(*given_candidates)
    for engine in (Exact(), Exhaustive(), BranchAndBound()):
        assert schema.best(*given_candidates, engine) == found


@given(st.data())
@settings(max_examples=100)
def test_choices_and_exclusive_relations(data):
    """Relations of one choice share an alternative, and of one number there is one at most."""
    pairs = [(0, "a", 1), (1, "a", 2), (2, "a", 0), (0, "a", 2), (2, "a", 1)]
    gains = data.draw(st.lists(st.integers(-1, 4).map(float), min_size=5, max_size=5))
    relations = [(*pair, gain) for pair, gain in zip(pairs, gains, strict=True)]
    numbers = st.lists(st.integers(-1, 1), min_size=5, max_size=5).map(np.array)
    exclusive, choice, alternative = (data.draw(numbers) for _ in range(3))
    rules = ExtractionSchema(TYPES, [RelationType("a")])._rules
    entities = [Entity(i, i + 1, TYPES[0], 1.0) for i in range(3)]
    candidates = [
        Relation(*one, [k] if k >= 0 else [], (c, a) if c >= 0 else None)
        for one, k, c, a in zip(relations, exclusive, choice, alternative, strict=True)
    ]
    found = best_candidates(rules, entities, candidates)
    assert found == best_candidates(rules, entities, candidates, BranchAndBound())
    best = 0.0
    for size in range(6):
        for taken in itertools.combinations(range(5), size):
            one = [exclusive[j] for j in taken if exclusive[j] >= 0]
            ways = {(choice[j], alternative[j]) for j in taken if choice[j] >= 0}
            if len(set(one)) == len(one) and len(ways) == len({c for c, _ in ways}):
                best = max(best, sum(relations[j][3] for j in taken))
    assert found.value == 3.0 + best


# -- schemas ------------------------------------------------------------------------------


def test_longer_cycles_take_another_round():
    schema = ExtractionSchema(TYPES, [RelationType("over", acyclic=True)])
    entities = [(i, i + 1, "person", 1.0) for i in range(6)]
    relations = [(i, "over", (i + 1) % 6, 1.0 + i) for i in range(6)]
    assert schema.best(entities, relations).relations == (1, 2, 3, 4, 5)


def test_nothing_comes_of_nothing():
    found = ExtractionSchema(TYPES).best([])
    assert (found.entities, found.relations, found.implied, found.value) == ((), (), (), 0.0)


@given(schemas())
@settings(max_examples=30)
def test_a_schema_comes_back_from_json(schema):
    again = ExtractionSchema.from_json(schema.to_json())
    assert again.to_json() == schema.to_json()
    assert again.relations == schema.relations


def test_pydantic_models_say_a_schema():
    pydantic = pytest.importorskip("pydantic")

    class City(pydantic.BaseModel):
        name: str

    class Person(pydantic.BaseModel):
        name: str
        born_in: City | None = None
        parents: list["Person"] = pydantic.Field(  # noqa: UP037
            max_length=2, json_schema_extra={"acyclic": True, "inverse": "children"}
        )
        children: list["Person"] = pydantic.Field(default_factory=list)  # noqa: UP037
        works_for: Person | Company | None = None

    class Company(pydantic.BaseModel):
        seat: City

    Person.model_rebuild(_types_namespace={"Company": Company, "Person": Person})
    schema = ExtractionSchema.from_models(Person, Company)
    assert set(schema.entities) == {"City", "Company", "Person"}
    said = {relation.name: relation for relation in schema.relations}
    assert said["born_in"] == RelationType("born_in", ["Person"], ["City"], max_per_head=1)
    assert said["parents"] == RelationType(
        "parents", ["Person"], ["Person"], max_per_head=2, acyclic=True, inverse="children"
    )
    assert said["children"] == RelationType("children", ["Person"], ["Person"])
    assert set(said["works_for"].tail) == {"Person", "Company"}
    assert said["seat"].max_per_head == 1


@pytest.mark.parametrize(
    ("wrong", "error", "says"),
    [
        (lambda: ExtractionSchema(["a", "a"]), SpaceError, "entity type 'a' twice"),
        (
            lambda: ExtractionSchema(TYPES, [RelationType("r")] * 2),
            SpaceError,
            "relation 'r' twice",
        ),
        (
            lambda: ExtractionSchema(TYPES, [RelationType("r", ["x"])]),
            LabelError,
            "'x'; the schema",
        ),
        (lambda: ExtractionSchema(TYPES, [RelationType("r", inverse="x")]), LabelError, "'x'"),
        (lambda: ExtractionSchema(TYPES, overlap="some"), SettingError, "overlap is one of"),
        (lambda: RelationType("r", max_per_head=-1), SettingError, "max_per_head"),
        (lambda: ExtractionSchema.from_json('{"entity": []}'), SpaceError, "may have entities"),
        (
            lambda: ExtractionSchema.from_json({"entities": [], "relations": [{"nam": 1}]}),
            SpaceError,
            "a relation is a mapping",
        ),
        (lambda: ExtractionSchema(TYPES).best([(0, 1, "x", 1.0)]), LabelError, "entity type 'x'"),
        (
            lambda: ExtractionSchema(TYPES, [RelationType("r")]).best(
                [(0, 1, "place", 1.0)], [(0, "r", 1, 1.0)]
            ),
            LabelError,
            "relation candidate 0 is between 0 and 1",
        ),
    ],
)
def test_what_is_wrong_is_said(wrong, error, says):
    with pytest.raises(error, match=says):
        wrong()
