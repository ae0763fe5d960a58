"""Networks for the sequences of Ma et al. (2019), and their log-probabilities as features.

A network knows the examples it was trained on too well, and what is learned on top of it would
trust it too much. So the training examples are cut into folds, and each fold is looked at by a
network that was trained on the others; what is new is looked at by one that was trained on all.

A token then is a pair: what it was, and a tenth of its log-probabilities, each at least -1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from papers.ma2019.tasks import Examples
from rote import Tagging, Templates
from rote.features import Features
from rote.types import FloatArray

if TYPE_CHECKING:
    from papers.ma2019.cnn import CNN
    from rote.torch import BiLSTMTagger

LEAST = -10.0  # log-probability, so that no feature is much larger than the others


@dataclass(frozen=True)
class Network:
    """The size of a network and of its training."""

    epochs: int = 15
    hidden: int = 64
    words: int = 48
    characters: int = 0
    folds: int = 3


def bilstm(labels: Sequence[str], network: Network, seed: int) -> BiLSTMTagger:
    """A tagger that is not trained yet, which learns each token by itself."""
    from rote.torch import BiLSTMTagger, Training

    one_thread()
    return BiLSTMTagger(
        tuple(labels),
        learns_by="tokens",
        words=network.words,
        hidden=network.hidden,
        characters=network.characters,
        training=Training(epochs=network.epochs, seed=seed),
    )


def cnn(labels: Sequence[str], network: Network, seed: int) -> CNN:
    """A convolutional network for images of letters that is not trained yet."""
    from papers.ma2019.cnn import CNN
    from rote.torch import Training

    one_thread()
    return CNN(tuple(labels), training=Training(epochs=network.epochs, seed=seed))


def one_thread() -> None:
    """PyTorch's threads wait for each other by spinning, and networks are small."""
    import torch

    torch.set_num_threads(1)


def out_of_fold(tagger: BiLSTMTagger, examples: Examples, folds: int) -> list[Any]:
    """Log-probabilities of every example by a network that did not learn from it."""
    found: list[Any] = [None] * len(examples.ys)
    for fold in range(folds):
        inside = list(range(fold, len(found), folds))
        others = [k for k in range(len(found)) if k % folds != fold]
        trained = tagger.fit(*examples.rows(others))
        own = trained.log_probabilities_of([examples.xs[k] for k in inside])
        for k, rows in zip(inside, own, strict=True):
            found[k] = rows
    return found


def with_scores(xs: Sequence[Any], scores: Sequence[Sequence[FloatArray]]) -> list[Any]:
    """Inputs whose tokens have their log-probabilities beside them."""
    return [tuple(zip(x, rows, strict=True)) for x, rows in zip(xs, scores, strict=True)]


def scored_task(task: Tagging) -> Tagging:
    """The task over tokens that `with_scores` gives."""
    return replace(task, features=Beside(task.features))


@dataclass(frozen=True)
class Beside:
    """Features of a sequence, and scores of each of its tokens beside them."""

    features: Templates | Callable[[Any], Sequence[Features]]

    def __call__(self, x: Sequence[tuple[Any, FloatArray]]) -> list[Features]:
        tokens: Any = tuple(token for token, _ in x)
        scores = [np.maximum(row, LEAST) / -LEAST for _, row in x]
        if isinstance(self.features, Templates):
            return [
                {**dict.fromkeys(names, 1.0), **{f"log p {k}": v for k, v in enumerate(row)}}
                for names, row in zip(self.features.rows(tokens), scores, strict=True)
            ]
        vectors: Any = self.features(np.array(tokens))
        return [np.concatenate(pair) for pair in zip(vectors, scores, strict=True)]
