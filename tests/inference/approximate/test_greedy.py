"""`RGS`: answers that obey, values and bounds that are true, and the same answer every time."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote import Decomposed, HammingBall
from rote.engines import Exact, Exhaustive, FoundBy, Problem, Status
from rote.errors import InfeasibleSpace, LabelError, SettingError
from rote.inference.approximate import RGS
from rote.inference.problem import NO_CONTEXT, Context
from rote.space import SpaceBuilder, at_most, exactly
from rote.space.global_features import (
    ClusterAgreement,
    CustomFeature,
    GlobalFeatureScores,
    GlobalFeatureSet,
    LabelCounts,
    tuples_along,
)
from rote.space.losses import F1Loss, JaccardLoss, ZeroOne
from rote.types import readonly
from tests.inference.approximate.truth import check_truth
from tests.strategies import Judge, problems, rules_as_rows, spaces


class Fixed:
    """A classifier that always says the same."""

    def __init__(self, labels):
        self.labels = np.asarray(labels)

    def initial(self, problem, context):
        shape = len(problem), len(problem.space.variables)
        return readonly(np.broadcast_to(self.labels, shape).copy())


def grid(n, labels="ab", seed=0):
    builder = SpaceBuilder()
    cells = {(r, c): builder.variable(f"{r},{c}", labels) for r in range(n) for c in range(n)}
    for (r, c), cell in cells.items():
        for other in ((r + 1, c), (r, c + 1)):
            if other in cells:
                builder.factor(cell, cells[other])
    space = builder.build()
    return space, np.random.default_rng(seed).normal(size=(4, space.parts))


@given(problems(), st.sampled_from([None, 1]))
def test_answers_obey_and_say_truly_what_they_are_worth(problem, as_rows):
    space, problem = problem
    with rules_as_rows(as_rows):
        try:
            found = RGS(restarts=8).solve(space, problem)
        except InfeasibleSpace:
            assert not Judge(space).feasible
            return
    assert (found.source == FoundBy.GREEDY).all()
    check_truth(space, problem, found, {Status.TIMED_OUT})


@given(spaces(least=1, most=4, max_rules=0), st.integers(0, 2**32 - 1))
def test_small_spaces_are_solved_by_many_restarts(space, seed):
    scores = np.random.default_rng(seed).normal(size=(3, space.parts))
    found, best = RGS(restarts=60).solve(space, scores), Exhaustive().solve(space, scores)
    assert found.value == pytest.approx(best.value)


@pytest.mark.parametrize("loss", [F1Loss(), JaccardLoss(), ZeroOne()])
@pytest.mark.parametrize("ruled", [False, True])
def test_terms_are_looked_at(loss, ruled):
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", ["off", "on"]) for j in range(6)]
    for j in range(5):
        builder.factor(variables[j], variables[j + 1])
    if ruled:
        builder.require(at_most(3, [v["on"] for v in variables]))
    space, rng = builder.build(), np.random.default_rng(0)
    gold = rng.integers(2, size=(20, 6)) * (np.arange(6) % 2)
    problem = Problem(space, 0.3 * rng.normal(size=(20, space.parts)), loss_term=loss.term(gold))
    found, best = (engine.solve(space, problem) for engine in (RGS(restarts=50), Exhaustive()))
    assert found.value == pytest.approx(best.value)
    assert (found.bound >= found.value).all()
    assert space.holds(found.labels).all()


def test_more_restarts_are_never_worse_and_the_first_are_the_same():
    space, scores = grid(5)
    values = [RGS(restarts=k).solve(space, scores).value for k in (1, 3, 10, 40)]
    assert (np.diff(values, axis=0) >= 0).all()
    solutions, needed = RGS(restarts=40).searched(Problem(space, scores), NO_CONTEXT)
    for i, k in enumerate(needed.tolist()):
        again = RGS(restarts=k).solve(space, scores[i])
        assert again.labels.tolist() == [solutions.labels[i].tolist()]
        assert k == 1 or RGS(restarts=k - 1).solve(space, scores[i]).value < again.value


def test_a_classifier_says_where_to_start():
    space, scores = grid(4)
    best = Exact().solve(space, scores)
    for i, labels in enumerate(best.labels):
        found, needed = RGS(1.0, 50, Fixed(labels)).searched(Problem(space, scores[i]), NO_CONTEXT)
        assert found.labels[0].tolist() == labels.tolist()
        assert needed.tolist() == [1]
    # With nothing left to chance all starts are the same, and the end need not be the best.
    bad = RGS(1.0, 50, Fixed(1 - best.labels[0])).solve(space, scores[0])
    assert (
        bad.labels.tolist()
        == RGS(1.0, 1, Fixed(1 - best.labels[0])).solve(space, scores[0]).labels.tolist()
    )


@pytest.mark.parametrize(
    ("initial", "match"),
    [
        (lambda m, n: np.full((m, n), 2), "beyond its variable's last"),
        (lambda m, n: np.full((m, n), -2), "below -1"),
        (lambda m, n: np.zeros((m, n)), "whole numbers of shape .4, 4., .*; got float64"),
        (lambda m, n: np.zeros((m, n - 1), dtype=int), "got int64 of shape .4, 3."),
        (lambda m, n: [["a"] * n] * m, "got <U1"),
    ],
)
def test_a_classifier_that_says_what_is_no_output_is_refused(initial, match):
    class Wrong:
        def initial(self, problem, context):
            return initial(len(problem), len(problem.space.variables))

    space, scores = grid(2)
    with pytest.raises(LabelError, match=match):
        RGS(alpha=1.0, classifier=Wrong()).solve(space, scores)


def test_starts_that_break_a_rule_are_repaired():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{j}", "abc") for j in range(12)]
    builder.require(exactly(2, [v["b"] for v in variables]))
    for j in range(11):
        builder.require(~(variables[j]["c"] & variables[j + 1]["c"]))
    space = builder.build()
    scores = np.random.default_rng(0).normal(size=(10, space.parts))
    found, best = RGS(restarts=50).solve(space, scores), Exact().solve(space, scores)
    assert space.holds(found.labels).all()
    # No change of one label moves a b from here to there, so that only restarts do.
    assert found.value.sum() >= 0.85 * best.value.sum()
    assert (found.value <= best.value + 1e-9).all()


def test_where_every_climb_ends_outside_of_the_rules_there_is_no_answer():
    # From two b's of four, one change leads to one or to three, and neither will do.
    builder = SpaceBuilder()
    on = [builder.variable(f"x{j}", "ab")["b"] for j in range(4)]
    builder.require(exactly(0, on) | exactly(4, on))
    for limit in (None, 1):  # the rule is a table, or rows
        with rules_as_rows(limit):
            space = builder.build()
            stuck, needed = RGS(1.0, 3, Fixed([0, 0, 1, 1])).searched(
                Problem(space, np.zeros(space.parts)), NO_CONTEXT
            )
            near = RGS(1.0, 3, Fixed([0, 1, 1, 1])).solve(space, np.zeros(space.parts))
        assert stuck.status.tolist() == [Status.TIMED_OUT]
        assert stuck.labels.tolist() == [[-1] * 4]
        assert needed.tolist() == [0]
        assert near.labels.tolist() == [[1] * 4]


@pytest.mark.parametrize(
    ("settings_", "match"),
    [
        ({"alpha": -0.1}, "alpha is a number from 0 to 1"),
        ({"alpha": 1.5, "classifier": Fixed([0])}, "alpha is a number from 0 to 1"),
        ({"alpha": "half"}, "alpha is a number from 0 to 1"),
        ({"alpha": 0.5}, "no classifier to start from"),
        ({"restarts": 0}, "restarts is a whole number of at least 1"),
        ({"restarts": 2.5}, "restarts is a whole number of at least 1"),
        ({"seed": -1}, "seed is a whole number"),
        ({"classifier": "iid"}, "classifier is one with a method initial"),
        ({"classifier": Fixed}, "classifier is one with a method initial"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings_, match):
    with pytest.raises(SettingError, match=match):
        RGS(**settings_)


# -- global features ------------------------------------------------------------------------------


def with_global_features(n, labels, seed, own=False):
    """A chain with global features of triples and label shares, as kernels know them or as own."""
    builder = SpaceBuilder()
    variables = [builder.variable(str(j), labels) for j in range(n)]
    for one, other in pairwise(variables):
        builder.factor(one, other)
    builder.require(at_most(2, [variable[labels[0]] for variable in variables]))
    space, k = builder.build(), len(labels)
    rng = np.random.default_rng(seed)
    families = (tuples_along("triples", n, 3, k), LabelCounts("shares", k, 4))
    firsts = np.cumsum([5, *(family.width for family in families)])
    origins = np.repeat(firsts[:-1], [family.count for family in families])
    if own:
        families = tuple(CustomFeature(f.block, f.width, f.count, f.values) for f in families)
    weights = readonly(rng.normal(size=firsts[-1]))
    global_features = GlobalFeatureScores(GlobalFeatureSet(families, n), readonly(origins), weights)
    return space, Problem(
        space, readonly(rng.normal(size=(5, space.parts))), global_scores=global_features
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("loss", [None, F1Loss()])
def test_global_features_of_ones_own_are_searched_as_those_that_kernels_know(seed, loss):
    space, known = with_global_features(6, "abc", seed)
    _, own = with_global_features(6, "abc", seed, own=True)
    term = None if loss is None else loss.term(np.random.default_rng(seed).integers(3, size=(5, 6)))
    engine = RGS(restarts=4)
    fast, fast_needed = engine.searched(replace(known, loss_term=term), NO_CONTEXT)
    slow, slow_needed = engine.searched(replace(own, loss_term=term), NO_CONTEXT)
    assert fast.labels.tolist() == slow.labels.tolist()
    assert fast.value.tolist() == pytest.approx(slow.value.tolist())
    assert fast_needed.tolist() == slow_needed.tolist()
    assert space.holds(fast.labels).all()


@pytest.mark.parametrize("seed", range(3))
def test_many_restarts_find_the_best_output_under_global_features(seed):
    space, problem = with_global_features(5, "ab", seed)
    best = Exhaustive().solve(space, problem)
    found = RGS(restarts=60).solve(space, problem)
    assert found.value == pytest.approx(best.value)
    assert (found.bound >= best.value - 1e-9).all()
    _, own = with_global_features(5, "ab", seed, own=True)
    assert Exhaustive().solve(space, own).labels.tolist() == best.labels.tolist()


@pytest.mark.parametrize("seed", range(3))
def test_all_subsets_around_gold_are_all_outputs_under_global_features_too(seed):
    space, problem = with_global_features(4, "ab", seed)
    gold = np.full((5, 4), 1)
    around = Decomposed(Exact(), HammingBall(4)).solve(space, problem, Context(gold=gold))
    assert around.value == pytest.approx(Exhaustive().solve(space, problem).value)


@pytest.mark.parametrize("seed", range(4))
def test_entities_are_searched_as_global_features_of_ones_own_are(seed):
    rng, n = np.random.default_rng(seed), 7
    builder = SpaceBuilder()
    for i in range(n):
        builder.variable(str(i), [str(back) for back in range(i + 1)])
    space = builder.build()
    attributes = tuple(tuple(rng.integers(3, size=2).tolist()) for _ in range(n))
    family = ClusterAgreement("entity", attributes, tuple(rng.integers(3, size=n).tolist()))
    own = CustomFeature("entity", family.width, family.count, family.values)
    weights = readonly(rng.normal(size=3 + family.width))
    scores = readonly(rng.normal(size=(4, space.parts)))
    origins = readonly(np.full(family.count, 3))
    answers = []
    for one in (family, own):
        global_features = GlobalFeatureScores(GlobalFeatureSet((one,), n), origins, weights)
        problem = Problem(space, scores, global_scores=global_features)
        answers.append(RGS(restarts=5).searched(problem, NO_CONTEXT))
    (fast, fast_needed), (slow, slow_needed) = answers
    assert fast.labels.tolist() == slow.labels.tolist()
    assert fast.value == pytest.approx(slow.value)
    assert fast_needed.tolist() == slow_needed.tolist()
