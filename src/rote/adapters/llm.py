"""A language model's answers to the fields of a form, made one valid instance.

A schema (a pydantic model, or JSON Schema) says which fields there are and what each may be. A
table gives log-probabilities of answers, field by field, as a language model says them of what it
may write next. Each field is a variable whose labels are its values; with rules between fields, the
answer is the likeliest instance that obeys schema and rules:

    max Σ_fields log p(value of the field)

A list with at most so many items is as many variables, and one for its length. As for a model that
writes one item after the other, a list of k items has the log-probabilities of these, and that of
"]" in the place of the next one.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from rote.errors import DataError, ScoreError, SettingError
from rote.inference.engine import Engine
from rote.inference.exact.exact import Exact
from rote.settings import Checked, Setting, instance_of, is_number
from rote.space import Rule, Space, SpaceBuilder, any_of, at_most
from rote.space.rule_text import Rules, Vocabulary
from rote.tasks.external_scores import FLOOR

__all__ = ["RuledAnswers"]

END = "]"  # the answer that ends a list, and what an item behind the end is
LENGTH = "length"
WORDS = {None: "null", True: "true", False: "false"}
ROUNDING = 1e-6  # what a log-probability may be above 0
MOST_NUMBERS = 1000  # of a range whose numbers are listed
DEEPEST = 20  # a schema that goes on refers to itself
Path: TypeAlias = tuple[str | int, ...]
Node: TypeAlias = Mapping[str, Any]
Table: TypeAlias = Mapping[str, Any]
Reader: TypeAlias = Callable[[Any], Any]
Readers: TypeAlias = tuple[Reader, ...]  # of values that a schema does not list


@dataclass(frozen=True)
class RuledAnswers(Checked):
    """The likeliest instances of a schema under rules, from tables of log-probabilities.

    Of a schema are read: objects, enumerations, constants, booleans, whole numbers within bounds,
    alternatives of those, and lists with ``maxItems`` (``minItems``, ``uniqueItems``). Texts, and
    numbers without bounds, are one of the answers in their table.

    Parameters
    ----------
    schema
        A pydantic model, or the JSON Schema of an object.
    rules
        A text (`rote.space.rule_text`) about fields by their names, or a function that adds rules,
        given a builder and the variables. A field inside another is called ``address.city``, the
        first item of a list ``tags.0``, and its length ``tags.length``. An item behind the end of
        its list is "]".
    engine
        What finds the best instance; `Exact()` if not given.

    Examples
    --------
    >>> states, yes_no = {"enum": ["new", "sent"]}, {"type": "boolean"}
    >>> schema = {"type": "object", "properties": {"state": states, "paid": yes_no}}
    >>> answers = RuledAnswers(schema, "if state is sent then paid is true")
    >>> table = {"state": {"sent": -0.4, "new": -1.1}, "paid": {"true": -2.3, "false": -0.1}}
    >>> answers.predict([table])
    [{'state': 'new', 'paid': False}]
    """

    schema: Any
    rules: Rules | None = None
    engine: Engine = field(default_factory=Exact)

    checks: ClassVar = {
        "schema": Setting(
            "a pydantic model, or a JSON Schema as a mapping",
            lambda value: isinstance(value, Mapping) or hasattr(value, "model_json_schema"),
        ),
        "engine": instance_of(Engine, "Exact()"),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        self._vocabulary.check(self.rules)

    def predict(self, tables: Sequence[Table]) -> list[Any]:
        """The likeliest instance for each table: of the pydantic model, or as plain values.

        Parameters
        ----------
        tables
            ``{field: {answer: log-probability}}``, nested as the schema is; of a list, a table for
            each of its first items. An answer is a value, or its text with letters of any case.
            Answers that are no value of a field do not count, and values that are no answer are far
            below the others. A field without a table has its default, unless a rule forbids it;
            one without a default is left out, where it need not be there.
        """
        if isinstance(tables, Mapping):
            raise DataError("predict takes a list of tables, got one by itself; put it into a list")
        asked = [list(self._questions(table)) for table in tables]
        groups: dict[tuple[_Variable, ...], list[int]] = {}
        for number, questions in enumerate(asked):
            groups.setdefault(tuple(q.variable for q in questions), []).append(number)
        found: list[Any] = [None] * len(asked)
        kinds = tuple(self._vocabulary.kinds.items())
        unique = frozenset(own.path[:-1] for own in self._fields if own.unique)
        for variables, numbers in groups.items():
            space = _space(variables, unique, self.rules, kinds)
            scores = np.array([[s for q in asked[k] for s in q.scores] for k in numbers])
            solutions = self.engine.solve(space, scores)
            outputs = solutions.require_outputs("table", np.array(numbers))
            for number, labels in zip(numbers, outputs.tolist(), strict=True):
                found[number] = self._instance(asked[number], labels)
        return found

    @cached_property
    def _fields(self) -> tuple[_Field, ...]:
        given = self.schema
        schema = given if isinstance(given, Mapping) else given.model_json_schema()
        return tuple(_fields(schema, (), schema.get("$defs", {}), required=True))

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        kinds = {f.name: _AnyText(f.labels) if f.readers else f.labels for f in self._fields}
        return Vocabulary({name: (0, labels) for name, labels in kinds.items()})

    def _questions(self, table: Table) -> Iterator[_Question]:
        """The fields of which a table, or a default, says something."""
        if not isinstance(table, Mapping):
            raise DataError(f"a table is a mapping from fields to their answers, got {table!r:.80}")
        known = {own.path[0]: None for own in self._fields}
        unknown = [name for name in table if name not in known]
        if unknown:
            raise DataError(
                f"the schema has no field {unknown[0]!r}; its fields are {', '.join(known):.200}"
            )
        lengths: dict[Path, int] = {}
        for own in self._fields:
            path = own.path[:-1] if own.is_list else own.path
            answers = _at(table, path)
            if own.item is not None and own.item[1] >= lengths[own.item[0]]:
                continue
            if answers is None and not own.required and (own.is_list or not own.default):
                lengths[path] = 0
            elif own.is_list:
                items = [] if answers is None else answers[: own.values[-1]]
                lengths[path] = len(items)
                yield own.length_of(items)
            else:
                yield own.asked(answers)

    def _instance(self, questions: Sequence[_Question], labels: Sequence[int]) -> Any:
        data: dict[str, Any] = {}
        for question, label in zip(questions, labels, strict=True):
            own = question.field
            if own.is_list:
                _put(data, own.path[:-1], [])
            elif label < len(question.values):
                _put(data, own.path, question.values[label])
        return data if isinstance(self.schema, Mapping) else self.schema.model_validate(data)


class _Question(NamedTuple):
    """A field with what a table says of it."""

    field: _Field
    values: tuple[Any, ...]
    labels: tuple[str, ...]  # of the values, and the end where an item may be behind it
    scores: list[float]

    @property
    def variable(self) -> _Variable:
        return _Variable(self.field.name, self.labels, self.field.item)


class _Field(NamedTuple):
    """A part of an instance that has one value; of a list, its length."""

    path: Path
    values: tuple[Any, ...]
    readers: Readers
    required: bool
    default: tuple[Any, ...]  # one or none
    item: tuple[Path, int] | None = None  # which list it is in, and where
    may_end: bool = False
    is_list: bool = False
    unique: bool = False

    @property
    def name(self) -> str:
        return _name(self.path)

    @property
    def labels(self) -> tuple[str, ...]:
        return tuple(map(_text, self.values)) + (END,) * self.may_end

    def asked(self, answers: Any) -> _Question:
        """The values with their scores."""
        if answers is None and self.default:
            answers = {self.default[0]: 0.0}
        if not isinstance(answers, Mapping):
            raise DataError(
                f"field {self.name!r} has log-probabilities of its answers, as in "
                f'{{"{self.name}": {{"answer": -0.1}}}}; got {answers!r:.80}'
            )
        values = list(self.values)
        texts = list(map(_text, values))
        places = {text.strip().casefold(): place for place, text in enumerate(texts)}
        places |= {text: place for place, text in enumerate(texts)}
        found: dict[int, float] = {}
        for answer, score in answers.items():
            text = _text(answer)
            place = places.get(text, places.get(text.strip().casefold()))
            if place is None and text != END:
                read = list(self._read(answer))
                if read:
                    place = places[text] = len(values)
                    values += read[:1]
                    texts.append(_text(values[-1]))
            if place is None:
                continue
            if not is_number(score) or not score <= ROUNDING:
                raise ScoreError(
                    f"answer {answer!r:.40} of field {self.name!r} has the log-probability "
                    f"{score!r:.40}; it is a number of at most 0, or -inf; of a probability take "
                    "the logarithm"
                )
            found[place] = float(np.logaddexp(found.get(place, -np.inf), score))
        if not found:
            among = ", ".join(texts) or "those of its table"
            raise DataError(
                f"no answer of field {self.name!r} is one of its values: {among:.200}; "
                f"got {', '.join(map(repr, answers)):.200}"
            )
        finite = [score for score in found.values() if score > -np.inf] or [0.0]
        lowest = min(*finite, max(finite) + FLOOR)
        scores = [found.get(place, lowest) for place in range(len(values))]
        labels = tuple(texts) + (END,) * self.may_end
        return _Question(self, tuple(values), labels, scores + [0.0] * self.may_end)

    def _read(self, answer: Any) -> Iterator[Any]:
        for reader in self.readers:
            with suppress(ValueError):
                yield reader(answer)

    def length_of(self, items: Sequence[Any]) -> _Question:
        """The lengths of a list that ends after some items, with what is said of the end."""
        ends = [*(each.get(END, -np.inf) for each in items), 0.0]
        lengths = [k for k in self.values if k < len(ends)]
        if not lengths or max(ends[k] for k in lengths) == -np.inf:
            raise DataError(
                f"{self.name!r} is {' or '.join(map(str, self.values))}, and there are tables for "
                f"{len(items)} items; give a table for each item that must be there"
            )
        scores = [float(ends[k]) for k in lengths]
        return _Question(self, tuple(lengths), tuple(map(str, lengths)), scores)


class _Variable(NamedTuple):
    """What a space needs to know of a field."""

    name: str
    labels: tuple[str, ...]
    item: tuple[Path, int] | None


class _AnyText(tuple[str, ...]):
    """The labels of a field that may be any text: its table says which it has."""

    def __contains__(self, label: object) -> bool:
        return True


@lru_cache(maxsize=64)  # not a template: a space that is solved once need not be compiled
def _space(
    fields: tuple[_Variable, ...],
    unique: frozenset[Path],
    rules: Rules | None,
    kinds: tuple[tuple[str, tuple[int, tuple[str, ...]]], ...],
) -> Space:
    builder = SpaceBuilder()
    variables = {own.name: builder.variable(own.name, own.labels) for own in fields}
    same: dict[tuple[Path, str], list[Rule]] = {}
    for name, labels, item in fields:
        if item is None:
            continue
        path, place = item
        if END in labels:
            length = variables[_name((*path, LENGTH))]
            short = any_of(length[k] for k in length.labels if int(k) <= place)
            builder.require(variables[name][END] >> short, f"{name} is there")
            builder.require(short >> variables[name][END], f"{name} is not there")
        if path in unique:
            for label in labels:
                same.setdefault((path, label), []).append(variables[name][label])
    for (path, label), items in same.items():
        if label != END and len(items) > 1:
            builder.require(at_most(1, items), f"{_name(path)} has {label} once")
    places = {name: {(): variable} for name, variable in variables.items()}
    Vocabulary(dict(kinds)).require(builder, rules, list(variables.values()), places)
    return builder.build()


def _fields(
    node: Node,
    path: Path,
    definitions: Node,
    *,
    required: bool,
    item: tuple[Path, int] | None = None,
    may_end: bool = False,
) -> Iterator[_Field]:
    """The fields of a part of a schema, in order; the length of a list comes before its items."""
    node = _resolved(node, definitions)
    default = (node["default"],) if "default" in node else ()
    if len(path) > DEEPEST:
        raise _unread(path, "it refers to itself without end")
    if "properties" in node:
        needed = node.get("required", ())
        for name, inner in node["properties"].items():
            there = required and name in needed
            own = (*path, name)
            yield from _fields(inner, own, definitions, required=there, item=item, may_end=may_end)
    elif node.get("type") == "array":
        least, most = node.get("minItems", 0), node.get("maxItems")
        if most is None or item is not None or "items" not in node:
            raise _unread(path, "lists have items and maxItems, and are in no other list")
        unique = bool(node.get("uniqueItems", False))
        lengths = tuple(range(least, most + 1))
        yield _Field((*path, LENGTH), lengths, (), required, default, is_list=True, unique=unique)
        for k in range(most):
            inner, there = node["items"], k < least
            where = (path, k)
            own = (*path, k)
            yield from _fields(
                inner, own, definitions, required=True, item=where, may_end=not there
            )
    else:
        values, readers = _choice(node, path, definitions)
        yield _Field(path, values, readers, required, default, item, may_end)


def _choice(node: Node, path: Path, definitions: Node) -> tuple[tuple[Any, ...], Readers]:
    """The values that a schema lists, and what reads those that it does not list."""
    node = _resolved(node, definitions)
    if "const" in node:
        return (node["const"],), ()
    if "enum" in node:
        return tuple(node["enum"]), ()
    kinds = node.get("type")
    several = node.get("anyOf") or node.get("oneOf")
    if several is None and isinstance(kinds, list):
        several = [{**node, "type": kind} for kind in kinds]
    if several:
        each = [_choice(inner, path, definitions) for inner in several]
        values = tuple(value for own, _ in each for value in own)
        return values, tuple(reader for _, own in each for reader in own)
    if kinds == "integer" and (bounds := _bounds(node)) is not None:
        return tuple(bounds), ()
    listed = {"boolean": (False, True), "null": (None,)}
    if kinds in listed:
        return listed[kinds], ()
    if kinds in READERS:
        return (), (READERS[kinds],)
    raise _unread(path, f"it has the type {kinds!r}")


def _bounds(node: Node) -> range | None:
    """The whole numbers within bounds, where both are given and not too many are between."""
    low = node.get("minimum", node.get("exclusiveMinimum", -np.inf) + 1)
    high = node.get("maximum", node.get("exclusiveMaximum", np.inf) - 1)
    return range(int(low), int(high) + 1) if high - low < MOST_NUMBERS else None


def _number(answer: Any) -> Any:
    value = json.loads(answer) if isinstance(answer, str) else answer
    if not is_number(value):
        raise ValueError
    return value


def _whole(answer: Any) -> Any:
    value = _number(answer)
    if value != int(value):
        raise ValueError
    return int(value)


READERS: Mapping[Any, Reader] = {"string": str, "number": _number, "integer": _whole}


def _resolved(node: Node, definitions: Node) -> Node:
    """A part of a schema without references at its top."""
    for _ in range(DEEPEST):
        if "$ref" in node:
            name = node["$ref"].rpartition("/")[2]
            node = {**definitions[name], **{k: v for k, v in node.items() if k != "$ref"}}
        elif len(node.get("allOf", ())) == 1:
            node = {**node["allOf"][0], **{k: v for k, v in node.items() if k != "allOf"}}
        else:
            break
    return node


def _unread(path: Path, why: str) -> SettingError:
    return SettingError(
        f"the schema of {_name(path) or 'the whole'!r} cannot be read: {why}; a field is an object "
        "with properties, an enumeration, a boolean, a number, a text, an alternative of those, or "
        "a list with maxItems"
    )


def _name(path: Path) -> str:
    return ".".join(map(str, path))


def _text(value: Any) -> str:
    """A value as it stands in rules, and in answers of a language model."""
    if value is None or isinstance(value, str | bool):
        return value if isinstance(value, str) else WORDS[value]
    return json.dumps(value, ensure_ascii=False)


def _at(table: Any, path: Path) -> Any:
    """What a nested table says at a path; None where it says nothing."""
    for step in path:
        if isinstance(step, int):
            table = table[step] if isinstance(table, Sequence) and step < len(table) else None
        else:
            table = table.get(step) if isinstance(table, Mapping) else None
    return table


def _put(data: Any, path: Path, value: Any) -> None:
    """Put a value into nested objects and lists, which are made where they are missing."""
    for step, following in pairwise(path):
        empty: Any = [] if isinstance(following, int) else {}
        if isinstance(data, list) and step == len(data):
            data.append(empty)
        data = data[step] if isinstance(data, list) else data.setdefault(step, empty)
    if isinstance(data, list):
        data.append(value)
    else:
        data[path[-1]] = value
