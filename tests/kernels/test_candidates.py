"""Dual coordinate descent over candidates, against dense directions."""

from __future__ import annotations

import numpy as np
import pytest

from rote.kernels import candidates
from rote.kernels.candidates import (
    ATOM_FIELDS,
    OTHER,
    OWNER,
    RIGHT,
    STEP,
    VECTOR,
    WORK_FIELDS,
    WRONG,
    Candidates,
    add_candidates,
    compact,
    descend,
    gains_of,
    largest_gain,
    product_of,
    summed,
    weakest,
)
from rote.kernels.structs import Slots, Vectors
from rote.types import frozen
from tests.kernels.bodies import plain
from tests.kernels.parts import phi, random_columns, random_parts, whole

BOTH = pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "plain"])
SLACKS = pytest.mark.parametrize("squared", [True, False], ids=["squared", "plain slacks"])
EXAMPLES = 3
REAL = {"dual", "loss", "products", "work", "total"}
FIELDS = {"atom": (ATOM_FIELDS,), "work": (WORK_FIELDS,)}
PER_EXAMPLE = {"last", "last_atom", "size", "total"}


def empty(examples=EXAMPLES, room=512):
    arrays = {
        name: np.zeros(
            (examples if name in PER_EXAMPLE else room, *FIELDS.get(name, ())),
            np.float64 if name in REAL else np.int64,
        )
        for name in Candidates._fields
    }
    arrays["last"][:] = arrays["last_atom"][:] = -1
    return Candidates(**arrays)


class Problem:
    """Candidates of three examples, and their dense directions."""

    def __init__(self, seed, *, compiled, squared, rounds=3, delta=-100.0):
        self.compiled, self.squared = compiled, squared
        self.vectors, self.slots, self.firsts, self.size = random_parts(seed)
        self.rng = np.random.default_rng(seed)
        self.weights, self.scratch = np.zeros(self.size), np.zeros(self.size)
        self.costs = frozen(np.array([1.0, 0.3, 2.0]))
        self.candidates, self.count, self.atoms = empty(), 0, 0
        self.gold = random_columns(self.rng, self.slots, EXAMPLES)
        self.outputs, self.losses = [], []
        for _ in range(rounds):
            self.add(self.others(), delta)

    def others(self):
        return random_columns(self.rng, self.slots, EXAMPLES)

    def run(self, kernel, *arguments):
        return (kernel if self.compiled else plain(kernel))(*arguments)

    def add(self, found, delta):
        losses = (found != self.gold).sum(axis=1).astype(np.float64)
        along = [self.weights @ self.direction(i, y) for i, y in enumerate(found)]
        before = self.count
        self.count, self.atoms = self.run(
            add_candidates,
            self.candidates,
            before,
            self.atoms,
            self.scratch,
            frozen(self.weights),
            self.vectors,
            self.slots,
            whole(range(EXAMPLES)),
            self.firsts,
            self.gold,
            found,
            frozen(losses),
            frozen(losses - along),
            self.costs,
            self.squared,
            delta,
        )
        for c in range(before, self.count):
            example = int(self.candidates.example[c])
            self.outputs.append((example, tuple(found[example].tolist())))
            self.losses.append(losses[example])
        return self.count - before

    def direction(self, i, y):
        right = phi(self.vectors, self.slots, self.firsts[i], self.gold[i], self.size)
        return right - phi(self.vectors, self.slots, self.firsts[i], y, self.size)

    @property
    def directions(self):
        return np.array([self.direction(i, y) for i, y in self.outputs])

    @property
    def duals(self):
        return self.candidates.dual[: self.count]

    def gains(self):
        return np.array(self.losses) - self.directions @ self.weights

    def cost(self):
        """D(α), from the duals alone."""
        weights = self.duals @ self.directions
        value = 0.5 * weights @ weights - self.duals @ np.array(self.losses)
        if self.squared:
            value += (self.totals() ** 2 / (4 * self.costs)).sum()
        return value

    def totals(self):
        examples = [i for i, _ in self.outputs]
        return np.bincount(examples, self.duals, minlength=EXAMPLES)

    def own(self, example):
        """The candidates of an example, in the order they came."""
        return [c for c, (i, _) in enumerate(self.outputs) if i == example]

    def descend(self, passes=1, delta=1e-9, seed=0):
        return self.run(
            descend,
            self.weights,
            self.vectors,
            self.candidates,
            whole(range(EXAMPLES)),
            self.costs,
            self.squared,
            passes,
            delta,
            seed,
        )

    def largest_gain(self):
        known = frozen(self.weights), self.vectors, self.candidates, self.costs, self.squared
        return self.run(largest_gain, *known)

    def check_books(self):
        """Everything that is kept beside the duals is what the duals and outputs say."""
        arrays, directions = self.candidates, self.directions
        assert (self.duals >= 0).all()
        np.testing.assert_allclose(self.weights, self.duals @ directions, atol=1e-9)
        np.testing.assert_allclose(arrays.total, self.totals(), atol=1e-9)
        assert arrays.loss[: self.count].tolist() == self.losses
        assert not self.scratch.any()
        assert not arrays.work[: self.atoms, STEP].any()
        for example in range(EXAMPLES):
            own = self.own(example)
            assert arrays.size[example] == len(own)
            assert arrays.rank[own].tolist() == list(range(len(own)))
            chain, c = [], arrays.last[example]
            while c >= 0:
                chain.append(int(c))
                c = arrays.previous[c]
            assert chain == own[::-1]
            products = directions[own] @ directions[own].T
            ids = whole(own)
            for r in range(len(own)):
                for s in range(len(own)):
                    found = plain(product_of)(arrays, ids, r, s)
                    assert found == pytest.approx(products[r, s], abs=1e-9)


@BOTH
@pytest.mark.parametrize("seed", range(4))
def test_candidates_are_kept_as_their_directions(compiled, seed):
    problem = Problem(seed, compiled=compiled, squared=True)
    assert problem.count >= 6
    problem.check_books()
    weights = np.random.default_rng(seed).normal(size=problem.size)
    for example in range(EXAMPLES):
        size, ids, gains = gains_of_all(problem, weights, example)
        own = problem.own(example)
        assert size == len(own)
        assert ids[:size].tolist() == own
        expected = np.array(problem.losses)[own] - problem.directions[own] @ weights
        np.testing.assert_allclose(gains[:size], expected, atol=1e-9)
        for c in own:
            found = problem.run(summed, problem.candidates, c)
            assert found == pytest.approx(problem.directions[c] @ weights, abs=1e-9)


def gains_of_all(problem, weights, example):
    ids, gains = np.zeros(9, np.int64), np.zeros(9)
    known = frozen(weights), problem.vectors, problem.candidates, example, ids, gains
    return problem.run(gains_of, *known), ids, gains


@pytest.mark.parametrize("seed", range(4))
def test_atoms_are_shared_by_the_candidates_of_an_example(seed):
    problem = Problem(seed, compiled=False, squared=True, rounds=8)
    differences = sum(int((np.array(y) != problem.gold[i]).sum()) for i, y in problem.outputs)
    assert int(problem.candidates.atom_ptr[problem.count]) == differences
    assert problem.atoms < differences
    arrays = problem.candidates
    told_apart = arrays.atom[: problem.atoms, [OWNER, VECTOR, OTHER, RIGHT, WRONG]]
    assert len(np.unique(told_apart, axis=0)) == problem.atoms


@pytest.mark.parametrize("seed", range(4))
def test_atoms_are_the_same_ones_whether_walked_to_or_looked_up(seed, monkeypatch):
    walked = Problem(seed, compiled=False, squared=True, rounds=8)
    monkeypatch.setattr(candidates, "MANY", 0)
    looked_up = Problem(seed, compiled=False, squared=True, rounds=8)
    assert looked_up.atoms == walked.atoms
    for one, other in zip(looked_up.candidates, walked.candidates, strict=True):
        assert one.tolist() == other.tolist()


@BOTH
def test_outputs_that_differ_in_many_slots_share_their_atoms(compiled):
    run = add_candidates if compiled else plain(add_candidates)
    n = 3 * candidates.MANY
    vectors = Vectors(whole([0, 1]), whole([0]), frozen(np.ones(1)))
    slots = Slots(
        whole([-1] * n),
        whole(range(0, 3 * n, 3)),
        whole([0] * n),
        frozen(np.zeros(n, dtype=np.bool_)),
        frozen(np.zeros(n, dtype=np.bool_)),
        whole(range(0, 3 * n + 1, 3)),
        whole([0, 1, 2] * n),
    )
    arrays, count, atoms = empty(1, room=8 * n), 0, 0
    gold = np.zeros((1, n), dtype=np.int64)
    # All ones; then every third is a two: two of three atoms are known.
    for found in (gold + 1, gold + 1 + (np.arange(n) % 3 == 0)):
        count, atoms = run(
            arrays,
            count,
            atoms,
            np.zeros(3 * n),
            frozen(np.zeros(3 * n)),
            vectors,
            slots,
            whole([0]),
            whole([0]),
            frozen(gold),
            frozen(found),
            frozen(np.ones(1)),
            frozen(np.ones(1)),
            frozen(np.ones(1)),
            True,
            0.1,
        )
    assert (count, atoms) == (2, n + n // 3)
    # A shared atom has a right and a wrong label in common, the others the right one alone.
    shared = n - n // 3
    assert arrays.products[:3].tolist() == [2 * n, 2 * shared + n // 3, 2 * n]


@BOTH
def test_a_candidate_comes_once_and_only_with_a_gain(compiled):
    problem = Problem(1, compiled=compiled, squared=True, rounds=1)
    assert problem.count == EXAMPLES
    same = whole([y for _, y in problem.outputs])
    assert problem.add(same, 1e-9) == 0
    assert problem.add(problem.gold, 1e-9) == 0  # no loss, no gain
    other = problem.others()
    assert problem.add(other, 100.0) == 0
    assert problem.add(other, 1e-9) == EXAMPLES
    problem.check_books()


@BOTH
def test_an_example_that_costs_nothing_gets_no_candidates(compiled):
    problem = Problem(0, compiled=compiled, squared=True, rounds=0)
    problem.costs = frozen(np.array([1.0, 0.0, 2.0]))
    assert problem.add(problem.others(), 1e-9) == 2
    assert [i for i, _ in problem.outputs] == [0, 2]


@BOTH
@SLACKS
def test_the_bar_is_what_the_candidates_there_are_gain_already(compiled, squared):
    problem = Problem(1, compiled=compiled, squared=squared, rounds=1)
    problem.descend(passes=200)
    # There is one candidate of each example, in the order of the examples.
    spent = problem.totals() / (2 * problem.costs)
    slack = spent if squared else np.maximum(problem.gains(), 0.0)
    added = 0
    for _ in range(6):
        found = problem.others()
        losses = (found != problem.gold).sum(axis=1)
        along = [problem.weights @ problem.direction(i, y) for i, y in enumerate(found)]
        gains = losses - along - slack
        new = [(i, tuple(y.tolist())) not in problem.outputs for i, y in enumerate(found)]
        came = problem.add(found, 0.1)
        assert came == ((gains > 0.1) & new).sum()
        added += came
        if not squared:
            slack = np.maximum(slack, np.where(gains > 0.1, losses - along, 0.0))
    assert added > 0


@BOTH
@SLACKS
@pytest.mark.parametrize("seed", range(4))
def test_descent_keeps_its_books_and_never_climbs(compiled, squared, seed):
    problem = Problem(seed, compiled=compiled, squared=squared, rounds=5)
    costs = [problem.cost()]
    for k in range(12):
        problem.descend(seed=k)
        costs.append(problem.cost())
        problem.check_books()
        if not squared:
            assert (problem.totals() <= problem.costs * (1 + 1e-9)).all()
    assert (np.diff(costs) <= 1e-9).all()
    assert costs[-1] < costs[0]


@BOTH
@SLACKS
@pytest.mark.parametrize("seed", range(4))
def test_descent_ends_where_no_direction_of_the_feasible_set_goes_down(compiled, squared, seed):
    problem = Problem(seed, compiled=compiled, squared=squared, rounds=5)
    for k in range(100 if compiled else 40):
        problem.descend(passes=50, delta=1e-10, seed=k)
    gains = problem.gains()
    if squared:
        examples = [i for i, _ in problem.outputs]
        gains -= (problem.totals() / (2 * problem.costs))[examples]
        assert gains.max() < 1e-6
        assert abs(gains[problem.duals > 0]).max() < 1e-6
        return
    for i in range(EXAMPLES):
        own = problem.own(i)
        used = [c for c in own if problem.duals[c] > 1e-12]
        most = max(0.0, *(gains[c] for c in own))
        # The duals of an example lie on what gains most, and are used up if that is above 0.
        assert all(gains[c] == pytest.approx(most, abs=1e-6) for c in used)
        if most > 1e-6:
            assert problem.totals()[i] == pytest.approx(problem.costs[i])


@SLACKS
@pytest.mark.parametrize("seed", range(3))
def test_compiled_and_plain_make_the_same_steps(squared, seed):
    one = Problem(seed, compiled=True, squared=squared, rounds=4)
    other = Problem(seed, compiled=False, squared=squared, rounds=4)
    assert one.outputs == other.outputs
    for k in range(5):
        assert one.descend(passes=3, delta=1e-3, seed=k) == other.descend(3, 1e-3, k)
        np.testing.assert_allclose(one.duals, other.duals, atol=1e-12)
    assert one.largest_gain() == pytest.approx(other.largest_gain(), abs=1e-12)


@BOTH
@SLACKS
def test_passes_end_when_the_projected_gains_are_small(compiled, squared):
    problem = Problem(2, compiled=compiled, squared=squared, rounds=4)
    assert problem.descend(passes=2, delta=1e-12) == 2
    assert problem.descend(passes=10_000, delta=1e-3) < 10_000
    assert problem.descend(passes=10, delta=1e9) == 1


@BOTH
@SLACKS
@pytest.mark.parametrize("seed", range(3))
def test_the_largest_gain_is_that_of_a_naive_look_at_all_candidates(compiled, squared, seed):
    problem = Problem(seed, compiled=compiled, squared=squared, rounds=5)
    for k in range(4):
        gains, totals = problem.gains(), problem.totals()
        expected = 0.0
        for c, (i, _) in enumerate(problem.outputs):
            gain = gains[c]
            if squared:
                gain -= totals[i] / (2 * problem.costs[i])
            elif gain > 0 and totals[i] >= problem.costs[i] * (1 - 1e-12):
                # All is spent: what c gets, the worst of the others gives.
                gain = max(0.0, gain - min(gains[o] for o in problem.own(i) if problem.duals[o]))
            expected = max(expected, abs(gain) if problem.duals[c] > 0 else gain)
        assert problem.largest_gain() == pytest.approx(expected, abs=1e-9)
        problem.descend(seed=k)


@BOTH
def test_the_weakest_is_the_used_candidate_that_gains_least(compiled):
    problem = Problem(0, compiled=compiled, squared=False, rounds=4)
    own = problem.own(1)
    ids, gains = whole(own), frozen(np.array([-5.0, 3.0, 2.0, 4.0])[: len(own)])
    assert problem.run(weakest, problem.candidates, ids, gains, len(own)) == -1
    problem.candidates.dual[own[1:]] = 0.05
    assert problem.run(weakest, problem.candidates, ids, gains, len(own)) == 2


@BOTH
@SLACKS
@pytest.mark.parametrize("seed", range(4))
def test_what_is_dropped_leaves_everything_else_as_it_was(compiled, squared, seed):
    problem = Problem(seed, compiled=compiled, squared=squared, rounds=6)
    problem.descend(passes=3)
    kept = (problem.duals > 0) | (problem.rng.random(problem.count) < 0.2)
    assert 0 < kept.sum() < problem.count
    duals = problem.duals[kept].copy()
    problem.count, problem.atoms = problem.run(
        compact, problem.candidates, problem.count, problem.atoms, kept
    )
    problem.outputs = [one for one, stays in zip(problem.outputs, kept, strict=True) if stays]
    problem.losses = [one for one, stays in zip(problem.losses, kept, strict=True) if stays]
    assert problem.duals.tolist() == duals.tolist()
    problem.check_books()
    used = problem.candidates.atoms[: problem.candidates.atom_ptr[problem.count]]
    assert set(used.tolist()) == set(range(problem.atoms))
    for _ in range(2):
        problem.add(problem.others(), 1e-9)
        problem.descend()
        problem.check_books()


@BOTH
@SLACKS
def test_a_candidate_that_no_weight_can_tell_from_gold_still_gets_its_dual(compiled, squared):
    # Two slots with the same vector and weights: swapped labels have the same features.
    vectors = Vectors(whole([0, 1, 2]), whole([0, 0]), frozen(np.ones(2)))
    no = frozen(np.zeros(2, np.bool_))
    slots = Slots(
        whole([0, 0]), whole([0, 0]), whole([2, 2]), no, no, whole([0, 2, 4]), whole([0, 1, 0, 1])
    )
    candidates, weights, scratch = empty(examples=1), np.zeros(2), np.zeros(2)

    def run(kernel, *arguments):
        return (kernel if compiled else plain(kernel))(*arguments)

    found, two, costs = whole([[1, 0]]), frozen(np.full(1, 2.0)), frozen(np.full(1, 0.25))
    count, _ = run(
        add_candidates,
        *(candidates, 0, 0, scratch, frozen(weights), vectors, slots, whole([0]), whole([1])),
        *(whole([[0, 1]]), found, two, two, costs, squared, 1e-9),
    )
    assert count == 1
    assert candidates.products[0] == 0.0
    run(descend, weights, vectors, candidates, whole([0]), costs, squared, 20, 1e-9, 0)
    # D = α²/(4C) - 2α is least at 4C; without squares, -2α is least where α = C.
    assert candidates.dual[0] == pytest.approx(1.0 if squared else 0.25)
    assert not weights.any()
    known = frozen(weights), vectors, candidates, costs, squared
    assert run(largest_gain, *known) == pytest.approx(0.0, abs=1e-9)
