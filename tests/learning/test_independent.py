"""Learning without inference, against one naive perceptron per variable."""

from __future__ import annotations

import numpy as np
import pytest

from rote.errors import SettingError
from rote.learning import IndependentPerceptron, fit
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


def test_separable_data_is_learned_and_then_left_alone():
    task, xs, ys = chains(1, count=20, noise=0.0)
    model, prepared = start(task, xs, ys)
    states = [
        state.kept() for state in IndependentPerceptron(500, average=False).iterate(model, prepared)
    ]
    assert states[-1].done
    assert states[-1].measures["mistakes"] == 0
    assert not any(state.done for state in states[:-1])
    assert model.with_weights(states[-1].weights).predict(xs) == ys


@pytest.mark.parametrize("stop", [1, 3])
def test_a_run_that_is_resumed_makes_the_same_steps_bit_for_bit(stop):
    task, xs, ys = chains(2, count=10)
    model, prepared = start(task, xs, ys)
    whole = [state.kept() for state in IndependentPerceptron(5).iterate(model, prepared)]
    resumed = [
        state.kept() for state in IndependentPerceptron(5).iterate(model, prepared, whole[stop - 1])
    ]
    assert len(resumed) == 5 - stop
    for one, other in zip(resumed, whole[stop:], strict=True):
        np.testing.assert_array_equal(one.weights, other.weights)


def test_examples_without_variables_do_no_harm():
    task, xs, ys = chains(3, count=4)
    model, prepared = start(task, [*xs, xs[0][:0]], [*ys, ()])
    learned = fit(IndependentPerceptron(3), model, prepared)
    assert learned.predict([xs[0][:0]]) == [()]
    assert np.isfinite(learned.weights).all()


def test_there_is_at_least_one_iteration():
    with pytest.raises(SettingError, match="iterations"):
        IndependentPerceptron(0)
