"""`Milp` against exhaustive search, its proofs, its limits and its errors."""

import time
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import assume, given

from rote.inference.exact import search
from rote.inference.exact.duals import dual_bound, zero_duals
from rote.inference.exact.exhaustive import Exhaustive
from rote.inference.problem import TIE, clamp
from rote.inference.solutions import FoundBy, Status
from rote.inference.solvers import integer_program as integer_program_module
from rote.inference.solvers import milp
from rote.inference.solvers.highs import HighsSession
from rote.inference.solvers.integer_program import integer_program
from rote.inference.solvers.milp import Milp
from rote.space import SpaceBuilder, count
from tests.inference.outputs import dense, local_search
from tests.strategies import Judge, problems, row_of, spaces

SOLVERS = ("highs", "gurobi")
both = pytest.mark.parametrize("solver", SOLVERS)


THREE, FOUR = "abc", "abcd"


def triangle():
    """Three variables that would all differ, with two labels: the relaxation takes halves."""
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    for first, second in ((x, y), (y, z), (x, z)):
        builder.factor(first, second)
    space = builder.build()
    scores = np.zeros(space.parts)
    for names in ("xy", "yz", "xz"):
        for labels in ("ab", "ba"):
            scores[space.part(list(names), list(labels))] = 1.0
    return space, scores


# -- answers ----------------------------------------------------------------------------


@both
def test_an_optimum_that_highs_misses_with_its_least_tolerances_is_found(solver):
    builder = SpaceBuilder()
    variables = [
        builder.variable(f"x{j}", FOUR[:size]) for j, size in enumerate((2, 4, 3, 2, 2, 2))
    ]
    scopes = "02,40,05,12,14,32,43,45,203,240,035,504,124,153,352,425"
    for scope in scopes.split(","):
        builder.factor(*(variables[int(j)] for j in scope))
    space = builder.build()
    scores = np.random.default_rng(2).normal(size=(4, space.parts))
    best = Exhaustive().solve(space, scores)
    assert Milp(solver).solve(space, scores).labels.tolist() == best.labels.tolist()


@both
@pytest.mark.parametrize("noise", [0.0, 1e-9])
def test_outputs_that_almost_tie_are_told_apart_where_the_relaxation_is_not_whole(solver, noise):
    rng = np.random.default_rng(0)
    space, scores = dense(5, THREE, m=40, whole=True)
    scores += noise * rng.normal(size=scores.shape)
    solutions = Milp(solver).solve(space, scores)
    relaxed = dual_bound(space, scores, Milp(solver).duals(space, scores))
    assert (relaxed > solutions.value + 0.1).any()
    assert solutions.labels.tolist() == Exhaustive().solve(space, scores).labels.tolist()


@both
def test_where_the_relaxation_takes_halves_the_whole_program_decides(solver):
    space, scores = triangle()
    relaxed = dual_bound(space, scores, Milp(solver).duals(space, scores))
    solutions = Milp(solver).solve(space, scores)
    assert relaxed[0] == pytest.approx(3.0)
    assert solutions.value[0] == 2.0
    assert solutions.bound[0] == 2.0
    assert solutions.labels.tolist() == [[0, 0, 1]]  # the first of six equals


# -- rules that mix small and large coefficients ------------------------------------------


def many_first(seed, large):
    """Rules "many of these first, then few of those", as large · Σ + Σ <= 2 · large."""
    rng = np.random.default_rng(seed)
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(10)]
    for x, y in combinations(variables, 2):
        if rng.random() < 0.25:
            builder.factor(x, y)
    for _ in range(3):
        taken = [variables[j]["a"] for j in rng.permutation(10)[:8]]
        builder.require(large * count(taken[:4]) + count(taken[4:]) <= 2 * large)
    space = builder.build()
    scores = rng.normal(size=(2, space.parts))
    scores[:, : space.labels : 2] += 1.0
    return space, scores


@both
@pytest.mark.parametrize("large", [10**7, 10**8, 10**12, 10**15])
@pytest.mark.parametrize("seed", range(20))
def test_rules_that_a_solvers_tolerance_lets_through_are_obeyed(solver, large, seed):
    space, scores = many_first(seed, large)
    best = Exhaustive().solve(space, scores)
    found = Milp(solver).solve(space, scores)
    assert space.holds(found.labels).all()
    assert found.labels.tolist() == best.labels.tolist()
    assert found.optimal.all()
    quick = Milp(solver, time_limit=1e-3).solve(space, scores)
    there = quick.labels.min(axis=1) >= 0
    assert space.holds(quick.labels[there]).all()
    assert (quick.bound >= best.value - 1e-9).all()
    assert (quick.value[quick.optimal] >= best.value[quick.optimal] - 1e-9).all()


@both
def test_no_answer_breaks_a_rule_even_where_a_solver_is_trusted(solver, monkeypatch):
    monkeypatch.setattr(integer_program_module, "SAFE", np.inf)
    sources = set()
    for seed in range(40):
        space, scores = many_first(seed, 10**9)
        found = Milp(solver).solve(space, scores)
        assert space.holds(found.labels).all()
        sources |= set(found.source.tolist())
    assert sources == {FoundBy.MILP, FoundBy.BRANCH}


# -- edges ------------------------------------------------------------------------------


@both
def test_given_labels_that_leave_only_halves_are_infeasible(solver):
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    builder.require(2 * x["a"] + 2 * y["a"] + z["a"] == 3)
    space = builder.build()
    given = [{"z": "b"}, {"z": "a"}]
    solutions = Milp(solver).solve(space, clamp(space, np.zeros((2, 6)), given))
    assert solutions.status.tolist() == [Status.INFEASIBLE, Status.OPTIMAL]
    assert solutions.labels.tolist() == [[-1, -1, -1], [0, 1, 0]]


# -- limits -----------------------------------------------------------------------------


@both
def test_a_time_limit_returns_quickly_with_a_valid_bound(solver):
    space, scores = dense(15, FOUR)
    began = time.perf_counter()
    cut = Milp(solver, time_limit=0.3).solve(space, scores)
    assert time.perf_counter() - began < 5.0
    assert cut.status[0] in (Status.FEASIBLE, Status.TIMED_OUT)
    assert local_search(space, scores) - 1e-9 <= cut.bound[0] < np.inf
    if cut.status[0] == Status.FEASIBLE:
        assert cut.value[0] == space.value(scores, cut.labels)[0] < cut.bound[0]
    else:
        assert (cut.labels == -1).all()
        assert cut.value[0] == -np.inf


@both
def test_no_time_at_all_leaves_the_bound_of_the_parts(solver):
    space, scores = dense(12, FOUR)
    cut = Milp(solver, time_limit=1e-9).solve(space, scores)
    assert cut.status.tolist() == [Status.TIMED_OUT]
    assert (cut.labels == -1).all()
    assert cut.bound[0] == pytest.approx(dual_bound(space, scores, zero_duals(space, 1))[0])


@both
def test_the_time_limit_is_per_input(solver):
    space, scores = triangle()
    batch = np.repeat(scores[None], 30, axis=0)
    solutions = Milp(solver, time_limit=2.0).solve(space, batch)
    assert solutions.optimal.all()


@both
def test_an_answer_within_the_gap_is_feasible_with_its_bound(solver):
    statuses = set()
    for seed in range(6):
        space, scores = dense(7, THREE, seed=seed)
        best = Milp(solver).solve(space, scores).value[0]
        rough = Milp(solver, gap=0.5).solve(space, scores)
        statuses.add(int(rough.status[0]))
        assert rough.bound[0] >= best - 1e-9
        assert rough.value[0] <= best + 1e-9
        assert rough.gap[0] <= 0.5 * abs(rough.value[0]) + 1e-9
        far = rough.gap[0] > TIE * np.abs(scores).max()
        assert rough.status[0] == (Status.FEASIBLE if far else Status.OPTIMAL)
    assert Status.FEASIBLE in statuses


# -- work -------------------------------------------------------------------------------


@both
def test_most_inputs_with_one_best_output_need_two_relaxations_at_most(solver, monkeypatch):
    session = milp.SESSIONS[solver]
    calls = {"relaxation": 0, "whole": 0}

    class Counting(session):
        def relaxation(self, *args):
            calls["relaxation"] += 1
            return super().relaxation(*args)

        def whole(self, *args):
            calls["whole"] += 1
            return super().whole(*args)

    monkeypatch.setattr(milp, "SESSIONS", {solver: Counting})
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(8)]
    for x, y in pairwise(variables):
        builder.factor(x, y)
        builder.require(x["a"] >> y["b"])
    space = builder.build()
    scores = np.random.default_rng(3).normal(size=(50, space.parts))
    Milp(solver).solve(space, scores)
    assert calls["whole"] == 0
    assert calls["relaxation"] <= 110


# -- duals ------------------------------------------------------------------------------


def relaxation_optimum(space, scores, allowed):
    """The optimum of the relaxation, from the solver itself."""
    program = integer_program(space)
    costs = program.costs(scores)
    is_open = program.allowed if allowed is None else program.allowed & allowed
    outcome = HighsSession(program).relaxation(costs, program.limits(is_open), np.inf)
    return None if outcome.columns is None else float(costs @ outcome.columns)


@both
@given(problems(spaces(least=1)))
def test_duals_bound_as_well_as_the_relaxation_and_never_below_the_best(solver, problem):
    space, problem = problem
    judge = Judge(space)
    assume(judge.feasible)
    bounds = dual_bound(space, problem, Milp(solver).duals(space, problem))
    for i, bound in enumerate(bounds):
        row = row_of(problem, i)
        size = max(1.0, np.abs(problem.scores[i]).max(initial=0.0))
        best, relaxed = judge.best(*row), relaxation_optimum(space, *row)
        if best is not None:
            assert bound >= best.value - 1e-9 * size
        if relaxed is not None:
            assert bound == pytest.approx(relaxed, rel=1e-6, abs=1e-6 * size)


# -- ties -------------------------------------------------------------------------------


@pytest.mark.parametrize("nodes", [1 << 12, 1])
def test_ties_are_broken_label_by_label_where_the_search_in_order_is_cut_short(monkeypatch, nodes):
    monkeypatch.setattr(search, "NODES_IN_ORDER", -(10**6))
    monkeypatch.setattr(milp, "NODES_FOR_TIES", nodes)  # by branch and bound, or by the solver
    space, scores = dense(5, THREE, m=6, seed=2, whole=True)
    reference = Exhaustive().solve(space, scores)
    assert Milp().solve(space, scores).labels.tolist() == reference.labels.tolist()
