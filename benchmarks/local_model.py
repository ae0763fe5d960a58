"""A quickly trained local model of entities and relations, for scores as they come in practice.

Logistic regressions on hashed features, one per label: of single entities, and of ordered
pairs. They know nothing of each other or of any rule. With σ their probabilities, the score
of label a is log σ_a - log Σ_b σ_b. A few seconds of training; the same weights every time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from rote.data.conll04 import Entity, Sentence
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
        alone = self.entities.log_probabilities(list(entity_features(sentence)))
        paired = self.relations.log_probabilities(list(pair_features(sentence)))
        return np.concatenate([alone.ravel(), paired.ravel()])


def train(sentences: Sequence[Sentence]) -> LocalModel:
    """Both classifiers, from sentences with their entities and relations."""
    entity_labels = [entity.label for s in sentences for entity in s.entities]
    return LocalModel(
        _fitted(sentences, entity_features, entity_labels, ENTITY_LABELS),
        _fitted(sentences, pair_features, _relation_labels(sentences), RELATION_LABELS),
    )


def entity_features(sentence: Sentence) -> Iterator[Features]:
    """Words, shapes and tags of each entity and of its neighbours."""
    for entity in sentence.entities:
        words, tags = sentence.words[entity.start : entity.stop], sentence.pos
        features = ["bias", f"length {min(len(words), 5)}"]
        features += [f"word {word.lower()}" for word in words]
        features += [f"shape {shape(word)}" for word in words]
        features += [f"tags {' '.join(tags[entity.start : entity.stop])}"]
        features += [f"first {words[0].lower()}", f"last {words[-1].lower()}"]
        features += [f"ends {words[-1].lower()[-k:]}" for k in (2, 3)]
        for step in (-3, -2, -1, 0, 1, 2):
            at = entity.start + step if step < 0 else entity.stop + step
            features += [f"{step} {_at(sentence.words, at)}", f"tag {step} {_at(tags, at)}"]
        yield features


def pair_features(sentence: Sentence) -> Iterator[Features]:
    """What stands between and around each ordered pair of entities, and their last words."""
    for i, j in pairs(len(sentence.entities)):
        first, second = sentence.entities[i], sentence.entities[j]
        order = "forward" if i < j else "backward"
        left, right = (first, second) if i < j else (second, first)
        words = [word.lower() for word in sentence.words[left.stop : right.start]]
        tags = sentence.pos[left.stop : right.start]
        before = _at(sentence.words, left.start - 1)
        after = _at(sentence.words, right.stop)
        between = [f"word {word}" for word in words]
        between += [f"words {a} {b}" for a, b in pairwise(words)]
        between += [f"tags {' '.join(tags)}", f"distance {min(len(words), 12)}"]
        between += [f"entities between {min(abs(i - j) - 1, 4)}", f"all {' '.join(words[:4])}"]
        between += [f"before {before}", f"after {after}", f"around {before} {after}"]
        ends = [f"{_last(sentence, first)} first", f"{_last(sentence, second)} second"]
        ends += [f"{_outline(sentence, first)} to {_outline(sentence, second)}"]
        yield ["bias", order, *ends, *between, *(f"{order} {text}" for text in between)]


def shape(word: str) -> str:
    """What a word looks like, repetitions left out.

    >>> shape("McDonald's"), shape("1990s")
    ("XxXx'x", '0x')
    """
    signs = (
        "X" if c.isupper() else "x" if c.islower() else "0" if c.isdigit() else c for c in word
    )
    return "".join(sign for sign, _ in groupby(signs))


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


def _fitted(
    sentences: Sequence[Sentence],
    features: Callable[[Sentence], Iterator[Features]],
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


def _at(words: Sequence[str], place: int) -> str:
    return words[place].lower() if 0 <= place < len(words) else "edge"


def _last(sentence: Sentence, entity: Entity) -> str:
    return sentence.words[entity.stop - 1].lower()


def _outline(sentence: Sentence, entity: Entity) -> str:
    last = entity.stop - 1
    return f"{sentence.pos[last]} {shape(sentence.words[last])} {entity.stop - entity.start}"
