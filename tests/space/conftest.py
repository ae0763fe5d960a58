"""Three variables: x and y with the labels a and b, z with a, b and c."""

from __future__ import annotations

import pytest

from rote.space import SpaceBuilder


@pytest.fixture
def builder():
    return SpaceBuilder()


@pytest.fixture
def x(builder):
    return builder.variable("x", "ab")


@pytest.fixture
def y(builder, x):
    return builder.variable("y", "ab")


@pytest.fixture
def z(builder, y):
    return builder.variable("z", "abc")
