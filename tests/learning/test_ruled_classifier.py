"""Predictions beside all labels that obey the rules, and scikit-learn's own checks."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.multioutput import ClassifierChain, MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import NearestCentroid
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import check_estimator

from rote import Exhaustive, at_most
from rote.errors import DataError, LabelError, RuleError, SettingError
from rote.sklearn import RuledClassifier

NAMES = ["animal", "dog", "pup", "car"]
PARENTS = {"dog": "animal", 2: ["dog", 0]}
RULES = "not (animal and car)"


def points(n=60, seed=0):
    """Rows and labels that mostly obey parents and rules."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    Y = (X + rng.normal(scale=0.9, size=X.shape) > 0).astype(int)
    Y[:, 1] &= Y[:, 0]
    Y[:, 2] &= Y[:, 1]
    Y[:, 3] &= 1 - Y[:, 0]
    return X, Y


def obeys(y):
    animal, dog, pup, car = y
    return dog <= animal and pup <= dog and not (animal and car)


def said(estimator, X):  # noqa: N803
    """Log-probabilities of off and on of one output, or half of what separates them."""
    if hasattr(estimator, "predict_proba"):
        with np.errstate(divide="ignore"):
            return np.maximum(np.log(estimator.predict_proba(X)), -20.0)
    d = estimator.decision_function(X)
    return np.stack([-d / 2, d / 2], axis=1)


@pytest.mark.parametrize("estimator", [LogisticRegression(), GaussianNB(), RidgeClassifier()])
def test_predictions_are_the_best_of_all_labels_that_obey(estimator):
    X, Y = points()
    ruled = RuledClassifier(estimator, PARENTS, RULES, NAMES)
    assert not ruled.fit(X, Y).whole_ or isinstance(estimator, RidgeClassifier)
    alone = [type(estimator)().fit(X, Y[:, k]) for k in range(4)]
    scores = np.stack([said(one, X) for one in alone], axis=1)
    found = ruled.predict(X)
    every = [y for y in itertools.product((0, 1), repeat=4) if obeys(y)]
    value = np.array([[row[range(4), y].sum() for y in every] for row in scores])
    best = value[range(len(X)), [every.index(tuple(y)) for y in found.tolist()]]
    assert best == pytest.approx(value.max(axis=1), abs=1e-6)
    free = np.stack([one.predict(X) for one in alone], axis=1)
    assert not all(map(obeys, free.tolist()))


@pytest.mark.parametrize(
    ("estimator", "whole"),
    [
        (RandomForestClassifier(5, random_state=0), True),
        (MLPClassifier((4,), random_state=0, max_iter=20, solver="lbfgs"), True),
        (MultiOutputClassifier(GaussianNB()), True),
        (ClassifierChain(GaussianNB()), True),
        (RidgeClassifier(), True),
        (make_pipeline(StandardScaler(), LogisticRegression()), False),
    ],
    ids=lambda one: type(one).__name__,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_an_estimator_of_several_columns_gets_all_of_them(estimator, whole):
    X, Y = points()
    ruled = RuledClassifier(estimator, PARENTS, RULES, NAMES).fit(X, Y)
    assert ruled.whole_ is whole
    assert len(ruled.estimators_) == (1 if whole else 4)
    assert all(map(obeys, ruled.predict(X).tolist()))
    free = RuledClassifier(estimator).fit(X, Y).predict(X)
    assert (free == estimator.fit(X, Y).predict(X)).all() if whole else True
    assert ruled.score(X, Y) > 0.6


@pytest.mark.parametrize("unknown", [-1, np.nan, None])
def test_labels_that_are_not_known_are_left_out(unknown):
    X, Y = points()
    hidden = np.random.default_rng(1).random(Y.shape) < 0.3
    given = Y.astype(object if unknown is None else float)
    given[hidden] = unknown
    weights = np.linspace(1, 2, len(X))
    ruled = RuledClassifier(DecisionTreeClassifier(random_state=0), PARENTS, RULES, NAMES)
    ruled.fit(X, given, sample_weight=weights)
    for k, own in enumerate(ruled.estimators_):
        rows = ~hidden[:, k]
        same = DecisionTreeClassifier(random_state=0)
        same.fit(X[rows], Y[rows, k], sample_weight=weights[rows])
        assert (own.predict(X) == same.predict(X)).all()
    right = (ruled.predict(X) == Y)[~hidden]
    assert ruled.score(X, given) == pytest.approx(right.mean())
    with pytest.raises(DataError, match="no known label to score"):
        ruled.score(X[:1], [[unknown] * 4])


def test_one_column_may_have_unknown_labels_as_well():
    ruled = RuledClassifier(LogisticRegression(), rules="not y0 is c")
    ruled.fit([[0.0], [1.0], [2.0], [3.0]], ["a", "b", "c", None])
    assert ruled.predict([[0.0], [9.0]]).tolist() == ["a", "b"]


def test_outputs_may_have_any_classes():
    X, Y = points()
    size = np.array(["small", "mid", "big"])[Y[:, :2].sum(axis=1)]
    table = pd.DataFrame({"pet": Y[:, 0], "size": size})
    frame = pd.DataFrame(X, columns=list("abcd"))
    ruled = RuledClassifier(LogisticRegression(), rules="if pet then size is mid|big")
    found = ruled.fit(frame, table).predict(frame)
    assert set(map(tuple, found.tolist())) <= {
        *itertools.product((0, 1), ("mid", "big")),
        (0, "small"),
    }
    assert ruled.feature_names_in_.tolist() == list("abcd")
    assert [own.tolist() for own in ruled.classes_] == [[0, 1], ["big", "mid", "small"]]


def test_a_label_that_is_always_off_is_known_to_rules():
    X, Y = points()
    Y[:, 2] = 0
    ruled = RuledClassifier(LogisticRegression(), PARENTS, RULES, NAMES).fit(csr_array(X), Y)
    assert (ruled.predict(csr_array(X))[:, 2] == 0).all()
    assert ruled.classes_[2].tolist() == [0, 1]


def test_a_search_sets_what_is_inside_and_the_rules():
    def few(builder, variables):
        builder.require(at_most(1, [variable["on"] for variable in variables]))

    X, Y = points()
    Y = np.where(np.random.default_rng(0).random(Y.shape) < 0.1, -1, Y)
    ruled = RuledClassifier(LogisticRegression(), names=NAMES, engine=Exhaustive())
    grid = {"estimator__C": [0.01, 1.0], "rules": [None, RULES, few], "parents": [None, PARENTS]}
    search = GridSearchCV(ruled, grid, cv=3, error_score="raise").fit(X, Y)
    assert len(search.cv_results_["params"]) == 12
    assert search.best_estimator_.engine == Exhaustive()
    few_on = search.best_estimator_.set_params(rules=few, parents=None).fit(X, Y).predict(X)
    assert few_on.sum(axis=1).max() == 1


@pytest.mark.parametrize(
    "estimator", [LogisticRegression(), DecisionTreeClassifier(random_state=0)]
)
def test_scikit_learns_own_checks_pass(estimator):
    done = check_estimator(RuledClassifier(estimator), on_skip=None)
    by_status = {}
    for check in done:
        by_status.setdefault(check["status"], set()).add(check["check_name"])
    # It needs a variable of the environment; there are neither probabilities nor decisions.
    assert by_status.pop("skipped") <= {
        "check_array_api_input",
        "check_classifiers_multilabel_output_format_decision_function",
        "check_classifiers_multilabel_output_format_predict_proba",
    }
    assert set(by_status) == {"passed"}
    assert len(by_status["passed"]) > 55


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"parents": {"cat": "animal"}}, LabelError, "parents names 'cat', .* animal, dog, pup"),
        ({"names": ["a", "b"]}, LabelError, "one name for each of 4 outputs"),
        ({"rules": "if cat then dog"}, RuleError, "line 1, column 4"),
        ({"estimator": NearestCentroid()}, SettingError, "takes no sample weights"),
    ],
)
def test_what_does_not_fit_is_refused(settings, error, said):
    X, Y = points()
    ruled = RuledClassifier(LogisticRegression(), names=NAMES).set_params(**settings)
    with pytest.raises(error, match=said):
        ruled.fit(X, Y, sample_weight=np.ones(len(X)))


def test_an_output_of_which_nothing_is_known_is_named():
    X, Y = points()
    Y[:, 2] = -1
    with pytest.raises(DataError, match="no label of output 'pup' is known"):
        RuledClassifier(LogisticRegression(), names=NAMES).fit(X, Y)
