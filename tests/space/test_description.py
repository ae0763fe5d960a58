"""Spaces written as JSON and read again."""

from __future__ import annotations

import copy
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote import Space, SpaceBuilder, acyclic, at_most, functional
from rote.errors import SpaceError
from tests.strategies import FAMILIES, flat_rule_spaces, soft_spaces


def written(space):
    return json.loads(json.dumps(space.to_json(), allow_nan=False))


def full_space() -> Space:
    """One of everything."""
    builder = SpaceBuilder()
    x, y = builder.variable("x", ["a", ""]), builder.variable("y", "abc")
    builder.factor(y, x, name="both")
    pairs = [(a, b) for a in range(4) for b in range(4)]
    family = dict(zip(pairs, builder.options(map(str, pairs)), strict=True))
    builder.require(functional(family, 2))
    builder.require(acyclic(family), "no cycle")
    builder.require(x["a"] >> ~y["b"], "x and y")
    builder.require_counts([[x["a"], y["c"]], [family[0, 1]]], at_most=1, name="counts")
    builder.prefer(x["a"] & y["a"], 0.25, "both a")
    builder.prefer(at_most(3, family.values()), "learned", "few")
    builder.prefer(acyclic(family), 1.5)
    return builder.build()


SOFT = soft_spaces(variables_alone=False).map(lambda one: one.space)
SOME = st.one_of(*FAMILIES.values(), flat_rule_spaces(), SOFT)


@given(space=st.one_of(SOME, st.builds(full_space)))
def test_a_space_comes_back_as_it_was(space):
    again = Space.from_json(written(space))
    assert again.fingerprint == space.fingerprint
    assert again.to_json() == space.to_json()
    assert [v.name for v in again.variables] == [v.name for v in space.variables]
    assert [f.name for f in again.factors] == [f.name for f in space.factors]
    assert [r.name for r in again.rules] == [r.name for r in space.rules]
    assert [(s.name, s.weight, s.slot) for s in again.soft] == [
        (s.name, s.weight, s.slot) for s in space.soft
    ]
    assert (again.penalties == space.penalties).all()


@given(data=st.data())
@settings(max_examples=300)
def test_a_damaged_description_is_refused_or_is_another_space(data):
    description = copy.deepcopy(written(full_space()))
    at, values = description, (None, True, -1, 99, 10**30, 0.5, "x", [], ["is"], {}, ["is", 0, 7])
    while True:
        key = data.draw(st.sampled_from(sorted(at) if isinstance(at, dict) else range(len(at))))
        if not isinstance(at[key], list | dict) or not at[key] or data.draw(st.integers(0, 3)) == 0:
            at[key] = data.draw(st.sampled_from(values))
            break
        at = at[key]
    try:
        space = Space.from_json(description)
    except SpaceError:
        return
    assert Space.from_json(written(space)).fingerprint == space.fingerprint


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(format="other"), "expected the format 'rote space'"),
        (lambda d: d.update(version=2), "up to version 1"),
        (lambda d: d.pop("rules"), '"rules"'),
        (lambda d: d["variables"][1].update(name="x"), r"variables\[1\]: a variable is called"),
        (lambda d: d["factors"][0].update(variables=[0, 0]), r"factors\[0\]: a factor is over two"),
        (lambda d: d["rules"][2].update(rule=["is", 0, 5]), r"rules\[2\]: .* a label below 2"),
        (lambda d: d["rules"][2].update(rule=["if", 0, 5]), r"rules\[2\]: expected a rule such"),
        (lambda d: d["rules"][3]["rule"].pop(), r"rules\[3\]: expected a rule such"),
        (lambda d: d["soft"][0].update(weight=-1), r"soft\[0\]: the weight of a soft rule"),
    ],
)
def test_errors_say_what_is_wrong_and_where(change, message):
    description = written(full_space())
    change(description)
    with pytest.raises(SpaceError, match=message):
        Space.from_json(description)


def test_rules_nested_too_deep_are_refused():
    description = written(full_space())
    rule = ["is", 0, 0]
    for _ in range(100_000):
        rule = ["not", rule]
    description["rules"][0]["rule"] = rule
    with pytest.raises(SpaceError, match=r"rules\[0\]: .*recursion"):
        Space.from_json(description)
