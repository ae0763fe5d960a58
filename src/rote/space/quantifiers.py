"""Constraints over many variables: all, any, counts, all different, one of a list.

Each is a function that makes nodes of `rote.space.language`, and takes rules or lists of rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from types import UnionType
from typing import Any

from rote.errors import RuleError
from rote.space.language import And, Count, Linear, Or, Rule, Tuples, Variable, as_rule, whole


def all_of(*rules: Rule | Iterable[Rule]) -> And:
    """Every rule holds. Takes rules, or lists of rules."""
    return And(tuple(_flat(rules)))


def any_of(*rules: Rule | Iterable[Rule]) -> Or:
    """At least one rule holds. Takes rules, or lists of rules."""
    return Or(tuple(_flat(rules)))


def count(*rules: Rule | Iterable[Rule]) -> Count:
    """How many of the rules hold. Takes rules, or lists of rules."""
    return Count(tuple((1, rule) for rule in _flat(rules)))


def at_most(k: int, *rules: Rule | Iterable[Rule]) -> Linear:
    """At most ``k`` of the rules hold.

    Parameters
    ----------
    k
        A whole number of at least 0.
    *rules
        Rules, or lists of rules.
    """
    return Linear(count(*rules).terms, None, natural(k, "at_most takes"))


def at_least(k: int, *rules: Rule | Iterable[Rule]) -> Linear:
    """At least ``k`` of the rules hold.

    Parameters
    ----------
    k
        A whole number of at least 0.
    *rules
        Rules, or lists of rules.
    """
    return Linear(count(*rules).terms, natural(k, "at_least takes"), None)


def exactly(k: int, *rules: Rule | Iterable[Rule]) -> Linear:
    """Exactly ``k`` of the rules hold.

    Parameters
    ----------
    k
        A whole number of at least 0.
    *rules
        Rules, or lists of rules.
    """
    number = natural(k, "exactly takes")
    return Linear(count(*rules).terms, number, number)


def all_different(*variables: Variable | Iterable[Variable]) -> And:
    """No two variables take a label of the same name.

    One `at_most` per label rather than one clause per pair: the rows are fewer
    and their relaxation is tighter.
    """
    chosen = [variable for item in variables for variable in _listed(item, Variable)]
    _check_variables("all_different takes variables", chosen)
    labels = dict.fromkeys(label for variable in chosen for label in variable.labels)
    groups = ([v[label] for v in chosen if label in v.labels] for label in labels)
    return And(tuple(at_most(1, group) for group in groups if len(group) > 1))


def one_of(variables: Sequence[Variable], tuples: Iterable[Sequence[str]]) -> Tuples:
    """The labels of some variables form one of some tuples.

    Parameters
    ----------
    variables
        Different variables.
    tuples
        The tuples of labels that may be, one label per variable.
    """
    over = tuple(variables)
    _check_variables("one_of takes a list of variables first", over)
    allowed = set()
    for labels in tuples:
        if len(labels) != len(over):
            raise RuleError(
                f"one_of got the tuple {tuple(labels)!r} for {len(over)} variables; "
                "give one label per variable"
            )
        allowed.add(tuple(v.position(label) for v, label in zip(over, labels, strict=True)))
    return Tuples(over, frozenset(allowed))


def _flat(rules: Iterable[Rule | Iterable[Rule]]) -> Iterator[Rule]:
    for item in rules:
        for rule in _listed(item, Rule | Variable):
            yield as_rule(rule, "a list of rules")


def _listed(item: Any, kind: type | UnionType) -> Iterable[Any]:
    """The item by itself, or what is in it."""
    if isinstance(item, kind):
        return (item,)
    if isinstance(item, Iterable) and not isinstance(item, str):
        return item
    raise RuleError(f"expected rules such as variable['label'], or lists of them, got {item!r}")


def _check_variables(wanted: str, variables: Sequence[Any]) -> None:
    for variable in variables:
        if not isinstance(variable, Variable):
            raise RuleError(f"{wanted}, got {variable!r}")
    if len(set(variables)) != len(variables):
        raise RuleError(f"{wanted}, got the same variable twice; list each variable once")


def natural(value: object, what: str) -> int:
    """How many of some rules hold; fewer than none never do."""
    number = whole(value, what)
    if number < 0:
        raise RuleError(f"{what} a whole number of at least 0, got {number}")
    return number
