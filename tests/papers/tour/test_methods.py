"""Methods of the tour: what is learned, predicted and counted, on a few sentences."""

import numpy as np
import pytest

from papers.tour.methods import Bench, Plan, Sentences, agreement, steps_of, take
from rote.datasets import english_sentences
from rote.engines import Exact, Exhaustive
from rote.inference.approximate import LearnedBeam
from rote.inference.wrappers.timed import Timed
from rote.learning import IndependentPerceptron, Perceptron

PLAN = Plan(train=40, unlabelled=8, test=12, iterations=2, restarts=2, epochs=3)


@pytest.fixture(scope="module")
def bench():
    made = english_sentences(60, 1)
    return Bench(Sentences("", made[:40], made[40:48], made[48:]))


@pytest.fixture(scope="module")
def local(bench):
    solver = Timed(Exact())
    return bench.learn(IndependentPerceptron(2), solver, solver, lambda: None)


def test_sentences_whose_output_breaks_a_rule_are_not_learned_from(bench):
    assert bench.left_out == 0
    assert (len(bench.learned), len(bench.judged), len(bench.gold)) == (40, 12, 12)


def test_learning_alone_asks_for_no_inference(local):
    assert (local.inferences, local.calls, local.inference_seconds) == (0, 0, 0.0)
    assert np.any(local.weights)


def test_inferences_and_calls_are_those_of_this_learning_alone(bench):
    solver, steps = Timed(Exact()), []
    for _ in range(2):
        learned = bench.learn(Perceptron(2), solver, solver, lambda: steps.append(1))
        assert (learned.inferences, learned.calls) == (80, 80)
        assert 0 < learned.inference_seconds <= learned.seconds
    assert len(steps) == 4
    assert solver.stats["inputs"] == 160


def test_predicting_is_counted_without_its_rehearsal(bench, local):
    solver = Timed(Exact())
    found = bench.predict(local.weights, solver, solver)
    assert found.calls == 12
    assert solver.stats["inputs"] == 24
    assert (found.obey, found.proved, found.gap) == (1.0, 1.0, 0.0)
    other = Timed(Exact())
    bench.predict(local.weights, solver, solver, other)
    assert (solver.stats["inputs"], other.stats["inputs"]) == (36, 12)


def test_answers_that_break_rules_prove_nothing(bench, local):
    found = bench.predict(local.weights, Exact(), Timed(), rules=False)
    assert found.obey < 1
    assert found.proved == found.obey


def test_values_are_those_of_the_best_outputs(bench, local):
    """On sentences with two entities, where all outputs can be looked at."""
    found = bench.predict(local.weights, Exact(), Timed()).values
    values = iter(found.tolist())
    small = 0
    for group in bench.judged.groups:
        own = [next(values) for _ in range(len(group))]
        if len(group.space.variables) <= 4:
            scores = bench.judged.scores(local.weights, group)
            np.testing.assert_allclose(own, Exhaustive().solve(group.space, scores).value)
            small += len(own)
    assert small > 0


def test_lessons_are_counted_in_every_epoch(bench, local):
    solver = Timed(Exact())
    lessons = bench.distill(local.weights, LearnedBeam(solver), PLAN, 0, solver)
    assert (lessons.inferences, lessons.calls) == (24, 24)


def test_methods_tell_of_as_many_steps_as_they_said(bench):
    steps, told = [], []
    names = [each.name for each in take(bench, PLAN, 0, told.append, lambda: steps.append(1))]
    assert len(steps) == steps_of(PLAN)
    assert names == told
    assert len(set(names)) == 9


def test_agreement_is_a_share():
    assert agreement("abcd", "abxd") == 0.75
    assert agreement([], []) == 0.0
