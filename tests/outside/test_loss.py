"""A loss of one's own, made of promised names alone."""

from dataclasses import dataclass

import numpy as np

from rote import Hamming, MultiLabel, StructuredSVM, train

XS = [["red"], ["blue"], ["red", "blue"], []] * 3
YS = [{"r"}, {"b"}, {"r", "b"}, set()] * 3


@dataclass(frozen=True)
class Priced:
    """What each wrong variable costs, whatever its labels."""

    price: float

    def value(self, space, gold, labels):
        return self.price * (gold != labels).sum(axis=1).astype(float)

    def offsets(self, space, gold):
        offsets = np.full((len(gold), space.labels), self.price)
        offsets[np.arange(len(gold))[:, None], space.offsets[:-1] + gold] = 0.0
        return offsets

    def term(self, gold):
        raise AssertionError("a loss that is a sum needs no term")


def test_a_loss_that_is_a_sum_goes_with_every_engine():
    task = MultiLabel(("r", "b"))
    own = train(task, XS, YS, learner=StructuredSVM(loss=Priced(1.0), iterations=5))
    known = train(task, XS, YS, learner=StructuredSVM(loss=Hamming(), iterations=5))
    assert (own.weights == known.weights).all()
    dear = train(task, XS, YS, learner=StructuredSVM(loss=Priced(3.0), iterations=5))
    assert (dear.weights != known.weights).any()
