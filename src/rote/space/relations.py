"""Constraints over families of candidates: spans that do not overlap, relations between nodes.

A family is a mapping to options, or to other labels such as ``variable["label"]``. Keys begin with
the two ends of a candidate: where a span starts and stops, or the head and the tail of a relation.
What follows in a key, such as a type, tells candidates of the same ends apart. A pair that is not
in the family is never taken.

>>> from rote import Exact, SpaceBuilder, acyclic
>>> builder = SpaceBuilder()
>>> pairs = [("a", "b"), ("b", "c"), ("c", "a")]
>>> arcs = dict(zip(pairs, builder.options(map("".join, pairs)), strict=True))
>>> builder.require(acyclic(arcs))
>>> Exact().solve(builder.build(), [0, 2.0, 0, 1.0, 0, 3.0]).labels
array([[1, 0, 1]])
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from rote.errors import RuleError
from rote.settings import check, one_of
from rote.space.language import Acyclic, Is, LinearRows, Rule
from rote.space.quantifiers import all_of, natural
from rote.types import IntArray, offsets_from_counts, readonly

Family: TypeAlias = Mapping[Any, Is]
ENDS = one_of("head", "tail")
ONE = readonly(np.ones(1, dtype=np.int64))


def no_overlap(spans: Family) -> Rule:
    """No two spans that are taken share a place.

    Parameters
    ----------
    spans
        By where each starts and where it stops, the place after its last: whole numbers.
    """
    start, stop = _places("no_overlap", spans)
    # Spans overlap exactly where one of them begins.
    place = np.unique(start)[:, None]
    row, option = np.nonzero((start <= place) & (stop > place))
    return _rows(list(spans.values()), row, option, most=1)


def nested_or_apart(spans: Family) -> Rule:
    """Of two spans that are taken, one lies in the other, or they share no place.

    Parameters
    ----------
    spans
        As in `no_overlap`.
    """
    start, stop = _places("nested_or_apart", spans)
    crossing = (start[:, None] < start) & (start < stop[:, None]) & (stop[:, None] < stop)
    option = np.argwhere(crossing)
    row = np.repeat(np.arange(len(option)), 2)
    return _rows(list(spans.values()), row, option.ravel(), most=1)


def functional(family: Family, most: int = 1, *, per: Literal["head", "tail"] = "head") -> Rule:
    """Each head has at most so many of its pairs taken, or each tail.

    Parameters
    ----------
    family
        By head and tail.
    most
        How many, at least 0.
    per
        Whether pairs of one "head" are counted, or those of one "tail".
    """
    check("per", per, ENDS)
    head, tail = _nodes("functional", family)
    row = head if per == "head" else tail
    return _rows(list(family.values()), row, np.arange(len(row)), natural(most, "functional takes"))


def symmetric(family: Family) -> Rule:
    """Where a pair is taken, so is the pair the other way round.

    Parameters
    ----------
    family
        By head and tail.
    """
    return inverse(family, family)


def inverse(family: Family, other: Family) -> Rule:
    """A pair of one family is taken exactly where the pair the other way round is of the other.

    Parameters
    ----------
    family, other
        By head and tail.
    """
    for each in (family, other):
        _nodes("inverse", each)
    options = [*family.values(), *other.values()]
    place = {("other", key): k for k, key in enumerate(other, len(family))}
    place |= {("own", key): k for k, key in enumerate(family)}
    pairs = {("own", key): ("other", _reversed(key)) for key in family}
    back = {("other", key): ("own", _reversed(key)) for key in other}
    pairs |= {one: two for one, two in back.items() if pairs.get(two) != one}
    both = [(place[one], place.get(two, -1)) for one, two in pairs.items()]
    option = np.array(both, dtype=np.int64).reshape(-1)
    row, sign = np.repeat(np.arange(len(both)), 2), np.tile([1, -1], len(both))
    there = option >= 0
    return _rows(options, row[there], option[there], 0, sign[there], least=0)


def acyclic(family: Family) -> Rule:
    """The pairs that are taken, as arcs from head to tail, close no cycle.

    Parameters
    ----------
    family
        By head and tail.
    """
    head, tail = _nodes("acyclic", family)
    nodes = tuple(zip(head.tolist(), tail.tolist(), strict=True))
    return Acyclic(tuple(family.values()), nodes)


def _rows(
    options: Sequence[Is],
    row: IntArray,
    option: IntArray,
    most: int,
    coefficient: IntArray = ONE,
    least: float = -np.inf,
) -> Rule:
    """Rows over options: each entry is an option, by its number, and a coefficient."""
    if not len(row):
        return all_of()
    known = tuple(sorted({one.variable for one in options}, key=lambda v: v.index))
    starts = offsets_from_counts([len(v.labels) for v in known])
    first = dict(zip(known, starts.tolist(), strict=False))
    column = np.array([first[one.variable] + one.label for one in options], dtype=np.int64)
    count, order = int(row.max()) + 1, np.argsort(row, kind="stable")
    both = np.stack([row, column[option], np.broadcast_to(coefficient, row.shape)])[:, order]
    low, up = np.full(count, float(least)), np.full(count, float(most))
    return LinearRows.of(known, starts, both[0], both[1], both[2], low, up)


def _keys(what: str, family: Family) -> list[tuple[Hashable, ...]]:
    """The keys of a family, checked as its options are."""
    if not isinstance(family, Mapping):
        raise RuleError(
            f"{what} takes a mapping from keys such as (head, tail) to options, got {family!r:.80}"
        )
    for key, option in family.items():
        if not isinstance(key, tuple) or len(key) < 2:
            raise RuleError(f"keys of {what} are tuples that begin with two ends, got {key!r:.80}")
        if not isinstance(option, Is):
            raise RuleError(
                f"{what} is over options such as builder.option(name) or x['a']; for {key!r:.80} "
                f"it got {option!r:.80}"
            )
    return list(family)


def _nodes(what: str, family: Family) -> tuple[IntArray, IntArray]:
    """The heads and the tails as numbers, in the order in which nodes are first named."""
    keys, number = _keys(what, family), dict[Hashable, int]()
    both = [[number.setdefault(end, len(number)) for end in key[:2]] for key in keys]
    head, tail = np.array(both, dtype=np.int64).reshape(-1, 2).T
    return head, tail


def _places(what: str, spans: Family) -> tuple[IntArray, IntArray]:
    keys = _keys(what, spans)
    for start, stop, *_ in keys:
        whole = isinstance(start, int | np.integer) and isinstance(stop, int | np.integer)
        if not whole or not start < stop:  # type: ignore[operator]
            raise RuleError(
                f"a span of {what} starts at a whole number and stops at a larger one; got "
                f"({start!r}, {stop!r})"
            )
    both = np.array([key[:2] for key in keys], dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


def _reversed(key: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    return (key[1], key[0], *key[2:])
