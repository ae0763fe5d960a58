"""A case under greedy search: its features, its training, and how α is chosen."""

import numpy as np
import pytest

from papers.ma2019.accuracy import made_up_case
from papers.ma2019.bench import NOISE, Bench, Searching, chosen_alpha, first, highest, judged
from papers.ma2019.tasks import Examples
from rote import Exact, Model, MultiLabel, Tagging, fit_unary_classifier, prepare

SEARCHING = Searching(5, 2, 30, iterations=3)


@pytest.fixture(scope="module", params=["stress", "yeast"])
def bench(request):
    case = made_up_case(request.param)
    return Bench(case, SEARCHING, case.train(), highest(case.task))


def test_sequences_score_quadruples_without_tables():
    task = highest(Tagging(("a", "b"), list, order=3))
    frame = task.frame(range(6))
    assert {len(factor.variables) for factor in frame.space.factors} == {2}
    assert [trait.block for trait in frame.global_features] == ["3 labels", "4 labels"]


def test_some_examples_are_spread_over_all():
    examples = Examples(list(range(10)), list("abcdefghij"))
    assert first(examples, 3) == Examples([0, 4, 9], ["a", "e", "j"])
    assert first(examples, 10) is first(examples, None) is examples


def test_a_model_is_tested_with_more_restarts_than_it_is_trained_with(bench):
    model, seconds = bench.trained(0.5, seed=3)
    assert (model.engine.alpha, model.engine.restarts, model.engine.seed) == (0.5, 5, 3)
    assert np.any(model.weights)
    assert seconds > 0


def test_the_classifier_alone_is_the_best_label_of_each_variable(bench):
    case = bench.case
    weights = fit_unary_classifier(bench.learned, iterations=30).weights
    if isinstance(case.task, Tagging):  # without tuples, the best output is the best of each
        alone = Tagging(case.task.labels, case.task.features, order=0)
    else:
        alone = MultiLabel(case.task.labels, "none")
    layout = prepare(alone, *case.train()).layout
    own = layout.zeros()
    for block in layout.blocks:
        name = getattr(block, "name", block)
        layout.block(own, name)[:] = bench.learned.layout.block(weights, name)
    model = Model(alone, layout, own, Exact())
    assert bench.guessed(case.test()) == judged(case, model, case.test())


def test_the_smallest_alpha_is_taken_that_only_noise_is_better_than(bench):
    validation = bench.case.validation()
    alpha, reached = chosen_alpha(bench, (0.0, 0.5, 1.0), validation)
    for each, value in reached.items():
        found = judged(bench.case, bench.trained(each).model, validation)
        assert next(iter(found.values())) == value
    best = max(reached.values())
    assert alpha == min(each for each in reached if reached[each] >= best - NOISE)
