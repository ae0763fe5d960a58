"""Why an output violates a constraint: the variables whose labels are enough to break it.

Whether a rule holds has a *reason*: a set of variables such that every output with the same labels
on them agrees on the rule. So no change that leaves the reason alone can mend a broken rule, and a
variable that the rule mentions without being to blame stays out:

    x["a"]          x
    a & b           if it holds, the reasons of all; if not, those of the ones that do not hold
    a | b           if it holds, the reasons of those that hold; if not, those of all
    sum <= bound    if the sum is too large, the reasons of what made it large, and so on
    one_of          all variables that it is over

Where no variable is mentioned twice and all coefficients are 1, the reason of a broken rule is the
union of all smallest sets that break it; else it may be a little larger.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

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
    no_rule,
)
from rote.space.space import Space
from rote.types import AnyArray


class BrokenConstraint(NamedTuple):
    """A rule that an output breaks: its name, and the variables to blame by their position."""

    name: str
    variables: tuple[int, ...]


class Reason(NamedTuple):
    """Whether a rule holds, and the variables that make it so."""

    holds: bool
    variables: frozenset[int]


def violations(space: Space, labels: AnyArray) -> tuple[BrokenConstraint, ...]:
    """The rules that one output breaks, in the order of the space, and then the soft ones.

    >>> from rote import SpaceBuilder
    >>> builder = SpaceBuilder()
    >>> x, y, z = (builder.variable(name, "ab") for name in "xyz")
    >>> builder.require(x["a"] >> (y["b"] & z["b"]), "after a comes b")
    >>> violations(builder.build(), [0, 0, 1])
    (BrokenConstraint(name='after a comes b', variables=(0, 1)),)
    """
    row = space.as_labels(labels)
    broken = [(named.name, named.rule) for named in space.broken(row)]
    broken += [(soft.cost, soft.rule) for soft in space.broken_soft(row)]
    return tuple(
        BrokenConstraint(name, tuple(sorted(reason(rule, row[0].tolist()).variables)))
        for name, rule in broken
    )


def reason(rule: Rule, labels: Sequence[int]) -> Reason:
    """Whether a rule holds for one output, and why."""
    match rule:
        case Is(variable=variable, label=label):
            return Reason(labels[variable.index] == label, frozenset([variable.index]))
        case Not(of=inner):
            why = reason(inner, labels)
            return Reason(not why.holds, why.variables)
        case And(of=inner_rules):
            return _either(inner_rules, labels, decisive=False)
        case LinearRows():
            return _either(rule.each, labels, decisive=False)
        case Acyclic(arcs=arcs):
            taken = np.array([labels[arc.variable.index] == arc.label for arc in arcs], np.bool_)
            cycle = rule.cycle(taken)
            blamed = cycle or np.flatnonzero(~taken).tolist()
            return Reason(not cycle, frozenset(arcs[k].variable.index for k in blamed))
        case Or(of=inner_rules):
            return _either(inner_rules, labels, decisive=True)
        case Implies(first=first, then=then):
            return _either((Not(first), then), labels, decisive=True)
        case Tuples(over=over, allowed=allowed):
            found = tuple(labels[variable.index] for variable in over)
            return Reason(found in allowed, frozenset(variable.index for variable in over))
        case Linear():
            return _of_sum(rule, labels)
        case _:
            raise no_rule(rule)


def _either(rules: Sequence[Rule], labels: Sequence[int], *, decisive: bool) -> Reason:
    """One rule that is ``decisive`` decides all; without one, it takes all of them."""
    each = [reason(rule, labels) for rule in rules]
    deciding = [why for why in each if why.holds is decisive]
    variables = frozenset[int]().union(*(why.variables for why in deciding or each))
    return Reason(decisive if deciding else not decisive, variables)


def _of_sum(rule: Linear, labels: Sequence[int]) -> Reason:
    each = [(coefficient, reason(term, labels)) for coefficient, term in rule.terms]
    total = sum(coefficient for coefficient, why in each if why.holds)
    # What keeps a sum from falling: positive terms that hold, and negative ones that do not.
    high = [why.variables for coefficient, why in each if (coefficient > 0) is why.holds]
    low = [why.variables for coefficient, why in each if (coefficient > 0) is not why.holds]
    if rule.upper is not None and total > rule.upper:
        return Reason(False, frozenset[int]().union(*high))
    if rule.lower is not None and total < rule.lower:
        return Reason(False, frozenset[int]().union(*low))
    kept = [*(high if rule.lower is not None else ()), *(low if rule.upper is not None else ())]
    return Reason(True, frozenset[int]().union(*kept))
