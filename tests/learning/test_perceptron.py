"""The structured perceptron, against a naive one over dense feature vectors."""

import numpy as np
import pytest

from rote.engines import Engine, Exact
from rote.errors import NoSolution
from rote.inference.approximate import Beam
from rote.learning import IndependentPerceptron, Perceptron, fit
from rote.learning.base import shuffled
from rote.tasks.tagging import Tagging
from tests.learning.small import Links, as_given, chains, phi, start
from tests.strategies import Judge

UPDATES = pytest.mark.parametrize("update", ["full", "early", "largest"])


def best(task, layout, x, weights):
    """The best output by enumeration, the first of equals."""
    outputs = Judge(task.frame(x).space).outputs
    scores = [float(weights @ phi(task, layout, x, y)) for y in outputs]
    top = max(scores)
    return next(y for y, score in zip(outputs, scores, strict=True) if score >= top - 1e-10)


def prefix(task, layout, x, gold, found, weights, update):
    """``found`` up to some token and gold from there on, with only the parts inside counted.

    In a chain of first order, the parts inside the first k tokens are their labels and pairs; as
    a difference of feature vectors, that is what the sequence cut off after k tokens has.
    """
    if update == "full":
        return phi(task, layout, x, gold) - phi(task, layout, x, found)
    chosen, most = None, -1.0
    for k in range(1, len(gold) + 1):
        if gold[:k] == found[:k]:
            continue
        step = phi(task, layout, x[:k], gold[:k]) - phi(task, layout, x[:k], found[:k])
        lead = -float(weights @ step)
        if lead >= -1e-12 and lead > most + 1e-12:
            chosen, most = step, lead
            if update == "early":
                break
    return chosen


def naive(task, layout, xs, ys, iterations, update="full", sample_weight=None, seed=0):
    """Weights after every example of every iteration, and the mistakes of each iteration."""
    weights, trail, mistakes = np.zeros(layout.size), [], []
    for iteration in range(1, iterations + 1):
        wrong = 0
        for number in shuffled(len(xs), seed, iteration):
            x, gold = xs[number], tuple(task.encode(xs[number], ys[number]))
            share = 1.0 if sample_weight is None else sample_weight[number]
            found = best(task, layout, x, weights)
            if found != gold and share:
                step = prefix(task, layout, x, gold, found, weights, update)
                if step is not None:
                    weights = weights + share * step
                    wrong += 1
            trail.append(weights)
        mistakes.append(wrong)
        if not wrong:
            break
    return trail, mistakes


@UPDATES
@pytest.mark.parametrize("seed", range(3))
def test_every_iteration_is_that_of_a_naive_perceptron(update, seed):
    task, xs, ys = chains(seed, count=8)
    model, prepared = start(task, xs, ys)
    trail, mistakes = naive(task, prepared.layout, xs, ys, 4, update)
    plain = [
        state.kept()
        for state in Perceptron(4, average=False, update=update).iterate(model, prepared)
    ]
    averaged = [
        state.kept()
        for state in Perceptron(4, average=True, update=update).iterate(model, prepared)
    ]
    assert [state.measures["mistakes"] for state in plain] == mistakes
    for k, (one, mean) in enumerate(zip(plain, averaged, strict=True), start=1):
        np.testing.assert_allclose(one.weights, trail[k * len(xs) - 1], atol=1e-9)
        expected = np.mean(trail[: k * len(xs)], axis=0)
        np.testing.assert_allclose(mean.weights, expected, atol=1e-9)


@UPDATES
def test_importance_is_the_size_of_the_step(update):
    sample_weight = np.array([1.0, 0.0, 2.5, 0.5, 1.0, 1.0])
    task, xs, ys = chains(4, count=6)
    model, prepared = start(task, xs, ys, sample_weight=sample_weight)
    trail, _ = naive(task, prepared.layout, xs, ys, 3, update, sample_weight)
    last = [state.kept() for state in Perceptron(3, update=update).iterate(model, prepared)][-1]
    np.testing.assert_allclose(last.memory["weights"], trail[-1], atol=1e-9)
    np.testing.assert_allclose(last.weights, np.mean(trail, axis=0), atol=1e-9)


@UPDATES
def test_on_separable_data_mistakes_are_no_more_than_the_bound(update):
    rng = np.random.default_rng(0)
    # Without pairs, the best labels of a prefix are those of the whole, so prefixes have a margin.
    task, xs, _ = chains(0, count=12, features=4, order=1 if update == "full" else 0)
    model, prepared = start(task, xs, [["a"] * len(x) for x in xs])
    layout = prepared.layout
    truth = rng.normal(size=layout.size)
    truth /= np.linalg.norm(truth)
    ys = [task.decode(x, best(task, layout, x, truth)) for x in xs]
    # Over all outputs, and all prefixes, the margin of the truth and the longest step there is.
    margins, lengths = [], []
    for x, y in zip(xs, ys, strict=True):
        gold = tuple(task.encode(x, y))
        for k in range(1, len(x) + 1) if update != "full" else [len(x)]:
            for labels in Judge(task.frame(x[:k]).space).outputs:
                if labels != gold[:k]:
                    step = phi(task, layout, x[:k], gold[:k]) - phi(task, layout, x[:k], labels)
                    margins.append(truth @ step)
                    lengths.append(np.linalg.norm(step))
    bound = (max(lengths) / min(margins)) ** 2
    model, prepared = start(task, xs, ys)
    states = [
        state.kept()
        for state in Perceptron(2000, average=False, update=update).iterate(model, prepared)
    ]
    assert states[-1].done
    assert sum(state.measures["mistakes"] for state in states) <= bound
    assert model.with_weights(states[-1].weights).predict(xs) == ys


def test_it_begins_from_the_weights_of_the_model():
    task, xs, ys = chains(6, count=8, noise=0.0, order=0)
    model, prepared = start(task, xs, ys)
    learned = fit(Perceptron(500, average=False), model, prepared)
    again = [state.kept() for state in Perceptron(5, average=False).iterate(learned, prepared)]
    assert [state.done for state in again] == [True]
    np.testing.assert_array_equal(again[0].weights, learned.weights)


class Another(Engine):
    """An engine that nobody knows to be `Exact`."""

    def answer(self, problem, context):
        return Exact().answer(problem, context)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("order", [0, 1, 2])
def test_chains_are_learned_by_one_kernel_to_the_same_weights(seed, order):
    task, xs, ys = chains(seed, count=12, longest=5, order=order)
    sample_weight = np.random.default_rng(seed).integers(0, 3, size=12).astype(np.float64)
    quick = start(task, xs, ys, sample_weight=sample_weight)
    slow = start(task, xs, ys, Another(), sample_weight=sample_weight)
    states = [list(Perceptron(4).iterate(*given))[-1] for given in (quick, slow)]
    assert states[0].weights.tobytes() == states[1].weights.tobytes()
    assert states[0].measures == states[1].measures


@UPDATES
def test_an_example_for_which_a_search_finds_nothing_is_not_learned_from(update):
    # All that a beam of one comes to is "a" twice, which is against the rule.
    def rules(builder, tokens):
        if len(tokens) > 1:
            builder.require(tokens[0]["a"] >> tokens[1]["b"])

    task = Tagging(("a", "b"), as_given, order=0, rules=rules)
    xs, ys = [np.ones((1, 2)), np.ones((2, 2))], [("a",), ("b", "a")]
    model, prepared = start(task, xs, ys, Beam(width=1))
    model = model.with_weights(np.array([3.0, 0.0, 3.0, 0.0]))
    with pytest.raises(NoSolution, match=r"^example 1: .* by beam; widen the beam"):
        list(Perceptron(update=update).iterate(model, prepared))


def naive_per_variable(layout, xs, golds, iterations, sample_weight=None):
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
    trail, mistakes = naive_per_variable(prepared.layout, xs, golds, 4, sample_weight)
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
