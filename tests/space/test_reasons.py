"""What is to blame for a broken rule: judged by trying every output."""

from __future__ import annotations

from itertools import chain, combinations, product

import numpy as np
import pytest

from rote import SpaceBuilder, all_different, all_of, any_of, at_least, at_most, exactly, one_of
from rote.space.language import Rule
from rote.space.reasons import BrokenConstraint, reason, violations

N = 4


def variables():
    builder = SpaceBuilder()
    return builder, [builder.variable(name, "ab") for name in "wxyz"]


def rules_without_repeats():
    _, (w, x, y, z) = variables()
    return [
        w["a"],
        ~w["a"],
        w["a"] & x["b"],
        w["a"] | x["b"],
        w["a"] >> (x["b"] & y["a"]),
        (w["a"] | x["a"]) >> (y["a"] | z["b"]),
        ~(w["a"] & x["a"]) & (y["b"] | z["b"]),
        at_most(1, w["a"], x["a"], y["a"], z["a"]),
        at_least(2, w["a"], x["a"], y["a"], z["a"]),
        exactly(1, w["a"], x["b"], y["a"]),
        ~exactly(1, w["a"], x["b"], y["a"]),
        w["a"] + x["a"] - y["a"] <= 0,
        any_of(at_most(1, w["a"], x["a"], y["a"]), z["b"]),
    ]


def rules_with_repeats():
    _, (w, x, y, z) = variables()
    return [
        3 * w["a"] + x["a"] - 2 * y["a"] <= 1,
        (w["a"] >> x["a"]) & (x["a"] >> w["a"]),
        all_different(w, x),
        one_of([w, y], [("a", "b"), ("b", "a")]),
        all_of(~(w["a"] | x["a"]), w["a"] | y["b"] | z["a"]),
    ]


def holds(rule: Rule, labels) -> bool:
    return bool(rule.holds({i: np.array([label]) for i, label in enumerate(labels)})[0])


def decides(rule: Rule, labels, kept) -> bool:
    """Whether every output with these labels on ``kept`` agrees with this one on the rule."""
    said = holds(rule, labels)
    return all(
        holds(rule, other) is said
        for other in product(range(2), repeat=N)
        if all(other[v] == labels[v] for v in kept)
    )


@pytest.mark.parametrize("rule", [*rules_without_repeats(), *rules_with_repeats()], ids=str)
def test_a_reason_says_whether_a_rule_holds_and_is_enough_for_it(rule):
    for labels in product(range(2), repeat=N):
        found = reason(rule, labels)
        assert found.holds is holds(rule, labels)
        assert decides(rule, labels, found.variables)


@pytest.mark.parametrize("rule", rules_without_repeats(), ids=str)
def test_a_broken_rule_blames_the_smallest_sets_that_break_it(rule):
    subsets = list(chain.from_iterable(combinations(range(N), k) for k in range(N + 1)))
    for labels in product(range(2), repeat=N):
        if holds(rule, labels):
            continue
        enough = [set(kept) for kept in subsets if decides(rule, labels, kept)]
        smallest = [kept for kept in enough if not any(other < kept for other in enough)]
        assert reason(rule, labels).variables == set().union(*smallest)


def test_broken_rules_have_their_names_and_leave_out_who_is_not_to_blame():
    builder, (w, x, y, z) = variables()
    builder.require(w["a"] >> (x["a"] & y["a"]), "w needs x and y")
    builder.require(z["a"] | z["b"], "always obeyed")
    builder.require(at_most(1, w["a"], y["a"], z["a"]), "at most one")
    space = builder.build()
    assert violations(space, [0, 1, 0, 1]) == (
        BrokenConstraint("w needs x and y", (0, 1)),
        BrokenConstraint("at most one", (0, 2)),
    )
    assert violations(space, [1, 1, 1, 1]) == ()
