"""Branch and bound and the solvers take turns, and the answers are those of either."""

from itertools import combinations
from time import perf_counter

import numpy as np
import pytest

from rote.engines import (
    BranchAndBound,
    Exact,
    Exhaustive,
    FoundBy,
    Milp,
    Problem,
    Solutions,
    Status,
)
from rote.errors import SolverError
from rote.inference.exact import portfolio as module
from rote.inference.exact import presolve
from rote.inference.exact.exact import choice
from rote.inference.exact.hardness import memory_of
from rote.inference.exact.portfolio import (
    portfolio,
    scores_labels_only,
    within,
)
from rote.inference.solvers.cp_sat import CpSat
from rote.inference.solvers.integer_program import integer_program
from rote.inference.solvers.isolated import Isolated
from rote.inference.solvers.toulbar2 import Toulbar2
from rote.inference.solvers.worker import WORKERS
from rote.space import SpaceBuilder, count, one_of
from tests.inference.outputs import built
from tests.strategies import forget_compiled

# -- turns --------------------------------------------------------------------------------


@pytest.mark.parametrize("turns", [(1,), (1, 2), (1, 2, 3), (1, 1 << 20)])
def test_what_branch_and_bound_does_not_finish_goes_to_the_integer_program(turns, monkeypatch):
    monkeypatch.setattr(module, "SHORTEST", 30.0)
    monkeypatch.setattr(presolve, "MOST_NODES", 1)
    monkeypatch.setattr(module, "HANDOVER", 0.0)
    space = built(13, combinations(range(13), 2))
    scores = np.random.default_rng(2).normal(size=(6, space.parts))
    scores[::2, space.labels :] = 0.0  # every other input is easy
    found = portfolio(Problem(space, scores), turns=turns)
    assert found.optimal.all()
    assert (found.source[::2] == FoundBy.BRANCH).all()
    assert FoundBy.MILP in found.source[1::2]
    reference = BranchAndBound().solve(space, scores)
    assert found.labels.tolist() == reference.labels.tolist()


@pytest.mark.parametrize("large", [10**7, 10**8])
@pytest.mark.parametrize("seed", range(20))
def test_a_solvers_tolerance_breaks_no_rule(large, seed):
    rng = np.random.default_rng(seed)

    def rule(variables):
        taken = [variables[j]["a"] for j in rng.permutation(10)[:8]]
        return large * count(taken[:4]) + count(taken[4:]) <= 2 * large

    space = built(10, [s for s in combinations(range(10), 2) if rng.random() < 0.25], [rule] * 3)
    scores = rng.normal(size=(1, space.parts))
    scores[:, : space.labels : 2] += 1.0
    best = Exhaustive().solve(space, scores)
    for found in (Exact().solve(space, scores), portfolio(Problem(space, scores), turns=(1,))):
        assert space.holds(found.labels).all()
        assert found.labels.tolist() == best.labels.tolist()


@pytest.mark.parametrize("turns", [(1,), (2, 3), (1, 4, 16)])
def test_of_equal_outputs_the_first_is_found_whoever_finds_one(turns):
    space = built(8, combinations(range(8), 2))
    scores = np.random.default_rng(4).integers(-1, 2, size=(12, space.parts)).astype(float)
    found = portfolio(Problem(space, scores), turns=turns)
    assert found.labels.tolist() == Exhaustive().solve(space, scores).labels.tolist()


def few_of_many(seed=0):
    """Three outputs of 3^24, of which no single label says much: many minutes of nodes."""
    rng = np.random.default_rng(seed)
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(24)]
    outputs = ["".join("abc"[k] for k in rng.integers(3, size=24)) for _ in range(3)]
    builder.require(one_of(variables, outputs))
    space = builder.build()
    best = np.array([["abc".index(label) for label in each] for each in outputs])
    scores = rng.normal(size=(2, space.parts))
    known_value = np.array([space.value(own, best) for own in scores])
    return space, scores, best[known_value.argmax(axis=1)]


def test_what_is_hard_for_branch_and_bound_alone_is_not_hard():
    space, scores, best = few_of_many()
    found = Exact().solve(space, scores)
    assert found.labels.tolist() == best.tolist()
    assert found.optimal.all()


def test_with_a_time_limit_the_integer_program_has_its_turn():
    space, scores, best = few_of_many()
    choice(space), integer_program(space)  # compiled before the clock runs
    began = perf_counter()
    found = Exact(time_limit=0.5).solve(space, scores)
    assert perf_counter() - began < 3.0  # for two inputs
    assert found.labels.tolist() == best.tolist()
    assert found.optimal.all()


@pytest.mark.parametrize("seed", range(4))
def test_with_a_time_limit_an_answer_is_as_good_as_those_of_either_engine_in_less(
    seed, monkeypatch
):
    monkeypatch.setattr(Isolated, "installed", classmethod(lambda cls: False))
    space = built(16, combinations(range(16), 2), labels="abcd")
    scores = np.random.default_rng(seed).normal(size=(2, space.parts))
    found = Exact(time_limit=0.8).solve(space, scores)
    assert (found.bound >= found.value).all()
    for engine in (BranchAndBound(time_limit=0.2), Milp(time_limit=0.2)):
        other = engine.solve(space, scores)
        assert (found.value >= other.value - 1e-9).all()
        assert (found.bound <= other.bound + 1e-9).all()


# -- solvers in the portfolio ------------------------------------------------------------


def chosen_rules(n=14, seed=0):
    """Yes or no, and rules between threes: only labels have scores."""
    rng = np.random.default_rng(seed)

    def rule(variables):
        i, j, k = rng.permutation(n)[:3]
        return (variables[i]["a"] & variables[j]["b"]) >> variables[k]["a"]

    space = built(n, (), [rule] * 30)
    return space, rng.normal(size=(4, space.parts))


def test_only_tables_with_scores_count_as_such():
    assert scores_labels_only(chosen_rules()[0])
    assert not scores_labels_only(built(3, [(0, 1)]))


@pytest.mark.skipif(not CpSat.installed(), reason="ortools is not installed")
def test_cp_sat_answers_where_it_is_ready_and_its_answers_are_the_same(monkeypatch):
    monkeypatch.setattr(presolve, "MOST_NODES", 1)
    monkeypatch.setattr(WORKERS, "ready", lambda kind: True)
    space, scores = chosen_rules()
    forget_compiled()
    found = portfolio(Problem(space, scores), turns=(1, 1))
    assert FoundBy.CP_SAT in found.source
    assert found.optimal.all()
    assert found.labels.tolist() == Exhaustive().solve(space, scores).labels.tolist()


def test_a_solver_that_fails_hands_over_to_the_next(monkeypatch):
    asked = []

    def fail(*args, **kwargs):
        asked.append(args)
        raise SolverError("it crashed")

    monkeypatch.setattr(Isolated, "installed", classmethod(lambda cls: True))
    monkeypatch.setattr(presolve, "MOST_NODES", 1)
    monkeypatch.setattr(WORKERS, "ready", lambda kind: True)
    monkeypatch.setattr(WORKERS, "ask", fail)
    space, scores = chosen_rules()
    best = Exhaustive().solve(space, scores).labels.tolist()
    forget_compiled()
    assert portfolio(Problem(space, scores), turns=(1,)).labels.tolist() == best
    assert asked
    found = Exact(time_limit=2.0).solve(space, scores)
    assert found.labels.tolist() == best


def test_what_finished_a_space_comes_first_the_next_time(monkeypatch):
    monkeypatch.setattr(Isolated, "installed", classmethod(lambda cls: False))
    monkeypatch.setattr(presolve, "MOST_NODES", 1)
    monkeypatch.setattr(module, "HANDOVER", np.inf)
    forget_compiled()
    space = built(13, combinations(range(13), 2))
    problem = Problem(space, np.random.default_rng(2).normal(size=(1, space.parts)))
    first = portfolio(problem, turns=(1, 1 << 12))
    memory = memory_of(space)
    assert (memory.nodes, memory.seconds) == (1 << 12, 0.0)
    asked = []

    def counted(nodes, tie_limit):
        asked.append(nodes)
        return BranchAndBound(nodes, tie_limit=tie_limit)

    monkeypatch.setattr(module, "BranchAndBound", counted)
    again = portfolio(problem, turns=(1, 1 << 12))
    assert asked == [1 << 12]
    assert again.labels.tolist() == first.labels.tolist()
    memory.note(0, 1.0)
    found = portfolio(problem, turns=(1, 1 << 12))
    assert found.source[0] == FoundBy.MILP
    assert memory.seconds > 0


# -- anytime ------------------------------------------------------------------------------


@pytest.mark.parametrize("extras", [False, True])
def test_under_a_limit_values_rise_and_bounds_fall(extras, monkeypatch):
    if not extras:
        monkeypatch.setattr(Isolated, "installed", classmethod(lambda cls: False))
    elif not Toulbar2.installed():
        pytest.skip("pytoulbar2 is not installed")
    monkeypatch.setattr(module, "FIRST_SHARE", 1e-9)  # whose output is not the best one
    space = built(30, combinations(range(30), 2), labels="abc")
    problem = Problem(space, np.random.default_rng(0).normal(size=(1, space.parts)))
    seen = []
    found = within(1.0, problem, watch=seen.append)
    assert found.status[0] == Status.FEASIBLE
    values, bounds = [each.value[0] for each in seen], [each.bound[0] for each in seen]
    assert (np.diff(values) >= 0).all()
    assert (np.diff(bounds) <= 0).all()
    assert values[-1] > values[0]
    assert found.value[0] == values[-1]


def test_where_branch_and_bound_finds_no_output_propagation_does(monkeypatch):
    monkeypatch.setattr(module, "FIRST_SHARE", 1e-9)
    space, scores, _ = few_of_many()
    seen = []
    within(0.3, Problem(space, scores[:1]), watch=seen.append)
    assert space.holds(seen[-1].labels).all()


def test_of_two_answers_the_better_output_and_the_smaller_bound_are_kept():
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    problem = Problem(builder.build(), np.ones((5, 2)))
    first = Solutions(
        np.array([[0], [0], [-1], [-1], [1]]),
        np.array([2.0, 1.0, -np.inf, -np.inf, 3.0]),
        np.array([9.0, 8.0, 7.0, 6.0, 5.0]),
        np.array([1, 1, 3, 3, 1]),
        np.full(5, FoundBy.BRANCH.value),
    )
    other = Solutions(
        np.array([[1], [1], [1], [-1], [-1]]),
        np.array([1.0, 4.0, 2.0, -np.inf, -np.inf]),
        np.array([8.0, 9.0, 2.0, -np.inf, 3.0]),
        np.array([1, 1, 0, 2, 3]),
        np.full(5, FoundBy.MILP.value),
    )
    best = first.improved(problem, other)
    assert best.labels.tolist() == [[0], [1], [1], [-1], [1]]
    assert best.value.tolist() == [2.0, 4.0, 2.0, -np.inf, 3.0]
    assert best.bound.tolist() == [8.0, 8.0, 2.0, -np.inf, 3.0]
    optimal, feasible, infeasible = Status.OPTIMAL, Status.FEASIBLE, Status.INFEASIBLE
    assert best.status.tolist() == [feasible, feasible, optimal, infeasible, optimal]
    assert best.source.tolist() == [5, 6, 6, 6, 5]


def test_with_a_time_limit_the_best_so_far_is_returned():
    space = built(40, combinations(range(40), 2), labels="abc")
    scores = np.random.default_rng(3).normal(size=(1, space.parts))
    found = Exact(time_limit=0.2).solve(space, scores)
    assert found.status[0] == Status.FEASIBLE
    assert found.bound[0] > found.value[0]
    assert found.value[0] == space.value(scores, found.labels)[0]
