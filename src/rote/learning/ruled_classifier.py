"""Any classifier of scikit-learn, its answers put together under rules.

What a classifier says of each label becomes a score, its log-probability or its decision function,
and an engine finds the best labels that obey the rules. So a hierarchy, or any other rule, holds
in every prediction, and a confident parent or child can outvote the other.

This module loads scikit-learn, as `rote.learning.sklearn` does.
"""
# ruff: noqa: N803 (arguments are named as in scikit-learn)

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, Self, TypeAlias

import numpy as np

from rote.errors import DataError, LabelError, MissingDependency, SettingError
from rote.inference.engine import Engine
from rote.inference.exact.exact import Exact
from rote.space import Space, SpaceBuilder, Variable
from rote.space.rule_text import OFF_ON, Rules, Variables, Vocabulary
from rote.tasks.external_scores import ExternalScores, external_scores_of, scores_from
from rote.types import AnyArray, BoolArray, FloatArray

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
    from sklearn.dummy import DummyClassifier
    from sklearn.utils import _safe_indexing, assert_all_finite, get_tags
    from sklearn.utils.multiclass import check_classification_targets
    from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data
except ImportError as error:
    raise MissingDependency(
        "rote.sklearn needs the package scikit-learn, which is not installed; "
        "run: pip install '.[sklearn]' in a checkout of rote"
    ) from error

UNKNOWN = -1  # in several columns, as nan and None are anywhere
Output: TypeAlias = str | int


class RuledClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of one or more outputs whose predictions obey rules.

    ``y`` has a column for each output: 0 and 1 for labels that are off or on, or any classes.
    Labels that are not known are nan, None, or -1 where there are several columns; they are left
    out in learning and in `score`. An estimator that takes several columns at once, as forests do,
    gets all of them if all is known. Otherwise each column has a clone of its own.

    Once fitted, ``space_`` is the `Space` of the outputs, ``estimators_`` are the classifiers, and
    ``classes_`` the classes of each output.

    Parameters
    ----------
    estimator
        A classifier with ``predict_proba`` or ``decision_function``.
    parents
        For labels that are off or on, the parent or parents of each: a label is on only where they
        are. By name, or by column.
    rules
        A text (`rote.space.rule_text`) about outputs by their names, as in "if beach then not
        city" or "if colour is red then size is big", or a function that adds rules, given a builder
        and the variables.
    names
        The outputs in the order of columns; if not given, the columns of a data frame, or y0, y1, …
    engine
        What finds the best labels; `Exact` if not given.

    >>> from sklearn.linear_model import LogisticRegression
    >>> X, Y = [[0.0], [1.0], [2.0], [3.0]], [[0, 0], [0, 0], [1, 1], [1, -1]]  # -1: not known
    >>> names = ["animal", "dog"]
    >>> ruled = RuledClassifier(LogisticRegression(), parents={"dog": "animal"}, names=names)
    >>> ruled.fit(X, Y).predict([[0.2], [2.5]])
    array([[0, 0],
           [1, 1]])
    """

    def __init__(
        self,
        estimator: Any,
        parents: Mapping[Output, Output | Sequence[Output]] | None = None,
        rules: Rules | None = None,
        names: Sequence[str] | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.estimator = estimator
        self.parents = parents
        self.rules = rules
        self.names = names
        self.engine = engine

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        own = get_tags(self.estimator)
        tags.input_tags.sparse = own.input_tags.sparse
        tags.input_tags.allow_nan = own.input_tags.allow_nan
        tags.target_tags.multi_output = tags.classifier_tags.multi_label = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: AnyArray | None = None) -> Self:
        """Fit the classifiers, each to what is known of its output."""
        validate_data(self, X, skip_check_array=True)
        Y, known, self.single_ = _target(y)
        if sample_weight is not None and not has_fit_parameter(self.estimator, "sample_weight"):
            raise SettingError(
                f"{type(self.estimator).__name__} takes no sample weights; leave them out"
            )
        self.outputs_ = self._names(y, Y)
        columns = range(Y.shape[1])
        seen = [_classes(Y[known[:, k], k], self.outputs_[k]) for k in columns]
        on_off = [not self.single_ and np.isin(own, (0, 1)).all() for own in seen]
        every = [
            np.array([0, 1]).astype(own.dtype) if two else own
            for own, two in zip(seen, on_off, strict=True)
        ]
        self.classes_ = every[0] if self.single_ else every
        self._labels = [
            OFF_ON if two else tuple(map(str, own.tolist()))
            for own, two in zip(every, on_off, strict=True)
        ]
        self.space_ = self._space()
        tags = get_tags(self.estimator)
        takes_all = tags.target_tags.multi_output or (
            tags.classifier_tags.multi_label and all(on_off)
        )
        weight = None if sample_weight is None else np.asarray(sample_weight)
        self.whole_ = bool(takes_all and Y.shape[1] > 1 and known.all())
        if self.whole_:
            target = np.column_stack([_plain(Y[:, k]) for k in columns])
            self.estimators_ = [_fitted(clone(self.estimator), X, target, weight)]
        else:
            self.estimators_ = [
                self._fitted_to(X, Y[:, k], known[:, k], seen[k], weight) for k in columns
            ]
        return self

    def predict(self, X: Any) -> AnyArray:
        """The best labels of each row that obey the rules."""
        check_is_fitted(self)
        scores = scores_from(self.space_, dict(zip(self.outputs_, self._scores(X), strict=True)))
        engine = Exact() if self.engine is None else self.engine
        labels = engine.solve(self.space_, scores).require_outputs()
        if self.single_:
            return np.asarray(self.classes_[labels[:, 0]])
        texts = [own.dtype.kind in "US" for own in self.classes_]
        mixed = object if any(texts) and not all(texts) else None  # numbers stay numbers
        return np.stack([own[labels[:, k]] for k, own in enumerate(self.classes_)], 1, dtype=mixed)

    def score(self, X: Any, y: Any, sample_weight: AnyArray | None = None) -> float:
        """The share of the known labels that are right."""
        Y, known, _ = _target(y)
        found = self.predict(X).reshape(Y.shape)
        weights = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight)
        counts = known * weights[:, None]
        if not counts.any():
            raise DataError("there is no known label to score; give rows that have some")
        return float(((found == Y) * counts).sum() / counts.sum())

    def _names(self, y: Any, Y: AnyArray) -> list[str]:
        if self.names is not None:
            names = list(self.names)
        elif hasattr(y, "columns"):
            names = list(map(str, y.columns))
        else:
            names = [f"y{k}" for k in range(Y.shape[1])]
        if len(names) != Y.shape[1]:
            raise LabelError(f"names has one name for each of {Y.shape[1]} outputs; got {names}")
        return names

    def _space(self) -> Space:
        builder = SpaceBuilder()
        outputs = [
            builder.variable(name, labels)
            for name, labels in zip(self.outputs_, self._labels, strict=True)
        ]
        by_name: dict[Output, Variable] = dict(zip(self.outputs_, outputs, strict=True))
        by_name |= dict(enumerate(outputs))
        for child, above in (self.parents or {}).items():
            for parent in [above] if isinstance(above, str | int) else above:
                for name in (child, parent):
                    if name not in by_name or by_name[name].labels != OFF_ON:
                        raise LabelError(
                            f"parents names {name!r}, which is no output with the classes 0 and 1; "
                            f"the outputs are {', '.join(self.outputs_):.200}"
                        )
                rule = by_name[child]["on"] >> by_name[parent]["on"]
                builder.require(rule, f"{by_name[parent].name} above {by_name[child].name}")
        places: Variables = {variable.name: {(): variable} for variable in outputs}
        vocabulary = Vocabulary({v.name: (0, v.labels) for v in outputs})
        vocabulary.check(self.rules)
        vocabulary.require(builder, self.rules, outputs, places)
        return builder.build()

    def _fitted_to(
        self, X: Any, y: AnyArray, known: BoolArray, seen: AnyArray, weight: AnyArray | None
    ) -> Any:
        """A classifier of one output, of what is known of it."""
        one = DummyClassifier(strategy="most_frequent") if len(seen) == 1 else clone(self.estimator)
        rows = np.flatnonzero(known)
        if len(rows) < len(y):
            X, weight = _safe_indexing(X, rows), None if weight is None else weight[rows]
        return _fitted(one, X, _plain(y[rows]), weight)

    def _scores(self, X: Any) -> Iterator[ExternalScores]:
        """What the classifiers say of each output."""
        if self.whole_:
            said = _said_of_all(self.estimators_[0], X, len(self.outputs_))
        else:
            said = ((own.classes_, external_scores_of(own, X).scores) for own in self.estimators_)
        for (classes, scores), labels in zip(said, self._labels, strict=True):
            if labels == OFF_ON:
                yield ExternalScores(tuple(OFF_ON[int(one)] for one in classes), scores)
            else:
                yield ExternalScores(tuple(map(str, np.asarray(classes).tolist())), scores)


def _said_of_all(estimator: Any, X: Any, outputs: int) -> Iterator[tuple[AnyArray, FloatArray]]:
    """Classes and scores of each output, from a classifier of all of them."""
    how = "predict_proba" if hasattr(estimator, "predict_proba") else "decision_function"
    if not hasattr(estimator, how):
        external_scores_of(estimator, X)  # which says what is missing
    said = getattr(estimator, how)(X)
    for k in range(outputs):
        if isinstance(said, list):
            classes, own = estimator.classes_[k], said[k]
        else:  # what is said of 1
            classes, own = np.array([0, 1]), said[:, k]
            if how == "predict_proba":
                own = np.stack([1 - own, own], axis=1)
        one = SimpleNamespace(classes_=classes, **{how: partial(_same, own)})
        yield classes, external_scores_of(one, X).scores


def _same(said: AnyArray, _: Any) -> AnyArray:
    return said


def _fitted(classifier: Any, X: Any, y: AnyArray, weight: AnyArray | None) -> Any:
    return classifier.fit(X, y) if weight is None else classifier.fit(X, y, sample_weight=weight)


def _target(y: Any) -> tuple[AnyArray, BoolArray, bool]:
    """The labels, a column for each output; which of them are known; whether y was one column."""
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    Y = np.asarray(y.toarray() if hasattr(y, "toarray") else y)
    if Y.ndim not in (1, 2):
        raise DataError(f"y has a row for each input and a column for each output; got {Y.shape}")
    single = Y.ndim == 1
    Y = Y.reshape(len(Y), -1)
    known = np.asarray((Y == Y) & (Y != None), dtype=np.bool_)  # noqa: E711  # nan, None
    if Y.shape[1] > 1:
        known &= Y != UNKNOWN
    return Y, known, single


def _plain(column: AnyArray) -> AnyArray:
    """A column without unknown labels in the type of its values."""
    return np.array(column.tolist()) if column.dtype == object else column


def _classes(known: AnyArray, name: str) -> AnyArray:
    if not len(known):
        raise DataError(f"no label of output {name!r} is known; give at least one, or leave it out")
    column = _plain(known)
    assert_all_finite(column)
    check_classification_targets(column)
    return np.unique(column)
