"""What is maximised: checks, rows, clamping, ties."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote import Exact, Status, k_best, max_marginals
from rote.errors import LabelError, ScoreError, SpaceError
from rote.inference.exact.duals import zero_duals
from rote.inference.problem import NO_CONTEXT, TIE, Context, Problem, WarmStart, clamp
from rote.model import prepare
from rote.space import SpaceBuilder
from rote.space.losses import F1Loss, Hamming
from rote.tasks.tagging import Tagging
from tests.strategies import Judge, problems

NOTHING = SpaceBuilder().build()


def one_variable(labels="ab"):
    builder = SpaceBuilder()
    builder.variable("x", labels)
    return builder.build()


# -- problems -----------------------------------------------------------------------------


def test_plain_scores_become_a_checked_problem(space):
    for scores in (np.zeros(11), np.zeros((3, 11)), [0] * 11, [[0] * 11] * 2):
        problem = Problem.of(space, scores)
        assert problem.scores.dtype == np.float64
        assert problem.scores.ndim == 2
        assert problem.scores.flags.c_contiguous
        assert not problem.scores.flags.writeable
        assert problem.closed is None
        assert len(problem) == len(problem.scores)


def test_a_problem_is_not_checked_again(space):
    known = clamp(space, np.zeros((2, 11)), {"x": "a"})
    for problem in (Problem(space, np.zeros((2, 11))), known, known.rows(np.array([1]))):
        assert Problem.of(space, problem) is problem


@pytest.mark.parametrize("wrong", [np.zeros((2, 3)), np.full((2, 11), np.nan)])
def test_a_problem_with_other_scores_is_checked_again(space, wrong):
    for known in (Problem(space, np.zeros((2, 11))), clamp(space, np.zeros((2, 11)), {})):
        with pytest.raises(ScoreError):
            dataclasses.replace(known, scores=wrong)


def test_a_problem_of_one_space_is_none_of_another(space):
    problem = Problem(space, np.zeros(11))
    with pytest.raises(SpaceError, match="made for another space"):
        Problem.of(one_variable(), problem)
    builder = SpaceBuilder()
    builder.factor(builder.variable("x", ["a", "b"]), builder.variable("y", ["a", "b", "c"]))
    assert Problem.of(builder.build(), problem) is problem  # an equal space will do


def test_a_builder_is_no_space():
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    with pytest.raises(SpaceError, match=r"as builder\.build\(\) gives it; got <"):
        Problem(builder, [1.0, 2.0])


def test_closed_labels_of_one_input_may_be_a_vector(space):
    problem = Problem(space, np.zeros(11), closed=np.array([False, True, False, False, False]))
    assert problem.closed.shape == (1, 5)
    assert not problem.closed.flags.writeable
    assert problem.closed_rows is problem.closed
    assert problem.open_labels().tolist() == [[True, False, True, True, True]]


def test_where_nothing_is_closed_kernels_get_no_row_and_every_label_is_open(space):
    problem = Problem(space, np.zeros((4, 11)))
    assert problem.closed_rows.shape[0] == 0
    assert problem.open_labels().all()
    assert problem.open_labels().shape == (4, 5)


def test_a_tie_grows_with_the_largest_loss_of_the_input():
    problem = Problem(one_variable(), np.array([[0.0, 0.5], [-200.0, 3.0], [0.0, 0.0]]))
    assert problem.ties.tolist() == pytest.approx([0.5 * TIE, 203 * TIE, TIE])
    assert Problem(NOTHING, np.empty((2, 0))).ties.tolist() == [TIE, TIE]


ONE = [1, np.int64(1), np.array(1), -3, [1], slice(1, 2), np.arange(4) == 1]


@pytest.mark.parametrize(
    ("index", "rows"), [*((one, [1]) for one in ONE), ([], []), (slice(0), []), ([3, 0], [3, 0])]
)
def test_rows_of_a_batch_are_a_batch(space, index, rows):
    gold = np.array([[0, 0], [1, 1], [0, 2], [1, 0]])
    scores = np.arange(44.0).reshape(4, 11)
    given_labels = [{}, {"x": "a"}, {"x": "b"}, {"y": "c"}]
    problem = clamp(space, Problem(space, scores, loss_term=F1Loss().term(gold)), given_labels)
    part, context = problem.rows(index), Context(gold=gold).rows(index)
    assert len(part) == len(part.loss_term) == len(rows)
    assert part.scores.tolist() == scores[rows].tolist()
    assert part.closed.tolist() == problem.closed[rows].tolist()
    assert context.gold.tolist() == gold[rows].tolist()
    assert Problem(space, scores).rows(index).closed is None


def test_problems_cannot_be_changed(space):
    problem = Problem(space, np.zeros(11))
    for name in ("scores", "closed", "space"):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(problem, name, None)


def test_scores_that_grow_too_large_are_refused_when_scaled(space):
    problem = Problem(space, np.full(11, 1e300))
    assert problem.scaled(0.5).scores.max() == 5e299
    with pytest.raises(ScoreError, match="take smaller steps"):
        problem.scaled(100.0)


def test_a_loss_is_offsets_where_it_adds_up_and_a_term_where_not(space):
    problem, gold = Problem(space, np.zeros((1, 11))), np.array([[0, 2]])
    for loss, decomposes in ((Hamming(), True), (F1Loss(), False)):
        augmented = problem.with_loss(loss, gold)
        assert augmented.decomposes == decomposes
        assert augmented.value(gold).tolist() == [0.0]
        assert augmented.value(np.array([[1, 1]])) == pytest.approx(2.0 if decomposes else 1.0)
    assert problem.decomposes


@given(problems(), st.sampled_from([0.1, 0.3]))
@settings(max_examples=60)
def test_forbidden_tuples_are_no_part_of_other_outputs_either(drawn, share):
    space, problem = drawn
    wrong = np.random.default_rng(space.parts).random(problem.scores.shape) < share
    scores, judge = np.where(wrong, -np.inf, problem.scores), Judge(space)
    if not judge.feasible:
        return
    given_scores = Problem(space, scores, problem.closed)
    size = max(1.0, np.abs(problem.scores).max(initial=0.0))
    values, ranks = max_marginals(space, given_scores), k_best(space, given_scores, 3)
    for i, row in enumerate(scores):
        open_labels = None if problem.closed is None else ~problem.closed[i]
        expected = judge.max_marginals(row, open_labels)
        np.testing.assert_allclose(values[i], expected, rtol=0, atol=1e-9 * size)
        best = [one.value for one in judge.ranked(row, open_labels) if one.value > -np.inf][:3]
        found = [rank.value[i] for rank in ranks if rank.status[i] == Status.OPTIMAL]
        np.testing.assert_allclose(found, best, rtol=0, atol=1e-9 * size)


def test_what_minus_infinity_forbids_stays_forbidden_in_part_of_a_batch(space):
    scores = np.zeros((2, 11))
    scores[0, 5:] = -np.inf  # all label tuples of the first input
    problem = clamp(space, scores, {"x": "a"}).rows([1, 0])
    answers = Exact().solve(space, problem)
    assert answers.status.tolist() == [Status.OPTIMAL, Status.INFEASIBLE]
    assert answers.labels.tolist() == [[0, 0], [-1, -1]]
    assert Problem(space, scores).ties.tolist() == [TIE, TIE]  # as without forbidden tuples
    close = np.zeros((1, 11))
    close[0, 1], close[0, 6:8], close[0, 8] = 3e-9, -1e3, -np.inf  # b; a with b or c; b with a
    assert Exact().solve(space, close).labels.tolist() == [[1, 1]]  # no penalty blurs 3e-9
    with pytest.raises(ScoreError, match="forbid it by a rule"):
        Problem(space, scores, loss_term=F1Loss().term(np.zeros((2, 2), np.int64)))


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_other_infinite_scores_are_refused_with_their_place(space, wrong):
    scores = np.zeros((3, 11))
    for part, said in ((1, "label 'b' of 'x'"), (10, r"labels \('b', 'c'\) of factor 'x-y'")):
        scores[2, part] = wrong
        with pytest.raises(ScoreError, match=rf"input 2: scores are finite, .* for {said}"):
            Problem(space, scores)
        scores[2, part] = 0.0


@pytest.mark.parametrize("kind", ["float32", "bfloat16", "pandas", "polars", "pyarrow"])
def test_tensors_and_tables_are_scores_too(space, kind):
    scores = np.arange(22.0).reshape(2, 11)
    names = ["y=c", "x=a", "x=b", "y=a", "y=b"]  # in an order of its own
    if "float" in kind:
        torch = pytest.importorskip("torch")
        given_scores = torch.tensor(scores, dtype=getattr(torch, kind), requires_grad=True)
    else:
        scores[:, 5:] = 0.0  # a table has none of factors
        columns = {name: scores[:, k] for k, name in zip([4, 0, 1, 2, 3], names, strict=True)}
        package = pytest.importorskip(kind)
        given_scores = (package.table if kind == "pyarrow" else package.DataFrame)(columns)
    assert Problem.of(space, given_scores).scores.tolist() == scores.tolist()
    if "float" not in kind:
        del columns["y=b"]
        given_scores = (package.table if kind == "pyarrow" else package.DataFrame)(
            {**columns, "z=a": scores[:, 0]}
        )
        with pytest.raises(ScoreError, match="missing: y=b; unknown: z=a"):
            Problem.of(space, given_scores)


@pytest.mark.parametrize("unknown", [None, "?", -1])
def test_what_is_not_known_is_not_given(space, unknown):
    scores = np.arange(11.0)
    known = clamp(space, scores, {"x": "a", "y": unknown})
    assert known.closed.tolist() == clamp(space, scores, {"x": "a"}).closed.tolist()
    builder = SpaceBuilder()
    builder.variable("x", ["?", "b"])
    assert clamp(builder.build(), np.zeros(2), {"x": "?"}).closed.tolist() == [[False, True]]


# -- contexts -----------------------------------------------------------------------------


def test_gold_outputs_are_checked_and_cannot_be_changed(space):
    problem = Problem(space, np.zeros((2, 11)))
    mine = np.array([[0, 2], [1, 0]])
    for gold in (mine, mine.tolist(), mine.astype(np.int8)):
        checked = Context(gold=gold).checked(problem)
        assert checked.gold.tolist() == [[0, 2], [1, 0]]
        assert checked.gold.dtype == np.int64
        assert not checked.gold.flags.writeable
    assert mine.flags.writeable
    assert NO_CONTEXT.checked(problem).gold is None
    one = Context(gold=np.array([1, 2])).checked(problem.rows(0))
    assert one.gold.tolist() == [[1, 2]]
    assert one.without_gold().gold is None


def test_gold_outputs_that_break_rules_are_taken():
    builder = SpaceBuilder()
    x = builder.variable("x", "ab")
    builder.require(x["a"])
    problem = Problem(builder.build(), np.zeros((1, 2)))
    assert Context(gold=np.array([[1]])).checked(problem).gold.tolist() == [[1]]


@pytest.mark.parametrize(
    ("gold", "match"),
    [
        (np.zeros((3, 2), np.int64), "gold has 3 outputs, and there are 2 inputs"),
        (np.zeros((2, 3), np.int64), r"the shape \(m, 2\), one column per variable"),
        (np.zeros((2, 2)), "whole numbers, got float64"),
        (np.array([[0, 0], [2, 0]]), "beyond its variable's last label"),
        (np.array([[0, -1], [0, 0]]), "below 0"),
        (np.array([["a", "b"], ["a", "a"]]), "use space.encode for names"),
    ],
    ids=["outputs", "variables", "floats", "beyond", "below", "names"],
)
def test_gold_outputs_of_another_shape_or_with_other_labels_are_refused(space, gold, match):
    with pytest.raises(LabelError, match=match):
        Context(gold=gold).checked(Problem(space, np.zeros((2, 11))))


def test_what_scores_come_from_goes_along_with_them():
    task = Tagging(("D", "N"), lambda words: [{word: 1.0} for word in words])
    prepared = prepare(task, [["a", "dog"], ["the", "cat"], ["a", "cat"]])
    (group,) = prepared.groups
    features = prepared.features(group)
    weights = np.random.default_rng(0).normal(size=prepared.layout.size)
    problem, context = features.problem(group.space, weights), Context(features=features)
    assert context.checked(problem).features is features
    for rows in ([2, 0], [1]):
        part = context.rows(np.array(rows)).features
        assert part.scores(weights).tolist() == problem.scores[rows].tolist()
    with pytest.raises(ScoreError, match="vectors are of 3 inputs, and there are 2"):
        context.checked(problem.rows([0, 1]))
    with pytest.raises(ScoreError, match=f"have {prepared.layout.size} weights, got"):
        features.scores(weights[:-1])


def test_rows_of_a_warm_start_are_those_of_its_parts(space):
    incumbent = np.array([[0, 0], [1, 1], [1, 2]])
    warm = Context(warm=WarmStart(incumbent, zero_duals(space, 3))).rows(np.array([2, 0])).warm
    assert warm.incumbent.tolist() == [[1, 2], [0, 0]]
    assert len(warm.duals.messages) == 2
    assert NO_CONTEXT.rows(np.array([0])) is NO_CONTEXT
    assert WarmStart().rows(np.array([0])) == WarmStart()


# -- clamping -----------------------------------------------------------------------------


def test_clamping_closes_the_other_labels_of_the_variables_given(space):
    problem = clamp(space, np.zeros((2, 11)), {"y": "b"})
    assert problem.open_labels().tolist() == [[True, True, False, True, False]] * 2


def test_clamping_each_input_by_itself(space):
    problem = clamp(space, np.zeros((2, 11)), [{"x": "b", "y": "c"}, {}])
    assert problem.open_labels().tolist() == [[False, True, False, False, True], [True] * 5]


def test_clamping_twice_keeps_both_and_reopens_nothing(space):
    once = clamp(space, np.zeros(11), {"x": "a"})
    twice = clamp(space, once, {"y": "a"})
    assert twice.open_labels().tolist() == [[True, False, True, False, False]]
    against = clamp(space, once, {"x": "b"})
    assert against.open_labels()[0, :2].tolist() == [False, False]
    assert once.open_labels().tolist() == [[True, False, True, True, True]]


def test_clamped_scores_do_not_change_with_those_given(space):
    scores = np.zeros((1, 11))
    for given_scores in (scores, Problem(space, scores)):
        clamped = clamp(space, given_scores, {"x": "a"})
        scores[0, 0] += 1.0
        assert clamped.scores[0, 0] == scores[0, 0] - 1.0


@pytest.mark.parametrize(
    ("given_labels", "match"),
    [
        ({"q": "a"}, "no variable is called 'q'"),
        ({"x": "c"}, "'x' has no label 'c'"),
        ([{}, {}, {}], "clamp got 3 sets of given labels for 2 inputs"),
    ],
)
def test_clamping_to_what_does_not_exist_is_refused(space, given_labels, match):
    with pytest.raises(LabelError, match=match):
        clamp(space, np.zeros((2, 11)), given_labels)
