"""The structural SVM, against quadratic programs over all outputs and against scikit-learn."""

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from rote.engines import Exhaustive
from rote.inference.wrappers.amortized import Amortized
from rote.learning import StructuredSVM
from rote.space.losses import F1Loss, Hamming, JaccardLoss, ZeroOne
from rote.tasks.tagging import Tagging
from tests.learning.small import Everything, Links, as_given, chains, start

SLACKS = pytest.mark.parametrize("squared", [True, False], ids=["squared", "plain slacks"])
TIGHT = {"delta": 1e-6, "iterations": 400, "passes": 200}


def states(svm, model, prepared, state=None):
    return [state.kept() for state in svm.iterate(model, prepared, state)]


def tiny(seed, **options):
    """Few enough features and outputs that a generic solver gets to the optimum."""
    return chains(seed, count=6, longest=2, labels=("a", "b"), features=2, **options)


@SLACKS
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("online_epochs", [0, 2])
def test_the_optimum_is_that_of_a_quadratic_program_over_all_outputs(squared, seed, online_epochs):
    task, xs, ys = tiny(seed)
    model, prepared = start(task, xs, ys)
    svm = StructuredSVM(C=0.7, squared=squared, online_epochs=online_epochs, **TIGHT)
    last = states(svm, model, prepared)[-1]
    everything = Everything(task, prepared.layout, xs, ys, Hamming(), 0.7)
    value, weights = everything.optimum(squared=squared)
    assert last.done
    assert everything.primal(last.weights, squared=squared) == pytest.approx(value, abs=1e-4)
    assert last.measures["dual"] == pytest.approx(value, abs=1e-4)
    np.testing.assert_allclose(last.weights, weights, atol=1e-2)


@SLACKS
@pytest.mark.parametrize("seed", range(3))
def test_the_dual_climbs_and_the_gap_closes(squared, seed):
    task, xs, ys = chains(seed, count=10)
    model, prepared = start(task, xs, ys)
    svm = StructuredSVM(
        C=0.5, squared=squared, online_epochs=0, passes=3, delta=1e-7, iterations=500
    )
    found = [state.measures for state in svm.iterate(model, prepared)]
    duals = np.array([one["dual"] for one in found])
    gaps = np.array([one["gap"] for one in found])
    assert (np.diff(duals) >= -1e-9).all()
    assert (gaps >= -1e-9).all()
    assert gaps[-1] < 1e-4
    assert gaps[0] > 1.0
    assert duals[0] == 0.0


@SLACKS
def test_what_is_reported_is_the_objective_of_all_outputs(squared):
    task, xs, ys = chains(1, count=6, longest=2)
    model, prepared = start(task, xs, ys)
    everything = Everything(task, prepared.layout, xs, ys, Hamming(), 0.3)
    svm = StructuredSVM(C=0.3, squared=squared, online_epochs=1, delta=1e-4, iterations=12)
    weights = model.weights
    for state in svm.iterate(model, prepared):
        if state.iteration > 1:
            expected = everything.primal(weights, squared=squared)
            assert state.measures["primal"] == pytest.approx(expected)
        else:
            assert np.isnan(state.measures["primal"])
        weights = state.weights


@pytest.mark.parametrize("cost", [0.05, 1.0])
def test_one_variable_and_plain_slacks_are_the_multiclass_svm_of_crammer_and_singer(cost):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    y = (X @ rng.normal(size=(4, 3)) + 0.8 * rng.normal(size=(40, 3))).argmax(axis=1)
    names = [("a", "b", "c")[label] for label in y]
    task = Tagging(("a", "b", "c"), as_given, order=0)
    xs, ys = [row[None, :] for row in X], [(name,) for name in names]
    model, prepared = start(task, xs, ys)
    svm = StructuredSVM(C=cost, squared=False, **TIGHT)
    weights = states(svm, model, prepared)[-1].weights
    judge = LinearSVC(
        C=cost, multi_class="crammer_singer", fit_intercept=False, tol=1e-8, max_iter=200_000
    ).fit(X, names)

    def objective(matrix):  # (features, labels)
        scores = X @ matrix
        right = scores[np.arange(40), y]
        wrong = (np.arange(3) != y[:, None]).astype(float)
        return 0.5 * (matrix**2).sum() + cost * (scores + wrong - right[:, None]).max(axis=1).sum()

    ours = objective(prepared.layout.block(weights, "label"))
    theirs = objective(judge.coef_.T)
    assert ours == pytest.approx(theirs, rel=1e-3)
    assert ours <= theirs * (1 + 1e-4)


@SLACKS
def test_a_state_is_not_changed_by_going_on_from_it(squared):
    task, xs, ys = chains(3, count=8)
    model, prepared = start(task, xs, ys)
    svm = StructuredSVM(squared=squared, delta=1e-6, iterations=6)
    third = states(svm, model, prepared)[2]
    before = {name: array.copy() for name, array in third.memory.items()}
    states(svm, model, prepared, third)
    for name, array in before.items():
        np.testing.assert_array_equal(third.memory[name], array)


@SLACKS
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("loss", [ZeroOne(), Hamming({"a": 3.0})], ids=["zero-one", "weighed"])
def test_other_losses_are_those_of_a_quadratic_program(squared, seed, loss):
    task, xs, ys = tiny(seed)
    model, prepared = start(task, xs, ys)
    svm = StructuredSVM(C=0.7, squared=squared, loss=loss, **TIGHT)
    last = states(svm, model, prepared)[-1]
    everything = Everything(task, prepared.layout, xs, ys, loss, 0.7)
    value, _ = everything.optimum(squared=squared)
    assert last.done
    assert everything.primal(last.weights, squared=squared) == pytest.approx(value, abs=1e-4)


@pytest.mark.parametrize("loss", [F1Loss(), JaccardLoss()], ids=["F1", "Jaccard"])
@SLACKS
def test_losses_that_do_not_add_up_are_learned_with_exhaustive_search(squared, loss):
    # One variable per label of a multi-label problem: off or on, from the same features.
    rng = np.random.default_rng(0)
    xs = [np.repeat(rng.normal(size=(1, 2)), 3, axis=0) for _ in range(6)]
    xs = [np.concatenate([x, np.eye(3)], axis=1) for x in xs]
    ys = [tuple(("off", "on")[int(a)] for a in rng.integers(2, size=3)) for _ in xs]
    task = Tagging(("off", "on"), as_given, order=1)
    model, prepared = start(task, xs, ys, Exhaustive())
    svm = StructuredSVM(C=1.5, squared=squared, loss=loss, **TIGHT)
    last = states(svm, model, prepared)[-1]
    everything = Everything(task, prepared.layout, xs, ys, loss, 1.5)
    value, _ = everything.optimum(squared=squared)
    assert last.done
    assert everything.primal(last.weights, squared=squared) == pytest.approx(value, abs=1e-4)


@SLACKS
def test_rules_restrict_the_outputs_that_are_learned_against(squared):
    def rules(builder, tokens):
        builder.require(~tokens[0]["b"])

    task, xs, ys = tiny(0, rules=rules)
    ys = [("a", *y[1:]) for y in ys]
    model, prepared = start(task, xs, ys)
    last = states(StructuredSVM(C=0.7, squared=squared, **TIGHT), model, prepared)[-1]
    keep = [k for k, x in enumerate(xs) if len(x) > 1]  # one token has one output
    everything = Everything(
        task, prepared.layout, [xs[k] for k in keep], [ys[k] for k in keep], Hamming(), 0.7
    )
    value, _ = everything.optimum(squared=squared)
    assert everything.primal(last.weights, squared=squared) == pytest.approx(value, abs=1e-4)


@SLACKS
def test_importance_weighs_the_slack_of_an_example(squared):
    sample_weight = np.array([1.0, 3.0, 0.0, 0.5, 1.0, 2.0])
    task, xs, ys = tiny(2)
    model, prepared = start(task, xs, ys, sample_weight=sample_weight)
    last = states(StructuredSVM(C=0.7, squared=squared, **TIGHT), model, prepared)[-1]
    everything = Everything(task, prepared.layout, xs, ys, Hamming(), 0.7, sample_weight)
    value, _ = everything.optimum(squared=squared)
    assert last.measures["primal"] == pytest.approx(value, abs=1e-4)
    assert everything.primal(last.weights, squared=squared) == pytest.approx(value, abs=1e-4)


@SLACKS
def test_labels_with_a_vector_each_are_those_of_a_quadratic_program(squared):
    rng = np.random.default_rng(0)
    task = Links()
    xs = [rng.normal(size=(int(rng.integers(2, 4)), 2)) for _ in range(6)]
    ys = [tuple(int(rng.integers(t + 1)) for t in range(len(x))) for x in xs]
    model, prepared = start(task, xs, ys)
    last = states(StructuredSVM(C=0.7, squared=squared, **TIGHT), model, prepared)[-1]
    everything = Everything(task, prepared.layout, xs, ys, Hamming(), 0.7)
    value, _ = everything.optimum(squared=squared)
    assert last.done
    assert everything.primal(last.weights, squared=squared) == pytest.approx(value, abs=1e-4)


@SLACKS
def test_examples_that_no_weights_can_get_right_end_with_a_gap_of_nothing(squared):
    # The two tokens look the same, so their labels can be swapped without any feature noticing.
    task = Tagging(("A", "B"), lambda x: [[word] for word in x], order=0)
    model, prepared = start(task, [("the", "the"), ("a", "b")], [("A", "B"), ("A", "B")])
    last = states(StructuredSVM(C=1.0, squared=squared, **TIGHT), model, prepared)[-1]
    assert last.done
    assert last.measures["gap"] == pytest.approx(0.0, abs=1e-4)
    assert last.measures["primal"] == pytest.approx(4.0 + 4 / 9 if squared else 2.5, abs=1e-3)


def test_it_stops_when_no_gain_is_above_delta():
    task, xs, ys = chains(7, count=10)
    model, prepared = start(task, xs, ys)
    coarse = states(StructuredSVM(delta=10.0, online_epochs=0), model, prepared)
    assert [state.done for state in coarse] == [True]
    assert not coarse[0].weights.any()
    fine = states(StructuredSVM(delta=0.01, online_epochs=0, iterations=300), model, prepared)
    assert fine[-1].done
    assert not any(state.done for state in fine[:-1])
    slack = Everything(task, prepared.layout, xs, ys, Hamming(), 0.1).slacks(fine[-1].weights)
    used = fine[-1].memory["total"] / (2 * 0.1)
    assert (slack <= used + 0.01 + 1e-9).all()


@pytest.mark.parametrize("batch", [1, 3, 100])
@pytest.mark.parametrize("squared", [True, False])
def test_batches_of_any_size_come_to_the_same_optimum(squared, batch):
    model, prepared = start(*chains(3, count=12))
    settings = {"C": 0.5, "squared": squared, "delta": 1e-4, "iterations": 400, "passes": 10}
    whole, parts = (
        [state.kept() for state in StructuredSVM(**settings, batch=size).iterate(model, prepared)]
        for size in (None, batch)
    )
    assert whole[-1].done
    assert parts[-1].done
    assert parts[-1].measures["dual"] == pytest.approx(whole[-1].measures["dual"], rel=1e-3)
    assert parts[-1].measures["gap"] <= 0.02 * parts[-1].measures["primal"]
    # Weights change while examples are looked at, so that the primal is known at the end alone.
    assert np.isnan(parts[3].measures["primal"])


@pytest.mark.parametrize("batch", [None, 1, 5])
def test_every_inference_is_counted(batch):
    model, prepared = start(*chains(3, count=12))
    counted = Amortized(certificate="none", admission="always")
    learner = StructuredSVM(C=0.5, iterations=200, batch=batch)
    told = [s.measures for s in learner.iterate(model.with_engine(counted), prepared)]
    assert sum(each["inferences"] for each in told) == counted.counters.queries
