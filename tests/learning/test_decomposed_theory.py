"""What Samdani & Roth (2012) prove of decomposed learning, on many examples.

A theorem's conditions are also dropped one by one, and then an example shows that they are needed.
Of every "no" of `is_exact`, engines confirm the counterexample.
"""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.svm import LinearSVC

from papers.samdani2012.exactness import is_exact
from rote.engines import Exact
from rote.inference.wrappers.decomposed import (
    CustomSets,
    Decomposed,
    HammingBall,
    Sign,
    SignedComponents,
)
from rote.learning import Perceptron, StructuredSVM, fit
from rote.learning.base import shuffled
from rote.space import any_of, at_most, count, exactly
from rote.space.losses import F1Loss, Hamming, ZeroOne
from rote.tasks.multiclass import Multiclass
from tests.learning.separable import (
    CustomFeature,
    binary,
    directions,
    drawn,
    is_counterexample,
    ready,
    slacks,
)
from tests.learning.small import start
from tests.strategies import Judge

SUBADDITIVE = [Hamming(), ZeroOne()]


def exact(prepared, decomposition, loss=None, **options):
    """The verdict; a counterexample is confirmed by engines."""
    loss = loss or Hamming()
    found = is_exact(prepared, decomposition, loss, **options)
    if not found:
        assert is_counterexample(found, prepared, decomposition, loss)
    return found.exact


def verdicts(space_of, decomposition, seeds, **options):
    """Of spaces by seed, whether a decomposition is exact for examples drawn with that seed."""
    found = []
    for seed in seeds:
        space = space_of(seed)
        xs, ys = drawn(space, seed)
        loss = SUBADDITIVE[seed % 2]
        found.append(exact(ready(space, xs, ys), decomposition, loss, **options))
    return found


# -- observation 2: W* lies inside W_dec -----------------------------------------------------


def random_sets(rng, n):
    return [rng.choice(n, size=int(rng.integers(1, n)), replace=False) for _ in range(3)]


def pairwise(seed, n=4):
    """A space with factors and a rule."""
    rng = np.random.default_rng(seed)
    edges = [pair for pair in combinations(range(n), 2) if rng.random() < 0.5]
    return binary(n, edges, lambda builder, on: builder.require(any_of(on[:2])))


@pytest.mark.parametrize("seed", range(12))
def test_weights_without_slack_have_none_around_gold(seed):
    rng = np.random.default_rng(seed)
    space = pairwise(seed)
    xs, ys = drawn(space, seed)
    prepared = ready(space, xs, ys)
    sets = random_sets(rng, 4)
    engine = Decomposed(Exact(), lambda *_: sets)
    outputs = Judge(space).outputs
    D = np.concatenate([directions(prepared, xs, i, outputs) for i in range(len(xs))])
    losses = np.concatenate([(np.array(outputs) != y).sum(axis=1) for y in ys])
    for _ in range(4):
        corner = linprog(
            rng.normal(size=D.shape[1]), A_ub=-D, b_ub=-losses, bounds=(-1e3, 1e3), method="highs"
        )
        assert slacks(prepared, corner.x, Hamming()).max() <= 1e-5
        assert slacks(prepared, corner.x, Hamming(), engine).max() <= 1e-5
        anywhere = rng.normal(size=D.shape[1])
        around = slacks(prepared, anywhere, Hamming(), engine)
        assert (around <= slacks(prepared, anywhere, Hamming()) + 1e-9).all()


def test_there_are_weights_without_slack_around_gold_and_with_slack_elsewhere():
    found = []
    for seed in range(12):
        space = pairwise(seed)
        sets = random_sets(np.random.default_rng(seed), 4)
        xs, ys = drawn(space, seed)
        prepared = ready(space, xs, ys)
        found.append(exact(prepared, CustomSets(lambda *_, sets=sets: sets)))
        assert exact(prepared, CustomSets(lambda *_: [range(4)]))
    assert not all(found)


# -- corollary 2: k OR rules -------------------------------------------------------------------


def with_ors(k, n, edges=()):
    """By seed, a space with k random clauses, some of their literals negated."""

    def space_of(seed):
        rng = np.random.default_rng(seed)

        def write(builder, on):
            for _ in range(k):
                chosen = rng.choice(n, size=int(rng.integers(2, 5)), replace=False)
                builder.require(any_of(on[j] if rng.random() < 0.6 else ~on[j] for j in chosen))

        return binary(n, edges, write)

    return space_of


@pytest.mark.parametrize(("k", "n"), [(0, 5), (1, 5), (1, 6), (2, 6), (3, 7)])
def test_k_or_rules_need_sets_of_one_more(k, n):
    assert all(verdicts(with_ors(k, n), HammingBall(k + 1), range(6)))


@pytest.mark.parametrize("k", [1, 2, 3])
def test_sets_of_k_are_not_enough_for_k_or_rules(k):
    """The first variable is on, and may be off if all others are on that now are off."""

    def write(builder, on):
        for other in on[1:]:
            builder.require(on[0] | other)

    space = binary(k + 1, (), write)
    prepared = ready(space, [[np.ones(1)] * (k + 1)], [(1,) + (0,) * k])
    assert not exact(prepared, HammingBall(k))
    assert exact(prepared, HammingBall(k + 1))
    found = is_exact(prepared, HammingBall(k), Hamming())
    assert found.output.tolist() == [0] + [1] * k


def test_k_or_rules_need_larger_sets_where_factors_score_pairs():
    edges = [(0, 1), (1, 2), (2, 3)]
    assert not all(verdicts(with_ors(1, 4, edges), HammingBall(2), range(4)))


def test_k_or_rules_need_larger_sets_where_the_loss_is_not_subadditive():
    """To miss one of two labels costs a third, to miss both costs 1."""
    prepared = ready(binary(2), [[np.ones(1)] * 2], [(1, 1)])
    assert exact(prepared, HammingBall(1), Hamming())
    assert not exact(prepared, HammingBall(1), F1Loss())


# -- corollary 3: k linear rules ---------------------------------------------------------------


def with_sums(k, n, shared):
    """By seed, a space with k sums of variables below, above or at what one output has.

    Two rules have at most ``shared`` variables in common.
    """

    def space_of(seed):
        rng = np.random.default_rng([seed, k])
        possible = rng.integers(2, size=n)
        supports = []
        while len(supports) < k:
            size = n // k if shared == 0 else int(rng.integers(2, 5))
            support = set(rng.choice(n, size=size, replace=False).tolist())
            if all(len(support & other) <= shared for other in supports):
                supports.append(support)

        def write(builder, on):
            for support in supports:
                total, now = count(on[j] for j in support), int(possible[list(support)].sum())
                how = rng.integers(3)
                builder.require((total <= now, total >= now, total == now)[how])

        return binary(n, (), write)

    return space_of


@pytest.mark.parametrize(("k", "n", "spaces"), [(1, 6, 8), (2, 8, 24)])
def test_k_linear_rules_need_sets_of_three_times_as_many(k, n, spaces):
    assert all(verdicts(with_sums(k, n, shared=1), HammingBall(3 * k), range(spaces)))


@pytest.mark.parametrize(("k", "n"), [(1, 6), (2, 6), (3, 6)])
def test_linear_rules_about_different_variables_need_only_sets_of_two(k, n):
    assert all(verdicts(with_sums(k, n, shared=0), HammingBall(2), range(6)))


def test_sets_of_fewer_are_not_always_enough_for_linear_rules():
    assert not all(verdicts(with_sums(1, 6, shared=1), HammingBall(1), range(4)))
    assert not all(verdicts(with_sums(2, 6, shared=1), HammingBall(2), range(6)))


def test_a_variable_of_two_linear_rules_moves_with_one_of_each():
    def write(builder, on):
        builder.require(exactly(1, on[0], on[1]))
        builder.require(exactly(1, on[0], on[2]))

    prepared = ready(binary(3, (), write), [[np.ones(1)] * 3], [(1, 0, 0)])
    assert not exact(prepared, HammingBall(2))
    assert exact(prepared, HammingBall(3))


def test_linear_rules_need_larger_sets_where_coefficients_are_not_all_one():
    """One variable weighs as much as four others."""

    def write(builder, on):
        builder.require(4 * count(on[0]) + count(on[1:]) == 4)

    prepared = ready(binary(5, (), write), [[np.ones(1)] * 5], [(1, 0, 0, 0, 0)])
    assert not exact(prepared, HammingBall(3))
    assert exact(prepared, HammingBall(5))


# -- theorem 2: pairwise networks with signs ----------------------------------------------------


def network(seed, n=4, rules=False):
    """A random graph with a sign for each edge, and maybe a rule."""
    rng = np.random.default_rng(seed)
    edges = [pair for pair in combinations(range(n), 2) if rng.random() < 0.7]
    signs = rng.choice([Sign.SAME, Sign.DIFFERENT], size=len(edges)).tolist()

    def write(builder, on):
        if rules:
            builder.require(at_most(2, on))

    return binary(n, edges, write), signs


def leanings(space, layout, signs):
    """By factor, the row of weights that says how much it leans to its sign."""
    numbers = np.arange(layout.size)
    rows = np.zeros((len(signs), layout.size))
    for f, sign in enumerate(signs):
        block = layout.block(numbers, f"block {len(space.variables) + f}")[0]
        rows[f, block] = np.array([1, -1, -1, 1]) * sign
    return rows


def signed_examples(seed, **options):
    """Examples of weights whose factors have signs, and those signs as a cone."""
    space, signs = network(seed, **options)

    def lean(layout, weights):
        for row in leanings(space, layout, signs):
            weights = weights - min(0.0, 1.5 * float(row @ weights)) * row / float(row @ row)
        return weights

    xs, ys = drawn(space, seed, count=3, draw=lean)
    prepared = ready(space, xs, ys)
    return prepared, signs, leanings(space, prepared.layout, signs)


@pytest.mark.parametrize("rules", [False, True])
def test_signed_components_are_exact_among_weights_with_these_signs(rules):
    for seed in range(16):
        prepared, signs, cone = signed_examples(seed, rules=rules)
        assert exact(prepared, SignedComponents(signs), cone=cone)


def test_signed_components_are_not_exact_where_the_signs_are_wrong():
    found = []
    for seed in range(6):
        prepared, signs, cone = signed_examples(seed)
        wrong = [-sign for sign in signs]
        found.append(exact(prepared, SignedComponents(wrong), cone=cone))
    assert not all(found)


def test_signed_components_are_not_exact_where_weights_may_have_other_signs():
    assert not all(
        exact(prepared, SignedComponents(signs))
        for prepared, signs, _ in map(signed_examples, range(6))
    )


def test_signed_components_are_not_exact_where_rules_stand_between_them():
    found = []
    for seed in range(6):
        prepared, signs, cone = signed_examples(seed, rules=True)
        found.append(exact(prepared, SignedComponents(signs, fallback=False), cone=cone))
    assert not all(found)


def probed(seed):
    """Examples that no weights separate but those whose factors have their signs.

    For every factor there are two where one of its variables has nothing to look at, and is told
    by the other one alone.
    """
    space, signs = network(seed)
    rng = np.random.default_rng(seed)
    n, edges = len(space.variables), [factor.variables for factor in space.factors]
    strengths = [sign * rng.uniform(0.5, 2.0) for sign in signs]
    xs, ys = [], []

    def add(sides, ties):
        xs.append([np.array([s]) for s in sides] + [np.array([t]) for t in ties])
        known_value = [
            sum((1 if on else -1) * s for on, s in zip(y, sides, strict=True))
            + sum(
                (1 if y[u] == y[v] else -1) * strength * t
                for (u, v), strength, t in zip(edges, strengths, ties, strict=True)
            )
            for y in product((0, 1), repeat=n)
        ]
        ys.append(list(product((0, 1), repeat=n))[int(np.argmax(known_value))])

    for f, (u, v) in enumerate(edges):
        for side in (-9.0, 9.0):
            sides = rng.choice([-3.0, 3.0], size=n)
            sides[u], sides[v] = 0.0, side
            add(sides.tolist(), np.eye(len(edges))[f].tolist())
    for _ in range(2):
        add(rng.normal(size=n).tolist(), rng.uniform(0.0, 1.0, size=len(edges)).tolist())
    return space, signs, xs, ys


@pytest.mark.parametrize("seed", range(8))
def test_signed_components_are_exact_where_the_examples_tell_the_signs(seed):
    space, signs, xs, ys = probed(seed)
    prepared = ready(space, xs, ys)
    outputs = Judge(space).outputs
    D = np.concatenate([directions(prepared, xs, i, outputs) for i in range(len(xs))])
    losses = np.concatenate([(np.array(outputs) != y).sum(axis=1) for y in ys])
    for row in leanings(space, prepared.layout, signs):
        least = linprog(row, A_ub=-D, b_ub=-losses, bounds=(None, None), method="highs")
        assert least.status == 0
        assert least.fun > 0.1
    assert exact(prepared, SignedComponents(signs))


def test_examples_that_tell_the_signs_are_not_enough_if_the_wrong_ones_are_used():
    found = []
    for seed in range(5):
        space, signs, xs, ys = probed(seed)
        wrong = [-sign for sign in signs]
        found.append(exact(ready(space, xs, ys), SignedComponents(wrong)))
    assert not all(found)


# -- section 4: multiclass classification by indicators -------------------------------------------

CLASSES = ("a", "b", "c", "d")
TIGHT = {"delta": 1e-5, "iterations": 3000}


def points(seed, count=40, features=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(count, features))
    noise = 0.5 * rng.normal(size=(count, len(CLASSES)))
    return X, (X @ rng.normal(size=(features, len(CLASSES))) + noise).argmax(axis=1)


def indicators(xs, y, k):
    """One variable for each class, exactly one of them on, and sets of k."""
    classes = len(CLASSES)
    space = binary(classes, (), lambda builder, on: builder.require(exactly(1, on)))
    inputs = [[x] * classes for x in xs]
    engine = Decomposed(Exact(), HammingBall(k))
    outputs = [tuple(row) for row in np.eye(classes, dtype=int)[y]]
    return start(CustomFeature(space), inputs, outputs, engine)


def by_class(prepared, weights):
    """The weights of "off" and of "on", each of shape (features, classes)."""
    blocks = [prepared.layout.block(weights, f"block {k}") for k in range(len(CLASSES))]
    return tuple(np.stack([block[:, side] for block in blocks], axis=1) for side in (0, 1))


@pytest.mark.parametrize("cost", [0.05, 1.0])
def test_pairs_and_the_hamming_loss_are_the_multiclass_svm_of_crammer_and_singer(cost):
    """With ½ ‖w‖² over both labels, "off" is -"on", and all leads and losses are twice as large."""
    X, y = points(0)
    svm = StructuredSVM(C=cost, squared=False, **TIGHT)
    model, prepared = indicators(X, y, 2)
    off, on = by_class(prepared, fit(svm, model, prepared).weights)
    np.testing.assert_allclose(off, -on, atol=1e-9)

    task = Multiclass(CLASSES, constant=False)
    model, prepared = start(task, list(X), [CLASSES[k] for k in y])
    np.testing.assert_allclose(
        on, prepared.layout.block(fit(svm, model, prepared).weights, "label"), atol=2e-3
    )

    judge = LinearSVC(
        C=cost, multi_class="crammer_singer", fit_intercept=False, tol=1e-8, max_iter=200_000
    ).fit(X, y)

    def objective(matrix):
        scores = X @ matrix
        right = np.take_along_axis(scores, y[:, None], axis=1)
        wrong = (np.arange(len(CLASSES)) != y[:, None]).astype(float)
        return 0.5 * (matrix**2).sum() + cost * (scores + wrong - right).max(axis=1).sum()

    assert objective(on) == pytest.approx(objective(judge.coef_.T), rel=1e-3)
    assert objective(on) <= objective(judge.coef_.T) * (1 + 1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_pairs_without_a_loss_are_constraint_classification(seed):
    X, y = points(seed)
    model, prepared = indicators(X, y, 2)
    learner = Perceptron(iterations=6, average=False)
    weights = np.zeros((X.shape[1], len(CLASSES)))
    for state in learner.iterate(model, prepared):
        for number in shuffled(len(X), 0, state.iteration):
            scores = X[number] @ weights
            # Equals go to the first output in order, whose last class is on.
            best = len(CLASSES) - 1 - int(scores[::-1].argmax())
            if best != y[number]:
                weights[:, y[number]] += X[number]
                weights[:, best] -= X[number]
        off, on = by_class(prepared, state.weights)
        np.testing.assert_allclose(on, weights, atol=1e-12)
        np.testing.assert_allclose(off, -weights, atol=1e-12)
    assert weights.any()


def test_pairs_reach_every_class_and_single_variables_none():
    X, y = points(1)
    for learner in (StructuredSVM(C=1.0), Perceptron()):
        model, prepared = indicators(X, y, 1)
        assert not fit(learner, model, prepared).weights.any()
    truth = np.random.default_rng(2).normal(size=(X.shape[1], len(CLASSES)))
    _, prepared = indicators(X, (X @ truth).argmax(axis=1), 2)
    assert exact(prepared, HammingBall(2))
    assert not exact(prepared, HammingBall(1))
