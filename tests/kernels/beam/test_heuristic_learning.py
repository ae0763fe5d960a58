"""Learning to search: Algorithm 1 by its text, and the bound on mistakes."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rote.inference.approximate.beam_plan import HeuristicFeatures, WeightIndex, beam_plan_of
from rote.kernels.beam.beam import search_beam
from rote.kernels.beam.heuristic_learning import Learned, learn_beam
from rote.kernels.constants import MAX_COUNTED
from rote.space import SpaceBuilder, at_most
from rote.types import readonly
from tests.kernels.beams import Case, eighths, left_in
from tests.kernels.bodies import networks
from tests.kernels.parts import whole

seeds = st.integers(0, 2**32 - 1)


def naive_learning(case, gold, width, step):
    """Algorithm 1 and the average of its weights, line by line."""
    weights = np.zeros(case.ledger.size)
    used, wrong = [], []
    for i, y in enumerate(gold):
        y = {j: int(label) for j, label in enumerate(y)}
        used.append(weights.copy())
        naive = case.input(i, weights)
        beam, known, good = [{}], {}, True
        for j in case.order:
            nodes = [n for v in beam for n in naive.successors(v, j)]
            beam = sorted(nodes, key=lambda v: -(naive.g(v) + naive.h(v)))[:width]
            known = {**known, j: y[j]}
            good = known in beam
            if not good:
                break
        mistake = not good or (bool(case.order) and beam[0] != known)
        if mistake:
            lost = [naive.phi(v) for v in (beam[:1] if good else beam)]
            weights = weights - step / len(lost) * sum(lost) + step * naive.phi(known)
        wrong.append(mistake)
    return weights, np.mean(used, axis=0), wrong


@given(networks(1), seeds, st.sampled_from([1, 2, 4]))
def test_learning_is_algorithm_1(network, seed, width):
    space, _ = network
    case = Case(space, seed, m=5, closed=0.05)
    rng = np.random.default_rng(seed)
    gold = whole([[rng.integers(size) for size in space.sizes] for _ in range(5)])
    closed = np.take_along_axis(case.shut, space.offsets[:-1] + gold, axis=1)
    assume(not closed.any())
    step = 12.0  # so that means over up to four nodes are whole
    weights, mean, wrong = naive_learning(case, gold, width, step)
    learned = Learned(np.zeros(case.ledger.size), np.zeros(case.ledger.size), np.zeros(1))
    found = learn_beam(case.scores, case.shut, gold, learned, width, step, case.course)
    assert found.tolist() == wrong
    assert list(learned.weights) == weights.tolist()
    assert learned.clock[0] == 5
    assert learned.weights - learned.sums / 5 == pytest.approx(mean)


def test_long_rules_are_counted_up_to_a_limit():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(8)]
    builder.require(at_most(4, [x["a"] for x in variables]))
    space, rng = builder.build(), np.random.default_rng(0)
    for seed in range(6):
        case = Case(space, seed, m=4, closed=0.0)
        assert case.ledger.size == MAX_COUNTED
        nodes, _ = search_beam(case.scores, case.shut, case.weights, 3, np.inf, case.course)
        for i in range(4):
            assert left_in(nodes, i) == case.input(i).search(3, np.inf)[0]
        gold = whole(rng.choice(3, size=(4, 8), p=[0.8, 0.1, 0.1]))
        weights, _, wrong = naive_learning(case, gold, 2, 12.0)
        learned = Learned(*(np.zeros(MAX_COUNTED) for _ in range(2)), np.zeros(1))
        found = learn_beam(case.scores, case.shut, gold, learned, 2, 12.0, case.course)
        assert found.tolist() == wrong
        assert list(learned.weights) == weights.tolist()


def stream(lengths, rng):
    """Chains whose first variable has one label; what follows what is known by weights."""
    ledger, found = WeightIndex(), []
    for n in lengths:
        builder = SpaceBuilder()
        variables = [builder.variable("x0", "*")]
        variables += [builder.variable(f"x{k}", "abc") for k in range(1, n)]
        for x, y in itertools.pairwise(variables):
            builder.factor(x, y)
        case = Case(builder.build(), int(rng.integers(1 << 30)), m=12, closed=0.0)
        case.order = list(range(n))
        case.course = beam_plan_of(
            case.space, lambda space: range(len(space.variables)), HeuristicFeatures(), ledger
        )
        case.scores = eighths(rng, True, case.scores.shape)
        found.append(case)
    for case in found:
        case.ledger, case.weights = ledger, np.zeros(ledger.size)
    return ledger.size, found


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("seed", range(4))
def test_mistakes_on_a_separable_stream_are_as_few_as_theorem_1_says(seed, width):
    rng = np.random.default_rng(seed)
    size, cases = stream([2, 4, 5], rng)
    # After * comes one label, and after every label one; a pair that is not so costs 1.
    after = {"*": int(rng.integers(3)), **{k: int(rng.integers(3)) for k in range(3)}}
    truth = np.zeros(size)
    max_phi, max_g, margin, golds = 0.0, 0.0, np.inf, []
    for case in cases:
        gold = [0, after["*"]]
        while len(gold) < len(case.order):
            gold.append(after[gold[-1]])
        golds.append(gold)
        naive = case.input(0)
        truth = np.maximum(truth, naive.phi(dict(enumerate(gold))) > 0)
    truth /= np.linalg.norm(truth)
    for case, gold in zip(cases, golds, strict=True):
        for level in range(1, len(gold) + 1):
            ranges = map(range, case.space.sizes[:level].tolist())
            nodes = [dict(enumerate(labels)) for labels in itertools.product(*ranges)]
            good = nodes.index(dict(enumerate(gold[:level])))
            phis = np.array([case.input(0).phi(v) for v in nodes])
            gaps = (phis[good] - phis) @ truth
            margin = min([margin, *np.delete(gaps, good)])
            apart = np.linalg.norm(phis[:, None] - phis[None], axis=2)
            max_phi = max(max_phi, apart.max())
            for i in range(len(case.scores)):
                values = [case.input(i).g(v) for v in nodes]
                max_g = max(max_g, max(values) - min(values))
    assert margin > 0
    most = (max_phi**2 + 2 * max_g) / margin**2
    learned, mistakes = Learned(np.zeros(size), np.zeros(size), np.zeros(1)), 0
    for _ in range(200):
        before = mistakes
        for case, gold in zip(cases, golds, strict=True):
            every = whole([gold] * len(case.scores))
            wrong = learn_beam(case.scores, case.shut, every, learned, width, 1.0, case.course)
            mistakes += int(wrong.sum())
        assert mistakes <= most
        if mistakes == before:
            break
    assert mistakes == before
    assert mistakes > 0
    for case, gold in zip(cases, golds, strict=True):  # and what is left is consistent
        nodes, _ = search_beam(
            case.scores,
            case.shut,
            readonly(learned.weights),
            width,
            np.inf,
            case.course,
        )
        assert (nodes.labels[:, 0] == gold).all()
