"""Sub-gradient descent: its steps by hand, where it ends, and how it goes on."""

import numpy as np
import pytest

from rote.learning import Subgradient
from rote.learning.base import mini_batches
from rote.space.losses import Hamming
from rote.tasks.tagging import Tagging
from tests.learning.small import Everything, chains, phi, start
from tests.strategies import Judge


def naive(learner, task, xs, ys, prepared, cost):
    """The same steps on a dense array that is shrunk outright."""
    layout = prepared.layout
    weights, mean, step = np.zeros(layout.size), np.zeros(layout.size), 0
    for iteration in range(1, learner.iterations + 1):
        batches = mini_batches(prepared, learner.batch, learner.seed, iteration)
        for batch in batches:
            step += 1
            change = np.zeros_like(weights)
            for member in batch.members.tolist():
                x, gold = xs[member], tuple(task.encode(xs[member], ys[member]))
                right = phi(task, layout, x, gold)
                ranked = [
                    (sum(a != b for a, b in zip(gold, y, strict=True)), phi(task, layout, x, y), y)
                    for y in Judge(task.frame(x).space).outputs
                ]
                loss, found, labels = max(ranked, key=lambda r: r[0] + r[1] @ weights)
                if labels != gold and loss + (found - right) @ weights > 0:
                    change += right - found
            weights = (1 - 1 / step) * weights
            weights += cost * len(batches) / step * change
        mean += (weights - mean) * 2 / (iteration + 1)
    return weights, mean


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("average", [False, True])
def test_its_steps_are_those_of_the_formula(seed, average):
    task, xs, ys = chains(seed)
    model, prepared = start(task, xs, ys)
    learner = Subgradient(C=0.3, iterations=4, batch=2, average=average, seed=seed)
    *_, state = learner.iterate(model, prepared)
    plain, mean = naive(learner, task, xs, ys, prepared, 0.3)
    np.testing.assert_allclose(state.weights, mean if average else plain, rtol=1e-9, atol=1e-12)


def test_it_comes_close_to_the_optimum_of_a_quadratic_program():
    task, xs, ys = chains(3)
    model, prepared = start(task, xs, ys)
    everything = Everything(task, prepared.layout, xs, ys, Hamming(), 0.1)
    least, _ = everything.optimum(squared=False)
    *_, state = Subgradient(C=0.1, iterations=400, batch=4).iterate(model, prepared)
    reached = everything.primal(state.weights, squared=False)
    assert least - 1e-9 <= reached <= 1.01 * least


def test_examples_count_the_same_whether_others_share_their_space_or_not():
    """Eight sentences of one length say N of the first word, three of other lengths V."""
    task = Tagging(("N", "V"), lambda x: [["first"], *[["later"]] * (len(x) - 1)], order=0)
    xs = [("w",)] * 8 + [("w",) * n for n in (2, 3, 4)]
    ys = [("N",)] * 8 + [("V", *"N" * (len(x) - 1)) for x in xs[8:]]
    model, prepared = start(task, xs, ys)
    everything = Everything(task, prepared.layout, xs, ys, Hamming(), 0.1)
    least, _ = everything.optimum(squared=False)
    *_, state = Subgradient(C=0.1, iterations=400, batch=8).iterate(model, prepared)
    assert everything.primal(state.weights, squared=False) <= 1.02 * least
    assert model.with_weights(state.weights).predict([("w",)]) == [("N",)]


def test_many_steps_leave_the_scale_in_range():
    task, xs, ys = chains(6, count=4)
    model, prepared = start(task, xs, ys)
    *_, state = Subgradient(C=1e-6, iterations=300, batch=1).iterate(model, prepared)
    assert np.isfinite(state.weights).all()
    assert 1e-7 < float(state.memory["scale"][0]) <= 1.0
