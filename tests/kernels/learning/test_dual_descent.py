"""Dual coordinate descent over candidates, against dense directions."""

from __future__ import annotations

import numpy as np
import pytest

from rote.kernels.bundles import Slots, Vectors
from rote.kernels.learning.dual_descent import descend, desk_for, largest_gain, weakest
from rote.kernels.learning.working_set import Dual, Offers, add_candidates
from rote.types import readonly
from tests.kernels.bodies import plain
from tests.kernels.parts import whole
from tests.kernels.svm_problems import BOTH, EXAMPLES, SLACKS, Problem, empty


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
    desk = plain(desk_for)(problem.candidates, whole([1]))
    desk.ids[:], desk.gains[:] = own, np.array([-5.0, 3.0, 2.0, 4.0])[: len(own)]
    assert problem.run(weakest, problem.candidates, desk, len(own)) == -1
    problem.candidates.dual[own[1:]] = 0.05
    assert problem.run(weakest, problem.candidates, desk, len(own)) == 2


@BOTH
@SLACKS
def test_a_candidate_that_no_weight_can_tell_from_gold_still_gets_its_dual(compiled, squared):
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
    candidates, weights, scratch = empty(examples=1), np.zeros(2), np.zeros(2)

    def run(kernel, *arguments):
        return (kernel if compiled else plain(kernel))(*arguments)

    two, costs = readonly(np.full(1, 2.0)), readonly(np.full(1, 0.25))
    dual = Dual(weights, vectors, candidates, costs, squared, 1e-9)
    offers = Offers(whole([0]), whole([1]), whole([[0, 1]]), whole([[1, 0]]), two, two)
    count, _ = run(add_candidates, dual, slots, offers, 0, 0, scratch)
    assert count == 1
    assert candidates.products[0] == 0.0
    run(descend, dual, whole([0]), 20, 0)
    # D = α²/(4C) - 2α is least at 4C; without squares, -2α is least where α = C.
    assert candidates.dual[0] == pytest.approx(1.0 if squared else 0.25)
    assert not weights.any()
    assert run(largest_gain, dual) == pytest.approx(0.0, abs=1e-9)
