"""`Elimination`: exact in one pass where tables stay small, and a refusal where they do not."""

import numpy as np

from rote.engines import Elimination, Exhaustive, FoundBy
from rote.space import SpaceBuilder
from rote.tasks.entity_relation import entity_relation_space


def test_a_long_chain_and_a_grid_of_small_width_are_accepted():
    builder = SpaceBuilder()
    rows = [[builder.variable(f"x{i}_{j}", "ab") for j in range(4)] for i in range(12)]
    for i, row in enumerate(rows):
        for j, x in enumerate(row):
            if i:
                builder.factor(rows[i - 1][j], x)
            if j:
                builder.factor(row[j - 1], x)
    space = builder.build()
    assert Elimination().accepts(space)
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(2, space.parts))
    solutions = Elimination().solve(space, scores)
    assert (solutions.source == FoundBy.ELIMINATION).all()
    for j in range(len(space.variables)):  # no single change is an improvement
        for label in range(2):
            other = solutions.labels.copy()
            other[:, j] = label
            assert (space.value(scores, other) <= solutions.value + 1e-9).all()


def test_entity_relation_sentences_are_accepted_and_solved():
    space = entity_relation_space(3)
    scores = np.random.default_rng(1).normal(size=(20, space.parts))
    fast = Elimination().solve(space, scores)
    assert space.holds(fast.labels).all()
    reference = Exhaustive(max_outputs=1 << 23).solve(space, scores[:2])
    assert fast.labels[:2].tolist() == reference.labels.tolist()
