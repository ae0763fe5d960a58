"""`Milp` against exhaustive search, its proofs, its limits and its errors."""

from __future__ import annotations

import time
from itertools import combinations, pairwise, product

import numpy as np
import pytest

from rote.inference.exact import search
from rote.inference.exact.duals import dual_bound, zero_duals
from rote.inference.exact.exhaustive import Exhaustive
from rote.inference.problem import TIE, Problem, clamp
from rote.inference.solutions import FoundBy, Status
from rote.inference.solvers import highs as milp_highs
from rote.inference.solvers import integer_program as integer_program_module
from rote.inference.solvers import milp
from rote.inference.solvers.integer_program import integer_program
from rote.inference.solvers.milp import Milp
from rote.space import SpaceBuilder, all_of, any_of, at_least, at_most, count
from tests.inference.outputs import local_search
from tests.strategies import row_of

SOLVERS = ("highs", "gurobi")
both = pytest.mark.parametrize("solver", SOLVERS)


# -- a judge, and spaces to judge on ----------------------------------------------------


def exhaustive(space, scores, allowed=None):
    """The best value and the lexicographically first output within a tie of it, or None."""
    outputs = np.array(list(product(*(range(size) for size in space.sizes))), dtype=np.int64)
    good = space.holds(outputs)
    if allowed is not None:
        good &= allowed[space.offsets[:-1] + outputs].all(axis=1)
    outputs = outputs[good]
    if not len(outputs):
        return None
    values = space.value(np.repeat(scores[None], len(outputs), axis=0), outputs)
    tie = TIE * max(1.0, np.abs(scores).max(initial=0.0))
    return values.max(), outputs[np.argmax(values >= values.max() - tie)]


def random_rule(rng, variables, depth):
    """A rule with up to ``depth`` levels of and, or, not, implies and counts."""
    if depth == 0 or rng.random() < 0.2:
        variable = variables[rng.integers(len(variables))]
        return variable[variable.labels[rng.integers(len(variable.labels))]]
    parts = [random_rule(rng, variables, depth - 1) for _ in range(rng.integers(2, 4))]
    kind = rng.integers(8)
    if kind == 0:
        return all_of(parts)
    if kind <= 2:
        return any_of(parts)
    if kind == 3:
        return ~parts[0]
    if kind == 4:
        return parts[0] >> parts[1]
    if kind == 5:
        return at_most(int(rng.integers(1, 3)), parts)
    if kind == 6:
        return at_least(1, parts)
    return sum((int(rng.integers(1, 3)) * part for part in parts[1:]), count(parts[:1])) <= 2


def random_space(rng, *, max_variables=5):
    """A feasible space with factors of two and three variables and nested rules."""
    while True:
        builder = SpaceBuilder()
        n = int(rng.integers(1, max_variables + 1))
        variables = [
            builder.variable(f"x{j}", [str(a) for a in range(rng.integers(1, 5))]) for j in range(n)
        ]
        scopes = [s for size in (2, 3) for s in combinations(range(n), size)]
        for scope in scopes:
            if rng.random() < 0.35:
                builder.factor(*[variables[j] for j in rng.permutation(scope)])
        for _ in range(rng.integers(0, 4)):
            builder.require(random_rule(rng, variables, int(rng.integers(1, 4))))
        space = builder.build()
        if exhaustive(space, np.zeros(space.parts)) is not None:
            return space


def random_objective(rng, space, m):
    """Half of the time whole scores with many ties, half of the time some labels closed."""
    scores = rng.normal(size=(m, space.parts))
    if rng.random() < 0.5:
        scores = rng.integers(-1, 2, size=(m, space.parts)).astype(float)
    return Problem(
        space, scores, closed=rng.random((m, space.labels)) >= 0.8 if rng.random() < 0.5 else None
    )


def dense(n, labels, seed=0):
    """Every pair of variables has a factor: a relaxation that is far from whole."""
    builder = SpaceBuilder()
    names = [str(a) for a in range(labels)]
    variables = [builder.variable(f"x{j}", names) for j in range(n)]
    for x, y in combinations(variables, 2):
        builder.factor(x, y)
    space = builder.build()
    return space, np.random.default_rng(seed).normal(size=space.parts)


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
    rng = np.random.default_rng(11207)
    space = random_space(rng, max_variables=6)
    scores = random_objective(rng, space, 3).scores
    solutions = Milp(solver).solve(space, scores)
    assert space.rules == ()
    assert solutions.labels[2].tolist() == [1, 0, 2, 0, 0, 0]
    assert solutions.value[2] == pytest.approx(exhaustive(space, scores[2])[0], abs=1e-9)


@both
@pytest.mark.parametrize("noise", [0.0, 1e-9])
def test_outputs_that_almost_tie_are_told_apart_where_the_relaxation_is_not_whole(solver, noise):
    rng = np.random.default_rng(0)
    space, _ = dense(5, 3)
    shape = (40, space.parts)
    scores = rng.integers(-1, 2, size=shape) + noise * rng.normal(size=shape)
    solutions = Milp(solver).solve(space, scores)
    relaxed = dual_bound(space, scores, Milp(solver).duals(space, scores))
    assert (relaxed > solutions.value + 0.1).any()
    for row, labels in zip(scores, solutions.labels, strict=True):
        assert labels.tolist() == exhaustive(space, row)[1].tolist()


@both
def test_rules_with_auxiliary_columns_are_obeyed_where_labels_come_out_whole(solver):
    rng = np.random.default_rng(7)
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(4)]
    builder.require(any_of([at_least(3, [x[label] for x in variables]) for label in "abc"]))
    space = builder.build()
    assert space.rows.auxiliary > 0
    scores = rng.normal(size=(20, space.parts))
    solutions = Milp(solver).solve(space, scores)
    assert space.holds(solutions.labels).all()
    for row, labels in zip(scores, solutions.labels, strict=True):
        assert labels.tolist() == exhaustive(space, row)[1].tolist()


@both
def test_where_the_relaxation_takes_halves_the_whole_program_decides(solver):
    space, scores = triangle()
    relaxed = dual_bound(space, scores, Milp(solver).duals(space, scores))
    solutions = Milp(solver).solve(space, scores)
    assert relaxed[0] == pytest.approx(3.0)
    assert solutions.value[0] == 2.0
    assert solutions.bound[0] == 2.0
    assert solutions.labels.tolist() == [[0, 0, 1]]  # the first of six equals


@both
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e3, 1e9])
def test_scores_of_any_size_are_solved(solver, size):
    rng = np.random.default_rng(11)
    for _ in range(10):
        space = random_space(rng)
        scores = size * rng.normal(size=(2, space.parts))
        solutions = Milp(solver).solve(space, scores)
        for row, value in zip(scores, solutions.value, strict=True):
            tie = TIE * max(1.0, np.abs(row).max())
            assert value == pytest.approx(exhaustive(space, row)[0], abs=2 * tie)


@both
def test_an_answer_does_not_depend_on_the_inputs_before_it(solver):
    rng = np.random.default_rng(5)
    space, _ = dense(5, 3)
    scores = rng.integers(-1, 2, size=(6, space.parts)).astype(float)
    together = Milp(solver).solve(space, scores)
    for row, labels in zip(scores, together.labels, strict=True):
        assert Milp(solver).solve(space, row).labels[0].tolist() == labels.tolist()


@both
def test_given_labels_are_kept(solver):
    space, scores = triangle()
    solutions = Milp(solver).solve(space, clamp(space, scores, {"x": "b", "y": "b"}))
    assert space.decode(solutions.labels) == [{"x": "b", "y": "b", "z": "a"}]


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
    space, scores = dense(15, 4)
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
    space, scores = dense(12, 4)
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
        space, scores = dense(7, 3, seed)
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
    session = milp_highs.HighsSession(program)
    costs = program.costs(scores)
    is_open = program.allowed if allowed is None else program.allowed & allowed
    outcome = session.relaxation(costs, program.limits(is_open), np.inf)
    return None if outcome.columns is None else float(costs @ outcome.columns)


@both
@pytest.mark.parametrize("seed", range(60))
def test_duals_bound_as_well_as_the_relaxation_and_never_below_the_best(solver, seed):
    rng = np.random.default_rng(1000 + seed)
    space = random_space(rng)
    problem = random_objective(rng, space, 2)
    bounds = dual_bound(space, problem, Milp(solver).duals(space, problem))
    for i, scores in enumerate(problem.scores):
        _, allowed = row_of(problem, i)
        expected = exhaustive(space, scores, allowed)
        relaxed = relaxation_optimum(space, scores, allowed)
        if expected is not None:
            assert bounds[i] >= expected[0] - 1e-9
        if relaxed is not None:
            assert bounds[i] == pytest.approx(relaxed, rel=1e-6, abs=1e-6)


# -- ties -------------------------------------------------------------------------------


@pytest.mark.parametrize("nodes", [1 << 12, 1])
def test_ties_are_broken_label_by_label_where_the_search_in_order_is_cut_short(monkeypatch, nodes):
    monkeypatch.setattr(search, "NODES_IN_ORDER", -(10**6))
    monkeypatch.setattr(milp, "NODES_FOR_TIES", nodes)  # by branch and bound, or by the solver
    space, _ = dense(5, 3)
    scores = np.random.default_rng(2).integers(-1, 2, size=(6, space.parts)).astype(np.float64)
    reference = Exhaustive().solve(space, scores)
    assert Milp().solve(space, scores).labels.tolist() == reference.labels.tolist()
