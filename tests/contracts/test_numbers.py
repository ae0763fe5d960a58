"""Hostile numbers for every exact engine and wrapper, judged in exact arithmetic.

Big M in place of a forbidden label, large constants, magnitudes from 1e-12 to 1e12, and values that
nearly tie. `Fraction` knows the value of every output exactly.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.engines import Exact, Status, k_best, max_marginals
from rote.errors import InfeasibleSpace, ScoreError
from rote.inference.exact.duals import Duals, dual_bound, zero_duals
from rote.inference.problem import Problem, clamp
from rote.kernels.constants import WIDE
from rote.losses import Hamming
from rote.space import SpaceBuilder
from tests.contracts.test_engines import EXACT, each_of, every_exact, solve
from tests.strategies import FAMILIES, Judge, losses_of, parts_of, row_of, spaces, tie_of

EPSILON = Fraction(2) ** -52


def scores_of(rng, kind, space):
    """Scores of one input: tenths, and what a kind adds to them."""
    scores = rng.integers(-20, 21, size=space.parts) / 10
    some = rng.random(space.parts) < 0.25
    match kind:
        case "big M":
            scores[some] = -rng.choice([1e12, 1e9, 1e6], size=some.sum())
        case "big bonus":
            scores[some] += rng.choice([1e12, -1e12], size=some.sum(), p=[0.25, 0.75])
        case "mixed":
            scores = rng.choice([-1, 1], size=space.parts) * 10.0 ** rng.uniform(
                -12, 12, size=space.parts
            )
        case "constants":
            slots = len(space.starts) - 1
            high = rng.choice([0.0, 1e9, -1e9, 3e5], size=slots)
            scores += np.repeat(high, np.diff(space.starts))
        case "tiny":
            scores *= 1e-12
        case "near":  # parts of a tie, far from its border
            scores = np.round(scores) + rng.choice([0, 1e-13, 1e-5], size=space.parts)
    return scores


KINDS = ["big M", "big bonus", "mixed", "constants", "tiny", "near"]


@st.composite
def hostile(draw, of):
    space = draw(of)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    scores = np.array([scores_of(rng, kind, space) for kind in KINDS])
    closed = rng.random((len(KINDS), space.labels)) < 0.1 if draw(st.booleans()) else None
    return space, Problem(space, scores, closed)


class Exactly:
    """All outputs of one input with what they lose, and how close counts as equal."""

    def __init__(self, judge, scores, allowed=None):
        self.scores = [Fraction(float(score)) for score in scores]
        self.space, losses = judge.space, losses_of(judge.space, scores, allowed)
        self.lost = {
            labels: sum(losses[part] for part in parts_of(judge.space, labels))
            for labels in judge.open_outputs(allowed)
        }
        self.least = min(self.lost.values(), default=Fraction(0))
        self.tie = tie_of(losses, self.least)
        edges = [loss for loss in losses if loss is not None]
        self.decided = not any(
            0.99 * WIDE * self.least < loss < 1.01 * WIDE * self.least for loss in edges
        ) and not any(
            0.5 * self.tie < lost - self.least < 2 * self.tie for lost in self.lost.values()
        )
        # What adding up floats may lose.
        sizes = [abs(score) for score in self.scores]
        self.rounding = len(space_slots(judge.space)) * EPSILON * sum(sizes)

    def value(self, labels):
        return sum(self.scores[part] for part in parts_of(self.space, labels))

    @property
    def first(self):
        near = [one for one, lost in self.lost.items() if lost <= self.least + self.tie]
        return near[0]


def space_slots(space):
    return [*space.variables, *space.factors]


def judged(found, i, exactly):
    """Hold one answer to what is known exactly."""
    if not exactly.lost:
        assert found.status[i] == Status.INFEASIBLE
        return
    labels = tuple(found.labels[i].tolist())
    assert found.status[i] == Status.OPTIMAL
    assert exactly.lost[labels] <= exactly.least + 2 * exactly.tie
    if exactly.decided:
        assert labels == exactly.first
    best = max(map(exactly.value, exactly.lost))
    bound = Fraction(float(found.bound[i]))
    assert bound >= best - 2 * exactly.tie - exactly.rounding
    assert abs(Fraction(float(found.value[i])) - exactly.value(labels)) <= exactly.rounding


def hold(engine, space, problem):
    judge = Judge(space)
    try:
        found = solve(engine, problem)
    except InfeasibleSpace:
        assert not judge.feasible
        return
    for i, kind in enumerate(KINDS):
        try:
            judged(found, i, Exactly(judge, *row_of(problem, i)))
        except AssertionError as error:
            error.add_note(kind)
            raise


@every_exact
@pytest.mark.parametrize("family", FAMILIES)
def test_answers_to_hostile_numbers_are_the_best_exactly(make, family):
    engine = make()

    @settings(max_examples=10)
    @given(hostile(FAMILIES[family]))
    def holds(case):
        if engine.accepts(case[0]):
            hold(engine, *case)

    holds()


@each_of({name: make for name, make in EXACT.items() if "(" in name and "Exact)" in name})
def test_wrappers_answer_hostile_numbers_as_well(make):
    engine = make()

    @settings(max_examples=10)
    @given(hostile(spaces(most=4)))
    def holds(case):
        hold(engine, *case)
        hold(engine, *case)  # from memory, where there is one

    holds()


BIG = -1e12


def forbidden_by_big_m(low=BIG):
    builder = SpaceBuilder()
    x, y = builder.variable("x", "abc"), builder.variable("y", "ab")
    builder.require(x["b"] >> y["b"])
    space = builder.build()
    return space, space.scores({"x": {"a": low, "b": 50.0}, "y": {"a": 1.0, "b": 0.5}})


@pytest.mark.parametrize("low", [-1e300, BIG, -1e9])
def test_one_large_number_blurs_no_other(low):
    space, scores = forbidden_by_big_m(low)
    found = Exact().solve(space, scores)
    assert found.labels.tolist() == [[1, 1]]
    assert found.value.tolist() == found.bound.tolist() == [50.5]
    ranks = k_best(space, scores, 4)
    assert [rank.labels.tolist()[0] for rank in ranks[:3]] == [[1, 1], [2, 0], [2, 1]]
    best = max_marginals(space, scores)[0]
    assert best.tolist() == [low + 1.0, 50.5, 1.0, max(1.0, low + 1.0), 50.5]
    given_labels = Exact().solve(space, clamp(space, scores, {"x": "a"}))
    assert given_labels.labels.tolist() == [[0, 0]]
    augmented = Problem(space, scores).with_loss(Hamming(), np.array([[1, 1]]))
    assert Exact().solve(space, augmented).labels.tolist() == [[1, 1]]


@settings(max_examples=40)
@given(hostile(spaces(most=4)), st.integers(0, 2**32 - 1))
def test_dual_bounds_are_never_below_the_best_value(case, seed):
    space, problem = case
    judge, rng = Judge(space), np.random.default_rng(seed)
    zero = zero_duals(space, len(problem))
    size = 10.0 ** rng.uniform(-3, 12)
    multipliers = zero.multipliers.copy()
    duals = Duals(size * rng.normal(size=zero.messages.shape), multipliers)
    bounds = dual_bound(space, problem, duals)
    for i in range(len(problem)):
        scores, allowed = row_of(problem, i)
        exactly = [Exactly(judge, scores, allowed)]
        best = [max(map(one.value, one.lost)) for one in exactly if one.lost]
        assert all(math.isinf(bounds[i]) or Fraction(float(bounds[i])) >= one for one in best)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 1e302, -1e302])
def test_numbers_that_no_sum_can_hold_are_refused_with_their_input(wrong):
    space, scores = forbidden_by_big_m()
    batch = np.array([scores, scores])
    batch[1, 2] = wrong
    with pytest.raises(ScoreError, match="input 1"):
        Exact().solve(space, batch)
