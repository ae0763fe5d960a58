"""The structural SVM, against quadratic programs over all outputs and against scikit-learn."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from sklearn.svm import LinearSVC

from rote.errors import DataError, SettingError
from rote.inference import Exact, Exhaustive
from rote.inference.wrappers.amortized import Amortized
from rote.learning import Perceptron, StructuredSVM, fit
from rote.model import prepare
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
def test_warming_up_changes_the_way_and_not_the_end(squared):
    task, xs, ys = chains(2, count=20)
    model, prepared = start(task, xs, ys)
    ends = [
        states(StructuredSVM(C=0.2, squared=squared, online_epochs=warm, **TIGHT), model, prepared)[
            -1
        ]
        for warm in (0, 1, 4)
    ]
    assert all(end.done for end in ends)
    for end in ends[1:]:
        assert end.measures["primal"] == pytest.approx(ends[0].measures["primal"], abs=1e-4)
        np.testing.assert_allclose(end.weights, ends[0].weights, atol=1e-2)


@SLACKS
@pytest.mark.parametrize("stop", [1, 3, 7, 12])
def test_a_run_that_is_resumed_makes_the_same_steps_bit_for_bit(squared, stop):
    task, xs, ys = chains(3, count=12)
    model, prepared = start(task, xs, ys)
    svm = StructuredSVM(
        C=1.0, squared=squared, online_epochs=2, patience=1, passes=2, delta=1e-8, iterations=20
    )
    whole = states(svm, model, prepared)
    assert len(whole) == 20
    resumed = states(svm, model, prepared, whole[stop - 1])
    assert [state.iteration for state in resumed] == list(range(stop + 1, 21))
    for one, other in zip(resumed, whole[stop:], strict=True):
        np.testing.assert_array_equal(one.weights, other.weights)
        assert one.measures == pytest.approx(other.measures, rel=0, abs=0, nan_ok=True)


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
def test_threads_change_the_time_alone(squared):
    task, xs, ys = chains(4, count=30)
    model, prepared = start(task, xs, ys)
    runs = [
        states(StructuredSVM(squared=squared, delta=1e-4, iterations=10, n_jobs=n), model, prepared)
        for n in (1, 2)
    ]
    for one, other in zip(*runs, strict=True):
        np.testing.assert_array_equal(one.weights, other.weights)
        assert one.measures["dual"] == other.measures["dual"]
        assert one.measures == pytest.approx(other.measures, nan_ok=True)


@SLACKS
def test_another_seed_comes_to_the_same_optimum(squared):
    task, xs, ys = chains(5, count=12)
    model, prepared = start(task, xs, ys)
    one, other = (
        states(StructuredSVM(C=0.3, squared=squared, seed=seed, **TIGHT), model, prepared)
        for seed in (0, 12345)
    )
    assert one[-1].measures["primal"] == pytest.approx(other[-1].measures["primal"], abs=1e-4)
    assert not np.array_equal(one[0].weights, other[0].weights)


@SLACKS
@pytest.mark.parametrize("seed", range(2))
def test_the_zero_one_loss_is_that_of_a_quadratic_program(squared, seed):
    task, xs, ys = tiny(seed)
    model, prepared = start(task, xs, ys)
    svm = StructuredSVM(C=0.7, squared=squared, loss=ZeroOne(), **TIGHT)
    last = states(svm, model, prepared)[-1]
    everything = Everything(task, prepared.layout, xs, ys, ZeroOne(), 0.7)
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
def test_a_weighed_hamming_loss_is_that_of_a_quadratic_program(squared):
    loss = Hamming({"a": 3.0})
    task, xs, ys = tiny(1)
    model, prepared = start(task, xs, ys)
    last = states(StructuredSVM(C=0.4, squared=squared, loss=loss, **TIGHT), model, prepared)[-1]
    everything = Everything(task, prepared.layout, xs, ys, loss, 0.4)
    value, _ = everything.optimum(squared=squared)
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
def test_an_example_given_twice_is_an_example_of_importance_two(squared):
    task, xs, ys = tiny(3)
    twice = start(task, [*xs, xs[0]], [*ys, ys[0]])
    weighed = start(task, xs, ys, sample_weight=np.array([2.0, 1, 1, 1, 1, 1]))
    svm = StructuredSVM(C=0.7, squared=squared, **TIGHT)
    one, other = (states(svm, *each)[-1] for each in (twice, weighed))
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-2)


@SLACKS
def test_examples_that_no_weights_can_get_right_end_with_a_gap_of_nothing(squared):
    # The two tokens look the same, so their labels can be swapped without any feature noticing.
    task = Tagging(("A", "B"), lambda x: [[word] for word in x], order=0)
    model, prepared = start(task, [("the", "the"), ("a", "b")], [("A", "B"), ("A", "B")])
    last = states(StructuredSVM(C=1.0, squared=squared, **TIGHT), model, prepared)[-1]
    assert last.done
    assert last.measures["gap"] == pytest.approx(0.0, abs=1e-4)
    assert last.measures["primal"] == pytest.approx(4.0 + 4 / 9 if squared else 2.5, abs=1e-3)


def test_separable_data_is_learned_without_a_mistake():
    task, xs, ys = chains(6, count=30, noise=0.0, order=0)
    model, prepared = start(task, xs, ys)
    learned = fit(StructuredSVM(C=100.0, delta=0.01, iterations=200), model, prepared)
    assert learned.predict(xs) == ys


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


def test_candidates_that_are_idle_are_let_go():
    task, xs, ys = chains(8, count=12)
    model, prepared = start(task, xs, ys)
    counts = {}
    for patience in (1, 1000):
        svm = StructuredSVM(
            C=1.0, online_epochs=0, delta=1e-5, iterations=60, passes=10, patience=patience
        )
        last = states(svm, model, prepared)[-1]
        counts[patience] = len(last.memory["dual"])
        assert last.measures["gap"] < 1e-2
    assert counts[1] < counts[1000]


@pytest.mark.parametrize(
    "wrong",
    [
        {"C": 0.0},
        {"C": -1.0},
        {"C": np.nan},
        {"delta": 0.0},
        {"delta": np.inf},
        {"iterations": 0},
        {"passes": 0},
        {"online_epochs": -1},
        {"patience": 0},
        {"n_jobs": 0},
    ],
    ids=str,
)
def test_settings_outside_what_they_may_be_are_refused(wrong):
    with pytest.raises(SettingError, match=next(iter(wrong))):
        StructuredSVM(**wrong)


def test_a_state_of_another_learner_or_of_other_examples_is_refused():
    task, xs, ys = chains(0, count=4)
    model, prepared = start(task, xs, ys)
    svm = StructuredSVM()
    foreign = next(iter(Perceptron().iterate(model, prepared)))
    with pytest.raises(DataError, match="not that of a structural SVM"):
        next(iter(svm.iterate(model, prepared, foreign)))
    own = next(iter(svm.iterate(model, prepared)))
    fewer = prepare(task, xs[:3], ys[:3], layout=prepared.layout)
    with pytest.raises(DataError, match="on these examples"):
        next(iter(svm.iterate(model, fewer, own)))


def test_the_learner_is_a_value():
    assert StructuredSVM(C=2.0) == dataclasses.replace(StructuredSVM(), C=2.0)
    assert hash(StructuredSVM()) == hash(StructuredSVM())


def test_the_engine_of_the_model_finds_the_worst_outputs():
    task, xs, ys = chains(9, count=6, longest=2)
    ends = []
    for engine in (Exact(), Exhaustive()):
        model, prepared = start(task, xs, ys, engine)
        ends.append(states(StructuredSVM(delta=1e-4, iterations=50), model, prepared)[-1])
    np.testing.assert_allclose(ends[0].weights, ends[1].weights, atol=1e-9)


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


def test_online_learning_makes_the_same_steps_when_it_is_resumed():
    model, prepared = start(*chains(3, count=12))
    learner = StructuredSVM(C=0.5, iterations=8, batch=1)
    states = [state.kept() for state in learner.iterate(model, prepared)]
    again = [state.kept() for state in learner.iterate(model, prepared, states[2])]
    assert again[-1].weights.tolist() == states[-1].weights.tolist()


def test_a_batch_is_a_whole_number_and_reuse_has_none():
    with pytest.raises(SettingError, match="batch is a whole number"):
        StructuredSVM(batch=0)
    with pytest.raises(SettingError, match="no batch"):
        StructuredSVM(batch=2, reuse=True)


def test_true_is_no_number():
    with pytest.raises(SettingError, match="C is a number above 0, got True"):
        StructuredSVM(C=True)
