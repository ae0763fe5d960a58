"""Dual coordinate descent over candidates, against dense directions."""

import numpy as np
import pytest

from rote.kernels.bundles import Slots, Vectors
from rote.kernels.learning.dual_descent import descend, largest_gain
from rote.kernels.learning.working_set import Dual, Offers, add_candidates
from rote.types import readonly
from tests.kernels.parts import whole
from tests.kernels.svm_problems import EXAMPLES, SLACKS, Problem, empty


@SLACKS
@pytest.mark.parametrize("seed", range(4))
def test_descent_keeps_its_books_and_never_climbs(squared, seed):
    problem = Problem(seed, squared=squared, rounds=5)
    costs = [problem.cost()]
    for k in range(12):
        problem.descend(seed=k)
        costs.append(problem.cost())
        problem.check_books()
        if not squared:
            assert (problem.totals() <= problem.costs * (1 + 1e-9)).all()
    assert (np.diff(costs) <= 1e-9).all()
    assert costs[-1] < costs[0]


@SLACKS
@pytest.mark.parametrize("seed", range(4))
def test_descent_ends_where_no_direction_of_the_feasible_set_goes_down(squared, seed):
    problem = Problem(seed, squared=squared, rounds=5)
    for k in range(40):
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
def test_the_largest_gain_is_that_of_a_naive_look_at_all_candidates(squared, seed):
    problem = Problem(seed, squared=squared, rounds=5)
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


@SLACKS
def test_a_candidate_that_no_weight_can_tell_from_gold_still_gets_its_dual(squared):
    # Two slots with the same vector and weights: swapped labels have the same features.
    vectors = Vectors(whole([0, 1, 2]), whole([0, 0]), readonly(np.ones(2)))
    no = readonly(np.zeros(2, np.bool_))
    slots = Slots(
        whole([0, 0]),
        whole([0, 0]),
        whole([2, 2]),
        no,
        whole([-1, -1]),
        whole([0, 2, 4]),
        whole([]),
    )
    arrays, candidates = empty(examples=1)
    weights, scratch = np.zeros(2), np.zeros(2)
    two, costs = readonly(np.full(1, 2.0)), readonly(np.full(1, 0.25))
    dual = Dual(weights, vectors, candidates, costs, squared, 1e-9)
    offers = Offers(whole([0]), whole([1]), whole([[0, 1]]), whole([[1, 0]]), two, two)
    count, _ = add_candidates(dual, slots, offers, 0, 0, scratch)
    assert count == 1
    assert arrays.products[0] == 0.0
    descend(dual, whole([0]), 20, 0)
    # D = α²/(4C) - 2α is least at 4C; without squares, -2α is least where α = C.
    assert arrays.dual[0] == pytest.approx(1.0 if squared else 0.25)
    assert not weights.any()
    assert largest_gain(dual) == pytest.approx(0.0, abs=1e-9)
