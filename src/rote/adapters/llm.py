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
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np

from rote.errors import DataError, ScoreError, SettingError
from rote.inference import Engine, Exact, Problem
from rote.settings import Checked, Setting, instance_of, is_number
from rote.space import SpaceBuilder, any_of, at_most, template
from rote.space.rule_text import Rules, Vocabulary
from rote.tasks.external_scores import FLOOR
from rote.types import readonly

END = "]"  # the answer that ends a list, and what an item behind the end is
LENGTH = "length"
MOST_NUMBERS = 1000  # of a range whose numbers are listed
DEEPEST = 20  # a schema that goes on refers to itself
Path: TypeAlias = tuple[str | int, ...]
Node: TypeAlias = Mapping[str, Any]
Table: TypeAlias = Mapping[str, Any]


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
    >>> answers.predict([{"state": {"sent": -0.4, "new": -1.1}, "paid": {"true": -2, "false": -0.1}}])
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
            below the others. A field without a table has its default, unless a rule forbids it.
        """
        if isinstance(tables, Mapping):
            raise DataError("predict takes a list of tables, got one by itself; put it into a list")
        asked = [list(self._questions(table)) for table in tables]
        groups: dict[tuple[tuple[str, tuple[str, ...]], ...], list[int]] = {}
        for number, questions in enumerate(asked):
            key = tuple((question.field.name, question.labels) for question in questions)
            groups.setdefault(key, []).append(number)
        found: list[Any] = [None] * len(asked)
        for variables, numbers in groups.items():
            space = _space(
                variables, self._lists, self.rules, tuple(self._vocabulary.kinds.items())
            )
            scores = np.array([[s for q in asked[k] for s in q.scores] for k in numbers])
            closed = np.isneginf(scores)
            scores[closed] = 0.0
            problem = Problem(space, scores, closed if closed.any() else None)
            solutions = self.engine.solve(space, problem)
            every = solutions.require_outputs("table", readonly(np.array(numbers)))
            for number, labels in zip(numbers, every.tolist(), strict=True):
                found[number] = self._instance(asked[number], labels)
        return found

    @cached_property
    def _fields(self) -> tuple[_Field, ...]:
        given = self.schema
        schema = given if isinstance(given, Mapping) else given.model_json_schema()
        return tuple(_fields(schema, (), schema.get("$defs", {}), required=True))

    @cached_property
    def _lists(self) -> tuple[tuple[str, bool], ...]:
        """The name of each list, and whether its items differ."""
        return tuple(
            (f.name.removesuffix(f".{LENGTH}"), f.unique) for f in self._fields if f.is_list
        )

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        kinds = {f.name: f.labels if f.is_closed else _AnyText(f.labels) for f in self._fields}
        return Vocabulary({name: (0, labels) for name, labels in kinds.items()})

    def _questions(self, table: Table) -> Iterator[_Question]:
        """The variables of a table: the fields that it or a default speaks of."""
        if not isinstance(table, Mapping):
            raise DataError(f"a table is a mapping from fields to their answers, got {table!r:.80}")
        lengths: dict[Path, int] = {}
        for own in self._fields:
            answers = _at(table, own.path[:-1] if own.is_list else own.path)
            if own.is_list:
                answers = [] if answers is None else answers
                if not isinstance(answers, Sequence) or isinstance(answers, str):
                    raise DataError(
                        f"the answers of {own.name.removesuffix('.length')!r} are a list with a "
                        f"table for each item, got {answers!r:.80}"
                    )
                question = own.length_of(answers[: own.values[-1]])
                lengths[own.path[:-1]] = len(answers)
            elif own.item is not None and own.item[1] >= lengths[own.item[0]]:
                continue  # there is no such item
            elif answers is None and not own.has_default and not own.required:
                continue
            else:
                question = own.asked(answers)
            yield question

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
    """A field under one table."""

    field: _Field
    values: tuple[Any, ...]
    labels: tuple[str, ...]  # of the values, and the end where an item may be behind it
    scores: list[float]


class _Field(NamedTuple):
    """A part of an instance that has one value; of a list, its length."""

    path: Path
    values: tuple[Any, ...]
    readers: tuple[Callable[[Any], Any], ...]  # of values that are not listed
    required: bool
    default: tuple[Any, ...]
    item: tuple[Path, int] | None = None  # which list it is in, and where
    may_end: bool = False
    is_list: bool = False
    unique: bool = False

    @property
    def name(self) -> str:
        return ".".join(map(str, self.path))

    @property
    def is_closed(self) -> bool:
        return not self.readers

    @property
    def has_default(self) -> bool:
        return bool(self.default)

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
        places: dict[Any, int | None] = {}
        for place, value in enumerate(values):
            text = _text(value)
            folded = text.strip().casefold()
            places[folded] = None if folded in places else place  # None where two are spelled alike
        exact = {_text(value): place for place, value in enumerate(values)}
        found: dict[int, float] = {}
        for answer, score in answers.items():
            if answer == END:
                continue
            text = _text(answer)
            place = exact.get(text, places.get(text.strip().casefold()))
            if place is None:
                for read in self.readers:
                    try:
                        value = read(answer)
                    except ValueError:
                        continue
                    place = exact[text] = len(values)
                    values.append(value)
                    break
                else:
                    continue
            if not is_number(score) or not score <= 1e-6:
                raise ScoreError(
                    f"the answer {answer!r:.40} of field {self.name!r} has the log-probability "
                    f"{score!r:.40}; it is a number of at most 0, or -inf: of a probability take "
                    "the logarithm"
                )
            found[place] = float(np.logaddexp(found.get(place, -np.inf), score))
        if not found:
            among = ", ".join(map(_text, self.values)) or "those of its table"
            raise DataError(
                f"no answer of field {self.name!r} is one of its values: {among:.200}; "
                f"got {', '.join(map(repr, answers)):.200}"
            )
        finite = [score for score in found.values() if score > -np.inf] or [0.0]
        lowest = min(*finite, max(finite) + FLOOR)
        scores = [found.get(place, lowest) for place in range(len(values))]
        labels = tuple(map(_text, values)) + (END,) * self.may_end
        return _Question(self, tuple(values), labels, scores + [0.0] * self.may_end)

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


class _AnyText(tuple[str, ...]):
    """The labels of a field that may be any text: its table says which it has."""

    def __contains__(self, label: object) -> bool:
        return True


@template
def _space(
    builder: SpaceBuilder,
    variables: tuple[tuple[str, tuple[str, ...]], ...],
    lists: tuple[tuple[str, bool], ...],
    rules: Rules | None,
    kinds: tuple[tuple[str, tuple[int, tuple[str, ...]]], ...],
) -> None:
    every = {name: builder.variable(name, labels) for name, labels in variables}
    for name, unique in lists:
        length = every[f"{name}.{LENGTH}"]
        items: dict[str, list[Any]] = {}
        for variable in every.values():
            place, _, inner = variable.name.removeprefix(f"{name}.").partition(".")
            if variable.name == length.name or not variable.name.startswith(f"{name}.{place}"):
                continue
            if not place.isdecimal():
                continue
            if unique and not inner:
                for label in variable.labels:
                    items.setdefault(label, []).append(variable[label])
            if END in variable.labels:
                short = any_of(length[k] for k in length.labels if int(k) <= int(place))
                builder.require(variable[END] >> short, f"{name} goes on to item {place}")
                builder.require(short >> variable[END], f"{name} ends before item {place}")
        for label, same in items.items():
            if label != END and len(same) > 1:
                builder.require(at_most(1, same), f"{name} has {label} once")
    places = {name: {(): variable} for name, variable in every.items()}
    Vocabulary(dict(kinds)).require(builder, rules, list(every.values()), places)
