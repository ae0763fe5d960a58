"""Testing where it pays and staying out of the way where it does not, by a clock of our own."""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass

import numpy as np
import pytest

from rote.engines import Exact
from rote.inference.engine import Engine
from rote.inference.wrappers.amortized import Amortized, EqualScores
from rote.inference.wrappers.amortized import admission as admission_module
from rote.inference.wrappers.amortized import engine as engine_module
from rote.inference.wrappers.amortized.admission import (
    FEW,
    FIRST,
    LATE,
    SHARE,
    SOME,
    SOON,
    STRANGE,
    AdmissionPolicy,
    Budget,
)
from rote.space import SpaceBuilder
from rote.tasks.entity_relation import entity_relation_space

SPACE = entity_relation_space(1)


class Clock:
    """Time passes only when something says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch):
    clock = Clock()
    monkeypatch.setattr(engine_module, "perf_counter", clock)
    return clock


@dataclass(frozen=True, eq=False)
class Solver(Engine):
    """An exact engine that takes so long for each input."""

    clock: Clock
    seconds: float

    def answer(self, problem, context):
        self.clock.now += self.seconds * len(problem)
        return Exact().answer(problem, context)


@dataclass(frozen=True, eq=False)
class Test:
    """Equal scores, which takes so long for each input."""

    __test__ = False  # not for pytest
    clock: Clock
    seconds: float
    name: str = "same"

    def test(self, asked):
        self.clock.now += self.seconds * len(asked)
        return EqualScores().test(asked)


def run(clock, solve, test, hits, batches=100, size=100, space=SPACE):
    """An engine after some batches of which a share of inputs was solved before."""
    engine = Amortized(Solver(clock, solve), certificate=[Test(clock, test)])
    rng = np.random.default_rng(0)
    old = rng.normal(size=(size, space.parts))
    for _ in range(batches):
        scores = np.where(rng.random((size, 1)) < hits, old, rng.normal(size=old.shape))
        found = engine.solve(space, scores)
        assert found.optimal.all()
    return engine


# -- in an engine ----------------------------------------------------------------------------


def test_over_a_slow_engine_everything_is_tested_but_what_is_needed_to_find_out(clock):
    engine = run(clock, solve=1.0, test=0.01, hits=0.9)
    # Until the time of a solve is known, and to know it still: a batch, which is 100 inputs.
    assert 2 * FEW <= engine.counters.bypassed <= 2 * FEW + 100
    assert engine.counters.solver_calls < 0.15 * engine.counters.queries


@pytest.mark.parametrize("hits", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("test", [1.5, 5.0, 20.0])
def test_over_a_fast_engine_hardly_anything_is_tested(clock, test, hits):
    engine = run(clock, solve=1e-5, test=1e-5 * test, hits=hits)
    tested = engine.counters.queries - engine.counters.bypassed
    assert tested <= 2 * SOME + 2 * SHARE * engine.counters.queries


@pytest.mark.parametrize("size", [3, 100])
@pytest.mark.parametrize("hits", [0.0, 0.3, 0.95])
@pytest.mark.parametrize("test", [0.01, 0.2, 0.9, 3.0])
@pytest.mark.parametrize("unit", [1.0, 1e-5])
def test_an_engine_is_never_slowed_down_by_a_tenth(clock, unit, test, hits, size):
    engine = run(clock, solve=unit, test=unit * test, hits=hits, batches=1500 // size, size=size)
    alone = unit * engine.counters.queries
    begin = unit * test * 3 * FIRST  # until the time of a test is known
    assert clock.now <= 1.1 * alone + begin
    assert engine.counters.seconds == pytest.approx(clock.now)


def test_many_spaces_share_what_may_be_lost(clock):
    spaces = [space_of(labels) for labels in range(2, 42)]
    engine = Amortized(Solver(clock, 1e-5), certificate=[Test(clock, 1e-4)])
    rng = np.random.default_rng(4)
    for _ in range(8):
        for space in spaces:
            engine.solve(space, rng.normal(size=(50, space.parts)))
    assert engine.counters.queries == 8 * 40 * 50
    assert clock.now <= 1.1 * 1e-5 * engine.counters.queries


def space_of(labels):
    builder = SpaceBuilder()
    builder.variable("x", tuple(map(str, range(labels))))
    return builder.build()


def test_where_testing_begins_to_pay_it_is_found_out(clock):
    engine = Amortized(Solver(clock, 1.0), certificate=[Test(clock, 0.2)])
    rng = np.random.default_rng(1)
    for _ in range(50):
        engine.solve(SPACE, rng.normal(size=(100, SPACE.parts)))
    before = engine.counters
    assert before.bypassed > 0.7 * before.queries  # testing did not pay
    batch = rng.normal(size=(100, SPACE.parts))
    for _ in range(100):
        engine.solve(SPACE, batch)
    last = engine.counters
    engine.solve(SPACE, batch)
    assert (engine.counters - last).solver_calls <= 1


def test_with_epsilon_everything_is_tested_whatever_it_costs(clock):
    engine = Amortized(Solver(clock, 0.001), certificate=[Test(clock, 5.0)], epsilon=0.5)
    for _ in range(5):
        engine.solve(SPACE, np.zeros((4, SPACE.parts)))
    assert engine.counters.bypassed == 0


def test_answers_are_in_the_order_of_the_inputs_when_only_some_are_tested(clock):
    engine = Amortized(Solver(clock, 1e-5), certificate=[Test(clock, 1e-5)])
    rng = np.random.default_rng(3)
    mixed = 0
    for _ in range(30):
        before = engine.counters
        scores = rng.normal(size=(200, SPACE.parts))
        found = engine.solve(SPACE, scores)
        assert found.labels.tolist() == Exact().solve(SPACE, scores).labels.tolist()
        mixed += 0 < (engine.counters - before).bypassed < 200
    assert mixed > 0


# -- the policy itself ----------------------------------------------------------------------


def measured(solve, test, hits):
    """A policy after enough measurements of the same times and share of hits."""
    admission = AdmissionPolicy(10, Budget())
    for _ in range(60):
        admission.enter_solved(10, 10 * solve)
        failures = 10 - int(10 * hits)
        admission.enter_tested(10, 10 - failures, 10 * test, failures * solve)
    return admission


def test_a_few_inputs_are_solved_until_the_time_of_a_solve_is_known():
    admission = AdmissionPolicy(10, Budget())
    assert admission.next(100) == (FEW, False)
    assert admission.next(3) == (3, False)
    admission.enter_solved(10, 50.0)  # this one may have compiled
    assert admission.next(100) == (FEW, False)
    admission.enter_solved(10, 1.0)
    assert admission.solve == 0.1


def test_the_first_test_is_no_measurement():
    admission = AdmissionPolicy(10, Budget())
    initial = admission.test
    admission.enter_tested(10, 0, 1e6, 1.0)
    assert (admission.test, admission.hits) == (initial, 0.5)
    admission.enter_tested(10, 0, 1.0, 1.0)
    assert admission.test > initial
    assert admission.hits < 0.5


@pytest.mark.parametrize(
    ("solve", "test", "hits", "pays"),
    [(1.0, 0.1, 0.5, True), (1.0, 0.6, 0.5, False), (0.1, 1.0, 1.0, False), (1.0, 0.9, 1.0, True)],
)
def test_testing_pays_when_hits_save_more_than_tests_cost(solve, test, hits, pays):
    assert measured(solve, test, hits).next(600) == (600, pays)


def test_as_many_are_tested_at_once_as_were_tested_before():
    admission = AdmissionPolicy(10, Budget())
    for _ in range(2):
        admission.enter_solved(10, 10.0)
    for count in (FIRST, FIRST, 2 * FIRST, 4 * FIRST):
        assert admission.next(10**6) == (count, True)
        admission.enter_tested(count, count, 1e-3, 0.0)


def test_what_testing_may_lose_is_a_share_of_the_time_spent_solving():
    budget = Budget()
    admission = AdmissionPolicy(10, budget)
    admission.enter_solved(1000, 1000.0)
    assert budget.left == pytest.approx(SHARE * 1000.0)
    for _ in range(2):
        admission.enter_tested(10, 0, 2.0, 50.0)
    assert budget.left == pytest.approx(SHARE * 1100.0 - 4.0)


def test_before_anything_was_tested_the_budget_has_to_pay_for_it():
    admission = AdmissionPolicy(10, Budget())
    for _ in range(2):
        admission.enter_solved(1, admission.test / 10)
    assert admission.next(100) == (100, False)
    admission._budget.left = FIRST * admission.test
    assert admission.next(100) == (FIRST, True)


def test_inputs_whose_test_fails_may_be_those_that_take_long_to_solve():
    admission = measured(1.0, 0.1, 0.5)
    assert admission.gain(1.0) == pytest.approx(0.4)
    for _ in range(60):
        admission.enter_solved(10, 10.0)
        admission.enter_tested(10, 5, 1.0, 5 * 2.0)
    # Those that were tested took as long as those that were not: half of them twice as long.
    assert admission.gain(1.0) == pytest.approx(-0.1, abs=1e-3)
    admission._budget.left = 0.0
    assert admission.next(600) == (600, False)


def test_where_all_are_hits_some_are_solved_now_and_then_and_ever_more_seldom():
    admission = AdmissionPolicy(10, Budget())
    for _ in range(2):
        admission.enter_solved(10, 10.0)
    admission.enter_tested(10, 10, 5.0, 0.0)
    waits = []
    for _ in range(8):
        batches = 0
        while admission.next(10)[1]:
            admission.enter_tested(10, 10, 5.0, 0.0)  # half of what solving takes
            batches += 1
        assert admission.next(100) == (10, False)
        admission.enter_solved(10, 10.0)
        waits.append(batches)
    assert waits[1] == pytest.approx(2 * 2 * SOON, abs=1)
    assert waits[-1] == pytest.approx(2 * LATE, abs=4)
    assert waits == sorted(waits)


def test_where_solving_has_become_cheap_it_is_found_out():
    admission = AdmissionPolicy(10, Budget())
    for _ in range(2):
        admission.enter_solved(10, 10.0)
    spent = 0
    for _ in range(200):
        count, tested = admission.next(10)
        spent += tested
        if tested:
            admission.enter_tested(count, count, 0.5 * count, 0.0)
        else:
            admission.enter_solved(count, 0.01 * count)
    assert spent <= 20


def test_a_solve_that_was_interrupted_is_not_believed():
    admission = measured(1.0, 0.1, 0.0)
    admission.enter_solved(1, 1e6)
    assert admission.solve <= STRANGE
    for _ in range(60):  # one that goes on is
        admission.enter_solved(1, 1e3)
    assert admission.solve == pytest.approx(1e3, rel=0.01)


def test_policies_are_one_for_equal_spaces_bounded_and_hold_no_space(monkeypatch):
    monkeypatch.setattr(admission_module, "MAX_POLICIES", 4)
    budget, spaces = Budget(), [space_of(labels) for labels in range(2, 12)]
    policies = [budget.policy(space) for space in spaces]
    assert [budget.policy(space_of(labels)) for labels in range(8, 12)] == policies[6:]
    assert len(budget._policies) == 4
    gone = weakref.ref(spaces.pop(6))
    gc.collect()
    assert gone() is None


def test_empty_batches_are_no_measurement():
    admission = AdmissionPolicy(10, Budget())
    for _ in range(3):
        admission.enter_solved(0, 5.0)
    assert admission.solve is None
