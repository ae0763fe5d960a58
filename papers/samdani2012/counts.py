"""A hidden Markov model by counting: labels, words and shapes of words, as shares.

Its logarithms are weights of the tasks in `papers.samdani2012.fields` and of a plain chain alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from papers.samdani2012.corpora import Example
from papers.samdani2012.fields import INSIDE, shape_of, word_of
from rote.model import Layout
from rote.types import FloatArray

RARE, NEW = 0.1, 0.5  # how what was not seen is counted


@dataclass(frozen=True, eq=False)
class Counts:
    """How often a label has a word, as logarithms of shares, and follows another label.

    A word that was seen once stands for words that were never seen: their share of a label's words
    is what new words have, by shape.
    """

    words: Mapping[str, FloatArray]
    shapes: Mapping[str, FloatArray]
    pairs: FloatArray

    @staticmethod
    def of(labels: Sequence[str], examples: Sequence[Example]) -> Counts:
        place = {label: a for a, label in enumerate(labels)}
        words: dict[str, FloatArray] = {}
        pairs = np.full((len(labels), len(labels)), RARE)
        for x, y in examples:
            for (word, *_), label in zip(x, y, strict=True):
                words.setdefault(word_of(word), np.zeros(len(labels)))[place[label]] += 1
            for before, after in pairwise(y):
                pairs[place[before], place[after]] += 1
        total = np.sum(list(words.values()), axis=0)
        shapes = {shape_of(word): np.full(len(labels), RARE) for word in words}
        for word, found in words.items():
            if found.sum() == 1:
                shapes[shape_of(word)] += found
        new = np.sum(list(shapes.values()), axis=0) + NEW
        share = new / (total + new)
        log_shapes = {shape: np.log(share * found / new) for shape, found in shapes.items()}
        log_words = {}
        for word, found in words.items():
            seen = (1 - share) * found / np.maximum(total, 1)
            rare = share * RARE * found.sum() / total.sum()
            # The shape of a word that is known is taken back, as it scores in any case.
            log_words[word] = np.log(seen + rare) - log_shapes[shape_of(word)]
        return Counts(log_words, log_shapes, np.log(pairs / pairs.sum(axis=1, keepdims=True)))

    def write(self, layout: Layout, weights: FloatArray) -> None:
        """As the weights of tokens, or of segments."""
        block = layout.block(weights, "label")
        (kind,) = (b.kind for b in layout.blocks if b.name == "label")
        for column, name in enumerate(layout.indices[kind].names()):
            sort, _, rest = name.partition("=")
            if name == INSIDE:
                block[column] = np.diag(self.pairs)
            else:
                block[column] = (self.words if sort == "word" else self.shapes)[rest]
        layout.block(weights, "2 labels")[:] = self.pairs.ravel()
