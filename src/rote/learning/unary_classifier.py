"""`fit_unary_classifier`: logistic regression over single decisions, where greedy search starts.

Every block of weights that variables use is a classifier of its own, by scikit-learn, which is an
extra, `sklearn`. Where labels have a vector each, as the antecedents of a mention, the right
one is told from the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rote.errors import MissingDependency
from rote.inference.approximate import UnaryClassifier
from rote.learning.base import check_examples
from rote.model import Batch, Dataset
from rote.settings import check, number, whole
from rote.types import AnyArray, FloatArray, IntArray


def fit_unary_classifier(
    prepared: Dataset, *, cost: float = 1.0, iterations: int = 200
) -> UnaryClassifier:
    """A classifier of single variables, by logistic regression on the features of a model.

    Parameters
    ----------
    prepared
        Examples with outputs; the weights are laid out as those of their model.
    cost
        scikit-learn's C, above 0: the smaller, the smaller the weights.
    iterations
        Of the solver, at most; at least 1.
    """
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError as error:
        raise MissingDependency(
            "fit_unary_classifier needs the package scikit-learn, which is not installed; "
            "run: pip install '.[sklearn]' in a checkout of rote"
        ) from error
    from scipy.sparse import csr_matrix

    check_examples(prepared)
    check("cost", cost, number(above=0))
    check("iterations", iterations, whole(1))
    layout, vectors = prepared.layout, prepared.vectors
    weights = layout.zeros()
    width = max((len(index) for index in layout.indices.values()), default=0)
    features = csr_matrix(
        tuple(map(np.asarray, (vectors.value, vectors.column, vectors.ptr))),
        shape=(len(vectors.ptr) - 1, max(1, width)),
    )
    for name in dict.fromkeys(name for group in prepared.groups for name in _blocks(group)):
        own = layout.block(weights, name)
        cases = [np.concatenate(each) for each in zip(*_cases(prepared, name), strict=True)]
        rows, labels, sample_weight, each = cases
        classifier = LogisticRegression(C=cost, fit_intercept=False, max_iter=iterations)
        known = features[rows][:, : len(own)]
        if each.any():
            own[:, 0] = _fitted(classifier, known, labels, sample_weight, 2)[:, 1]
        else:
            own[:] = _fitted(classifier, known, labels, sample_weight, own.shape[1])
    return UnaryClassifier(weights)


def _blocks(group: Batch) -> list[str]:
    return [slot.block for slot in group.frame.slots[: len(group.space.variables)]]


def _cases(
    prepared: Dataset, name: str
) -> Iterator[tuple[IntArray, IntArray, FloatArray, AnyArray]]:
    """Vectors, labels and importance of the decisions of a block; labels with vectors are cases."""
    for group in prepared.groups:
        assert group.gold is not None
        for j, block in enumerate(_blocks(group)):
            if block != name:
                continue
            slot, size = group.frame.slots[j], int(group.space.sizes[j])
            gold, count = group.gold[:, j], len(group)
            if slot.each:
                assert slot.vector is not None
                rows = group.firsts[:, None] + slot.vector + np.arange(size)
                right = (np.arange(size) == gold[:, None]).astype(np.int64).ravel()
                weight = np.repeat(group.sample_weight, size)
                yield rows.ravel(), right, weight, np.ones(count * size, dtype=np.bool_)
                continue
            rows = group.firsts + slot.vector if slot.vector is not None else np.zeros(count, int)
            yield rows, gold, group.sample_weight, np.zeros(count, dtype=np.bool_)


def _fitted(
    classifier: Any, features: AnyArray, labels: IntArray, sample_weight: FloatArray, width: int
) -> FloatArray:
    """Weights of shape (features, labels)."""
    weights = np.zeros((features.shape[1], width))
    counted = sample_weight > 0
    features, labels = features[counted], labels[counted]
    seen = np.unique(labels)
    if len(seen) == 1:  # nothing to tell apart: whatever there is speaks for this label
        weights[:, seen[0]] = np.asarray(features.mean(axis=0)).ravel()
    elif len(seen) > 1:
        classifier.fit(features, labels, sample_weight=sample_weight[counted])
        if len(seen) == 2:
            weights[:, seen[1]] = classifier.coef_[0]
        else:
            weights[:, seen] = classifier.coef_.T
    return weights
