"""One pass of local perceptrons, against perceptrons over dictionaries."""

from __future__ import annotations

import numpy as np
import pytest

from rote.kernels.learning.independent import Decisions, learn_locally
from rote.types import frozen
from tests.kernels.bodies import plain
from tests.kernels.parts import entries, random_parts, whole

BOTH = pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])


def naive(size, vectors, decisions, order, importance):
    """Weights, the sum of the weights after each decision, and the mistakes."""
    weights, after, mistakes = np.zeros(size), [], 0
    for i in order:
        for v, origin, stride, each, width, gold in decisions[i]:

            def features(a, v=v, origin=origin, stride=stride, each=each):
                """Where label a reads, and with which value."""
                found = entries(vectors, v + a if each else v).items()
                return [(origin + k * stride + (0 if each else a), value) for k, value in found]

            scores = [sum(x * weights[at] for at, x in features(a)) for a in range(width)]
            best = scores.index(max(scores))
            if best != gold and importance[i]:
                mistakes += 1
                for at, x in features(gold):
                    weights[at] += importance[i] * x
                for at, x in features(best):
                    weights[at] -= importance[i] * x
            after.append(weights.copy())
    return weights, sum(after), mistakes


@BOTH
@pytest.mark.parametrize("seed", range(8))
def test_a_pass_is_that_of_naive_perceptrons_in_the_same_order(compiled, seed):
    run = learn_locally if compiled else plain(learn_locally)
    vectors, slots, firsts, size = random_parts(seed, inputs=6)
    rng = np.random.default_rng(seed)
    width = np.diff(slots.start)
    # Examples of different lengths, one of them without any decision.
    lengths = [2, 4, 0, 6, 1, 3]
    decisions = [
        [
            (
                0 if slots.vector[s] < 0 else int(first + slots.vector[s]),
                int(slots.origin[s]),
                int(slots.stride[s]),
                int(slots.each[s]),
                int(width[s]),
                int(rng.integers(width[s])),
            )
            for s in range(length)
        ]
        for first, length in zip(firsts, lengths, strict=True)
    ]
    order = [*rng.permutation(6).tolist(), *rng.permutation(6).tolist()]
    importance = np.array([1.0, 2.0, 1.0, 0.5, 0.0, 1.0])
    fields = np.array([one for each in decisions for one in each]).T
    vector, origin, stride, each, widths, gold = map(whole, fields)
    weights, sums = np.zeros(size), np.zeros(size)
    known = Decisions(
        whole(np.cumsum([0, *lengths])),
        *(vector, origin, stride, frozen(each > 0), widths, gold, frozen(importance)),
    )
    mistakes = run(weights, sums, vectors, known, whole(order), 0.0)
    expected, total, wrong = naive(size, vectors, decisions, order, importance)
    seen = 2 * sum(lengths)
    assert mistakes == wrong > 0
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    np.testing.assert_allclose(weights - sums / seen, total / seen, atol=1e-12)


@BOTH
def test_of_equal_labels_the_first_is_taken(compiled):
    run = learn_locally if compiled else plain(learn_locally)
    vectors, _, _, size = random_parts(0)

    def mistakes_of(gold):
        weights, sums = np.zeros(size), np.zeros(size)
        own = whole([0]), whole([0]), whole([6]), frozen(np.array([False])), whole([3])
        known = Decisions(whole([0, 1]), *own, whole([gold]), frozen(np.ones(1)))
        return run(weights, sums, vectors, known, whole([0]), 0.0)

    assert [mistakes_of(gold) for gold in range(3)] == [0, 1, 1]
