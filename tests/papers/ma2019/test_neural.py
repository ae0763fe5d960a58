"""Log-probabilities as features: who has seen what, and what a token then looks like."""

import numpy as np
import pytest

from papers.ma2019.neural import (
    Beside,
    Network,
    bilstm,
    cnn,
    out_of_fold,
    scored_task,
    with_scores,
)
from papers.ma2019.tasks import Examples
from rote import StructuredSVM, Tagging, Templates, train

SMALL = Network(epochs=1, hidden=3, words=3, folds=2)


class Watched:
    """In place of a tagger: says which inputs it was trained on."""

    def __init__(self, seen=()):
        self.seen = seen

    def fit(self, xs, ys):
        assert len(xs) == len(ys)
        return Watched(tuple(xs))

    def log_probabilities_of(self, xs):
        assert not set(xs) & set(self.seen)
        return [(x, self.seen) for x in xs]


def test_no_example_is_looked_at_by_a_network_that_learned_from_it():
    examples = Examples(list("abcdefg"), list("1234567"))
    found = out_of_fold(Watched(), examples, 3)
    assert [x for x, _ in found] == list("abcdefg")
    assert found[0][1] == tuple("bcef")
    assert found[1][1] == tuple("acdfg")


def test_names_get_scores_beside_them():
    beside = Beside(Templates(("letter",), ("letter[0]",)))
    (x,) = with_scores([(("o",), ("k",))], [[np.array([-1.0, -20.0]), np.array([0.0, -5.0])]])
    first, second = beside(x)
    assert len(first) == 3
    assert (first["log p 0"], first["log p 1"]) == (-0.1, -1.0)
    assert (second["log p 0"], second["log p 1"]) == (0.0, -0.5)
    assert sum(value == 1.0 for value in first.values()) == 1


def test_arrays_get_scores_behind_them():
    beside = Beside(lambda x: list(2.0 * x))
    (x,) = with_scores([np.array([[1, 0], [0, 1]])], [[np.array([-1.0]), np.array([-2.0])]])
    assert [row.tolist() for row in beside(x)] == [[2, 0, -0.1], [0, 2, -0.2]]


def test_what_scores_say_is_learned():
    task = scored_task(Tagging(("a", "b"), Templates(("letter",), ("bias",)), order=0))
    scores = [[np.log([0.9, 0.1])], [np.log([0.1, 0.9])]] * 5
    xs = with_scores([(("same",),)] * 10, scores)
    model = train(task, xs, [("a",), ("b",)] * 5, learner=StructuredSVM(10.0))
    assert model.predict(xs[:2]) == [("a",), ("b",)]


def test_networks_are_trained_on_one_thread_and_label_every_token():
    torch = pytest.importorskip("torch")
    before = torch.get_num_threads()
    try:
        tagger = bilstm(("a", "b"), SMALL, 0).fit([(("x",), ("y",))] * 4, [("a", "b")] * 4)
        assert torch.get_num_threads() == 1
        assert len(tagger.predict([(("x",), ("y",))])[0]) == 2
        images = [np.zeros((3, 128))] * 2
        letters = cnn(("a", "b"), SMALL, 0).fit(images, [("a", "b", "a")] * 2)
        assert len(letters.predict(images)[1]) == 3
    finally:
        torch.set_num_threads(before)
