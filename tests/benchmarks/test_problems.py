"""Cases have the problems they promise, the same ones every time."""

import os

import numpy as np
import pytest

from benchmarks.problems import conll04, conll04_broken, dense, dense_batch, grid, random_entities

needs_data = pytest.mark.skipif("ROTE_DATA" not in os.environ, reason="ROTE_DATA is not set")


@pytest.mark.parametrize(
    "draw",
    [
        lambda k: random_entities(3, k),
        lambda k: grid(3, 2, k),
        lambda k: dense(4, k),
        lambda k: dense_batch(4, k),
    ],
    ids=["entities", "grid", "dense", "dense batch"],
)
def test_asking_for_more_problems_changes_none(draw):
    few, more = draw(2).groups[0], draw(4).groups[0]
    np.testing.assert_array_equal(few.scores, more.scores[:2])
    np.testing.assert_array_equal(few.warm_up, more.warm_up)
    assert len(np.unique(np.concatenate([more.scores, more.warm_up]), axis=0)) == 5


def test_a_grid_joins_neighbours_and_rewards_equal_labels_only():
    case = grid(3, 2, 1)
    space, scores = case.groups[0].space, case.groups[0].scores[0]
    assert len(space.variables) == 9
    assert len(space.factors) == 12
    tables = scores[space.labels :].reshape(12, 2, 2)
    assert (tables[:, 0, 1] == 0).all()
    assert (tables[:, 1, 0] == 0).all()
    assert (tables[:, 0, 0] == tables[:, 1, 1]).all()
    assert ((tables[:, 0, 0] >= 0) & (tables[:, 0, 0] <= 1)).all()


def test_a_dense_model_has_a_table_for_every_pair():
    space = dense(5, 1).groups[0].space
    assert {factor.variables for factor in space.factors} == {
        (i, j) for i in range(5) for j in range(i + 1, 5)
    }


@needs_data
def test_conll04_is_the_288_test_sentences_and_rules_matter_in_some():
    pytest.importorskip("sklearn")
    whole, broken = conll04(), conll04_broken()
    assert whole.problems == 288
    assert "with 2 to 12 entities, 1079 in all" in whole.about
    assert 10 < broken.problems < 100
    assert all(np.isfinite(group.scores).all() for group in whole.groups)
