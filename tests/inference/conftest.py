"""What the tests of inference share: a small space."""

import pytest

from rote.space import SpaceBuilder


@pytest.fixture
def space():
    """Two and three labels under one factor: five labels, eleven parts."""
    builder = SpaceBuilder()
    x, y = builder.variable("x", ["a", "b"]), builder.variable("y", ["a", "b", "c"])
    builder.factor(x, y)
    return builder.build()
