"""A quickly trained local model of entities and relations, for scores as they come in practice.

Logistic regressions on hashed features, one per label: of single entities, and of ordered
pairs. They know nothing of each other or of any rule. With σ their probabilities, the score
of label a is log σ_a - log Σ_b σ_b. A few seconds of training; the same weights every time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rote import EntityRelation
from rote.io.conll import Sentence
from rote.tasks.entity_relation import ENTITY_LABELS, RELATION_LABELS, pairs
from rote.types import FloatArray

HASHED = 1 << 17
EPOCHS = 10
Features = list[str]


@dataclass(frozen=True)
class LocalModel:
    """Log-probabilities per entity and per ordered pair."""

    entities: _Classifier
    relations: _Classifier

    def scores(self, sentence: Sentence) -> FloatArray:
        """One row of part scores, in the order of `entity_relation_space`."""
        alone = self.entities.log_probabilities(_entities(sentence))
        paired = self.relations.log_probabilities(_pairs(sentence))
        return np.concatenate([alone.ravel(), paired.ravel()])


def train(sentences: Sequence[Sentence]) -> LocalModel:
    """Both classifiers, from sentences with their entities and relations."""
    entity_labels = [entity.label for s in sentences for entity in s.entities]
    return LocalModel(
        _fitted(sentences, _entities, entity_labels, ENTITY_LABELS),
        _fitted(sentences, _pairs, _relation_labels(sentences), RELATION_LABELS),
    )


@dataclass(frozen=True)
class _Classifier:
    weights: FloatArray  # (labels, hashed features)
    bias: FloatArray

    def log_probabilities(self, features: list[Features]) -> FloatArray:
        """One row per item; a row's exponentials add up to 1."""
        if not features:
            return np.zeros((0, len(self.bias)))
        logits = np.asarray(_hashed(features) @ self.weights.T) + self.bias
        logs = -np.logaddexp(0.0, -logits)
        return np.asarray(logs - np.log(np.exp(logs).sum(axis=1, keepdims=True)))


def _entities(sentence: Sentence) -> list[Features]:
    vectors = EntityRelation().vectors(sentence)
    return list(vectors[: len(sentence.entities)])


def _pairs(sentence: Sentence) -> list[Features]:
    vectors = EntityRelation().vectors(sentence)
    return list(vectors[len(sentence.entities) :])


def _fitted(
    sentences: Sequence[Sentence],
    features: Callable[[Sentence], list[Features]],
    labels: Sequence[str],
    order: Sequence[str],
) -> _Classifier:
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(loss="log_loss", max_iter=EPOCHS, tol=None, random_state=0)
    model.fit(_hashed([row for s in sentences for row in features(s)]), labels)
    columns = [list(model.classes_).index(label) for label in order]
    return _Classifier(model.coef_[columns], model.intercept_[columns])


def _hashed(features: list[Features]) -> Any:
    from sklearn.feature_extraction import FeatureHasher

    return FeatureHasher(HASHED, input_type="string", alternate_sign=False).transform(features)


def _relation_labels(sentences: Sequence[Sentence]) -> list[str]:
    labels = []
    for sentence in sentences:
        known = {(r.first, r.second): r.label for r in sentence.relations}
        ordered = pairs(len(sentence.entities))
        labels += [known.get(pair, RELATION_LABELS[0]) for pair in ordered]
    return labels
