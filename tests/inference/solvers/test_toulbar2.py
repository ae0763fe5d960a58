"""`Toulbar2`: cost functions of every order, rows, and auxiliary variables."""

import numpy as np
import pytest

from rote.inference.exact.exhaustive import Exhaustive
from rote.inference.problem import Problem, clamp
from rote.inference.solvers.child import FORBIDDEN
from rote.inference.solvers.toulbar2 import Toulbar2
from rote.space import count
from tests.inference.outputs import built, few
from tests.strategies import rules_as_rows

needs_toulbar2 = pytest.mark.skipif(not Toulbar2.installed(), reason="pytoulbar2 is not installed")


def test_what_a_table_forbids_or_a_problem_closes_has_no_cost():
    space = built(2, [(0, 1)], [lambda v: v[0]["a"] >> v[1]["b"]])
    scores = np.array([[1.0, 0.0, 0.0, 2.0, 9.0, 0.0, 4.0, 3.0]])
    whole = Toulbar2().question(clamp(space, scores, [{"x1": "b"}])).whole
    assert whole.costs.tolist() == [0, 1, FORBIDDEN, 0, FORBIDDEN, 4, 0, 1]
    assert Toulbar2().question(Problem(space, scores)).whole.costs[2] == 2


@needs_toulbar2
@pytest.mark.parametrize("scope", [(0,), (0, 1), (2, 0, 1), (3, 1, 0, 2), (4, 3, 2, 1, 0)])
def test_factors_of_every_order_are_cost_functions(scope):
    space = built(5, [scope, (0, 4)] if len(scope) > 1 else [(0, 4)], labels="abc")
    scores = np.random.default_rng(1).normal(size=(5, space.parts))
    found = Toulbar2().solve(space, scores)
    assert found.labels.tolist() == Exhaustive().solve(space, scores).labels.tolist()


@needs_toulbar2
def test_long_rules_are_linear_constraints():
    def weighted(v):
        return 3 * count([x["a"] for x in v[:4]]) - 2 * count([x["b"] for x in v[3:]]) >= -4

    space = built(10, [(0, 9), (3, 4, 5, 6)], [few, weighted])
    assert len(space.network.rows) == 2
    scores = np.random.default_rng(2).normal(size=(8, space.parts))
    found = Toulbar2().solve(space, scores)
    assert found.labels.tolist() == Exhaustive().solve(space, scores).labels.tolist()


@needs_toulbar2
def test_auxiliary_variables_are_left_out_of_the_answer():
    def rule(v):
        pairs = [(v[0]["a"] & v[j]["b"]) | (v[1]["b"] & v[j]["a"]) for j in (2, 3, 4)]
        return count(pairs) <= 1

    with rules_as_rows(1):
        space = built(5, [(0, 1)], [rule])
        assert space.network.variables > space.network.own
        scores = np.random.default_rng(2).normal(size=(8, space.parts))
        found = Toulbar2().solve(space, scores)
    assert found.labels.shape == (8, 5)
    assert found.labels.tolist() == Exhaustive().solve(space, scores).labels.tolist()
