"""Learning without inference, against one naive perceptron per variable."""

from __future__ import annotations

import numpy as np
import pytest

from rote.learning import IndependentPerceptron
from rote.learning.base import shuffled
from tests.learning.small import Links, chains, start


def naive(layout, xs, golds, iterations, sample_weight=None):
    """The weights of the block "label" after every decision, and the mistakes per iteration."""
    size = layout.block(layout.zeros(), "label").shape
    weights, trail, mistakes = np.zeros(size), [], []
    for iteration in range(1, iterations + 1):
        wrong = 0
        for number in shuffled(len(xs), 0, iteration):
            share = 1.0 if sample_weight is None else sample_weight[number]
            for features, gold in zip(xs[number], golds[number], strict=True):
                found = int((features @ weights).argmax())
                if found != gold and share:
                    wrong += 1
                    weights = weights.copy()
                    weights[:, gold] += share * features
                    weights[:, found] -= share * features
                trail.append(weights)
        mistakes.append(wrong)
        if not wrong:
            break
    return trail, mistakes


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighed", [False, True])
def test_every_iteration_is_that_of_a_naive_perceptron_per_variable(seed, weighed):
    task, xs, ys = chains(seed, count=10)
    sample_weight = np.random.default_rng(seed).integers(0, 3, size=10) / 2 if weighed else None
    model, prepared = start(task, xs, ys, sample_weight=sample_weight)
    golds = [task.encode(x, y) for x, y in zip(xs, ys, strict=True)]
    trail, mistakes = naive(prepared.layout, xs, golds, 4, sample_weight)
    plain = [
        state.kept() for state in IndependentPerceptron(4, average=False).iterate(model, prepared)
    ]
    averaged = [state.kept() for state in IndependentPerceptron(4).iterate(model, prepared)]
    assert [state.measures["mistakes"] for state in plain] == mistakes
    decisions = sum(map(len, xs))
    for k, (one, mean) in enumerate(zip(plain, averaged, strict=True), start=1):
        block = prepared.layout.block(one.weights, "label")
        np.testing.assert_allclose(block, trail[k * decisions - 1], atol=1e-9)
        block = prepared.layout.block(mean.weights, "label")
        np.testing.assert_allclose(block, np.mean(trail[: k * decisions], axis=0), atol=1e-9)
        assert not prepared.layout.block(mean.weights, "2 labels").any()
        assert one.measures["inferences"] == 0


def test_labels_with_a_vector_each_share_one_weight_per_feature():
    rng = np.random.default_rng(0)
    task = Links()
    xs = [rng.normal(size=(3, 2)) for _ in range(6)]
    ys = [tuple(int(rng.integers(t + 1)) for t in range(3)) for _ in xs]
    model, prepared = start(task, xs, ys)
    assert prepared.layout.size == 4
    weights, trail = np.zeros(4), []
    for iteration in (1, 2, 3):
        for number in shuffled(6, 0, iteration):
            x, gold = xs[number], ys[number]
            for t in range(3):
                options = [np.concatenate([x[s], x[t]]) for s in range(t + 1)]
                found = int(np.argmax([weights @ option for option in options]))
                weights = weights + options[gold[t]] - options[found]
                trail.append(weights)
    last = [state.kept() for state in IndependentPerceptron(3).iterate(model, prepared)][-1]
    np.testing.assert_allclose(last.memory["weights"], weights, atol=1e-9)
    np.testing.assert_allclose(last.weights, np.mean(trail, axis=0), atol=1e-9)
