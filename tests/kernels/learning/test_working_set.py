"""Candidates: kept as their directions, which share atoms, and dropped again."""

import numpy as np
import pytest

from rote.kernels.bundles import Slots, Vectors
from rote.kernels.learning.working_set import (
    MANY,
    OTHER,
    RIGHT,
    VECTOR,
    WRONG,
    Dual,
    Offers,
    add_candidates,
    compact,
    summed,
    walk_to,
)
from rote.types import readonly
from tests.kernels.parts import whole
from tests.kernels.svm_problems import EXAMPLES, SLACKS, Problem, empty, gains_of_all


@pytest.mark.parametrize("seed", range(4))
def test_candidates_are_kept_as_their_directions(seed):
    problem = Problem(seed, squared=True)
    assert problem.count >= 6
    problem.check_books()
    weights = np.random.default_rng(seed).normal(size=problem.size)
    for example in range(EXAMPLES):
        ids, gains = gains_of_all(problem, weights, example)
        own = problem.own(example)
        assert ids == own
        expected = np.array(problem.losses)[own] - problem.directions[own] @ weights
        np.testing.assert_allclose(gains, expected, atol=1e-9)
        for c in own:
            found = summed(problem.candidates, c)
            assert found == pytest.approx(problem.directions[c] @ weights, abs=1e-9)


def test_outputs_that_differ_in_many_slots_share_their_atoms():
    n = 3 * MANY
    vectors = Vectors(whole([0, 1]), whole([0]), readonly(np.ones(1)))
    slots = Slots(
        whole([-1] * n),
        whole(range(0, 3 * n, 3)),
        whole([0] * n),
        readonly(np.zeros(n, dtype=np.bool_)),
        whole([-1] * n),
        whole(range(0, 3 * n + 1, 3)),
        whole([]),
    )
    arrays, candidates = empty(1, room=8 * n)
    count, atoms = 0, 0
    gold = np.zeros((1, n), dtype=np.int64)
    # All ones; then every third is a two: two of three atoms are known.
    for found in (gold + 1, gold + 1 + (np.arange(n) % 3 == 0)):
        ones = readonly(np.ones(1))
        dual = Dual(np.zeros(3 * n), vectors, candidates, ones, True, 0.1)
        offers = Offers(whole([0]), whole([0]), readonly(gold), readonly(found), ones, ones)
        count, atoms = add_candidates(dual, slots, offers, count, atoms, np.zeros(3 * n))
    assert (count, atoms) == (2, n + n // 3)
    told_apart = arrays.atom[:atoms, [VECTOR, OTHER, RIGHT, WRONG]].tolist()
    assert [walk_to(candidates, 0, *own) for own in told_apart] == list(range(atoms))
    assert walk_to(candidates, 0, 0, 0, 1, 1) == -1
    # A shared atom has a right and a wrong label in common, the others the right one alone.
    shared = n - n // 3
    assert arrays.products[:3].tolist() == [2 * n, 2 * shared + n // 3, 2 * n]


def test_a_candidate_comes_once_and_only_with_a_gain():
    problem = Problem(1, squared=True, rounds=1)
    assert problem.count == EXAMPLES
    same = whole([y for _, y in problem.outputs])
    assert problem.add(same, 1e-9) == 0
    assert problem.add(problem.gold, 1e-9) == 0  # no loss, no gain
    other = problem.others()
    assert problem.add(other, 100.0) == 0
    assert problem.add(other, 1e-9) == EXAMPLES
    problem.check_books()


def test_an_example_that_costs_nothing_gets_no_candidates():
    problem = Problem(0, squared=True, rounds=0)
    problem.costs = readonly(np.array([1.0, 0.0, 2.0]))
    assert problem.add(problem.others(), 1e-9) == 2
    assert [i for i, _ in problem.outputs] == [0, 2]


@SLACKS
def test_the_bar_is_what_the_candidates_there_are_gain_already(squared):
    problem = Problem(1, squared=squared, rounds=1)
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


@SLACKS
@pytest.mark.parametrize("seed", range(4))
def test_what_is_dropped_leaves_everything_else_as_it_was(squared, seed):
    problem = Problem(seed, squared=squared, rounds=6)
    problem.descend(passes=3)
    kept = (problem.duals > 0) | (problem.rng.random(problem.count) < 0.2)
    assert 0 < kept.sum() < problem.count
    duals = problem.duals[kept].copy()
    problem.count, problem.atoms = compact(problem.candidates, problem.count, problem.atoms, kept)
    problem.outputs = [one for one, stays in zip(problem.outputs, kept, strict=True) if stays]
    problem.losses = [one for one, stays in zip(problem.losses, kept, strict=True) if stays]
    assert problem.duals.tolist() == duals.tolist()
    problem.check_books()
    used = problem.arrays.atoms[: problem.arrays.atom_ptr[problem.count]]
    assert set(used.tolist()) == set(range(problem.atoms))
    for _ in range(2):
        problem.add(problem.others(), 1e-9)
        problem.descend()
        problem.check_books()
