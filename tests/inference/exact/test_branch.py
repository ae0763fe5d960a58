"""`BranchAndBound`: exact without limits, honest with them."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.engines import BranchAndBound, Elimination, Exhaustive, FoundBy, Problem, Status
from rote.inference.problem import Context, WarmStart
from rote.space import SpaceBuilder, at_least, at_most
from tests.inference.outputs import built, dense, local_search
from tests.strategies import Judge, problems, row_of, rules_as_rows


def check_cut(space, cut, best):
    """A search that was stopped says so, and what it says is true."""
    for i in range(len(cut)):
        assert cut.status[i] in (Status.OPTIMAL, Status.FEASIBLE, Status.TIMED_OUT)
        assert cut.value[i] <= best[i] + 1e-9
        assert cut.bound[i] >= best[i] - 1e-9
        assert cut.source[i] == FoundBy.BRANCH
        if cut.status[i] == Status.OPTIMAL:
            assert cut.bound[i] == cut.value[i]
        elif cut.status[i] == Status.TIMED_OUT:
            assert (cut.labels[i] == -1).all()
            assert cut.value[i] == -np.inf
        if cut.status[i] != Status.TIMED_OUT:
            assert space.holds(cut.labels[i]).all()


# -- limits -------------------------------------------------------------------------------


@pytest.mark.parametrize("eliminate", [True, False])
def test_any_number_of_nodes_brackets_the_optimum(eliminate):
    space, scores = dense(10, labels="abc", m=3)
    best = Exhaustive().solve(space, scores).value
    seen = set()
    for nodes in (1, 2, 3, 5, 17, 64, 65, 300, 1000, 5000, 100_000):
        cut = BranchAndBound(node_limit=nodes, eliminate=eliminate).solve(space, scores)
        check_cut(space, cut, best)
        seen.update(cut.status.tolist())
    assert Status.OPTIMAL in seen
    assert Status.FEASIBLE in seen
    assert cut.value.tolist() == pytest.approx(best.tolist())


@given(problems(inputs=3), st.integers(1, 6), st.sampled_from([None, 1]))
def test_limits_never_make_an_answer_false(problem, nodes, max_entries):
    space, problem = problem
    judge = Judge(space)
    if not judge.feasible:
        return
    with rules_as_rows(max_entries):
        for eliminate in (True, False):
            engine = BranchAndBound(node_limit=nodes, eliminate=eliminate)
            cut = engine.solve(space, problem)
            for i in range(3):
                best = judge.best(*row_of(problem, i))
                if best is None:
                    assert cut.status[i] in (Status.INFEASIBLE, Status.TIMED_OUT)
                else:
                    assert cut.status[i] != Status.INFEASIBLE
                    scale = 1e-9 * max(1.0, np.abs(problem.scores[i]).max(initial=0.0))
                    assert cut.value[i] <= best.value + scale
                    assert cut.bound[i] >= best.value - scale


@given(problems(inputs=3), st.integers(0, 2**32 - 1), st.sampled_from([None, 1]))
def test_an_incumbent_changes_no_answer_and_no_limit_takes_it_away(problem, seed, max_entries):
    space, problem = problem
    judge = Judge(space)
    if not judge.feasible:
        return
    rng = np.random.default_rng(seed)
    some = np.array([judge.outputs[k] for k in rng.integers(len(judge.outputs), size=3)])
    some = some.reshape(3, len(space.variables)).astype(np.int64)
    anything = rng.integers(-1, 6, size=some.shape)
    with rules_as_rows(max_entries):
        cold = BranchAndBound().solve(space, problem)
        for incumbent in (some, anything, cold.labels):
            context = Context(warm=WarmStart(incumbent))
            warm = BranchAndBound().solve(space, problem, context)
            for mine, other in zip(warm.arrays, cold.arrays, strict=True):
                assert np.array_equal(mine, other)
        cut = BranchAndBound(node_limit=1).solve(space, problem, Context(warm=WarmStart(some)))
    for i in range(3):
        _, allowed = row_of(problem, i)
        if tuple(some[i]) in judge.open_outputs(allowed):
            assert cut.value[i] >= space.value(problem.scores[i], some[i])[0] - 5 * problem.ties[i]


def test_the_time_limit_is_roughly_kept_and_the_bound_holds():
    space, scores = dense(40, labels="abcd", m=1)
    BranchAndBound(node_limit=10).solve(space, scores)  # compiled by now
    began = time.perf_counter()
    cut = BranchAndBound(time_limit=0.5).solve(space, scores)
    assert time.perf_counter() - began < 5.0
    assert cut.status[0] == Status.FEASIBLE
    assert cut.bound[0] > cut.value[0]
    improved = local_search(space, scores[0])
    assert cut.bound[0] >= improved - 1e-9


@pytest.fixture
def tries(monkeypatch):
    """The node limits of searches, on a clock that takes a millisecond for a node of an input."""
    from rote.inference.exact import branch

    seconds, tries = [0.0], []
    really = branch.search

    def search(plan, problem, floors, start, nodes):
        if len(problem):
            tries.append(nodes)
        seconds[0] += 0.001 * nodes * len(problem)
        return really(plan, problem, floors, start, nodes)

    monkeypatch.setattr(branch, "perf_counter", lambda: seconds[0])
    monkeypatch.setattr(branch, "search", search)
    return tries


def test_tries_grow_from_the_first_and_end_when_the_time_is_up(tries):
    space, scores = dense(40, labels="abcd")
    assert BranchAndBound(time_limit=4.0).solve(space, scores).status[0] == Status.FEASIBLE
    assert tries[0] < tries[1] < tries[2]
    assert sum(tries) == pytest.approx(4000, rel=1e-3)


def test_a_time_limit_below_a_first_try_ends_with_it(tries):
    space, scores = dense(40, labels="abcd", m=3)
    BranchAndBound(time_limit=0.01).solve(space, scores)
    assert len(tries) == 1


def test_breaking_ties_ends_when_the_time_is_up(tries, monkeypatch):
    from rote.inference.exact import search

    monkeypatch.setattr(search, "NODES_IN_ORDER", -(10**6))
    space, scores = dense(7, "abc", m=6, seed=2, whole=True)
    best = Exhaustive().solve(space, scores)
    every = BranchAndBound(time_limit=1e9).solve(space, scores)
    asked = len(tries)
    tries.clear()
    some = BranchAndBound(time_limit=0.3).solve(space, scores)
    assert 1 < len(tries) < asked
    assert every.labels.tolist() == best.labels.tolist()
    assert some.optimal.all()
    assert some.value.tolist() == pytest.approx(best.value.tolist())


def test_both_limits_hold_together():
    space, scores = dense(12, m=2)
    best = Exhaustive().solve(space, scores).value
    cut = BranchAndBound(node_limit=3, time_limit=60.0).solve(space, scores)
    assert (cut.status != Status.OPTIMAL).all()
    check_cut(space, cut, best)


# -- structure ----------------------------------------------------------------------------


def test_a_grid_is_solved_with_its_ties_broken():
    builder = SpaceBuilder()
    at = {(i, j): builder.variable(f"x{i}_{j}", "abc") for i in range(4) for j in range(4)}
    for (i, j), x in at.items():
        if i:
            builder.factor(at[i - 1, j], x)
        if j:
            builder.factor(at[i, j - 1], x)
    space = builder.build()
    scores = np.random.default_rng(1).integers(-1, 2, size=(5, space.parts)).astype(np.float64)
    reference = Elimination().solve(space, scores)
    for engine in (BranchAndBound(), BranchAndBound(eliminate=False)):
        assert engine.solve(space, scores).labels.tolist() == reference.labels.tolist()


@pytest.mark.parametrize("eliminate", [True, False])
@pytest.mark.parametrize(("n", "labels"), [(8, "ab"), (6, "abc"), (10, "ab")])
def test_ties_in_hard_instances_are_broken_in_order(n, labels, eliminate):
    space, scores = dense(n, labels=labels, m=60)
    reference = Exhaustive()
    for whole in (np.rint(scores), np.rint(2 * scores), np.sign(scores)):
        found = BranchAndBound(eliminate=eliminate).solve(space, whole)
        assert found.labels.tolist() == reference.solve(space, whole).labels.tolist()


def test_all_scores_zero_is_one_great_tie():
    space, scores = dense(14)
    assert BranchAndBound().solve(space, 0 * scores).labels.tolist() == [[0] * 14]
    rules = [lambda v: at_least(7, [x["b"] for x in v]), lambda v: at_most(8, [x["b"] for x in v])]
    space = built(20, rules=rules)
    solutions = BranchAndBound().solve(space, np.zeros(space.parts))
    assert solutions.labels.tolist() == [[0] * 13 + [1] * 7]


def test_ties_are_broken_by_asking_where_the_search_in_order_is_cut_short(monkeypatch):
    from rote.inference.exact import search

    monkeypatch.setattr(search, "NODES_IN_ORDER", -(10**6))
    space, scores = dense(7, "abc", m=6, seed=2, whole=True)
    reference = Exhaustive().solve(space, scores)
    assert BranchAndBound().solve(space, scores).labels.tolist() == reference.labels.tolist()


def test_closed_labels_stay_closed_through_the_search():
    space, scores = dense(9, labels="abc", m=6)
    rng = np.random.default_rng(3)
    allowed = rng.random((6, space.labels)) < 0.8
    allowed[:, ::3] = True
    problem = Problem(space, scores, closed=~allowed)
    solutions = BranchAndBound().solve(space, problem)
    chosen = space.offsets[:-1] + solutions.labels
    assert allowed[np.arange(6)[:, None], chosen].all()
    assert solutions.labels.tolist() == Exhaustive().solve(space, problem).labels.tolist()
