"""Estimators for scikit-learn's searches and pipelines.

Parameters nest through frozen dataclasses: ``learner__C`` is the field ``C`` of the learner and
``task__order`` the field ``order`` of the task. Setting one replaces the object that has it, so
that objects are shared between estimators and never changed.

This module loads scikit-learn. Nothing in rote imports it: say ``rote.learning.sklearn``.
"""
# ruff: noqa: N803 (arguments are named as in scikit-learn)

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, is_dataclass, replace
from typing import Any, Self

import numpy as np

from rote.errors import DataError, MissingDependency, SettingError
from rote.inference.engine import Engine
from rote.learning.base import Learner
from rote.learning.svm import StructuredSVM
from rote.learning.training import train
from rote.tasks.multiclass import Multiclass
from rote.tasks.task import Task
from rote.types import AnyArray, FloatArray

try:
    from sklearn.base import BaseEstimator, ClassifierMixin
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:
    raise MissingDependency(
        "rote.sklearn needs the package scikit-learn, which is not installed; "
        "run: pip install '.[sklearn]' in a checkout of rote"
    ) from error


class _Settings(BaseEstimator):  # type: ignore[misc]
    """Parameters that nest through frozen dataclasses."""

    learner: Learner | None

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by their names; if ``deep``, those of the parameters as well."""
        own = {name: getattr(self, name) for name in self._get_param_names()}
        if not deep:
            return own
        found = dict(own)
        for name in own:
            found.update(_nested(name, self._value(name)))
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters by their names: first whole ones, then those inside them."""
        for name in sorted(params, key=lambda name: name.count("__")):
            first, *path = name.split("__")
            if first not in self._get_param_names():
                raise SettingError(
                    f"{type(self).__name__} has no parameter {first!r}; its parameters are "
                    f"{', '.join(self._get_param_names())}"
                )
            value = params[name]
            setattr(self, first, _replaced(self._value(first), path, value) if path else value)
        return self

    def __sklearn_clone__(self) -> Self:
        # Parameters are values that nobody changes: the clone shares them.
        return type(self)(**self.get_params(deep=False))

    def _value(self, name: str) -> Any:
        """A parameter, or what stands for None in its place."""
        value = getattr(self, name)
        return StructuredSVM() if name == "learner" and value is None else value


class StructuredEstimator(_Settings):
    """A model of any task: ``X`` is a sequence of inputs, ``Y`` one of outputs.

    Once fitted, ``model_`` is the model. Clones share their engine: the runs of a search share the
    solution cache of an `Amortized` engine, and its counters are those of all of them. In other
    processes, as those of a search with ``n_jobs`` above 1, such an engine begins with nothing but
    its store: give it one in a file or on a server. Counters of other processes are lost;
    `cross_validate` counts in all processes.

    Parameters
    ----------
    task
        What the examples are of.
    learner
        How to learn; `StructuredSVM` if not given.
    engine
        What to infer with; `Exact` if not given.
    n_jobs
        How many threads predict; how many learn is a setting of the learner.

    >>> from rote.features import Templates
    >>> from rote.tasks.tagging import Tagging
    >>> task = Tagging(("N", "V"), Templates(("word",), ("word[0]",)))
    >>> estimator = StructuredEstimator(task).set_params(learner__C=1.0)
    >>> estimator.fit([[["dogs"], ["bark"]]], [["N", "V"]]).predict([[["bark"]]])
    [('V',)]
    """

    def __init__(
        self,
        task: Task[Any, Any],
        learner: Learner | None = None,
        engine: Engine | None = None,
        *,
        n_jobs: int = 1,
    ) -> None:
        self.task = task
        self.learner = learner
        self.engine = engine
        self.n_jobs = n_jobs

    def fit(
        self, X: Sequence[Any], Y: Sequence[Any], sample_weight: AnyArray | None = None
    ) -> Self:
        """Learn; ``sample_weight`` says how much each example counts."""
        self.model_ = train(
            self.task, X, Y, learner=self.learner, engine=self.engine, sample_weight=sample_weight
        )
        return self

    def predict(self, X: Sequence[Any]) -> list[Any]:
        """The best output of every input."""
        check_is_fitted(self)
        return self.model_.predict(X, self.n_jobs)

    def score(
        self, X: Sequence[Any], Y: Sequence[Any], sample_weight: AnyArray | None = None
    ) -> float:
        """The share of variables whose label is right."""
        check_is_fitted(self)
        prepared = self.model_.prepare(
            X, Y, sample_weight=sample_weight, allow_infeasible_gold=True
        )
        right = total = 0.0
        for group, solutions in self.model_.answers(prepared, self.n_jobs):
            same = np.asarray(solutions.labels == group.gold)
            right += float(group.sample_weight @ same.sum(axis=1))
            total += float(group.sample_weight.sum()) * same.shape[1]
        if total == 0:
            raise DataError("there is no variable to score; give examples that have some")
        return right / total


class MulticlassEstimator(ClassifierMixin, _Settings):  # type: ignore[misc]
    """A linear classifier of the rows of an array.

    Once fitted, ``coef_`` has a row per class and ``intercept_`` a number per class. A class scores
    ``coef_ · x + intercept_``.

    Parameters
    ----------
    learner
        How to learn; `StructuredSVM` if not given.
    intercept
        Whether classes have an intercept, which is 0 otherwise.
    """

    def __init__(self, learner: Learner | None = None, *, intercept: bool = True) -> None:
        self.learner = learner
        self.intercept = intercept

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: AnyArray | None = None) -> Self:
        """Learn from an array or sparse array of shape (n, features) and n labels."""
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=np.float64)
        check_classification_targets(y)
        if sample_weight is not None and not np.any(np.asarray(sample_weight)):
            raise DataError("every sample weight is zero, so that no example counts; raise some")
        self.classes_, positions = np.unique(y, return_inverse=True)
        labels = tuple(map(str, range(len(self.classes_))))
        model = train(
            Multiclass(labels, constant=self.intercept),
            X if isinstance(X, np.ndarray) else (X[i] for i in range(X.shape[0])),
            [str(position) for position in positions.tolist()],
            learner=self.learner,
            sample_weight=sample_weight,
        )
        (block,) = model.layout.blocks
        matrix = model.layout.block(model.weights, block.name).T
        self.coef_ = matrix[:, : X.shape[1]].copy()
        self.intercept_ = matrix[:, -1].copy() if self.intercept else np.zeros(len(matrix))
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """The score of each class; with two classes, that of the second above the first."""
        scores = self._scores(X)
        return np.asarray(scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores)

    def predict(self, X: Any) -> AnyArray:
        """The class of every row; the first of those that score best."""
        best = self._scores(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _scores(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, reset=False)
        return np.asarray(X @ self.coef_.T + self.intercept_)


def _nested(prefix: str, value: Any) -> dict[str, Any]:
    if not is_dataclass(value) or isinstance(value, type):
        return {}
    found = {}
    for f in fields(value):
        if f.init:
            inner = getattr(value, f.name)
            found[f"{prefix}__{f.name}"] = inner
            found.update(_nested(f"{prefix}__{f.name}", inner))
    return found


def _replaced(value: Any, path: Sequence[str], new: Any) -> Any:
    """The dataclass with what lies at the end of a path replaced."""
    name, *rest = path
    names = [f.name for f in fields(value) if f.init] if is_dataclass(value) else []
    if name not in names:
        raise SettingError(
            f"{type(value).__name__} has no setting {name!r}; its settings are "
            f"{', '.join(names) or 'none'}"
        )
    inner = _replaced(getattr(value, name), rest, new) if rest else new
    return replace(value, **{name: inner})
