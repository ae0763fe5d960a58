"""Losses, against their definitions, and loss-augmented inference against enumeration."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rote.engines import Exact, Exhaustive, Problem, Status
from rote.errors import InfeasibleSpace, ScoreError, SettingError
from rote.space import SpaceBuilder
from rote.space.losses import F1Loss, Hamming, JaccardLoss, ZeroOne
from rote.types import readonly
from tests.strategies import Judge, known_value, row_of, spaces

WEIGHED = Hamming({"a": 2.0, "c": 0.0})
LOSSES = [Hamming(), WEIGHED, ZeroOne(), F1Loss(), JaccardLoss()]
TERMS = [ZeroOne(), F1Loss(), JaccardLoss()]
BY_NAME = {"ids": lambda loss: type(loss).__name__}


def naive(loss, space, gold, labels):
    """The loss of one output by its definition, over names of labels."""
    right = [v.labels[a] for v, a in zip(space.variables, gold, strict=True)]
    wrong = [g for g, a, b in zip(right, gold, labels, strict=True) if a != b]
    if isinstance(loss, Hamming):
        costs = dict(loss.weights)
        return sum(costs.get(label, 1.0) for label in wrong)
    if isinstance(loss, ZeroOne):
        return 1.0 if wrong else 0.0
    on = {(j, a) for j, a in enumerate(gold) if a > 0}
    said = {(j, a) for j, a in enumerate(labels) if a > 0}
    if not on and not said:
        return 0.0
    if isinstance(loss, F1Loss):
        return 1.0 - 2 * len(on & said) / (len(on) + len(said))
    return 1.0 - len(on & said) / len(on | said)


def batch(rng, space, count):
    return np.array(
        [[int(rng.integers(size)) for size in space.sizes] for _ in range(count)], dtype=np.int64
    ).reshape(count, len(space.variables))


@pytest.mark.parametrize("loss", LOSSES, **BY_NAME)
@given(space=spaces(max_rules=0), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_the_loss_of_an_output_is_that_of_its_definition(loss, space, seed):
    rng = np.random.default_rng(seed)
    gold, labels = batch(rng, space, 6), batch(rng, space, 6)
    labels[0] = gold[0]
    found = loss.value(space, gold, labels)
    assert found.shape == (6,)
    expected = [naive(loss, space, g, y) for g, y in zip(gold, labels, strict=True)]
    assert found.tolist() == pytest.approx(expected)
    assert found[0] == 0.0


@pytest.mark.parametrize("loss", [Hamming(), WEIGHED], ids=["plain", "weighed"])
@given(space=spaces(most=4), seed=st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_scores_and_offsets_add_up_to_score_and_loss(loss, space, seed):
    rng = np.random.default_rng(seed)
    judge = Judge(space)
    gold = batch(rng, space, 2)
    scores = rng.normal(size=(2, space.parts))
    augmented = scores.copy()
    augmented[:, : space.labels] += loss.offsets(space, gold)
    for i in range(2):
        for labels in judge.everything:
            expected = known_value(space, scores[i], labels) + naive(loss, space, gold[i], labels)
            assert known_value(space, augmented[i], labels) == pytest.approx(expected)
    if judge.feasible:
        found = Exact().solve(space, readonly(augmented))
        for i in range(2):
            top = max(
                known_value(space, scores[i], y) + naive(loss, space, gold[i], y)
                for y in judge.outputs
            )
            assert found.value[i] == pytest.approx(top)


@pytest.mark.parametrize("loss", TERMS, **BY_NAME)
@given(space=spaces(most=4), seed=st.integers(0, 2**32 - 1), some_closed=st.booleans())
@settings(max_examples=40)
def test_a_term_is_added_to_the_score_of_every_output_that_is_open(loss, space, seed, some_closed):
    rng = np.random.default_rng(seed)
    judge = Judge(space)
    gold = batch(rng, space, 3)
    scores = readonly(rng.normal(size=(3, space.parts)))
    closed = rng.random((3, space.labels)) >= 0.8 if some_closed else None
    problem = Problem(space, scores, closed, loss.term(gold))
    if not judge.feasible and closed is None:
        with pytest.raises(InfeasibleSpace):
            Exhaustive().solve(space, problem)
        return
    found = Exhaustive().solve(space, problem)
    for i in range(3):
        valued = [
            (known_value(space, scores[i], y) + naive(loss, space, gold[i], y), y)
            for y in judge.open_outputs(row_of(problem, i)[1])
        ]
        if not valued:
            assert found.status[i] == Status.INFEASIBLE
            assert (found.labels[i] == -1).all()
            continue
        best = max(value for value, _ in valued)
        assert found.status[i] == Status.OPTIMAL
        assert found.value[i] == found.bound[i] == pytest.approx(best)
        # Random scores seldom tie, so the first of the best is the best.
        first = next(y for value, y in valued if value >= best - 1e-10)
        assert tuple(found.labels[i].tolist()) == first


@pytest.mark.parametrize("loss", TERMS, **BY_NAME)
def test_ties_between_outputs_with_terms_go_to_the_smallest_labels(loss):
    builder = SpaceBuilder()
    for name in "xyz":
        builder.variable(name, ("off", "on"))
    space = builder.build()
    gold = np.array([[0, 1, 1]])
    solution = Exhaustive().solve(
        space, Problem(space, np.zeros((1, 6)), loss_term=loss.term(gold))
    )
    everything = Judge(space).everything
    most = max(naive(loss, space, gold[0], y) for y in everything)
    first = next(y for y in everything if naive(loss, space, gold[0], y) == most)
    assert tuple(solution.labels[0].tolist()) == first


@pytest.mark.parametrize("loss", TERMS, **BY_NAME)
def test_a_term_of_some_inputs_is_that_of_their_rows(loss):
    rng = np.random.default_rng(0)
    gold, outputs = rng.integers(2, size=(4, 3)), rng.integers(2, size=(4, 5, 3))
    term = loss.term(gold)
    some = term.rows(np.array([2, 0]))
    assert (len(term), len(some)) == (4, 2)
    assert term.value(outputs).shape == (4, 5)
    assert some.value(outputs[[2, 0]]).tolist() == term.value(outputs)[[2, 0]].tolist()


def test_a_term_for_another_number_of_inputs_is_refused():
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    space = builder.build()
    term = ZeroOne().term(np.zeros((1, 1), dtype=np.int64))
    with pytest.raises(ScoreError, match="for 1 inputs, and there are 2"):
        Problem(space, np.zeros((2, 2)), loss_term=term)


@pytest.mark.parametrize("loss", TERMS, **BY_NAME)
def test_losses_that_do_not_add_up_have_no_offsets(loss):
    builder = SpaceBuilder()
    builder.variable("x", "ab")
    assert loss.offsets(builder.build(), np.zeros((1, 1), dtype=np.int64)) is None


def test_the_loss_that_adds_up_needs_no_term():
    with pytest.raises(SettingError, match="needs no term"):
        Hamming().term(np.zeros((1, 1), dtype=np.int64))


@pytest.mark.parametrize("weight", [-1.0, np.inf, np.nan])
def test_a_label_costs_no_less_than_nothing(weight):
    with pytest.raises(SettingError, match="the weight of 'a' is a number of at least 0"):
        Hamming({"a": weight})


@pytest.mark.parametrize("loss", LOSSES, **BY_NAME)
def test_losses_are_values(loss):
    assert pickle.loads(pickle.dumps(loss)) == loss  # noqa: S301
    assert hash(pickle.loads(pickle.dumps(loss))) == hash(loss)  # noqa: S301
