"""Steps of perceptrons: compiled, as plain Python, and against naive twins."""

from __future__ import annotations

import numpy as np
import pytest

from rote.inference import Chain
from rote.inference.problem import TIE, Problem
from rote.kernels.learning.linear import scores_of
from rote.kernels.learning.perceptron import (
    NOTHING,
    RIGHT,
    WRONG,
    Average,
    Decisions,
    Example,
    chain_step,
    learn_locally,
    move_average,
    wrong_prefix,
)
from rote.model import prepare
from rote.space import SpaceBuilder
from rote.tasks.task import Frame, Slot, Task
from rote.types import readonly
from tests.kernels.bodies import plain
from tests.kernels.parts import entries, phi, random_columns, random_parts, whole
from tests.learning.small import chains


def each(kernel):
    return pytest.mark.parametrize("run", [kernel, plain(kernel)], ids=["compiled", "plain"])


@each(move_average)
@pytest.mark.parametrize("seed", range(4))
def test_the_sums_get_the_same_step_times_its_age(run, seed):
    vectors, slots, firsts, size = random_parts(seed)
    rng = np.random.default_rng(seed)
    toward, away = random_columns(rng, slots, 3), random_columns(rng, slots, 3)
    weights, sums = np.zeros(size), np.zeros(size)
    example = Example(firsts[0], toward[0], 0.5, 7.0)
    run(Average(weights, sums), vectors, slots, example, away[0])
    right, wrong = (phi(vectors, slots, firsts[0], y[0], size) for y in (toward, away))
    np.testing.assert_allclose(weights, 0.5 * (right - wrong), atol=1e-12)
    np.testing.assert_allclose(sums, 3.5 * (right - wrong), atol=1e-12)


# -- on a chain ---------------------------------------------------------------------------


def arguments(prepared, group, place, weights, sums):
    windows, space = Chain().required(group.space), group.space
    example = Example(group.firsts[place], group.gold_slots[place], 1.5, 7.0)
    known = prepared.vectors, group.slots, windows, space.layout, example
    return Average(weights, sums), *known, TIE


@each(chain_step)
@pytest.mark.parametrize("order", [1, 2])
def test_it_scores_solves_and_moves(run, order):
    task, xs, ys = chains(order, count=12, longest=4, order=order)
    prepared = prepare(task, xs, ys)
    rng = np.random.default_rng(0)
    seen = set()
    for group in prepared.groups:
        if len(group.space.variables) < 2:
            continue  # nothing to chain
        for place in range(len(group)):
            weights, sums = rng.normal(size=(2, prepared.layout.size))
            own, own_sums = weights.copy(), sums.copy()
            firsts = group.firsts[place : place + 1]
            scores = readonly(scores_of(readonly(own), prepared.vectors, group.slots, firsts))
            objective = Problem(group.space, scores)
            found = group.columns(Chain().solve(group.space, objective).labels)[0]
            toward = group.gold_slots[place]
            wrong = (found != toward).any()
            if wrong:
                known = prepared.vectors, group.slots, Example(firsts[0], toward, 1.5, 7.0)
                move_average(Average(own, own_sums), *known, found)
            how = run(*arguments(prepared, group, place, weights, sums))
            assert how == (WRONG if wrong else RIGHT)
            seen.add(how)
            np.testing.assert_array_equal(weights, own)
            np.testing.assert_array_equal(sums, own_sums)
    assert WRONG in seen


@each(chain_step)
def test_where_no_output_is_feasible_nothing_moves(run):
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(x["a"] & y["a"] & ~y["a"])
    builder.factor(x, y)
    space = builder.build()

    class Mine(Task):
        def frame(self, x):
            return Frame(space, (Slot("label", 0), Slot("label", 0), Slot("pair")), ("k",))

        def vectors(self, x):
            return [["feature"]]

        def encode(self, x, y):
            return y

        def decode(self, x, labels):
            return labels

    prepared = prepare(Mine(), [None], [[0, 1]], allow_infeasible_gold=True)
    weights, sums = np.ones((2, prepared.layout.size))
    assert run(*arguments(prepared, prepared.groups[0], 0, weights, sums)) == NOTHING
    assert weights.tolist() == sums.tolist() == [1.0] * prepared.layout.size


# -- on prefixes --------------------------------------------------------------------------


def naive_prefix(scores, starts, ends, gold, found, early):
    leads = []
    for k in range(max(ends, default=-1) + 1):
        inside = [s for s in range(len(ends)) if ends[s] <= k]
        if any(gold[s] != found[s] for s in inside):
            lead = sum(scores[starts[s] + found[s]] - scores[starts[s] + gold[s]] for s in inside)
            if lead >= 0:
                leads.append((lead, k))
    if not leads:
        return list(gold)
    most = max(lead for lead, _ in leads)
    chosen = leads[0][1] if early else next(k for lead, k in leads if lead == most)
    return [f if end <= chosen else g for g, f, end in zip(gold, found, ends, strict=True)]


@each(wrong_prefix)
@pytest.mark.parametrize("early", [True, False])
def test_the_prefix_is_that_of_a_naive_search(run, early):
    seen = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        variables = int(rng.integers(1, 6))
        # Slots of variables come first; factors end anywhere, in any order.
        ends = [*range(variables), *rng.integers(variables, size=rng.integers(4)).tolist()]
        widths = rng.integers(1, 4, size=len(ends))
        starts = np.cumsum([0, *widths])
        # Whole numbers: their sums are exact in any order, and ties occur.
        scores = rng.integers(-2, 3, size=starts[-1]).astype(np.float64)
        gold, found = ([int(rng.integers(w)) for w in widths] for _ in range(2))
        chosen = run(
            readonly(scores), whole(starts), whole(ends), whole(gold), whole(found), early
        ).tolist()
        assert chosen == naive_prefix(scores, starts, ends, gold, found, early)
        seen.add("gold" if chosen == gold else "whole" if chosen == found else "part")
    assert seen == {"gold", "whole", "part"}


@each(wrong_prefix)
def test_early_and_largest_differ_where_the_lead_grows(run):
    scores = readonly(np.array([0.0, 1.0, 0.0, 5.0, 3.0, 0.0]))
    shape = whole([0, 2, 4, 6]), whole([0, 1, 2])
    gold, found = whole([0, 0, 0]), whole([1, 1, 1])
    assert run(scores, *shape, gold, found, True).tolist() == [1, 0, 0]
    assert run(scores, *shape, gold, found, False).tolist() == [1, 1, 0]


@each(wrong_prefix)
def test_gold_itself_and_nothing_at_all_come_back(run):
    gold = whole([1, 0])
    scores = readonly(np.ones(4))
    assert run(scores, whole([0, 2, 4]), whole([0, 1]), gold, gold, True).tolist() == [1, 0]
    none = whole([])
    assert run(readonly(np.zeros(0)), whole([0]), none, none, none, False).tolist() == []


# -- every variable by itself -------------------------------------------------------------


def naive_pass(size, vectors, decisions, order, sample_weight):
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
            if best != gold and sample_weight[i]:
                mistakes += 1
                for at, x in features(gold):
                    weights[at] += sample_weight[i] * x
                for at, x in features(best):
                    weights[at] -= sample_weight[i] * x
            after.append(weights.copy())
    return weights, sum(after), mistakes


@each(learn_locally)
@pytest.mark.parametrize("seed", range(8))
def test_a_pass_is_that_of_naive_perceptrons_in_the_same_order(run, seed):
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
    sample_weight = np.array([1.0, 2.0, 1.0, 0.5, 0.0, 1.0])
    fields = np.array([one for each in decisions for one in each]).T
    vector, origin, stride, each, widths, gold = map(whole, fields)
    weights, sums = np.zeros(size), np.zeros(size)
    known = Decisions(
        whole(np.cumsum([0, *lengths])),
        *(vector, origin, stride, readonly(each > 0), widths, gold, readonly(sample_weight)),
    )
    mistakes = run(Average(weights, sums), vectors, known, whole(order), 0.0)
    expected, total, wrong = naive_pass(size, vectors, decisions, order, sample_weight)
    seen = 2 * sum(lengths)
    assert mistakes == wrong > 0
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    np.testing.assert_allclose(weights - sums / seen, total / seen, atol=1e-12)


@each(learn_locally)
def test_of_equal_labels_the_first_is_taken(run):
    vectors, _, _, size = random_parts(0)

    def mistakes_of(gold):
        weights, sums = np.zeros(size), np.zeros(size)
        own = whole([0]), whole([0]), whole([6]), readonly(np.array([False])), whole([3])
        known = Decisions(whole([0, 1]), *own, whole([gold]), readonly(np.ones(1)))
        return run(Average(weights, sums), vectors, known, whole([0]), 0.0)

    assert [mistakes_of(gold) for gold in range(3)] == [0, 1, 1]
