"""Estimators: scikit-learn's own checks, searches and clones, and the models they wrap."""

import pickle
import subprocess
import sys
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_estimator,
    check_sample_weight_equivalence_on_dense_data,
    check_sample_weight_equivalence_on_sparse_data,
)

from rote import Amortized, Exact, Exhaustive
from rote.errors import DataError, MissingDependency, SettingError
from rote.inference.stores import MemoryStore, SqliteStore
from rote.inference.wrappers.amortized import Counters
from rote.learning import IndependentPerceptron, Perceptron, StructuredSVM
from rote.learning.sklearn import MulticlassEstimator, StructuredEstimator
from rote.learning.training import train
from tests.small_tasks import LABELS, TAGGING, TEMPLATES, tagged

XS, YS = tagged(30)

# To the last bit of what is compared, both trainings must end at the same optimum.
TO_THE_OPTIMUM = StructuredSVM(delta=1e-9, iterations=2000, passes=1000)
WEIGHTS_STEER_STEPS = (
    "sample_weight scales the steps of a learner, which stops before an optimum or has none, so "
    "that a weight of 2 is not the same as two examples"
)
UNEQUAL = {
    "check_sample_weight_equivalence_on_dense_data": WEIGHTS_STEER_STEPS,
    "check_sample_weight_equivalence_on_sparse_data": WEIGHTS_STEER_STEPS,
}


@pytest.mark.parametrize(
    "learner",
    [None, Perceptron(iterations=5), IndependentPerceptron()],
    ids=["default", "perceptron", "local"],
)
@pytest.mark.filterwarnings("default")  # scikit-learn warns of what it checks on purpose
def test_the_classifier_passes_the_checks_of_scikit_learn(learner):
    done = check_estimator(
        MulticlassEstimator(learner), expected_failed_checks=UNEQUAL, on_skip=None
    )
    by_status = {}
    for check in done:
        by_status.setdefault(check["status"], set()).add(check["check_name"])
    assert by_status["xfail"] == set(UNEQUAL)
    # Needs a package and a variable of the environment, and is about arrays that are not numpy's.
    assert by_status.get("skipped", set()) <= {"check_array_api_input"}
    assert len(by_status["passed"]) > 45


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize(
    "check",
    [
        check_sample_weight_equivalence_on_dense_data,
        check_sample_weight_equivalence_on_sparse_data,
    ],
    ids=["dense", "sparse"],
)
def test_at_its_optimum_the_svm_passes_the_checks_of_weights_too(check, squared):
    assert check("", MulticlassEstimator(replace(TO_THE_OPTIMUM, squared=squared))) is None


def points(seed=0, classes=3):
    return make_classification(
        80, 6, n_informative=4, n_redundant=0, n_classes=classes, random_state=seed
    )


def test_scores_are_those_of_the_model():
    X, y = points()
    names = np.array(["b", "a", "c"])[y]
    estimator = MulticlassEstimator(Perceptron(iterations=5)).fit(X, names)
    assert estimator.classes_.tolist() == ["a", "b", "c"]
    assert estimator.coef_.shape == (3, 6)
    scores = X @ estimator.coef_.T + estimator.intercept_
    assert np.allclose(estimator.decision_function(X), scores)
    assert estimator.predict(X).tolist() == estimator.classes_[scores.argmax(axis=1)].tolist()
    assert estimator.score(X, names) > 0.6


def test_with_two_classes_the_decision_is_how_far_the_second_is_ahead():
    X, y = points(classes=2)
    estimator = MulticlassEstimator(TO_THE_OPTIMUM).fit(X, y)
    decision = estimator.decision_function(X)
    assert decision.shape == (80,)
    assert ((decision > 0).astype(int) == estimator.predict(X)).all()


def test_without_an_intercept_a_row_of_zeros_scores_zero():
    X, y = points()
    estimator = MulticlassEstimator(intercept=False).fit(X, y)
    assert not estimator.decision_function(np.zeros((1, 6))).any()


def test_sparse_rows_give_the_same_weights_as_dense_ones():
    X, y = points()
    X[np.abs(X) < 0.7] = 0.0
    dense = MulticlassEstimator(IndependentPerceptron()).fit(X, y)
    sparse = MulticlassEstimator(IndependentPerceptron()).fit(csr_array(X), y)
    assert (dense.coef_ == sparse.coef_).all()
    assert (dense.predict(X) == sparse.predict(csr_array(X))).all()


def test_it_searches_over_settings_of_the_learner_inside_a_pipeline():
    X, y = points()
    pipeline = make_pipeline(StandardScaler(), MulticlassEstimator())
    search = GridSearchCV(
        pipeline, {"multiclassestimator__learner__C": [1e-3, 1.0]}, cv=2, error_score="raise"
    ).fit(X, y)
    assert search.best_params_ == {"multiclassestimator__learner__C": 1.0}


# -- structures -----------------------------------------------------------------------------


def test_it_wraps_training_and_its_model():
    learner = Perceptron(iterations=4)
    estimator = StructuredEstimator(TAGGING, learner, Exhaustive()).fit(XS, YS)
    model = train(TAGGING, XS, YS, learner=learner)
    assert estimator.model_.weights.tobytes() == model.weights.tobytes()
    assert estimator.model_.engine == Exhaustive()
    assert estimator.predict(XS) == estimator.set_params(n_jobs=2).predict(XS) == model.predict(XS)


def test_the_score_is_the_share_of_right_labels():
    estimator = StructuredEstimator(TAGGING, IndependentPerceptron(iterations=2)).fit(
        XS[:5], YS[:5]
    )
    found = estimator.predict(XS)
    pairs = [(a, b) for y, z in zip(YS, found, strict=True) for a, b in zip(y, z, strict=True)]
    assert estimator.score(XS, YS) == pytest.approx(np.mean([a == b for a, b in pairs]))
    only = np.zeros(len(XS))
    only[3] = 2.0
    right = [a == b for a, b in zip(YS[3], found[3], strict=True)]
    assert estimator.score(XS, YS, sample_weight=only) == pytest.approx(np.mean(right))


def test_outputs_that_break_rules_can_be_scored():
    estimator = StructuredEstimator(TAGGING, IndependentPerceptron()).fit(XS, YS)
    assert estimator.score([(("red",), ("big",))], [("I-X", "I-X")]) in (0.0, 0.5)


def test_scoring_nothing_is_refused():
    estimator = StructuredEstimator(TAGGING, IndependentPerceptron()).fit(XS, YS)
    with pytest.raises(DataError, match="no variable to score"):
        estimator.score([], [])


def test_sample_weights_reach_the_learner():
    weights = np.zeros(len(XS))
    estimator = StructuredEstimator(TAGGING, IndependentPerceptron()).fit(
        XS, YS, sample_weight=weights
    )
    assert not estimator.model_.weights.any()


def test_predicting_before_fitting_is_refused():
    for call in (lambda e: e.predict(XS), lambda e: e.score(XS, YS)):
        with pytest.raises(NotFittedError):
            call(StructuredEstimator(TAGGING))


def test_it_searches_over_settings_of_learner_task_and_all():
    search = GridSearchCV(
        StructuredEstimator(TAGGING),
        {
            "learner": [IndependentPerceptron(iterations=1), Perceptron(iterations=5)],
            "task__order": [0, 1],
        },
        cv=3,
        error_score="raise",
    ).fit(XS, YS)
    assert search.best_score_ > 0.7
    assert len(search.cv_results_["params"]) == 4
    assert search.predict(XS[:2]) == search.best_estimator_.predict(XS[:2])
    by_c = GridSearchCV(StructuredEstimator(TAGGING), {"learner__C": [1e-6, 1.0]}, cv=3)
    assert by_c.fit(XS, YS).best_params_ == {"learner__C": 1.0}


def test_parameters_nest_through_dataclasses():
    params = StructuredEstimator(TAGGING, engine=Exact(2.0)).get_params()
    assert params["learner"] is None
    assert params["learner__C"] == StructuredSVM().C
    assert params["learner__loss"] == StructuredSVM().loss
    assert params["engine__time_limit"] == 2.0
    assert params["task__labels"] == LABELS
    assert params["task__features"] is TEMPLATES
    assert params["task__features__columns"] == ("word",)
    assert not [name for name in params if "_plan" in name]
    shallow = StructuredEstimator(TAGGING).get_params(deep=False)
    assert shallow == {"task": TAGGING, "learner": None, "engine": None, "n_jobs": 1}


def test_setting_a_nested_parameter_replaces_and_changes_nobody_elses():
    learner = StructuredSVM()
    first, second = (StructuredEstimator(TAGGING, learner) for _ in range(2))
    assert first.set_params(learner__C=3.0, task__order=0) is first
    assert first.learner == StructuredSVM(C=3.0)
    assert first.task.order == 0
    assert second.learner is learner
    assert second.task is TAGGING


def test_a_whole_parameter_is_set_before_what_is_inside_it():
    estimator = StructuredEstimator(TAGGING)
    estimator.set_params(learner__iterations=3, learner=IndependentPerceptron())
    assert estimator.learner == IndependentPerceptron(iterations=3)


def test_parameters_that_are_not_there_are_named():
    estimator = StructuredEstimator(TAGGING, IndependentPerceptron())
    with pytest.raises(SettingError, match=r"no parameter 'lerner'; its parameters are .*learner"):
        estimator.set_params(lerner__C=1)
    match = r"IndependentPerceptron has no setting 'C'; .* iterations, average"
    with pytest.raises(SettingError, match=match):
        estimator.set_params(learner__C=1)
    with pytest.raises(SettingError, match=r"int has no setting 'x'; its settings are none"):
        estimator.set_params(learner__iterations__x=1)


@pytest.mark.parametrize(
    "estimator",
    [StructuredEstimator(TAGGING, StructuredSVM(C=2.0)), MulticlassEstimator(intercept=False)],
    ids=["structured", "multiclass"],
)
def test_a_clone_has_the_same_parameters_and_no_model(estimator):
    if isinstance(estimator, StructuredEstimator):
        estimator.fit(XS, YS)
    copied = clone(estimator)
    assert copied is not estimator
    assert copied.get_params() == estimator.get_params()
    assert not hasattr(copied, "model_")


# -- engines that remember --------------------------------------------------------------------


def search(engine, **options):
    estimator = StructuredEstimator(TAGGING, StructuredSVM(iterations=5), engine)
    grid = {"learner__C": [0.05, 1.0]}
    return GridSearchCV(estimator, grid, cv=3, error_score="raise", **options).fit(XS, YS)


def blobs(store):
    return sum(size.blobs for size in store.info().values())


def test_the_runs_of_a_search_share_what_their_engine_remembers():
    plain = search(None)
    engine = Amortized(Exact(), certificate="condition", admission="always")
    first = search(engine)
    before = engine.counters
    assert 0 < before.solver_calls < before.queries
    second = search(engine)
    assert (engine.counters - before).solver_calls == 0
    for found in (first, second):
        assert found.best_estimator_.engine is engine
        assert found.best_params_ == plain.best_params_
        assert (
            found.cv_results_["mean_test_score"].tolist()
            == plain.cv_results_["mean_test_score"].tolist()
        )


def test_processes_of_a_search_share_the_store_of_their_engine(tmp_path):
    store = SqliteStore(tmp_path / "answers.sqlite")
    engine = Amortized(Exact(), store, certificate="condition", admission="always")
    plain, first = search(None), search(engine, n_jobs=2, refit=False)
    assert engine.counters == Counters()  # what other processes count is lost
    solved = blobs(store)
    assert solved > 0
    second = search(engine, n_jobs=2)
    counters = engine.counters  # all by fitting once more, here
    assert blobs(store) - solved == counters.solver_calls - counters.second_bests
    for found in (first, second):
        assert (
            found.cv_results_["mean_test_score"].tolist()
            == plain.cv_results_["mean_test_score"].tolist()
        )


def test_an_engine_in_the_grid_is_copied_with_its_store():
    store = MemoryStore()
    engines = [
        Amortized(Exact(), store, how, admission="always") for how in ("condition", "margin")
    ]
    estimator = StructuredEstimator(TAGGING, StructuredSVM(iterations=3))
    found = GridSearchCV(estimator, {"engine": engines}, cv=2, error_score="raise").fit(XS, YS)
    assert found.best_estimator_.engine.store is store
    assert blobs(store) > 0
    assert all(engine.counters == Counters() for engine in engines)


def test_a_setting_of_the_engine_is_replaced_and_its_store_stays():
    engine = Amortized(Exact(), MemoryStore())
    estimator = StructuredEstimator(TAGGING, engine=engine).set_params(engine__epsilon=0.5)
    assert estimator.get_params()["engine__epsilon"] == 0.5
    assert estimator.engine.store is engine.store
    assert engine.epsilon == 0.0


def test_a_fitted_estimator_leaves_behind_what_its_engine_remembers(tmp_path):
    store = SqliteStore(tmp_path / "answers.sqlite")
    engine = Amortized(Exact(), store, "condition", admission="always")
    estimator = StructuredEstimator(TAGGING, engine=engine).fit(XS, YS)
    sent = pickle.loads(pickle.dumps(estimator))  # noqa: S301
    assert sent.model_.engine.counters == Counters()
    assert blobs(sent.engine.store) == blobs(engine.store) > 0
    assert sent.predict(XS) == estimator.predict(XS)


def test_rote_and_its_learners_do_not_load_scikit_learn():
    program = (
        "import sys, rote, rote.learning.training, rote.learning.cross_validation; "
        "print('sklearn' in sys.modules or 'joblib' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


def test_without_scikit_learn_it_says_what_to_install(monkeypatch):
    for name in ("rote.sklearn", "rote.learning.sklearn"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setitem(sys.modules, "sklearn.base", None)
    with pytest.raises(MissingDependency, match=r"pip install '\.\[sklearn\]'"):
        import_module("rote.sklearn")
