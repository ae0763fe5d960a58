"""Rules over families of candidates, against what they say, read off the definition."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote import SpaceBuilder, acyclic, functional, inverse, nested_or_apart, no_overlap, symmetric
from rote.errors import RuleError, SettingError
from rote.space.language import Acyclic
from rote.space.lowering import lower
from rote.space.reasons import violations
from tests.space.test_lowering import check
from tests.strategies import has_cycle, holds

NODES = "abcd"
SPANS = [(a, b) for a in range(4) for b in range(a + 1, 5)]


def overlap(one, two):
    return max(one[0], two[0]) < min(one[1], two[1])


def inside(one, two):
    return two[0] <= one[0] and one[1] <= two[1]


def both_ways(pairs):
    return all((b, a, *rest) in pairs for a, b, *rest in pairs)


def at_most_two(place):
    return lambda taken: all(sum(one[place] == two[place] for two in taken) <= 2 for one in taken)


# What is said of a family, and whether a set of pairs that are taken obeys it.
SAID = {
    "no overlap": (
        SPANS,
        no_overlap,
        lambda taken: not any(overlap(*two) for two in itertools.combinations(taken, 2)),
    ),
    "nested": (
        SPANS,
        nested_or_apart,
        lambda taken: all(
            not overlap(*two) or inside(*two) or inside(*two[::-1])
            for two in itertools.combinations(taken, 2)
        ),
    ),
    "heads": (NODES, lambda family: functional(family, 2), at_most_two(0)),
    "tails": (NODES, lambda family: functional(family, 2, per="tail"), at_most_two(1)),
    "symmetric": (NODES, symmetric, both_ways),
    "acyclic": (NODES, acyclic, lambda taken: not has_cycle([key[:2] for key in taken])),
}


@st.composite
def families(draw, ends, most: int = 7):
    """A builder and options of some pairs, of one type or two, among other variables."""
    pairs = ends if isinstance(ends, list) else list(itertools.product(ends, repeat=2))
    keys = [pair if draw(st.booleans()) else (*pair, "type") for pair in pairs]
    keys = draw(st.lists(st.sampled_from(keys), unique=True, min_size=1, max_size=most))
    builder, family = SpaceBuilder(), {}
    for k, key in enumerate(keys):
        if draw(st.integers(0, 3)) == 0:
            builder.variable(f"other {k}", "abc")
        labels = draw(st.sampled_from(["ny", "ny", "yn", "nmy"]))
        family[key] = builder.variable(f"x{k}", labels)["y"]
    return builder, family


def taken_by(family, labels):
    return [key for key, option in family.items() if labels[option.variable.index] == option.label]


def all_outputs(space):
    return np.array(list(itertools.product(*(range(len(v.labels)) for v in space.variables))))


@pytest.mark.parametrize("name", SAID)
@given(data=st.data())
def test_rules_hold_where_their_definition_says_so(name, data):
    ends, rule_of, obeys = SAID[name]
    builder, family = data.draw(families(ends))
    rule = rule_of(family)
    builder.require(rule, name)
    space = builder.build()
    outputs = all_outputs(space)
    right = [obeys(taken_by(family, labels)) for labels in outputs]
    assert space.holds(outputs).tolist() == right
    assert space.satisfied(outputs).tolist() == right
    assert (~rule).holds(dict(enumerate(outputs.T))).tolist() == [not each for each in right]
    for labels, fine in zip(outputs[:50], right[:50], strict=True):
        assert holds(rule, tuple(labels)) is fine
        blamed = [set(each.variables) for each in violations(space, labels)]
        assert bool(blamed) is not fine
        for own in blamed:  # no change elsewhere mends the rule
            same = (outputs[:, sorted(own)] == labels[sorted(own)]).all(axis=1)
            assert not np.array(right)[same].any()


@given(data=st.data())
def test_inverse_families(data):
    builder, family = data.draw(families(NODES, 5))
    keys = [key for key in itertools.product(NODES, repeat=2) if data.draw(st.integers(0, 4)) == 0]
    other = {key: builder.option(f"o{k}") for k, key in enumerate(keys[:4])}
    builder.require(inverse(family, other))
    space = builder.build()
    outputs = all_outputs(space)
    right = [
        {(b, a, *rest) for a, b, *rest in taken_by(family, labels)} == set(taken_by(other, labels))
        for labels in outputs
    ]
    assert space.holds(outputs).tolist() == right
    assert space.satisfied(outputs).tolist() == right


@given(data=st.data())
def test_acyclic_lowered_inside_other_rules_as_by_itself(data):
    builder, family = data.draw(families(NODES, 6))
    rule, first = acyclic(family), builder.option("first")
    either = (rule & ~first) | (~rule & first)
    wrapped = data.draw(st.sampled_from([rule, ~rule, first >> rule, ~first >> ~rule, either]))
    variables = builder.build().variables
    if lower([len(v.labels) for v in variables], [wrapped]).auxiliary <= 10:
        check(wrapped, variables)


@given(data=st.data())
def test_the_cycle_that_is_found_is_a_shortest_one(data):
    _, family = data.draw(families(NODES, 8))
    rule = acyclic(family)
    if not isinstance(rule, Acyclic):
        return
    taken = np.array([data.draw(st.booleans()) for _ in rule.arcs], np.bool_)
    found = [rule.nodes[k] for k in rule.cycle(taken)]
    arcs = [pair for pair, there in zip(rule.nodes, taken, strict=True) if there]
    if not has_cycle(arcs):
        assert not found
        return
    assert all(found[k][0] == found[(k + 1) % len(found)][1] for k in range(len(found)))
    assert set(found) <= set(arcs)
    shorter = itertools.combinations(set(arcs), len(found) - 1)
    assert not any(has_cycle(some) for some in shorter)


def test_thousands_of_candidates_are_arrays():
    builder = SpaceBuilder()
    spans = [(a, a + n) for a in range(500) for n in range(1, 9)]
    family = dict(zip(spans, builder.options(map(str, spans)), strict=True))
    rule = no_overlap(family)
    assert len(rule.lower) == 500
    assert "each" not in vars(rule)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x: no_overlap([x]), "a mapping from keys"),
        (lambda x: no_overlap({(2, 2): x}), "stops at a larger one"),
        (lambda x: no_overlap({("a", "b"): x}), "a whole number"),
        (lambda x: functional({"ab": x}), "tuples that begin with two ends"),
        (lambda x: functional({(1, 2): ~x}), "such as builder.option"),
        (lambda x: functional({(1, 2): x}, -1), "at least 0"),
        (lambda x: functional({(1, 2): x}, per="arc"), "per"),
    ],
)
def test_mistakes_are_named(make, message):
    with pytest.raises((RuleError, SettingError), match=message):
        make(SpaceBuilder().option("x"))
