"""Instances from tables of log-probabilities, beside all instances there are."""

from __future__ import annotations

import itertools
import math
from enum import Enum
from typing import Annotated, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.adapters.llm import RuledAnswers
from rote.errors import DataError, NoSolution, RuleError, ScoreError, SettingError

pydantic = pytest.importorskip("pydantic")
Field = pydantic.Field


class State(Enum):
    new = "new"
    sent = "sent"
    lost = "lost"


class Address(pydantic.BaseModel):
    city: str
    floor: Annotated[int, Field(ge=1, lt=3)]


class Line(pydantic.BaseModel):
    what: Literal["pen", "ink"]
    gift: bool


class Order(pydantic.BaseModel):
    state: State
    paid: bool | None
    address: Address
    tags: Annotated[list[Literal["a", "b", "c"]], Field(max_length=2)]
    lines: Annotated[list[Line], Field(min_length=1, max_length=2)]
    note: str = "none"


RULES = """
if state is sent then paid is true
if address.city is "New York" then address.floor is 2
if tags.0 is a then not tags.1 is b|c
lines.length is 1 or lines.1.gift is true
"""


def obeys(order):
    tags, lines = order["tags"], order["lines"]
    return (
        (order["state"] != "sent" or order["paid"] is True)
        and (order["address"]["city"] != "New York" or order["address"]["floor"] == 2)
        and not (tags[:1] == ["a"] and tags[1:] in (["b"], ["c"]))
        and (len(lines) == 1 or lines[1]["gift"])
    )


def lists(tables, least):
    """The lists that a table allows, with their log-probability; an item is of any kind."""
    for length in range(least, len(tables) + 1):
        if length < len(tables) and "]" not in tables[length]:
            continue
        end = tables[length]["]"] if length < len(tables) else 0.0
        for chosen in itertools.product(*(instances(table) for table in tables[:length])):
            yield [value for value, _ in chosen], end + sum(score for _, score in chosen)


def instances(table):
    if any(isinstance(inner, dict) for inner in table.values()):
        names = [name for name in table if name != "]"]
        for chosen in itertools.product(*(instances(table[name]) for name in names)):
            values = [value for value, _ in chosen]
            yield dict(zip(names, values, strict=True)), sum(score for _, score in chosen)
    else:
        yield from ((value, score) for value, score in table.items() if value != "]")


def orders(table):
    alone = ("state", "paid", "address")
    for chosen in itertools.product(
        *(instances(table[name]) for name in alone),
        lists(table["tags"], 0),
        lists(table["lines"], 1),
    ):
        values = [value for value, _ in chosen]
        yield dict(zip((*alone, "tags", "lines"), values, strict=True)), sum(s for _, s in chosen)


LOG = st.integers(-40, 0).map(lambda k: k / 8)


def answers(*values):
    return st.fixed_dictionaries(dict.fromkeys(values, LOG))


@st.composite
def tables(draw):
    line = {"what": answers("pen", "ink"), "gift": answers(True, False)}
    items = st.one_of(answers("a", "b", "c"), answers("a", "b", "c", "]"))
    return {
        "state": draw(answers("new", "sent", "lost")),
        "paid": draw(answers(True, False, None)),
        "address": {"city": draw(answers("Ulm", "New York")), "floor": draw(answers(1, 2))},
        "tags": draw(st.lists(items, max_size=2)),
        "lines": draw(
            st.lists(
                st.one_of(st.fixed_dictionaries(line), st.fixed_dictionaries({**line, "]": LOG})),
                min_size=1,
                max_size=2,
            )
        ),
    }


@given(st.lists(tables(), min_size=1, max_size=3))
def test_an_instance_is_the_likeliest_of_all(many):
    found = RuledAnswers(Order, RULES).predict(many)
    for table, order in zip(many, found, strict=True):
        plain = order.model_dump(mode="json")
        assert plain.pop("note") == "none"
        every = [(instance, score) for instance, score in orders(table) if obeys(instance)]
        best = max(score for _, score in every)
        assert isinstance(order, Order)
        assert next(score for instance, score in every if instance == plain) == pytest.approx(best)


UNIQUE = {"type": "array", "maxItems": 3, "uniqueItems": True, "items": {"enum": ["a", "b", "c"]}}


def form(**properties):
    return {"type": "object", "properties": properties, "required": list(properties)}


def test_items_of_a_list_may_have_to_differ():
    table = [{"a": -0.1, "b": -3}, {"a": -0.1, "c": -1, "]": -9}, {"a": -0.1, "]": -5}]
    for items, best in ((UNIQUE, ["b", "c", "a"]), ({**UNIQUE, "uniqueItems": False}, ["a"] * 3)):
        assert RuledAnswers(form(tags=items)).predict([{"tags": table}]) == [{"tags": best}]


@pytest.mark.parametrize(
    ("schema", "table", "value"),
    [
        ({"enum": ["Yes", "No"]}, {" yes": -1, "YES": -1, "No": -0.9}, "Yes"),  # adds up
        ({"enum": [1, 2.5, None]}, {"1": -3, "2.5": -1, "null": -2}, 2.5),
        ({"const": 7}, {"8": -0.1, 7: -9}, 7),
        ({"type": "integer"}, {"many": -0.1, "1.5": -0.2, "12": -4}, 12),
        ({"type": "number"}, {"1.5": -0.2, "12": -4}, 1.5),
        ({"type": ["string", "null"]}, {"null": -0.2, "x": -4}, None),
        ({"anyOf": [{"type": "boolean"}, {"const": "maybe"}]}, {"maybe": -1, "true": -2}, "maybe"),
        ({"allOf": [{"$ref": "#/$defs/B"}]}, {"true": -1}, True),
        ({"type": "integer", "exclusiveMinimum": 1, "maximum": 3}, {"1": 0, "3": -1}, 3),
        ({"type": "boolean"}, {"true": -math.inf, "false": -70}, False),
    ],
)
def test_an_answer_is_read_as_a_value_of_its_field(schema, table, value):
    whole = {**form(x=schema), "$defs": {"B": {"type": "boolean"}}}
    assert RuledAnswers(whole).predict([{"x": table}]) == [{"x": value}]


def test_a_default_gives_way_to_a_rule():
    schema = form(x={"enum": ["a", "b"]}, y={"type": "boolean", "default": False})
    schema["required"] = ["x"]
    answers = RuledAnswers(schema, "if x is b then y is true")
    assert answers.predict([{"x": {"a": -1}}, {"x": {"b": -30, "a": -90}}]) == [
        {"x": "a", "y": False},
        {"x": "b", "y": True},
    ]


def test_what_need_not_be_there_and_has_no_answer_is_left_out():
    schema = {**form(x={"enum": ["a"]}, y={"enum": ["a"]}, z=UNIQUE), "required": ["x"]}
    assert RuledAnswers(schema, "if x is a then not y is a").predict([{"x": {"a": 0}}]) == [
        {"x": "a"}
    ]


def test_rules_may_be_a_function():
    def rules(builder, variables):
        builder.require(~variables[0]["a"])

    schema = form(x={"enum": ["a", "b"]})
    assert RuledAnswers(schema, rules).predict([{"x": {"a": 0, "b": -9}}]) == [{"x": "b"}]


@pytest.mark.parametrize(
    ("properties", "table", "error", "said"),
    [
        ({"x": {"enum": ["a"]}}, {"y": {}}, DataError, "no field 'y'; its fields are x"),
        ({"x": {"enum": ["a"]}}, {}, DataError, "field 'x' has log-probabilities"),
        ({"x": {"enum": ["a"]}}, {"x": {"b": 0}}, DataError, "is one of its values: a; got 'b'"),
        ({"x": {"enum": ["a"]}}, {"x": {"a": 0.9}}, ScoreError, "take the logarithm"),
        ({"x": {"enum": ["a"]}}, {"x": {"a": "b"}}, ScoreError, "has the log-probability 'b'"),
        ({"x": {**UNIQUE, "minItems": 2}}, {"x": [{"a": 0}]}, DataError, "tables for 1 items"),
    ],
)
def test_a_table_that_does_not_fit_is_refused(properties, table, error, said):
    with pytest.raises(error, match=said):
        RuledAnswers(form(**properties)).predict([table])


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        (form(x={"type": "array", "items": {}}), "the schema of 'x' cannot be read: lists have"),
        (form(x={"type": "object"}), "it has the type 'object'"),
        ({**form(x={"$ref": "#/$defs/X"}), "$defs": {"X": form(x={"$ref": "X"})}}, "without end"),
        ("text", "a pydantic model, or a JSON Schema"),
    ],
)
def test_a_schema_that_cannot_be_read_is_refused(schema, said):
    with pytest.raises(SettingError, match=said):
        RuledAnswers(schema)


def test_rules_are_checked_before_there_is_a_table():
    with pytest.raises(RuleError, match="expected a label of x: a; got 'c'"):
        RuledAnswers(form(x={"enum": ["a"]}), "x is c")


def test_tables_come_as_a_list_and_the_one_without_an_instance_is_named():
    schema = form(x={"enum": ["a", "b"]})
    with pytest.raises(DataError, match="put it into a list"):
        RuledAnswers(schema).predict({"x": {"a": 0}})
    with pytest.raises(NoSolution, match="table 1"):
        RuledAnswers(schema, "x is a").predict([{"x": {"a": 0}}, {"x": {"b": 0, "a": -math.inf}}])
