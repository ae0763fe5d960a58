"""Spaces as JSON, and back: variables, factors, rules and soft rules, with their names.

    {"format": "rote space", "version": 1,
     "variables": [{"name": "x", "labels": ["a", "b"]}, …],
     "factors": [{"name": "x-y", "variables": [0, 1]}, …],
     "rules": [{"name": null, "rule": ["implies", ["is", 0, 0], ["is", 1, 1]]}, …],
     "soft": [{"name": "x is a", "rule": ["is", 0, 0], "weight": 0.5}, …]}

A rule is what `Rule.form` gives, and variables and labels are called by their positions. A weight
that is learned is null. A space that is read is built as any other one, so that everything is
checked; its fingerprint is that of the space that was written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from rote.errors import DataError, RoteError, SpaceError
from rote.io.shapes import check_shape
from rote.space.builder import SpaceBuilder
from rote.space.language import (
    Acyclic,
    And,
    Implies,
    Is,
    Linear,
    LinearRows,
    Not,
    Or,
    Rule,
    Tuples,
    Variable,
)
from rote.space.space import Space
from rote.types import offsets_from_counts

FORMAT, VERSION = "rote space", 1
Description: TypeAlias = dict[str, Any]
Variables: TypeAlias = Sequence[Variable]
SHAPE = {
    "format": str,
    "version": int,
    "variables": [{"name": object, "labels": [object]}],  # the builder looks at these
    "factors": [{"name": str, "variables": [int]}],
    "rules": [{"name": object, "rule": [object]}],
    "soft": [{"name": str, "rule": [object], "weight": object}],
}


def described(space: Space) -> Description:
    """A space as JSON has it."""
    here = {v.index: v.index for v in space.variables}
    own, count = space.variables[: space.own], len(space.rules) - len(space.variables) + space.own
    return {
        "format": FORMAT,
        "version": VERSION,
        "variables": [{"name": v.name, "labels": list(v.labels)} for v in own],
        "factors": [{"name": f.name, "variables": list(f.variables)} for f in space.own_factors],
        "rules": [
            {"name": named.given, "rule": _lists(named.rule.form(here))}
            for named in space.rules[:count]
        ],
        "soft": [
            {"name": soft.name, "rule": _lists(soft.rule.form(here)), "weight": soft.weight}
            for soft in space.soft
        ],
    }


def restored(description: Any) -> Space:
    """The space that was described; `SpaceError` says what is wrong with a description."""
    try:
        check_shape("a space", description, SHAPE)
    except DataError as error:
        raise SpaceError(str(error)) from None
    if description["format"] != FORMAT or description["version"] not in range(1, VERSION + 1):
        raise SpaceError(
            f"expected the format {FORMAT!r} up to version {VERSION}; got "
            f"{description['format']!r}, version {description['version']}"
        )
    builder = SpaceBuilder()
    variables = [
        _at("variables", k, builder.variable, each["name"], each["labels"])
        for k, each in enumerate(description["variables"])
    ]
    for k, each in enumerate(description["factors"]):
        scope = [_at("factors", k, _variable, variables, j) for j in each["variables"]]
        _at("factors", k, builder.factor, *scope, name=each["name"])
    for k, each in enumerate(description["rules"]):
        rule = _at("rules", k, _rule, each["rule"], variables)
        if not isinstance(each["name"], str | None):
            raise SpaceError(f"rules[{k}]: a name is a text or null, got {each['name']!r:.80}")
        _at("rules", k, builder.require, rule, each["name"])
    for k, each in enumerate(description["soft"]):
        rule = _at("soft", k, _rule, each["rule"], variables)
        weight = "learned" if each["weight"] is None else each["weight"]
        _at("soft", k, builder.prefer, rule, weight, each["name"])
    return builder.build()


def _lists(form: Any) -> Any:
    return [_lists(part) for part in form] if isinstance(form, tuple) else form


def _at(kind: str, number: int, make: Callable[..., Any], *given: Any, **named: Any) -> Any:
    """What is made of one entry; errors say which entry it is."""
    try:
        return make(*given, **named)
    except (RoteError, TypeError, ValueError, IndexError, OverflowError, RecursionError) as error:
        raise SpaceError(f"{kind}[{number}]: {error}") from None


def _variable(variables: Variables, j: Any) -> Variable:
    return variables[_whole(j, len(variables), "the number of a variable")]


def _whole(value: Any, below: int | None = None, what: str = "a whole number") -> int:
    least, most = (0, below) if below is not None else (value, None)
    if type(value) is int and least <= value and (most is None or value < most):
        return value
    end = "" if below is None else f" below {below}"
    raise SpaceError(f"expected {what}{end}, got {value!r:.80}")


def _wholes(values: Any, below: int | None = None, what: str = "a whole number") -> list[int]:
    return [_whole(value, below, what) for value in values]


def _is(form: Any, variables: Variables) -> Is:
    rule = _rule(form, variables)
    if not isinstance(rule, Is):
        raise SpaceError(f'expected a label as ["is", variable, label], got {form!r:.80}')
    return rule


def _rule(form: Any, variables: Variables) -> Rule:
    """The rule of a form."""
    match form:
        case ["is", j, label]:
            variable = _variable(variables, j)
            return Is(variable, _whole(label, len(variable.labels), "the position of a label"))
        case ["not", inner]:
            return Not(_rule(inner, variables))
        case ["implies", first, then]:
            return Implies(_rule(first, variables), _rule(then, variables))
        case ["and" | "or" as kind, *inner]:
            return (And if kind == "and" else Or)(tuple(_rule(each, variables) for each in inner))
        case ["linear", low, up, *terms]:
            found = tuple((_whole(c), _rule(term, variables)) for c, term in terms)
            return Linear(found, _end(low), _end(up))
        case ["tuples", [*scope], [*allowed]]:
            over = tuple(_variable(variables, j) for j in scope)
            sizes = [len(v.labels) for v in over]
            tuples = (
                tuple(_whole(a, size) for a, size in zip(labels, sizes, strict=True))
                for labels in allowed
            )
            return Tuples(over, frozenset(tuples))
        case ["acyclic", [*nodes], [*arcs]] if len(nodes) == len(arcs):
            pairs = tuple((_whole(u, 1 << 31), _whole(w, 1 << 31)) for u, w in nodes)
            return Acyclic(tuple(_is(arc, variables) for arc in arcs), pairs)
        case ["rows", *arrays] if len(arrays) == 6:
            return _rows(arrays, variables)
        case _:
            raise SpaceError(f'expected a rule such as ["is", 0, 1], got {form!r:.80}')


def _end(value: Any) -> int | None:
    return None if value is None else _whole(value)


def _rows(arrays: Sequence[Any], variables: Variables) -> LinearRows:
    owner, ptr, label, coefficient, lower, upper = arrays
    known = tuple(variables[j] for j in sorted(set(_wholes(owner, len(variables)))))
    starts = offsets_from_counts([len(v.labels) for v in known])
    first = {v.index: int(start) for v, start in zip(known, starts, strict=False)}
    counts = np.diff(_wholes(ptr, len(owner) + 1))
    whole = len(owner) == len(label) == len(coefficient) == ptr[-1] and ptr[0] == 0
    if not whole or (counts < 0).any() or not len(counts) == len(lower) == len(upper):
        raise SpaceError("the lists of a table of rows do not fit together")
    column = [
        first[j] + _whole(a, len(variables[j].labels), "the position of a label")
        for j, a in zip(owner, label, strict=True)
    ]
    ends = [
        np.array([none if end is None else float(_whole(end)) for end in side], dtype=np.float64)
        for side, none in ((lower, -np.inf), (upper, np.inf))
    ]
    row = np.repeat(np.arange(len(counts)), counts)
    entries = np.array(column, dtype=np.int64), np.array(_wholes(coefficient), dtype=np.int64)
    return LinearRows.of(known, starts, row, *entries, *ends)
