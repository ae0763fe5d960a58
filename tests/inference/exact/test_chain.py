"""`Chain`: orders, ties, and what it refuses."""

import numpy as np
import pytest

from rote.errors import UnsupportedSpace
from rote.inference.exact import chain
from rote.inference.exact.chain import Chain
from rote.space import SpaceBuilder


def test_a_hand_worked_chain_of_second_order():
    """Only the trigram b-a-b scores, and it overlaps itself once in five places."""
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{t}", "ab") for t in range(5)]
    for t in range(3):
        builder.factor(*variables[t : t + 3])
    space = builder.build()
    scores = np.zeros(space.parts)
    for t in range(3):
        scores[space.part([f"x{t}", f"x{t + 1}", f"x{t + 2}"], "bab")] = 1.0
    found = Chain().solve(space, scores)
    assert found.labels.tolist() == [[1, 0, 1, 0, 1]]
    assert found.value.tolist() == [2.0]


def test_states_out_of_proportion_are_refused(monkeypatch):
    monkeypatch.setattr(chain, "MAX_NUMBERS", 100)
    builder = SpaceBuilder()
    labels = [str(a) for a in range(7)]
    variables = [builder.variable(f"x{t}", labels) for t in range(4)]
    builder.factor(variables[0], variables[3], name="far")
    with pytest.raises(UnsupportedSpace, match="the factor 'far' leads to"):
        Chain().solve(builder.build(), np.zeros(77))
