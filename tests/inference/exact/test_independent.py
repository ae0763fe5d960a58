"""`Independent`: ties, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from rote.errors import UnsupportedSpace
from rote.inference.exact.independent import Independent
from rote.space import SpaceBuilder, any_of, at_most


def test_the_tie_is_spent_once_not_once_per_variable():
    builder = SpaceBuilder()
    for name in "xyz":
        builder.variable(name, "ab")
    space = builder.build()
    assert Independent().solve(space, np.array([0, 0.6e-10] * 3)).labels.tolist() == [[0, 1, 1]]


def test_a_factor_in_the_way_is_named():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.factor(x, y, name="together")
    space = builder.build()
    assert not Independent().accepts(space)
    with pytest.raises(UnsupportedSpace, match="the factor 'together'"):
        Independent().solve(space, np.zeros(8))


def test_a_rule_in_the_way_is_named():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(x["a"] >> y["b"], name="apart")
    with pytest.raises(UnsupportedSpace, match="the rule 'apart'"):
        Independent().solve(builder.build(), np.zeros(4))


def test_a_rule_over_many_variables_is_named():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(12)]
    builder.require(variables[0]["a"])
    builder.require(at_most(3, [v["a"] for v in variables]), name="few")
    space = builder.build()
    assert not Independent().accepts(space)
    with pytest.raises(UnsupportedSpace, match="the rule 'few'"):
        Independent().solve(space, np.zeros(24))


def test_a_rule_that_forbids_nothing_is_not_in_the_way():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(any_of(x["a"], x["b"], y["a"]))
    assert Independent().accepts(builder.build())
