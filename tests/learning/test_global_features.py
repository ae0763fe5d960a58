"""Learning with global features: label tuples are learned alike by them and by factors."""

import numpy as np
import pytest

from rote.engines import Exact, Exhaustive
from rote.errors import SettingError, UnsupportedSpace
from rote.inference.approximate import RGS, LearnedRestarts
from rote.learning import Perceptron, StructuredSVM, Subgradient, fit
from rote.learning.unary_classifier import fit_unary_classifier
from rote.model import Model
from rote.space.losses import F1Loss
from tests.learning.small import chains, phi, start

LEARNERS = (
    Perceptron(iterations=3),
    StructuredSVM(C=0.5, iterations=15),
    StructuredSVM(C=0.5, squared=False, iterations=10),
    StructuredSVM(C=0.5, loss=F1Loss(), iterations=10),
    Subgradient(iterations=3),
)


def blocks(model):
    return {
        block.name: model.layout.block(model.weights, block.name) for block in model.layout.blocks
    }


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)
def test_tuples_are_learned_alike_as_global_features_and_as_factors(learner):
    by_factors = start(*chains(3, count=10, longest=4, order=2), Exhaustive())
    by_global_features = start(*chains(3, count=10, longest=4, order=1, max_ngram=3), Exhaustive())
    one, other = (blocks(fit(learner, *each)) for each in (by_factors, by_global_features))
    assert one.keys() == other.keys()
    for name, weights in one.items():
        assert weights == pytest.approx(other[name], abs=1e-9)
    assert np.abs(one["3 labels"]).max() > 0


def test_a_perceptron_moves_by_the_difference_of_features():
    task, xs, ys = chains(1, count=1, longest=4, order=0, max_ngram=4)
    model, prepared = start(task, xs, ys, RGS(restarts=20))
    weights = np.random.default_rng(0).normal(size=prepared.layout.size)
    model = model.with_weights(weights)
    found = task.encode(xs[0], model.predict(xs)[0])
    learned = fit(Perceptron(iterations=1, average=False), model, prepared)
    step = phi(task, prepared.layout, xs[0], task.encode(xs[0], ys[0]))
    step -= phi(task, prepared.layout, xs[0], found)
    assert np.abs(step).sum() > 0
    assert learned.weights == pytest.approx(weights + step)


def test_greedy_search_learns_with_global_features_and_a_model_is_saved_with_them(tmp_path):
    task, xs, ys = chains(2, count=30, longest=6, order=1, max_ngram=4, noise=0.0)
    model, prepared = start(task, xs, ys, RGS(restarts=5))
    learned = fit(StructuredSVM(C=1.0), model, prepared)
    assert learned.predict(xs) == ys
    learned.save(tmp_path / "model")
    again = Model.load(tmp_path / "model", task)
    assert again.predict(xs) == ys


@pytest.mark.parametrize("adagrad", [False, True])
def test_what_a_start_is_worth_is_learned_from_global_features_too(adagrad):
    task, xs, ys = chains(4, count=30, longest=6, order=0, max_ngram=3)
    model, prepared = start(task, xs, ys, RGS(restarts=5))
    learned = fit(StructuredSVM(C=1.0), model, prepared)
    iid = fit_unary_classifier(prepared)
    engine = LearnedRestarts(RGS(0.5, restarts=8, classifier=iid), adagrad=adagrad)
    best = learned.with_engine(Exhaustive()).answers(prepared)
    found = learned.with_engine(engine).answers(prepared)
    for (_, one), (_, other) in zip(best, found, strict=True):
        assert (other.value <= one.value + 1e-9).all()
        assert other.value.mean() >= one.value.mean() - 0.05 * abs(one.value.mean())
    assert np.abs(learned.layout.block(engine.weights, "3 labels")).max() > 0


def test_what_looks_at_parts_alone_says_so():
    task, xs, ys = chains(0, order=0, max_ngram=2)
    model, prepared = start(task, xs, ys, Exact())
    for learner in (Perceptron(), StructuredSVM()):
        with pytest.raises(UnsupportedSpace, match="use RGS or Exhaustive"):
            fit(learner, model, prepared)
    searched = model.with_engine(RGS())
    with pytest.raises(SettingError, match='take update="full"'):
        fit(Perceptron(update="early"), searched, prepared)
    with pytest.raises(SettingError, match="reuse looks at parts alone"):
        fit(StructuredSVM(reuse=True, online_epochs=0), searched, prepared)
