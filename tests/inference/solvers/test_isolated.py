"""Whole costs, checks of answers, and warm starts of solvers in processes of their own."""

from fractions import Fraction
from itertools import combinations, pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.errors import MissingDependency, SolverError
from rote.inference.exact.exhaustive import Exhaustive
from rote.inference.problem import Context, Problem, WarmStart, clamp
from rote.inference.solutions import FoundBy, Status
from rote.inference.solvers import isolated
from rote.inference.solvers.cp_sat import CpSat
from rote.inference.solvers.integer_program import check_outputs
from rote.inference.solvers.isolated import whole_costs
from rote.inference.solvers.toulbar2 import Toulbar2
from rote.inference.solvers.worker import WORKERS, Reply
from tests.inference.outputs import built, dense, local_search
from tests.inference.solvers.test_milp import many_first

each = pytest.mark.parametrize(
    "engine",
    [
        pytest.param(
            kind,
            id=kind.__name__,
            marks=pytest.mark.skipif(
                not kind.installed(), reason=f"{kind.package} is not installed"
            ),
        )
        for kind in (CpSat, Toulbar2)
    ],
)
floats = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-1e6, 1e6, allow_subnormal=False),
    st.floats(-1e-6, 1e-6, allow_subnormal=False),
    st.sampled_from([1e12, -1e12, 0.1, -0.3]),
)


# -- whole costs --------------------------------------------------------------------------


@given(st.lists(st.lists(st.tuples(floats, st.booleans()), min_size=1, max_size=3), max_size=4))
def test_the_value_of_every_output_is_that_of_its_cost_up_to_the_error(groups):
    groups = [group for group in groups if any(allowed for _, allowed in group)]
    if not groups:
        return
    scores = np.array([score for group in groups for score, _ in group])
    allowed = np.array([flag for group in groups for _, flag in group])
    starts = np.cumsum([0, *(len(group) for group in groups[:-1])])
    whole = whole_costs(scores, starts, allowed)
    assert (whole.costs >= 0).all()
    assert whole.costs.max() < 1 << 53
    for entries in product(*(range(len(group)) for group in groups)):
        at = starts + entries
        if not allowed[at].all():
            continue
        value = sum(map(Fraction, scores[at].tolist()))
        cost = sum(whole.costs[at].tolist())
        assert cost < 1 << 58
        said = Fraction(whole.constant) - Fraction(whole.unit) * cost
        assert abs(said - value) <= Fraction(whole.error)
        assert Fraction(whole.bound(cost)) >= value - Fraction(1, 10**9)


def test_whole_scores_lose_nothing_and_stay_small():
    whole = whole_costs(np.array([3.0, -1.0, 0.0, 2.0]), np.array([0, 2]), np.ones(4, bool))
    assert whole.costs.tolist() == [0, 2, 1, 0]
    assert whole.unit == 2.0
    assert whole.constant == 5.0


# -- checks -------------------------------------------------------------------------------


def ruled():
    return built(3, rules=[lambda v: v[0]["a"] >> v[1]["b"]])


def test_an_answer_that_breaks_a_rule_never_leaves(monkeypatch):
    space = ruled()
    monkeypatch.setattr(CpSat, "installed", classmethod(lambda cls: True))
    wrong = Reply(proved=True, bound=0, labels=np.array([0, 0, 0]))
    monkeypatch.setattr(WORKERS, "ask", lambda *args: wrong)
    with pytest.raises(SolverError, match="CpSat returned an output against the rule"):
        CpSat().solve(space, np.zeros(6))


def test_closed_labels_and_labels_that_are_not_there_are_refused():
    problem = clamp(ruled(), np.zeros((1, 6)), [{"x2": "a"}])
    check_outputs("A solver", problem, np.array([[1, 0, 0]]))
    check_outputs("A solver", problem, np.array([[-1, -1, -1]]))
    with pytest.raises(SolverError, match="a label that is closed"):
        check_outputs("A solver", problem, np.array([[1, 0, 1]]))
    with pytest.raises(SolverError, match="a label that there is not"):
        check_outputs("A solver", problem, np.array([[1, 0, 2]]))


@pytest.mark.parametrize(("kind", "extra"), [(CpSat, "cpsat"), (Toulbar2, "toulbar2")])
def test_without_its_package_the_error_says_what_to_install(kind, extra, monkeypatch):
    monkeypatch.setattr(isolated, "find_spec", lambda name: None)
    with pytest.raises(MissingDependency, match=rf"pip install '\.\[{extra}\]'"):
        kind().solve(ruled(), np.zeros(6))


@each
@pytest.mark.parametrize("large", [10**7, 10**12, 10**15])
@pytest.mark.parametrize("seed", range(6))
def test_rules_with_large_coefficients_are_obeyed(engine, large, seed):
    space, scores = many_first(seed, large)
    found = engine().solve(space, scores)
    assert found.optimal.all()
    assert found.labels.tolist() == Exhaustive().solve(space, scores).labels.tolist()


# -- ties and rounding --------------------------------------------------------------------


@each
@pytest.mark.parametrize("short", [True, False])
def test_of_equal_outputs_the_first_is_found(engine, short, monkeypatch):
    if not short:  # leave it all to the solver
        none = np.full((1, 7), -1)
        monkeypatch.setattr(isolated, "first_of_equals", lambda problem, labels: none)
    space = built(7, combinations(range(7), 2))
    scores = np.random.default_rng(4).integers(-1, 2, size=(8, space.parts)).astype(float)
    scores[:2] = 0.0
    found = engine().solve(space, scores)
    assert found.labels.tolist() == Exhaustive().solve(space, scores).labels.tolist()


@each
def test_nearly_equal_scores_are_told_apart(engine):
    rng = np.random.default_rng(0)
    space = built(4, pairwise(range(4)))
    scores = 3e-11 * rng.integers(0, 4, size=(40, space.parts))
    found = engine().solve(space, scores)
    assert found.labels.tolist() == Exhaustive().solve(space, scores).labels.tolist()


@each
@pytest.mark.parametrize("nodes", [1, 1 << 16])
def test_where_rounding_is_coarse_our_own_search_closes_the_gap_or_says_so(
    engine, nodes, monkeypatch
):
    monkeypatch.setattr(isolated, "TOTAL", 6)
    monkeypatch.setattr(isolated, "NODES_TO_CLOSE", nodes)
    space, scores = dense(7, "abc", m=6)
    found = engine().solve(space, scores)
    best = Exhaustive().solve(space, scores)
    assert (found.bound >= best.value - 1e-9).all()
    right = found.optimal
    assert found.labels[right].tolist() == best.labels[right].tolist()
    assert set(found.status.tolist()) <= {Status.OPTIMAL, Status.FEASIBLE}
    assert right.all() == (nodes > 1)


# -- limits and warm starts ---------------------------------------------------------------


@each
def test_a_time_limit_returns_a_valid_bound(engine):
    space, scores = dense(22, "abcd")
    cut = engine(time_limit=0.3).solve(space, scores)
    assert cut.status[0] in (Status.FEASIBLE, Status.TIMED_OUT)
    assert local_search(space, scores) - 1e-9 <= cut.bound[0] < np.inf


@each
@settings(max_examples=20)
@given(seed=st.integers(0, 1 << 20))
def test_a_warm_start_does_not_change_the_answer(engine, seed):
    rng = np.random.default_rng(seed)
    space = built(6, combinations(range(6), 2), [lambda v: v[0]["a"] >> v[1]["b"]])
    scores = rng.integers(-1, 2, size=(2, space.parts)).astype(float)
    start = rng.integers(0, 2, size=(2, 6))
    context = Context(warm=WarmStart(incumbent=start))
    cold, warm = engine().solve(space, scores), engine().solve(space, scores, context)
    assert cold.labels.tolist() == warm.labels.tolist()
    assert warm.optimal.all()


@each
def test_a_warm_start_is_the_answer_where_there_is_no_time(engine, monkeypatch):
    nothing = Reply(proved=False, bound=0, labels=None)
    monkeypatch.setattr(WORKERS, "ask", lambda *args: nothing)
    space = ruled()
    context = Context(warm=WarmStart(incumbent=np.array([[1, 0, 1], [0, 0, 0]])))
    scores = np.tile([0.0, 1, 0, 1, 0, 0], (2, 1))
    found = engine(time_limit=1.0).solve(space, Problem(space, scores), context)
    assert found.labels.tolist() == [[1, 0, 1], [-1, -1, -1]]
    assert found.status.tolist() == [Status.FEASIBLE, Status.TIMED_OUT]
    assert found.bound == pytest.approx([2.0, 2.0])
    assert (found.source == FoundBy[{"cpsat": "CP_SAT", "toulbar2": "TOULBAR2"}[engine.kind]]).all()
