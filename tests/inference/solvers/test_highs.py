"""HiGHS: its statuses, its warm relaxation, and the threads it shares."""

import subprocess
import sys

import highspy
import numpy as np
import pytest

from rote.inference.solutions import Status
from rote.inference.solvers.gurobi import GurobiSession
from rote.inference.solvers.highs import PROVED, STOPPED, HighsSession
from rote.inference.solvers.integer_program import integer_program
from rote.space import SpaceBuilder


def implication():
    """x = a implies y = b."""
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(x["a"] >> y["b"])
    return integer_program(builder.build())


def test_only_what_is_proved_is_called_optimal_or_infeasible():
    names = highspy.HighsModelStatus.__members__
    assert set(PROVED) == {"kOptimal", "kModelEmpty", "kInfeasible", "kUnboundedOrInfeasible"}
    assert set(PROVED) <= set(names)
    assert all(any(name.endswith(ending) for name in names) for ending in STOPPED)


@pytest.mark.parametrize("session", [HighsSession, GurobiSession])
def test_columns_closed_for_one_input_are_open_again_for_the_next(session):
    program = implication()
    session = session(program)
    costs = np.array([1.0, 0.0, 0.0, 0.0])
    closed = program.limits(np.array([False, True, True, True]))
    assert session.relaxation(costs, closed, np.inf).columns[0] == 0.0
    assert session.relaxation(costs, program.most, np.inf).columns[0] == 1.0


def test_the_time_of_earlier_relaxations_does_not_count():
    program = implication()
    session = HighsSession(program)
    rng = np.random.default_rng(0)
    for _ in range(200):
        session.relaxation(rng.normal(size=4), program.most, np.inf)
    outcome = session.relaxation(rng.normal(size=4), program.most, session._relaxed.getRunTime())
    assert outcome.status == Status.OPTIMAL


@pytest.mark.parametrize("session", [HighsSession, GurobiSession])
def test_an_offset_moves_the_bound_and_nothing_else(session):
    program = implication()
    session = session(program)
    costs = np.array([3.0, 0.0, 1.0, 0.0])
    plain = session.whole(costs, program.most, 0.0, np.inf, 0.0)
    moved = session.whole(costs, program.most, -3.0, np.inf, 0.0)
    assert program.read(moved.columns).tolist() == program.read(plain.columns).tolist() == [0, 1]
    session.close()
    assert (plain.bound, moved.bound) == pytest.approx((3.0, 0.0))


def test_another_user_of_the_shared_threads_does_not_get_in_the_way():
    script = """
import highspy, numpy as np
other = highspy.Highs()
other.silent()
other.setOptionValue("threads", 2)
other.addVar(0.0, 1.0)
other.run()
from rote.inference.solvers.milp import Milp
from rote.space import SpaceBuilder
builder = SpaceBuilder()
builder.variable("x", "ab")
assert Milp().solve(builder.build(), np.array([0.0, 1.0])).labels.tolist() == [[1]]
"""
    subprocess.run([sys.executable, "-c", script], check=True)
