"""Gurobi: its statuses, and what happens without it or its licence."""

import sys
from itertools import combinations

import numpy as np
import pytest

from rote.errors import MissingDependency, UnsupportedSpace
from rote.inference.solvers.gurobi import PROVED, STOPPED, GurobiSession
from rote.inference.solvers.integer_program import integer_program
from rote.space import SpaceBuilder

gurobipy = pytest.importorskip("gurobipy")


def pairs(n, labels):
    """A factor over every pair of variables."""
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abcd"[:labels]) for j in range(n)]
    for x, y in combinations(variables, 2):
        builder.factor(x, y)
    return integer_program(builder.build())


def test_only_what_is_proved_is_called_optimal_or_infeasible():
    names = {name for name in dir(gurobipy.GRB.Status) if name.isupper()}
    assert set(PROVED) == {"OPTIMAL", "INFEASIBLE", "INF_OR_UNBD"} <= names
    assert all(any(name.endswith(ending) for name in names) for ending in STOPPED)


def test_a_row_with_two_ends_has_one_dual_value():
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    total = x["a"] + y["a"] + z["a"]
    builder.require((total >= 1) & (total <= 2))
    builder.require(total == 2)
    program = integer_program(builder.build())
    outcome = GurobiSession(program).relaxation(
        np.array([3.0, 0.0, 2.0, 0.0, 1.0, 0.0]), program.most, np.inf
    )
    proof = program.proof(np.array([3.0, 0.0, 2.0, 0.0, 1.0, 0.0]), program.allowed, outcome.duals)
    assert outcome.duals.shape == (program.rows,)
    assert proof.bound == pytest.approx(5.0)


def test_without_gurobipy_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "gurobipy", None)
    with pytest.raises(MissingDependency, match=r"pip install '\.\[gurobi\]'"):
        GurobiSession(pairs(2, 2))


def test_a_space_beyond_the_licence_says_so(monkeypatch):
    def refuse(*args):
        raise gurobipy.GurobiError(gurobipy.GRB.Error.SIZE_LIMIT_EXCEEDED, "too large")

    program = pairs(2, 2)
    session = GurobiSession(program)
    monkeypatch.setattr(gurobipy.Model, "optimize", refuse)
    with pytest.raises(UnsupportedSpace, match=r"8 columns and 6 rows.*or use Milp"):
        session.relaxation(np.zeros(program.columns), program.most, np.inf)


def test_the_trial_licence_answers_a_large_space_in_the_same_words():
    program = pairs(25, 3)
    session = GurobiSession(program)
    try:
        session.relaxation(np.zeros(program.columns), program.most, np.inf)
    except UnsupportedSpace as error:
        assert "install a full licence" in str(error)  # noqa: PT017
    else:
        pytest.skip("the licence found here has no limit on size")


@pytest.mark.parametrize(
    ("number", "expected"),
    [(gurobipy.GRB.Error.NO_LICENSE, UnsupportedSpace), (10001, gurobipy.GurobiError)],
)
def test_a_missing_licence_says_so_and_other_errors_stay_as_they_are(monkeypatch, number, expected):
    def refuse(*args, **kwargs):
        raise gurobipy.GurobiError(number, "no")

    monkeypatch.setattr(gurobipy, "Env", refuse)
    with pytest.raises(expected):
        GurobiSession(pairs(2, 2))
