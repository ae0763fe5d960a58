"""The working set: it grows, lets go, and comes back from what was saved."""

import numpy as np
import pytest

from rote.errors import DataError
from rote.kernels.learning.dual_descent import descend
from rote.kernels.learning.working_set import Dual, Offers, add_candidates
from rote.learning.working_set import WorkingSet
from rote.types import readonly
from tests.kernels.parts import random_columns, random_parts, whole

EXAMPLES = 3
COSTS = readonly(np.array([1.0, 0.3, 2.0]))


class Run:
    """A working set and the weights that belong to it."""

    def __init__(self, seed):
        self.vectors, self.slots, self.firsts, self.size = random_parts(seed)
        self.rng = np.random.default_rng(seed)
        self.gold = random_columns(self.rng, self.slots, EXAMPLES)
        self.weights = np.zeros(self.size)
        self.working = WorkingSet(EXAMPLES, self.size)

    def add(self):
        found = random_columns(self.rng, self.slots, EXAMPLES)
        losses = readonly((found != self.gold).sum(axis=1).astype(np.float64))
        working = self.working
        working.make_room(whole(range(EXAMPLES)), int((found != self.gold).sum()))
        working.count, working.atoms = add_candidates(
            Dual(self.weights, self.vectors, working.candidates, COSTS, True, -100.0),
            self.slots,
            Offers(whole(range(EXAMPLES)), self.firsts, self.gold, found, losses, losses),
            working.count,
            working.atoms,
            working.scratch,
        )

    def descend(self, seed=0):
        dual = Dual(self.weights, self.vectors, self.working.candidates, COSTS, True, 1e-9)
        descend(dual, whole(range(EXAMPLES)), 2, seed)


def content(working):
    return {name: array.tolist() for name, array in working.saved().items()}


def test_what_is_in_it_stays_while_it_grows():
    run = Run(0)
    run.add()
    run.descend()
    before = content(run.working)
    run.working.make_room(whole(range(EXAMPLES)), 10_000)
    assert content(run.working) == before
    for _ in range(60):
        run.add()
    assert run.working.count > 64
    assert run.working.saved()["dual"][:EXAMPLES].tolist() == before["dual"]


@pytest.mark.parametrize("squared", [True, False])
def test_the_dual_is_that_of_its_formula(squared):
    run = Run(1)
    for _ in range(4):
        run.add()
    run.descend()
    saved = run.working.saved()
    expected = saved["dual"] @ saved["loss"] - 0.5 * run.weights @ run.weights
    if squared:
        totals = np.bincount(saved["example"], saved["dual"], minlength=EXAMPLES)
        expected -= (totals**2 / (4 * COSTS)).sum()
    assert run.working.dual(run.weights, COSTS, squared=squared) == pytest.approx(expected)


def test_an_example_that_costs_nothing_adds_nothing_to_the_dual():
    run = Run(1)
    run.add()
    run.descend()
    free = np.array([1.0, 0.0, 2.0])
    run.working.arrays["total"][1] = 0.0
    assert np.isfinite(run.working.dual(run.weights, free, squared=True))


def test_candidates_go_when_their_dual_has_been_nothing_for_long_enough():
    run = Run(2)
    run.add()
    run.add()
    count = run.working.count
    run.working.arrays["dual"][[1, 4]] = 0.5
    for _ in range(2):
        run.working.prune(3)
        assert run.working.count == count
    run.working.arrays["dual"][0] = 0.25  # moved in time
    run.working.prune(3)
    assert run.working.saved()["dual"].tolist() == [0.25, 0.5, 0.5]
    assert run.working.saved()["example"].tolist() == [0, 1, 1]
    run.working.arrays["dual"][0] = 0.0
    run.working.prune(3)
    assert run.working.count == 3


def test_new_candidates_have_their_whole_patience_before_them():
    run = Run(2)
    run.add()
    run.working.prune(2)
    run.working.prune(2)
    assert run.working.count == 0
    run.add()
    run.working.prune(2)
    assert run.working.count == EXAMPLES
    assert run.working.saved()["idle"].tolist() == [1] * EXAMPLES


@pytest.mark.parametrize("seed", range(4))
def test_what_was_saved_comes_back_and_goes_on_in_the_same_way(seed):
    one, other = Run(seed), Run(seed)
    for k in range(6):
        for run in (one, other):
            run.add()
            run.descend(k)
            run.working.prune(2)
        saved = other.working.saved()
        other.working = WorkingSet.restored(saved, EXAMPLES, other.size)
        for array in saved.values():
            array[:] = 0  # it holds copies
        assert content(one.working) == content(other.working)
        np.testing.assert_array_equal(one.weights, other.weights)


def test_what_is_not_of_a_working_set_or_of_other_examples_is_refused():
    saved = Run(0).working.saved()
    with pytest.raises(DataError, match="on these examples"):
        WorkingSet.restored(saved, EXAMPLES + 1, 5)
    del saved["rank"]
    with pytest.raises(DataError, match="not that of a structural SVM"):
        WorkingSet.restored(saved, EXAMPLES, 5)
