"""Following a search: what is judged after every climb, and what it took."""

import numpy as np
import pytest

from papers.metrics.searches import follow, share_right
from rote import RGS, DataError, LearnedRestarts, Model, Tagging, prepare
from rote.types import readonly


def words(x):
    return [{f"w={word}": 1.0} for word in x]


TASK = Tagging(("D", "N", "V"), words)


@pytest.fixture(scope="module")
def world():
    rng = np.random.default_rng(0)
    ys = [[str(t) for t in rng.choice(["D", "N", "V"], size=n)] for n in rng.integers(3, 9, 30)]
    xs = [[f"{tag}{rng.integers(3)}" for tag in y] for y in ys]
    prepared = prepare(TASK, xs, ys)
    model = Model(TASK, prepared.layout, rng.normal(size=prepared.layout.size))
    return model, prepared


def test_answers_and_climbs_are_those_of_the_search(world):
    model, prepared = world
    search = RGS(restarts=6)
    found = follow(model, prepared, search)
    right = needed = 0
    for group in prepared.groups:
        answers, own = search.searched(
            prepared.problem(model.weights, group), prepared.context(group)
        )
        right += share_right(group.gold, answers.labels).sum()
        needed += own.sum()
        assert found.needed[group.members].tolist() == own.tolist()
    assert found.prediction[-1] == pytest.approx(right / len(prepared))
    assert found.needed.sum() == needed
    assert len(found.prediction) == len(found.generation) == len(found.seconds) == 6


def test_what_was_seen_only_grows_and_is_never_worse_than_what_is_predicted(world):
    model, prepared = world
    for search in (RGS(restarts=8), LearnedRestarts(RGS(restarts=8))):
        found = follow(model, prepared, search)
        assert (np.diff(found.generation) >= 0).all()
        assert (np.diff(found.seconds) >= 0).all()
        assert (found.generation >= found.prediction - 1e-12).all()
        assert found.generation[-1] > found.prediction[-1]  # scores are random
        assert (found.needed >= 1).all()


def test_one_may_judge_in_ones_own_way(world):
    model, prepared = world

    def whole(gold, labels):
        return (gold == labels).all(axis=1).astype(np.float64)

    found = follow(model, prepared, RGS(restarts=5), whole)
    assert (found.prediction <= follow(model, prepared, RGS(restarts=5)).prediction).all()


def test_without_gold_there_is_nothing_to_judge(world):
    model, _ = world
    with pytest.raises(DataError, match="has none"):
        follow(model, model.prepare([["D0"]]), RGS())
    with pytest.raises(DataError, match="has none"):
        follow(model, model.prepare([]), RGS())


def test_right_labels_are_shared_out_by_output():
    gold, labels = readonly(np.array([[0, 1], [1, 1]])), readonly(np.array([[0, 0], [1, 1]]))
    assert share_right(gold, labels).tolist() == [0.5, 1.0]
    assert share_right(gold[:, :0], labels[:, :0]).tolist() == [1.0, 1.0]
