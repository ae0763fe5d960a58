"""Gurobi as a `Session`: its statuses, and what happens without it or its licence."""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np
import pytest

from rote.errors import MissingDependency, UnsupportedSpace
from rote.inference.solutions import Status
from rote.inference.solvers import gurobi as milp_gurobi
from rote.inference.solvers.gurobi import STATUSES, GurobiSession
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


@pytest.mark.parametrize("name", STATUSES)
def test_a_status_of_the_table_exists(name):
    assert isinstance(getattr(gurobipy.GRB.Status, name), int)


def test_only_what_is_proved_is_called_optimal_or_infeasible():
    proved = {name for name, status in STATUSES.items() if status != Status.TIMED_OUT}
    assert proved == {"OPTIMAL", "INFEASIBLE", "INF_OR_UNBD"}


def test_a_status_outside_the_table_is_an_error_that_names_it(monkeypatch):
    table = {name: s for name, s in STATUSES.items() if name != "OPTIMAL"}
    monkeypatch.setattr(milp_gurobi, "STATUSES", table)
    program = pairs(2, 2)
    with pytest.raises(UnsupportedSpace, match="Gurobi stopped with status 2"):
        GurobiSession(program).relaxation(np.zeros(program.columns), program.most, np.inf)


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


def test_an_offset_moves_the_bound_and_nothing_else():
    program = pairs(3, 2)
    session = GurobiSession(program)
    costs = np.random.default_rng(0).normal(size=program.columns)
    plain = session.whole(costs, program.most, 0.0, np.inf, 0.0)
    moved = session.whole(costs, program.most, -2.0, np.inf, 0.0)
    session.close()
    assert program.read(moved.columns).tolist() == program.read(plain.columns).tolist()
    assert moved.bound == pytest.approx(plain.bound - 2.0)


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
