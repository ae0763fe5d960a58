"""Greedy search in plain Python: the same as in kernels, and whatever kernels do not know."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.engines import Exhaustive, Problem, Status
from rote.inference.approximate import RGS
from rote.inference.approximate import greedy_any_score as slowly
from rote.inference.approximate.initial import unary_argmax
from rote.inference.problem import NO_CONTEXT
from rote.space import SpaceBuilder, at_most, count
from tests.strategies import rules_as_rows, spaces


class Alternations:
    """Your own term: how often neighbouring labels differ, times a weight per input."""

    def __init__(self, weights):
        self.weights = np.asarray(weights, dtype=np.float64)

    def __len__(self):
        return len(self.weights)

    def rows(self, index):
        return type(self)(self.weights[index])

    def value(self, labels):
        return self.weights[:, None] * (np.diff(labels, axis=2) != 0).sum(axis=2)


class Counted(Alternations):
    """The same, and it says itself what a change adds."""

    calls = 0

    def changes(self, labels):
        Counted.calls += 1
        now, found = self.value(labels[:, None])[:, 0], []
        for j in range(labels.shape[1]):
            for a in range(2):
                other = labels.copy()
                other[:, j] = a
                found.append(self.value(other[:, None])[:, 0] - now)
        return np.stack(found, axis=1)


def binary(n, *rules):
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", ["off", "on"]) for j in range(n)]
    builder.factor(variables[0], variables[-1])
    for rule in rules:
        builder.require(rule(variables))
    return builder.build()


@given(spaces(least=1, most=4, max_rules=0), st.integers(0, 2**32 - 1), st.integers(0, 4))
def test_without_rules_it_goes_where_kernels_go(space, seed, n_resampled):
    rng = np.random.default_rng(seed)
    problem = Problem.of(space, rng.normal(size=(3, space.parts)))
    initial = unary_argmax(problem)
    n_resampled = min(n_resampled, len(space.variables))
    labels, needed, bounds = slowly.search_any_score(
        problem, initial, n_resampled, 3 if n_resampled else 1, 5
    )
    share = 1 - n_resampled / len(space.variables)

    class Likely:
        def initial(self, problem, context):
            return initial

    found, restarts = RGS(share, 3, Likely(), 5).searched(problem, NO_CONTEXT)
    assert labels.tolist() == found.labels.tolist()
    assert needed.tolist() == restarts.tolist()
    assert (bounds == np.inf).all()


def test_terms_of_your_own_are_searched_and_bounds_say_nothing():
    space = binary(7, lambda v: at_most(4, [x["on"] for x in v]))
    rng = np.random.default_rng(0)
    scores, weights = 0.4 * rng.normal(size=(6, space.parts)), rng.uniform(-1, 1, size=6)
    for kind in (Alternations, Counted):
        problem = Problem(space, scores, loss_term=kind(weights))
        found, best = RGS(restarts=40).solve(space, problem), Exhaustive().solve(space, problem)
        assert found.value == pytest.approx(best.value)
        assert space.holds(found.labels).all()
        assert (found.bound == np.inf).all()
        assert (found.status == Status.FEASIBLE).all()
    assert Counted.calls > 0


def test_rules_with_auxiliary_columns_are_obeyed():
    def one_block(v):
        return at_most(1, [v[j]["on"] & ~v[j - 1]["on"] for j in range(1, 8)])

    with rules_as_rows(1):
        space = binary(8, one_block, lambda v: count([x["on"] for x in v]) >= 3)
        assert space.network.variables > space.network.own
        scores = np.random.default_rng(2).normal(size=(5, space.parts))
        found = RGS(restarts=30).solve(space, scores)
    assert (found.status == Status.FEASIBLE).all()
    assert space.holds(found.labels).all()
    # Blocks move by one end at a time, which is enough here.
    assert found.value == pytest.approx(Exhaustive().solve(space, scores).value)


def test_nothing_is_climbed_to_where_nothing_obeys():
    with rules_as_rows(1):
        space = binary(4, lambda v: at_most(1, [v[j]["on"] & ~v[j - 1]["on"] for j in (1, 2, 3)]))
        assert space.network.variables > space.network.own
        allowed = np.ones((2, 8), dtype=np.bool_)
        allowed[0, [1, 2, 5, 6]] = False  # off on off on: begun twice
        allowed[1, [0, 3, 4, 7]] = False  # on off on off: begun once
        found = RGS(restarts=3).solve(
            space, Problem(space, np.zeros((2, space.parts)), closed=~allowed)
        )
    assert found.status.tolist() == [Status.TIMED_OUT, Status.FEASIBLE]
    assert found.labels.tolist() == [[-1] * 4, [1, 0, 1, 0]]
