"""Dual bounds: never below the best, never worse with more sweeps, exact on trees."""

import itertools

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rote.engines import BranchAndBound, Duals, Exhaustive, Milp, Problem, dual_bound, zero_duals
from rote.errors import ScoreError, SettingError
from rote.inference.problem import Context, WarmStart
from rote.space import SpaceBuilder, at_least, at_most, exactly
from rote.types import readonly
from tests.strategies import Judge, chain_spaces, problems, row_of, rules_as_rows, tree_spaces

NOTHING = SpaceBuilder().build()


def random_duals(space, m, rng, size=1.0):
    """Any messages at all, and multipliers with the signs that their rows allow."""
    rows = space.rows
    messages = size * rng.normal(size=(m, int(space.network.message_ptr[-1])))
    multipliers = size * rng.normal(size=(m, len(rows)))
    multipliers[(multipliers > 0) & np.isinf(rows.upper)] = 0.0
    multipliers[(multipliers < 0) & np.isinf(rows.lower)] = 0.0
    return Duals(readonly(messages), readonly(multipliers))


def tolerance(problem):
    return 1e-9 * (1.0 + np.abs(problem.scores).max(initial=0.0))


def counted():
    """Ten variables under three long rules: a space whose duals have multipliers."""
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(10)]
    for x, y in itertools.pairwise(variables):
        builder.factor(x, y)
    builder.require(at_most(4, [x["a"] for x in variables]))
    builder.require(at_least(2, [x["a"] for x in variables]))
    builder.require(exactly(3, [x["b"] for x in variables[::2]]))
    space = builder.build()
    scores = np.random.default_rng(0).normal(size=(4, space.parts))
    return space, scores


@given(problems(), st.integers(0, 2**32 - 1), st.sampled_from([None, 1]))
@settings(max_examples=100)
def test_any_duals_bound_every_output(problem, seed, max_entries):
    space, problem = problem
    judge = Judge(space)
    with rules_as_rows(max_entries):
        duals = random_duals(space, len(problem), np.random.default_rng(seed))
        bounds = dual_bound(space, problem, duals)
        assert bounds.shape == (len(problem),)
        for i, bound in enumerate(bounds):
            best = judge.best(*row_of(problem, i))
            if best is not None:
                assert bound >= best.value - tolerance(problem)


@given(problems(), st.integers(0, 2**32 - 1), st.sampled_from([None, 1]))
def test_more_sweeps_never_raise_the_bound(problem, seed, max_entries):
    space, problem = problem
    judge = Judge(space)
    assume(judge.feasible)
    engine = BranchAndBound()
    with rules_as_rows(max_entries):
        duals = random_duals(space, len(problem), np.random.default_rng(seed))
        before = dual_bound(space, problem, duals)
        for sweeps in (0, 1, 1, 3, 8):
            duals = engine.duals(space, problem, start=duals, sweeps=sweeps)
            after = dual_bound(space, problem, duals)
            assert (after <= before + tolerance(problem)).all()
            before = after
        for i in range(len(problem)):
            best = judge.best(*row_of(problem, i))
            if best is not None:
                assert before[i] >= best.value - tolerance(problem)


@given(problems(st.one_of(tree_spaces(), chain_spaces(order=1))))
def test_on_trees_the_bound_is_the_optimum(problem):
    space, problem = problem
    judge = Judge(space)
    bounds = dual_bound(space, problem, BranchAndBound().duals(space, problem, sweeps=12))
    for i in range(len(problem)):
        best = judge.best(*row_of(problem, i))
        if best is not None:
            assert bounds[i] == pytest.approx(best.value, abs=tolerance(problem))


def test_no_sweep_leaves_the_start_as_it_was():
    space, scores = counted()
    start = random_duals(space, 4, np.random.default_rng(1))
    same = BranchAndBound().duals(space, scores, start=start, sweeps=0)
    assert same.messages.tolist() == start.messages.tolist()
    assert same.multipliers.tolist() == start.multipliers.tolist()


def test_sweeps_do_not_write_into_the_start():
    space, scores = counted()
    start = random_duals(space, 4, np.random.default_rng(1))
    before = start.messages.copy(), start.multipliers.copy()
    BranchAndBound().duals(space, scores, start=start, sweeps=3)
    BranchAndBound(eliminate=False).solve(space, scores, Context(warm=WarmStart(duals=start)))
    assert np.array_equal(start.messages, before[0])
    assert np.array_equal(start.multipliers, before[1])


def test_ascent_moves_multipliers_to_where_the_relaxation_has_them():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(12)]
    builder.require(at_most(3, [x["a"] for x in variables]))
    builder.require(at_least(5, [x["b"] for x in variables]))
    space = builder.build()
    assert len(space.network.rows) == 2
    scores = np.random.default_rng(2).normal(size=(6, space.parts))
    duals = BranchAndBound().duals(space, scores, sweeps=100)
    assert np.count_nonzero(duals.multipliers) > 0
    relaxed = dual_bound(space, scores, Milp().duals(space, scores))
    assert dual_bound(space, scores, duals) == pytest.approx(relaxed, abs=1e-6)


@given(problems(), st.integers(0, 2**32 - 1), st.sampled_from([None, 1]))
def test_a_search_that_starts_from_duals_gives_the_same_answer(problem, seed, max_entries):
    space, problem = problem
    assume(Judge(space).feasible)
    engine = BranchAndBound(eliminate=False)
    with rules_as_rows(max_entries):
        rng = np.random.default_rng(seed)
        plain = engine.solve(space, problem)
        good = engine.duals(space, problem, sweeps=4)
        for start in (good, random_duals(space, len(problem), rng, size=0.5)):
            warm = engine.solve(space, problem, Context(warm=WarmStart(duals=start)))
            assert warm.labels.tolist() == plain.labels.tolist()
            assert warm.status.tolist() == plain.status.tolist()
            assert warm.value.tolist() == plain.value.tolist()


@pytest.mark.parametrize("kind", ["whole", "near"])
def test_duals_of_inputs_with_closed_labels_cost_a_search_no_precision(kind):
    """What propagation closed must not leave numbers behind that swallow a tie."""
    builder = SpaceBuilder()
    w, x, y, z = (builder.variable(name, "abc") for name in "wxyz")
    builder.factor(w, z, y)
    builder.require(exactly(1, x["c"], z["a"], y["a"]))
    builder.require((w["b"] & z["c"]) >> x["a"])
    space = builder.build()
    rng = np.random.default_rng(0)
    scores = rng.integers(-1, 2, size=(800, space.parts)).astype(np.float64)
    if kind == "near":
        scores = 3e-11 * (scores + 1)
    problem = Problem(space, scores, closed=rng.random((800, space.labels)) >= 0.7)
    engine = BranchAndBound(eliminate=False)
    warm = engine.solve(
        space, problem, Context(warm=WarmStart(duals=engine.duals(space, problem, sweeps=2)))
    )
    assert warm.labels.tolist() == Exhaustive().solve(space, problem).labels.tolist()


def test_equal_spaces_with_rules_in_another_order_do_not_mix_their_duals_up():
    def built(order):
        builder = SpaceBuilder()
        variables = [builder.variable(f"x{j}", "ab") for j in range(10)]
        rules = [at_most(4, [x["a"] for x in variables]), at_least(3, [x["a"] for x in variables])]
        for k in order:
            builder.require(rules[k])
        return builder.build()

    scores = np.random.default_rng(0).normal(size=(5, 20))
    engine = BranchAndBound(eliminate=False)
    answers = []
    for space in (built([0, 1]), built([1, 0])):
        cold = engine.solve(space, scores)
        warm = engine.solve(
            space, scores, Context(warm=WarmStart(duals=engine.duals(space, scores, sweeps=4)))
        )
        assert (dual_bound(space, scores, Milp().duals(space, scores)) >= cold.value - 1e-9).all()
        answers += [cold.labels.tolist(), warm.labels.tolist()]
    assert all(answer == answers[0] for answer in answers)


def test_closed_labels_lower_the_bound():
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    space = builder.build()
    allowed = np.array([[True, False]])
    problem = Problem(space, np.array([[1.0, 5.0]]), closed=~allowed)
    for asked, best in ((problem, 1.0), (problem.scores, 5.0)):
        bound = float(dual_bound(space, asked, zero_duals(space, 1))[0])
        assert best <= bound == pytest.approx(best, rel=1e-14)


def test_no_inputs_and_no_variables_have_bounds():
    space, _ = counted()
    for of, scores in ((space, np.empty((0, space.parts))), (NOTHING, np.empty((2, 0)))):
        zero = zero_duals(of, len(scores))
        assert not zero.messages.flags.writeable
        assert dual_bound(of, scores, zero).tolist() == [0.0] * len(scores)
        assert len(BranchAndBound().duals(of, scores)) == len(scores)


# -- what is refused ----------------------------------------------------------------------


def wrong_duals(space):
    zero, rows = zero_duals(space, 4), space.rows
    messages, multipliers = zero.messages, zero.multipliers
    shapes = [
        zero_duals(space, 3),
        zero_duals(space, 0),
        Duals(messages[:, :-1], multipliers),
        Duals(messages, multipliers[:, :-1]),
        Duals(messages[0], multipliers[0]),
    ]
    pushes = np.isinf(rows.upper) * 1.0, np.isinf(rows.lower) * -1.0
    return {
        "duals of this space have the shapes": shapes,
        "pushes against the open end of its row": [
            Duals(messages, np.tile(push, (4, 1))) for push in pushes if push.any()
        ],
        "duals are finite numbers": [
            Duals(messages + wrong, multipliers + other)
            for wrong, other in ((np.nan, 0), (np.inf, 0), (0, np.nan), (0, np.inf))
        ],
    }


@pytest.mark.parametrize(
    "use",
    [
        dual_bound,
        lambda space, scores, duals: BranchAndBound().duals(space, scores, start=duals),
        *(
            lambda space, scores, duals, engine=engine: engine.solve(
                space, scores, Context(warm=WarmStart(duals=duals))
            )
            for engine in (BranchAndBound(), BranchAndBound(eliminate=False))
        ),
    ],
)
def test_duals_that_do_not_fit_are_refused(use):
    space, scores = counted()
    for match, every in wrong_duals(space).items():
        assert len(every) > 1
        for duals in every:
            with pytest.raises(ScoreError, match=match):
                use(space, scores, duals)
    with pytest.raises(SettingError, match="sweeps is a whole number of at least 0"):
        BranchAndBound().duals(space, scores, sweeps=-1)
