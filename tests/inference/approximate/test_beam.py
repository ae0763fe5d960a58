"""Beams: answers that obey, bounds that are true, priorities and orders of one's own."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.engines import Exact, Exhaustive, FoundBy, Problem, Status, clamp
from rote.errors import InfeasibleSpace, SettingError
from rote.inference.approximate import Beam, ConstrainedBeam, LearnedBeam
from rote.inference.approximate.beam import partial_scores
from rote.space import SpaceBuilder, at_least, at_most
from tests.inference.approximate.truth import check_truth
from tests.strategies import Judge, problems, rules_as_rows, spaces

widths = st.sampled_from([1, 2, 5])


@given(problems(), st.sampled_from([None, 1]), widths, st.booleans())
def test_answers_obey_and_say_truly_what_they_are_worth(problem, as_rows, width, proof):
    space, problem = problem
    with rules_as_rows(as_rows):
        try:
            found = Beam(width, proof=proof).solve(space, problem)
        except InfeasibleSpace:
            assert not Judge(space).feasible
            return
    assert (found.source == FoundBy.BEAM).all()
    check_truth(space, problem, found, {Status.TIMED_OUT})


@given(problems(spaces(most=4, max_rules=0)))
def test_a_wide_beam_without_rules_is_exhaustive_search(problem):
    space, problem = problem
    found, best = Beam(width=256).solve(space, problem), Exhaustive().solve(space, problem)
    infeasible = [solved.status == Status.INFEASIBLE for solved in (found, best)]
    assert infeasible[0].tolist() == infeasible[1].tolist()
    # Of those within a tie, exact engines take the first; a beam takes the best.
    there = ~infeasible[0]
    assert (found.value[there] >= best.value[there] - problem.ties[there]).all()


@given(problems(spaces(most=4), inputs=2), widths)
def test_a_priority_that_is_the_score_changes_nothing(problem, width):
    space, problem = problem
    scores = np.round(8 * problem.scores) / 8  # sums are exact in any order
    problem = Problem(space, scores, problem.closed)
    try:
        found = Beam(width).solve(space, problem)
    except InfeasibleSpace:
        return
    slowly = Beam(width, priority=lambda space, labels, scores: scores).solve(space, problem)
    assert slowly.labels.tolist() == found.labels.tolist()
    assert slowly.status.tolist() == found.status.tolist()


def xor():
    """Two binary variables under a factor: greedy search goes wrong."""
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.factor(x, y)
    space = builder.build()
    return space, np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 3.0])


def test_a_narrow_beam_can_miss_what_a_wider_one_finds():
    space, scores = xor()
    narrow, wide = Beam(width=1).solve(space, scores), Beam(width=2).solve(space, scores)
    assert narrow.labels.tolist() == [[0, 0]]
    assert (narrow.value[0], narrow.bound[0]) == (1.0, 4.0)  # 1 for x, 0 for y, 3 for both
    assert narrow.status.tolist() == [Status.FEASIBLE]
    assert wide.labels.tolist() == [[1, 1]]
    assert wide.value.tolist() == [3.0]
    assert Beam(width=1).solve(space, 1e-6 * scores).status.tolist() == [Status.FEASIBLE]


def test_duals_prove_what_parts_by_themselves_do_not():
    space, scores = xor()
    found = Beam(width=2, proof=True).solve(space, scores)
    assert found.status.tolist() == [Status.OPTIMAL]
    assert found.bound.tolist() == found.value.tolist() == [3.0]
    missed = Beam(width=1, proof=True).solve(space, scores)
    assert missed.status.tolist() == [Status.FEASIBLE]
    assert missed.bound[0] == pytest.approx(3.0)


def test_a_priority_of_ones_own_is_told_everything():
    space, scores = xor()
    calls = []

    def foresight(given_space, labels, so_far):
        calls.append((given_space, labels.tolist(), so_far.tolist(), labels.flags.writeable))
        return np.where(labels[:, 0] == 1, 10.0, 0.0) + so_far

    found = Beam(width=1, priority=foresight).solve(space, scores)
    assert found.labels.tolist() == [[1, 1]]
    assert calls == [
        (space, [[0, -1], [1, -1]], [1.0, 0.0], False),
        (space, [[1, 0], [1, 1]], [0.0, 3.0], False),
    ]


def test_of_equal_priorities_the_first_is_kept():
    space, scores = xor()
    found = Beam(width=2, priority=lambda space, labels, so_far: [0] * len(labels))
    assert found.solve(space, scores).labels.tolist() == [[0, 0]]


@pytest.mark.parametrize("worth_of", [lambda s, k, g: 1.0, lambda s, k, g: g[:-1]])
def test_a_priority_is_one_number_for_each_node(worth_of):
    space, scores = xor()
    with pytest.raises(
        SettingError, match="one number for each of 2 partial outputs; got the shape"
    ):
        Beam(width=1, priority=worth_of).solve(space, scores)


def test_a_priority_is_not_asked_about_nothing():
    space, scores = xor()

    def never_of_nothing(space, labels, so_far):
        assert len(labels)
        return so_far

    allowed = np.array([[True, True, True, True], [False, False, True, True]])
    engine = Beam(width=1, priority=never_of_nothing)
    found = engine.solve(space, Problem(space, np.stack([scores] * 2), closed=~allowed))
    assert found.status.tolist() == [Status.FEASIBLE, Status.INFEASIBLE]


def test_the_order_says_who_comes_first():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(~(x["a"] & y["a"]))
    builder.factor(x, y)
    space = builder.build()
    scores = np.array([1.0, 0.0, 0.0, 0.5, 0, 0, 0, 4.0])  # x: a, then y: b; or both b
    asked = []

    def backwards(space):
        asked.append(space)
        return [1, 0]

    engine = Beam(width=1, order=backwards)
    assert Beam(width=1).solve(space, scores).labels.tolist() == [[0, 1]]
    for _ in range(2):
        assert engine.solve(space, scores).labels.tolist() == [[1, 1]]
    assert asked == [space]  # once for all inputs


def test_a_beam_without_an_output_that_obeys_has_no_answer():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
    builder.require(x["a"] >> y["b"])
    space = builder.build()
    scores = np.array([[1.0, 0, 1.0, 0], [0, 1.0, 1.0, 0]])
    found = Beam(width=1).solve(space, scores)
    assert found.status.tolist() == [Status.TIMED_OUT, Status.OPTIMAL]
    assert found.labels.tolist() == [[-1, -1], [1, 0]]
    assert found.value.tolist() == [-np.inf, 2.0]
    assert found.bound.tolist() == [2.0, 2.0]
    assert Beam(width=2).solve(space, scores).labels.tolist() == [[0, 1], [1, 0]]


@given(spaces(), st.integers(0, 2**32 - 1))
@settings(max_examples=20)
def test_scores_of_partial_outputs_are_those_of_the_parts_in_them(space, seed):
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=space.parts)
    labels = np.array([[rng.integers(-1, size) for size in space.sizes] for _ in range(4)])
    labels = labels.reshape(4, len(space.variables)).astype(np.int64)
    for own, found in zip(labels, partial_scores(space, scores, labels), strict=True):
        expected = sum(scores[space.offsets[j] + a] for j, a in enumerate(own) if a >= 0)
        for f, factor in enumerate(space.factors):
            given_labels = own[list(factor.variables)]
            if (given_labels >= 0).all():
                shape = space.sizes[list(factor.variables)]
                place = np.ravel_multi_index(given_labels, shape)
                expected += scores[space.factor_offsets[f] + place]
        assert found == pytest.approx(expected)


# -- with optimal duals for h, greedy search is exact where there is no gap ---------------


def implications(rng, n):
    """Variables of which each first group of labels calls for the next: no duality gap.

    The linear program in what each group gets has differences in its rows, so its corners are
    outputs.
    """
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abcd"[: rng.integers(2, 5)]) for j in range(n)]
    groups = [rng.permutation(len(x.labels))[: rng.integers(1, len(x.labels))] for x in variables]
    rules = [sum(variables[j][variables[j].labels[a]] for a in groups[j]) for j in range(n)]
    for first, then in pairwise(rules):
        builder.require(first <= then)
    space = builder.build()
    rows = np.zeros((n - 1, space.labels))
    for j in range(n - 1):
        rows[j, space.offsets[j] + groups[j]] += 1.0
        rows[j, space.offsets[j + 1] + groups[j + 1]] -= 1.0
    return space, rows


def optimal_duals(space, scores, rows):
    """u >= 0 of the rows A·z <= 0, how far best labels are ahead, and the value.

    First the linear program over label indicators, then of its duals those that put the best
    labels furthest ahead.
    """
    from scipy.optimize import linprog

    owner = np.repeat(np.arange(len(space.sizes)), space.sizes)
    once = (owner == np.arange(len(space.sizes))[:, None]).astype(float)
    ones = np.ones(len(once))
    solved = linprog(-scores, rows, np.zeros(len(rows)), once, ones, bounds=(0, None))
    z = solved.x
    assert np.abs(z - z.round()).max() < 1e-9
    chosen = [int(np.argmax(np.where(owner == j, z, -1))) for j in range(len(once))]
    # Rows over (u, s): the score less A·u of a chosen label is ahead of each other one by s.
    left, right = [], []
    for e in range(space.labels):
        best = chosen[owner[e]]
        if e != best:
            left.append([*(rows[:, best] - rows[:, e]), 1.0])
            right.append(scores[best] - scores[e])
    slack = rows @ z < -1e-9
    limits = [(0, 0) if loose else (0, None) for loose in slack]
    inside = linprog([0.0] * len(rows) + [-1.0], left, right, bounds=[*limits, (0, 1)])
    return inside.x[:-1], inside.x[-1], -solved.fun


@pytest.mark.parametrize("n", [2, 4, 5])
def test_with_optimal_duals_as_h_greedy_search_is_exact(n):
    rng, missed = np.random.default_rng(n), 0
    for _ in range(12):
        space, rows = implications(rng, n)
        scores = rng.normal(size=space.labels)
        u, ahead, value = optimal_duals(space, scores, rows)
        best = Exhaustive().solve(space, scores)
        assert value == pytest.approx(best.value[0])  # there is no gap
        assert ahead > 1e-9
        by_label = -rows.T @ u

        def with_duals(space, labels, so_far, by_label=by_label):
            known = labels >= 0
            parts = np.where(known, space.offsets[:-1] + labels, 0)
            return so_far + np.where(known, by_label[parts], 0.0).sum(axis=1)

        found = Beam(width=1, priority=with_duals).solve(space, scores)
        assert found.labels.tolist() == best.labels.tolist()
        missed += Beam(width=1).solve(space, scores).labels.tolist() != best.labels.tolist()
    assert missed > 0  # without h it is not


def loose(n):
    builder = SpaceBuilder()
    for j in range(n):
        builder.variable(f"x{j}", "ab")
    return builder.build()


MAKERS = {
    "plain": Beam,
    "priority": lambda width: Beam(width, lambda space, labels, scores: scores),
    "constrained": ConstrainedBeam,
    "speedup": lambda width: LearnedBeam(width=width),
    "lazy": lambda width: LearnedBeam(width=width, theta=1.0),
}


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_beam_is_no_wider_than_there_are_outputs(make):
    space = loose(10)
    scores = np.random.default_rng(0).normal(size=(3, space.parts))
    found = make(10**9).solve(space, scores)
    assert found.labels.tolist() == Exhaustive().solve(space, scores).labels.tolist()


@pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
def test_a_beam_that_does_not_fit_into_memory_is_refused(make):
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "ab") for j in range(60)]
    builder.factor(variables[0], variables[1])
    space = builder.build()
    with pytest.raises(SettingError, match=r"width is 1000000000, .* take a smaller width"):
        make(10**9).solve(space, np.zeros(space.parts))


@pytest.mark.parametrize("engine", [Beam, ConstrainedBeam, LearnedBeam])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        *(({"width": width}, "width is a whole number") for width in (0, 1.5, "2", None, True)),
        ({"order": [0, 1]}, r"order is a function .*, or None, got \[0, 1\]"),
        ({"proof": 1}, "proof is True or False"),
    ],
)
def test_settings_that_cannot_be_are_refused(engine, options, message):
    with pytest.raises(SettingError, match=message):
        engine(**options)


# -- beams that obey the rules on the way -------------------------------------------------


@pytest.mark.parametrize("as_rows", [None, 1, 4])
@given(problems(spaces(max_rules=4)), st.sampled_from([1, 3]), st.booleans())
def test_every_answer_obeys_and_what_has_none_is_infeasible(as_rows, problem, width, proof):
    space, problem = problem
    with rules_as_rows(as_rows):
        try:
            found = ConstrainedBeam(width, proof=proof).solve(space, problem)
        except InfeasibleSpace:
            assert not Judge(space).feasible
            assert problem.closed is None
            return
    check_truth(space, problem, found)


@given(problems(spaces(max_rules=0)), st.sampled_from([1, 2, 5]))
@settings(max_examples=20)
def test_without_rules_it_is_a_plain_beam(problem, width):
    space, problem = problem
    plain, found = (kind(width).solve(space, problem) for kind in (Beam, ConstrainedBeam))
    for name in ("labels", "value", "status"):
        assert getattr(found, name).tolist() == getattr(plain, name).tolist()


def test_rules_are_obeyed_on_the_way():
    """By hand: a beam of one goes for a and is lost; a constrained one sees that a is no way."""
    builder = SpaceBuilder()
    x, y, z = (builder.variable(name, "ab") for name in "xyz")
    builder.require(x["a"] >> y["b"])
    builder.require(y["b"] >> z["b"])
    space = builder.build()
    scores = np.array([1.0, 0, 2.0, 0, 3.0, 0])
    assert Beam(1).solve(space, scores).status.tolist() == [Status.TIMED_OUT]
    found = ConstrainedBeam(1).solve(space, scores)
    assert found.labels.tolist() == [[0, 1, 1]]
    assert found.status.tolist() == [Status.FEASIBLE]
    assert found.source.tolist() == [FoundBy.BEAM]
    wide = ConstrainedBeam(2, proof=True).solve(space, scores)
    assert wide.labels.tolist() == [[1, 0, 0]]
    assert (wide.value[0], wide.bound[0]) == (5.0, 5.0)
    backwards = ConstrainedBeam(1, order=lambda space: [2, 1, 0]).solve(space, scores)
    assert backwards.labels.tolist() == [[1, 0, 0]]


def triangle():
    """With w: a, two labels for three that all differ: no pair of labels shows that it is wrong."""
    builder = SpaceBuilder()
    w = builder.variable("w", "ab")
    corners = [builder.variable(name, "abc") for name in "xyz"]
    for k, x in enumerate(corners):
        builder.require(w["a"] >> ~x["c"])
        for y in corners[:k]:
            for label in "abc":
                builder.require(~(x[label] & y[label]))
    return builder.build()


def test_where_a_beam_dies_the_answer_is_exact():
    space = triangle()
    scores = np.zeros((3, space.parts))
    scores[:2, 0] = 5.0
    scores[0, 4] = 1.0
    scores[2, 1] = 5.0
    found, best = ConstrainedBeam(1).solve(space, scores), Exact().solve(space, scores)
    for i in (0, 1):
        assert found.labels[i].tolist() == best.labels[i].tolist()
        assert found.status[i] == Status.OPTIMAL
        assert found.source[i] == best.source[i] != FoundBy.BEAM
        assert found.bound[i] == found.value[i] == best.value[i]
    assert found.source[2] == FoundBy.BEAM
    assert space.holds(found.labels).all()


def test_a_beam_that_dies_for_want_of_outputs_is_infeasible():
    space = triangle()
    problem = clamp(space, np.zeros((2, space.parts)), [{"w": "a"}, {"w": "b"}])
    for proof in (False, True):
        found = ConstrainedBeam(2, proof=proof).solve(space, problem)
        assert found.status[0] == Status.INFEASIBLE
        assert found.labels[0].tolist() == [-1] * 4
        assert found.value[0] == found.bound[0] == -np.inf
        assert space.holds(found.labels[1:]).all()


def test_long_rules_are_obeyed():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(10)]
    builder.require(at_most(3, [x["a"] for x in variables]))
    builder.require(at_least(4, [x["c"] for x in variables]))
    # An auxiliary column: what the rule is about is a whole rule itself.
    builder.require(
        at_most(2, [x["a"] for x in variables[:5]]) | at_least(3, [x["b"] for x in variables[5:]])
    )
    space = builder.build()
    assert len(space.network.rows) > 2
    assert space.network.variables > space.network.own
    scores = np.random.default_rng(0).normal(size=(30, space.parts))
    scores[:, space.offsets[:-1]] += 1.0
    found, best = ConstrainedBeam(2).solve(space, scores), Exact().solve(space, scores)
    assert space.holds(found.labels).all()
    assert (found.value <= best.value + 1e-9).all()
    assert (found.bound >= best.value - 1e-9).all()
    assert found.value.mean() > 0.8 * best.value.mean()
