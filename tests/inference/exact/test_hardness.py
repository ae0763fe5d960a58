"""Hard spaces: those whose search, or a solver, took long."""

from __future__ import annotations

import pytest

from rote.engines import Exact
from rote.inference.exact.hardness import LONG, LONG_SEARCH, is_hard, memory_of
from rote.space import SpaceBuilder


def built(name):
    builder = SpaceBuilder()
    builder.variable(name, "ab")
    return builder.build()


@pytest.mark.parametrize(
    ("nodes", "seconds", "hard"),
    [
        (0, 0.0, False),
        (LONG_SEARCH - 1, LONG / 2, False),
        (LONG_SEARCH, 0.0, True),
        (0, LONG, True),
    ],
)
def test_a_space_is_hard_after_many_nodes_or_a_long_solve(nodes, seconds, hard):
    space = built("hard?")
    memory_of(space).note(nodes, seconds)
    assert is_hard(space) is hard
    memory_of(space).note(0, 0.0)


def test_asking_whether_starts_are_taken_compiles_nothing():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(x["a"] >> y["b"])
    space = builder.build()
    assert not Exact().warm_starts(space)
    assert not space.is_compiled
    assert space.is_new()
