"""Steps of perceptrons, against naive twins."""

import numpy as np
import pytest

from rote.kernels.bundles import ChainPlan, Layout, Questions, Slots, TableRuns, Vectors
from rote.kernels.dp.chains import best_chains
from rote.kernels.learning.linear import scores_of
from rote.kernels.learning.perceptron import (
    NOTHING,
    RIGHT,
    WRONG,
    Average,
    Decisions,
    Example,
    StepRoom,
    chain_step,
    learn_locally,
    move_average,
    wrong_prefix,
)
from rote.kernels.outputs import spreads
from rote.types import offsets_from_counts, readonly
from tests.kernels.parts import entries, random_parts, whole

# -- on a chain ---------------------------------------------------------------------------

SHARE = 1e-10  # of the scores: how close two values are that count as equal


class World:
    """A chain of three labels per variable, vectors for its variables, and random weights."""

    def __init__(self, n, seed, allowed=True):
        self.rng = np.random.default_rng(seed)
        pairs, labels = n - 1, 3 * n
        own = [[0], *(self.rng.integers(4, size=3).tolist() for _ in range(n))]
        self.vectors = Vectors(
            offsets_from_counts(list(map(len, own))),
            whole(np.concatenate(own)),
            readonly(np.ones(1 + 3 * n)),
        )
        starts = labels + 9 * np.arange(n)
        # Behind the weights of pairs are those of labels.
        self.slots = Slots(
            whole([*range(n), *[-1] * pairs]),
            whole([9] * n + [0] * pairs),
            whole([3] * n + [0] * pairs),
            readonly(np.zeros(n + pairs, np.bool_)),
            whole([-1] * (n + pairs)),
            whole([*range(0, labels, 3), *starts]),
            whole([]),
        )
        self.layout = Layout(
            whole([3] * n),
            whole(range(0, labels + 1, 3)),
            whole(range(0, 2 * n, 2)),
            whole([j for k in range(pairs) for j in (k, k + 1)]),
            whole(starts),
        )
        entries = labels + 9 * pairs
        straight = [[1, 3, 0, 0, 1]] * pairs
        self.chain = ChainPlan(
            whole([3] * n),
            whole(range(0, labels + 1, 3)),
            whole([0, *range(n - 1), n]),
            whole([1] + [3] * pairs),
            whole([1] * n),
            whole(range(0, labels + 1, 3)),
            whole([-1] * n),
            whole([0, *range(n)]),
            whole(range(pairs)),
            whole(straight).reshape(pairs, 5),
            TableRuns(
                whole(starts),
                whole([0] * pairs),
                readonly(np.full(pairs, allowed)),
                readonly(np.arange(entries) < (entries if allowed else labels)),
                whole(range(entries + 1)),
                whole(range(entries)),
            ),
            whole([3, 9, 9, 3]),
        )
        self.weights, self.sums = self.rng.normal(size=(2, 9 + 3 * 4))
        labels = self.rng.integers(3, size=n)
        tuples = 3 * labels[:-1] + labels[1:]
        self.example = Example(1, whole([*labels, *tuples]), 1.5, 7.0)

    def step(self):
        average = Average(self.weights, self.sums)
        known = self.vectors, self.slots, self.chain, self.layout, self.example
        room = StepRoom(self.chain, self.layout, self.slots)
        return chain_step(average, *known, SHARE, room)


@pytest.mark.parametrize("seed", range(12))
def test_it_scores_solves_and_moves(seed):
    world = World(2 + seed % 3, seed)
    weights, sums = world.weights.copy(), world.sums.copy()
    toward = world.example.toward
    n, outcomes = (len(toward) + 1) // 2, []
    for _ in range(8):
        scores = scores_of(weights, world.vectors, world.slots, whole([1]))
        numbers = np.empty((3, 1))
        asked = Questions(scores, np.empty((0, 0), np.bool_), numbers[0])
        spreads(asked, world.layout, SHARE, numbers)
        found = best_chains(asked, world.chain)[0]
        away = whole([*found, *(3 * found[:-1] + found[1:])])
        wrong = (found != toward[:n]).any()
        if wrong:
            average = Average(weights, sums)
            move_average(average, world.vectors, world.slots, world.example, away)
        outcomes.append(world.step())
        assert outcomes[-1] == (WRONG if wrong else RIGHT)
        np.testing.assert_array_equal(world.weights, weights)
        np.testing.assert_array_equal(world.sums, sums)
    assert outcomes[-1] == RIGHT


def test_without_a_feasible_output_or_with_infinite_scores_nothing_moves():
    world = World(3, 0, allowed=False)
    weights, sums = world.weights.copy(), world.sums.copy()
    assert world.step() == NOTHING
    assert world.weights.tolist() == weights.tolist()
    world = World(3, 0)
    world.weights[0] = np.inf
    assert world.step() == NOTHING
    assert world.sums.tolist() == sums.tolist()


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


@pytest.mark.parametrize("early", [True, False])
def test_the_prefix_is_that_of_a_naive_search(early):
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
        chosen = wrong_prefix(
            readonly(scores), whole(starts), whole(ends), whole(gold), whole(found), early
        ).tolist()
        assert chosen == naive_prefix(scores, starts, ends, gold, found, early)
        seen.add("gold" if chosen == gold else "whole" if chosen == found else "part")
    assert seen == {"gold", "whole", "part"}


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


@pytest.mark.parametrize("seed", range(8))
def test_a_pass_is_that_of_naive_perceptrons_in_the_same_order(seed):
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
    mistakes = learn_locally(Average(weights, sums), vectors, known, whole(order), 0.0)
    expected, total, wrong = naive_pass(size, vectors, decisions, order, sample_weight)
    seen = 2 * sum(lengths)
    assert mistakes == wrong > 0
    np.testing.assert_allclose(weights, expected, atol=1e-12)
    np.testing.assert_allclose(weights - sums / seen, total / seen, atol=1e-12)
