"""What every engine takes and returns: objectives, solutions, clamping, ties."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from rote.inference.answers import answered
from rote.inference.base import (
    TIE,
    Objective,
    Solutions,
    Source,
    Status,
    as_objective,
    clamp,
)
from rote.inference.wrappers.unruled import Unruled

from rote import (
    Amortized,
    AmortizedRGS,
    BranchAndBound,
    Decomposed,
    Elimination,
    Exact,
    ExactEvery,
    Exhaustive,
    Milp,
    Speedup,
)
from rote.errors import LabelError, ScoreError, SettingError, SpaceError
from rote.inference.wrappers.timed import Timed
from rote.model import prepare
from rote.space import SpaceBuilder
from rote.space.losses import OneMinusF1
from rote.tasks.tagging import Tagging

# -- objectives ---------------------------------------------------------------------------


def test_plain_scores_become_a_checked_objective(space):
    for scores in (np.zeros(11), np.zeros((3, 11)), [0] * 11, [[0] * 11] * 2):
        objective = as_objective(space, scores)
        assert objective.scores.dtype == np.float64
        assert objective.scores.ndim == 2
        assert objective.scores.flags.c_contiguous
        assert not objective.scores.flags.writeable
        assert objective.allowed is None
        assert len(objective) == len(objective.scores)


def test_a_checked_objective_is_not_checked_again(space):
    objective = as_objective(space, np.zeros((2, 11)))
    assert as_objective(space, objective) is objective


@pytest.mark.parametrize("wrong", [np.zeros((2, 3)), np.full((2, 11), np.nan)])
def test_an_objective_with_other_scores_is_checked_again(space, wrong):
    for known in (as_objective(space, np.zeros((2, 11))), clamp(space, np.zeros((2, 11)), {})):
        with pytest.raises(ScoreError):
            as_objective(space, dataclasses.replace(known, scores=wrong))


def test_rows_and_clamping_need_no_further_check(space):
    known = clamp(space, np.zeros((2, 11)), {"x": "a"})
    for objective in (known, known.rows(np.array([1]))):
        assert as_objective(space, objective) is objective


def test_an_objective_checked_for_one_space_is_checked_again_for_another(space):
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    objective = as_objective(space, np.zeros(11))
    with pytest.raises(ScoreError, match=r"the shape \(m, 2\)"):
        as_objective(builder.build(), objective)


def test_allowed_labels_of_one_input_may_be_a_vector(space):
    allowed = np.array([True, False, True, True, True])
    objective = as_objective(space, Objective(np.zeros(11), allowed))
    assert objective.allowed.shape == (1, 5)
    assert not objective.allowed.flags.writeable


def test_closed_labels_have_no_row_when_all_are_open(space):
    assert as_objective(space, np.zeros((4, 11))).closed.shape[0] == 0
    allowed = np.array([[True, False, True, True, True]] * 2)
    objective = as_objective(space, Objective(np.zeros((2, 11)), allowed))
    assert objective.closed.tolist() == (~allowed).tolist()


def test_a_tie_grows_with_the_largest_score_of_the_input():
    objective = Objective(np.array([[0.0, 0.5], [-200.0, 3.0], [0.0, 0.0]]))
    assert objective.ties.tolist() == pytest.approx([TIE, 200 * TIE, TIE])
    assert Objective(np.empty((2, 0))).ties.tolist() == [TIE, TIE]


def test_rows_picks_inputs(space):
    scores = np.arange(33.0).reshape(3, 11)
    allowed = np.ones((3, 5), dtype=np.bool_)
    allowed[2, 0] = False
    picked = Objective(scores, allowed).rows(np.array([2, 0]))
    assert picked.scores.tolist() == scores[[2, 0]].tolist()
    assert picked.allowed.tolist() == allowed[[2, 0]].tolist()
    assert Objective(scores).rows(np.array([1])).allowed is None


def test_objectives_and_solutions_cannot_be_changed(space):
    objective = as_objective(space, np.zeros(11))
    solutions = answered(space, objective, np.zeros((1, 2), dtype=np.int64), Source.CHAIN)
    for value, name in ((objective, "scores"), (solutions, "labels")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(value, name, None)


# -- gold outputs -------------------------------------------------------------------------


def test_gold_outputs_are_checked_and_cannot_be_changed(space):
    for gold in ([[0, 2], [1, 0]], np.array([[0, 2], [1, 0]], dtype=np.int8)):
        objective = as_objective(space, Objective(np.zeros((2, 11)), gold=gold))
        assert objective.gold.tolist() == [[0, 2], [1, 0]]
        assert objective.gold.dtype == np.int64
        assert not objective.gold.flags.writeable
    assert as_objective(space, np.zeros((2, 11))).gold is None
    one = as_objective(space, Objective(np.zeros(11), gold=np.array([1, 2])))
    assert one.gold.tolist() == [[1, 2]]


def test_gold_outputs_that_break_rules_are_taken():
    builder = SpaceBuilder()
    x = builder.variable("x", "ab")
    builder.require(x["a"])
    objective = Objective(np.zeros((1, 2)), gold=np.array([[1]]))
    assert as_objective(builder.build(), objective).gold.tolist() == [[1]]


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
        as_objective(space, Objective(np.zeros((2, 11)), gold=gold))


def test_the_callers_gold_stays_as_it_was(space):
    gold = np.array([[0, 2], [1, 0]])
    as_objective(space, Objective(np.zeros((2, 11)), gold=gold))
    assert gold.flags.writeable


def test_what_scores_come_from_goes_along_with_them():
    task = Tagging(("D", "N"), lambda words: [{word: 1.0} for word in words])
    prepared = prepare(task, [["a", "dog"], ["the", "cat"], ["a", "cat"]])
    (group,) = prepared.groups
    inputs = prepared.inputs(group)
    weights = np.random.default_rng(0).normal(size=prepared.layout.size)
    objective = Objective(inputs.scores(weights), inputs=inputs)
    checked = as_objective(group.space, objective)
    assert checked.inputs is inputs
    part = checked.rows(np.array([2, 0]))
    assert part.inputs.scores(weights).tolist() == objective.scores[[2, 0]].tolist()
    assert checked.rows(1).inputs.scores(weights).tolist() == objective.scores[[1]].tolist()
    assert clamp(group.space, checked, {"0": "N"}).inputs is inputs
    with pytest.raises(ScoreError, match="vectors are of 3 inputs, and there are 2"):
        as_objective(group.space, Objective(objective.scores[:2], inputs=inputs))
    with pytest.raises(ScoreError, match=f"have {prepared.layout.size} weights, got"):
        inputs.scores(weights[:-1])


def test_rows_and_clamping_keep_gold_outputs(space):
    gold = np.array([[0, 2], [1, 0], [1, 1]])
    objective = as_objective(space, Objective(np.zeros((3, 11)), gold=gold))
    assert objective.rows(np.array([2, 0])).gold.tolist() == [[1, 1], [0, 2]]
    assert objective.rows(np.zeros(0, np.int64)).gold.shape == (0, 2)
    clamped = clamp(space, objective, {"x": "a"})
    assert clamped.gold.tolist() == gold.tolist()
    assert clamped.allowed[0].tolist() == [True, False, True, True, True]
    assert clamp(space, np.zeros(11), {"x": "a"}).gold is None


# -- clamping -----------------------------------------------------------------------------


def test_clamping_closes_the_other_labels_of_the_variables_given(space):
    objective = clamp(space, np.zeros((2, 11)), {"y": "b"})
    assert objective.allowed.tolist() == [[True, True, False, True, False]] * 2


def test_clamping_each_input_by_itself(space):
    objective = clamp(space, np.zeros((2, 11)), [{"x": "b", "y": "c"}, {}])
    assert objective.allowed.tolist() == [[False, True, False, False, True], [True] * 5]


def test_clamping_twice_keeps_both_and_reopens_nothing(space):
    once = clamp(space, np.zeros(11), {"x": "a"})
    twice = clamp(space, once, {"y": "a"})
    assert twice.allowed.tolist() == [[True, False, True, False, False]]
    against = clamp(space, once, {"x": "b"})
    assert against.allowed[0, :2].tolist() == [False, False]
    assert once.allowed.tolist() == [[True, False, True, True, True]]


def test_clamped_scores_do_not_change_with_those_given(space):
    scores = np.zeros((1, 11))
    for given_scores in (scores, Objective(scores), as_objective(space, scores)):
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


# -- solutions ----------------------------------------------------------------------------


def test_rows_takes_answers_out_and_with_rows_puts_others_in(space):
    objective = as_objective(space, np.random.default_rng(0).normal(size=(4, 11)))
    labels = np.array([[0, 0], [1, 1], [0, 2], [1, 0]])
    whole = answered(space, objective, labels, Source.CHAIN)
    other = answered(space, objective, labels[::-1].copy(), Source.TREE)
    some, rest = np.array([3, 1]), np.array([0, 2])
    mixed = whole.with_rows(some, other.rows(some))
    for field in dataclasses.fields(Solutions):
        array = getattr(mixed, field.name)
        assert array[some].tolist() == getattr(other, field.name)[some].tolist()
        assert array[rest].tolist() == getattr(whole, field.name)[rest].tolist()
        assert not array.flags.writeable
    assert whole.source.tolist() == [Source.CHAIN] * 4


@pytest.mark.parametrize(
    "index", [1, np.int64(1), np.array(1), -3, [1], slice(1, 2), np.arange(4) == 1]
)
def test_one_row_of_a_batch_is_a_batch_of_one(space, index):
    gold = np.array([[0, 0], [1, 1], [0, 2], [1, 0]])
    scores = np.arange(44.0).reshape(4, 11)
    term = OneMinusF1().term(gold)
    objective = as_objective(space, Objective(scores, term=term, gold=gold), terms=True)
    objective = clamp(space, objective, {})
    part = objective.rows(index)
    assert len(part) == len(part.allowed) == len(part.term) == len(part.gold) == 1
    assert part.scores.tolist() == scores[1:2].tolist()
    answers = answered(space, objective, gold, Source.CHAIN).rows(index)
    for field in dataclasses.fields(Solutions):
        assert len(getattr(answers, field.name)) == 1
    assert answers.labels.tolist() == [[1, 1]]


def test_no_row_of_a_batch_is_an_empty_batch(space):
    objective = as_objective(space, np.zeros((4, 11)))
    for none in ([], np.empty(0, dtype=np.int64), slice(0)):
        assert objective.rows(none).scores.shape == (0, 11)


def test_repr_counts_statuses_and_sources(space):
    objective = clamp(space, np.zeros((3, 11)), {})
    labels = np.array([[0, 0], [0, 1], [-1, -1]])
    solutions = answered(space, objective, labels, Source.BRANCH)
    first = answered(space, objective.rows([0]), labels[:1], Source.ARGMAX)
    solutions = solutions.with_rows(np.array([0]), first)
    assert repr(solutions) == "Solutions(3: 2 optimal, 1 infeasible; by 1 argmax, 2 branch)"


def test_an_answer_is_shown_with_its_proof(space):
    objective = clamp(space, np.zeros((2, 11)), {})
    solutions = answered(space, objective, np.array([[0, 0], [-1, -1]]), Source.BRANCH)
    text = solutions.show(space).text(60)
    for variable in space.variables:
        assert f"{variable.name} {variable.labels[0]}" in text
    assert solutions.proof() == "value 0, bound 0: optimal, by branch"
    assert solutions.proof() in text


@pytest.mark.parametrize("status", [Status.INFEASIBLE, Status.TIMED_OUT])
def test_an_answer_without_an_output_says_so(space, status):
    objective = clamp(space, np.zeros((1, 11)), {})
    found = answered(space, objective, np.array([[-1, -1]]), Source.MILP)
    found = dataclasses.replace(found, status=np.array([status]))
    assert found.show(space).text(80).strip() == found.proof()
    assert found.proof().startswith(status.name.lower().replace("_", " "))


def test_codes_of_statuses_and_sources_are_fixed():
    """They are stored in files and sent between processes."""
    assert {status.name: int(status) for status in Status} == {
        "OPTIMAL": 0,
        "FEASIBLE": 1,
        "INFEASIBLE": 2,
        "TIMED_OUT": 3,
    }
    codes = [source.name for source in sorted(Source)]
    assert codes[:7] == ["ENUMERATION", "ARGMAX", "CHAIN", "TREE", "ELIMINATION", "BRANCH", "MILP"]


def test_a_builder_is_no_space():
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    with pytest.raises(SpaceError, match=r"as builder\.build\(\) gives it; got <"):
        as_objective(builder, [1.0, 2.0])


@pytest.mark.parametrize("wrapper", [Amortized, Decomposed, Speedup, ExactEvery, Timed, Unruled])
@pytest.mark.parametrize("engine", [Exact, "exact", None])
def test_a_wrapper_wants_an_engine_and_not_its_class(wrapper, engine):
    with pytest.raises(SettingError, match=r"is one such as Exact\(\); got"):
        wrapper(engine)


@pytest.mark.parametrize("engine", [Exhaustive, Elimination, BranchAndBound])
@pytest.mark.parametrize("most", ["a", 0, 0.5, 1e6])
def test_what_an_engine_looks_at_most_is_a_whole_number(engine, most):
    with pytest.raises(SettingError, match="is a whole number of at least 1, got"):
        engine(most)


def test_what_is_searched_amortized_is_an_rgs():
    with pytest.raises(SettingError, match=r"search is one such as RGS\(restarts=10\); got"):
        AmortizedRGS(Exact())


def test_an_address_is_no_store():
    with pytest.raises(SettingError, match=r"open_store\(address\) for an address; got 'a.sqlite'"):
        Amortized(Exact(), store="a.sqlite")


@pytest.mark.parametrize("limit", ["1", float("nan"), 0, -1.0])
def test_a_limit_is_a_number_above_zero(limit):
    with pytest.raises(SettingError, match="time_limit is a number above 0, or None"):
        Exact(time_limit=limit)


@pytest.mark.parametrize("engine", [Exact(), Exhaustive(), BranchAndBound(), Milp()])
def test_scores_whose_sum_overflows_are_refused(engine):
    builder = SpaceBuilder()
    for name in "xyz":
        builder.variable(name, "ab")
    space = builder.build()
    with pytest.raises(ScoreError, match=r"input 1: scores are finite and below 2\*\*1000"):
        engine.solve(space, np.array([np.zeros(6), np.full(6, -1e308)]))
    assert engine.solve(space, np.full(6, -1e300)).optimal.all()
