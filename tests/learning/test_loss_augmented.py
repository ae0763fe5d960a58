"""Loss-augmented inference, against enumeration."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rote.engines import Engine, Exact, Exhaustive, Problem, Solutions, Status
from rote.errors import NoSolution, ScoreError
from rote.inference.problem import Context
from rote.learning import Perceptron, StructuredSVM, Subgradient
from rote.learning.loss_augmented import max_violated, most_violated_of, most_violated_outputs
from rote.learning.reuse import Reuse
from rote.space import SpaceBuilder
from rote.space.losses import F1Loss, Hamming, JaccardLoss, ZeroOne
from rote.tasks.tagging import Tagging
from rote.types import readonly
from tests.learning.small import as_given, chains, start
from tests.strategies import Judge, known_value, spaces


def worst(engine, space, scores, gold, loss):
    return max_violated(engine, Problem(space, scores), Context(gold=gold), loss)


CASES = pytest.mark.parametrize(
    ("loss", "engine"),
    [
        (Hamming(), Exact()),
        (Hamming({"b": 3.0}), Exact()),
        (ZeroOne(), Exact()),
        (F1Loss(), Exhaustive()),
        (JaccardLoss(), Exhaustive()),
    ],
    ids=["Hamming", "weighed", "zero-one", "F1", "Jaccard"],
)


@CASES
@given(space=spaces(most=4), seed=st.integers(0, 2**32 - 1), size=st.sampled_from([0.0, 0.3, 3.0]))
def test_no_output_has_a_larger_slack_than_the_one_found(loss, engine, space, seed, size):
    judge = Judge(space)
    if not judge.feasible:
        return
    rng = np.random.default_rng(seed)
    chosen = [judge.outputs[k] for k in rng.integers(len(judge.outputs), size=4)]
    gold = readonly(np.array(chosen, dtype=np.int64).reshape(4, len(space.variables)))
    scores = size * rng.normal(size=(4, space.parts))
    # Two inputs whose right output is the best one.
    for i in (0, 1):
        gold_parts = space.parts_of(gold[i : i + 1])[0]
        scores[i, gold_parts] += 2.0 * i + 0.5
    labels, slacks, losses = worst(engine, space, scores.copy(), gold, loss)
    for i in range(4):
        right = known_value(space, scores[i], gold[i])
        shape = len(judge.outputs), len(space.variables)
        every = np.array(judge.outputs, dtype=np.int64).reshape(shape)
        each = loss.value(space, np.repeat(gold[i : i + 1], len(every), axis=0), every)
        top = max(
            known_value(space, scores[i], y) - right + cost
            for y, cost in zip(every, each, strict=True)
        )
        own = loss.value(space, gold[i : i + 1], labels[i : i + 1])[0]
        assert tuple(labels[i].tolist()) in judge.outputs
        assert losses[i] == pytest.approx(own)
        assert slacks[i] == pytest.approx(known_value(space, scores[i], labels[i]) - right + own)
        assert slacks[i] == pytest.approx(top, abs=1e-9)


@pytest.mark.parametrize("status", [Status.TIMED_OUT, Status.INFEASIBLE])
def test_an_engine_that_finds_nothing_is_an_error(status):
    class Empty(Engine):
        def answer(self, problem, context):
            none = np.full(1, -np.inf)
            codes = np.full(1, int(status)), np.zeros(1, dtype=np.int64)
            return Solutions(np.full((1, 1), -1), none, none, *codes)

    builder = SpaceBuilder()
    builder.variable("x", "ab")
    with pytest.raises(NoSolution, match=r"^input 0: "):
        worst(Empty(), builder.build(), np.zeros((1, 2)), np.zeros((1, 1), np.int64), Hamming())


class Late(Engine):
    """Finds nothing for the second of the inputs that it is asked for together."""

    def answer(self, problem, context):
        answers = Exact().answer(problem, context)
        status = answers.status.copy()
        status[1:2] = Status.TIMED_OUT
        return Solutions(answers.labels, answers.value, answers.bound, status, answers.source)


@pytest.mark.parametrize("reuse", [False, True])
def test_an_example_for_which_an_engine_finds_nothing_is_named(reuse):
    task = Tagging(("a", "b"), as_given)
    lengths = (1, 2, 1, 2)
    xs, ys = [np.ones((n, 2)) for n in lengths], [("a",) * n for n in lengths]
    model, prepared = start(task, xs, ys, Late())
    with pytest.raises(NoSolution, match=r"^example 2: "):
        list(StructuredSVM(reuse=reuse, online_epochs=0).iterate(model, prepared))


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
@pytest.mark.parametrize("chunk", [1, 30, 1 << 22])
def test_pieces_and_threads_find_the_same(n_jobs, chunk, monkeypatch):
    monkeypatch.setattr("rote.model.batch.CHUNK", chunk)
    task, xs, ys = chains(0, count=20)
    model, prepared = start(task, xs, ys)
    weights = readonly(np.random.default_rng(0).normal(size=prepared.layout.size))
    found = list(most_violated_outputs(model.engine, prepared, weights, Hamming(), n_jobs))
    members = np.concatenate([one.group.members for one in found])
    assert members.tolist() == np.concatenate([g.members for g in prepared.groups]).tolist()
    for one in found:
        whole = most_violated_of(model.engine, prepared, weights, Hamming(), one.group)
        assert one.labels.tolist() == whole.labels.tolist()
        assert one.slacks.tolist() == whole.slacks.tolist()


def test_weights_may_be_scaled_on_the_way():
    task, xs, ys = chains(0, count=6)
    model, prepared = start(task, xs, ys)
    weights = np.random.default_rng(0).normal(size=prepared.layout.size)
    for group in prepared.groups:
        scaled = most_violated_of(
            model.engine, prepared, readonly(weights), Hamming(), group, scale=0.25
        )
        plain = most_violated_of(model.engine, prepared, readonly(0.25 * weights), Hamming(), group)
        assert scaled.labels.tolist() == plain.labels.tolist()
        np.testing.assert_allclose(scaled.slacks, plain.slacks, atol=1e-12)


LEARNERS = {
    "subgradient": Subgradient(iterations=3),
    "perceptron": Perceptron(iterations=3),
    "early": Perceptron(iterations=3, update="early"),
}


@pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)
def test_scores_that_overflow_in_learning_are_told_with_their_example(learner):
    task, xs, ys = chains(3, count=8)
    xs[5] = 1e200 * (1.0 + np.abs(xs[5]))
    model, prepared = start(task, xs, ys)
    with pytest.raises(ScoreError, match=r"example 5: scores are finite .* scale the features"):
        list(learner.iterate(model, prepared))


def test_scores_that_overflow_are_told_with_their_example_whoever_looks_for_the_worst():
    task, xs, ys = chains(3, count=8)
    xs[5] = np.full_like(xs[5], 1e200)
    _, prepared = start(task, xs, ys)
    weights = np.full(prepared.layout.size, 1e200)
    group = next(group for group in prepared.groups if 5 in group.members)
    with pytest.raises(ScoreError, match=r"example 5: scores are finite .* scale the features"):
        most_violated_of(Exact(), prepared, weights, Hamming(), group)
    with pytest.raises(ScoreError, match=r"example 5: scores are finite .* scale the features"):
        Reuse().most_violated_of(Exact(), prepared, weights, Hamming(), group, np.zeros(len(group)))


def test_a_loss_that_is_not_finite_is_refused():
    class Endless(Hamming):
        def offsets(self, space, gold):
            return np.full((len(gold), space.labels), np.inf)

    task, xs, ys = chains(2)
    _, prepared = start(task, xs, ys)
    group = prepared.groups[0]
    scores = np.zeros((len(group), group.space.parts))
    with pytest.raises(ScoreError, match="input 0: scores are finite"):
        worst(Exact(), group.space, scores, group.gold, Endless())
