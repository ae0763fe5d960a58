"""A bidirectional LSTM that labels the tokens of a sequence, with scores for label tuples.

    x_t    word embeddings and character features of token t, or a linear layer over its vector
    h_t    what a bidirectional LSTM makes of x_t and its neighbours
    s(y) = Σ_t U[y_t] · h_t + b[y_t]  +  Σ_t P[y_t, y_t+1]  (+ triples, …, by the order)

These are scores for the parts of the space that `rote.tasks.tagging.Tagging` builds for a
sequence, its rules included. A tagger that learns by "hinge" learns everything end to end by
`StructuredHinge` over the engine, U, b, P and the network below them. One that learns by "tokens"
learns each token by itself by cross-entropy, and has no scores for tuples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn

from rote.errors import SettingError
from rote.inference.engine import Engine
from rote.inference.exact.exact import Exact
from rote.learning.base import LOSS, check_labels
from rote.settings import instance_of, number, one_of, optional, whole
from rote.space import Space
from rote.space.losses import Hamming, Loss
from rote.space.rule_text import Rules
from rote.tasks.tagging import Tagging
from rote.torch.files import KINDS
from rote.torch.hinge import StructuredHinge
from rote.torch.inputs import CHARACTERS, FILLER, UNKNOWN, Dense, Inputs, Vocabulary, is_dense
from rote.torch.scorer import Scorer, cross_entropy
from rote.types import IntArray

LearnsBy = Literal["hinge", "tokens"]
LETTER_WIDTH = 24  # the width of a character's embedding
LETTERS = 3  # characters that a character feature looks at together


@dataclass(frozen=True, eq=False)
class BiLSTMTagger(Scorer):
    """A bidirectional LSTM that labels tokens: words, texts observed of a word, or dense vectors.

    Parameters
    ----------
    labels
        Two or more different texts.
    order
        That of `Tagging`; if not given, 1 where the tagger learns by "hinge", and 0 by "tokens".
    learns_by
        "hinge": all weights together, by `StructuredHinge`, under the rules. "tokens": each token
        by itself, by cross-entropy.
    words
        The width of word embeddings, or of the linear layer over dense vectors.
    characters
        The number of character features, 0 for none.
    lower
        Whether words are looked up in lower case.
    hidden, layers
        The width of the LSTM in each direction, and how many lie above each other.
    dropout
        The share of what goes into and comes out of the LSTM that is left out in training, below 1.
    forget
        In training, a word that was seen c times is taken for unknown with probability
        forget / (forget + c), so that something is learned of unknown words.
    bio, rules
        Those of `Tagging`; they hold in prediction, and in training by "hinge".
    loss, engine
        How wrong an output is, and what finds outputs, in training by "hinge" and in prediction.
    allow_infeasible_gold
        Whether outputs to learn from may break a rule.
    training
        How the network is trained.
    fitted
        The trained network, which `fit` and `load` fill in.
    """

    order: int | None = None
    learns_by: LearnsBy = "hinge"
    words: int = 64
    characters: int = 0
    lower: bool = False
    hidden: int = 64
    layers: int = 1
    dropout: float = 0.3
    forget: float = 0.25
    bio: bool = False
    rules: Rules | None = None
    loss: Loss = field(default_factory=Hamming)
    engine: Engine = field(default_factory=Exact)
    allow_infeasible_gold: bool = False

    checks: ClassVar = {
        **Scorer.checks,
        **dict.fromkeys(("words", "hidden", "layers"), whole(1)),
        "order": optional(whole(0)),
        "learns_by": one_of(*get_args(LearnsBy)),
        "characters": whole(0),
        "dropout": number(least=0, below=1),
        "forget": number(least=0),
        "loss": LOSS,
        "engine": instance_of(Engine, "Exact()"),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.task  # which checks labels and rules
        if self.learns_by == "tokens" and self.factors:
            raise SettingError(
                "a tagger that learns by 'tokens' has no scores of label tuples; leave order out, "
                "or say learns_by='hinge'"
            )
        check_labels(self.loss, self.labels)

    @property
    def factors(self) -> int:
        """The order, where it is left to ``learns_by`` as well."""
        return int(self.learns_by == "hinge") if self.order is None else self.order

    @property
    def task(self) -> Tagging:
        return replace(super().task, order=self.factors, bio=self.bio, rules=self.rules)

    @property
    def learns_under_rules(self) -> bool:
        return self.learns_by == "hinge" and not self.allow_infeasible_gold

    def space(self, length: int) -> Space:
        """The space of a sequence of this many tokens."""
        return self.task.frame(range(length)).space

    def part_scores(self, xs: Sequence[Any]) -> list[Tensor]:
        """The part scores of each input, with their graph, for losses of your own."""
        network, inputs = self._ready()
        empty = torch.zeros(1, 0, len(self.labels))
        each = (network(*inputs.tensors([x])) if len(x) else empty for x in xs)
        return [_parts(network, scores)[0] for scores in each]

    def inputs_of(self, xs: Sequence[Any]) -> Inputs:
        if is_dense(xs):
            return Dense.of(xs)
        return Vocabulary.of(xs, characters=self.characters > 0, lower=self.lower)

    def network_of(self, inputs: Inputs) -> nn.Module:
        encoder: _Words | _Vectors
        if isinstance(inputs, Dense):
            encoder = _Vectors(inputs.width, self.words)
        else:
            encoder = _Words(inputs, self.words, self.characters, self.forget)
        return _BiLSTM(encoder, self)

    def loss_of(self, network: nn.Module, scores: Tensor, gold: IntArray) -> Tensor:
        if self.learns_by == "tokens":
            return cross_entropy(scores, gold)
        spaces = [self.space(gold.shape[1])] * len(gold)
        loss: Tensor = self._hinge(_parts(network, scores).unbind(), spaces, gold)
        return loss

    def best_of(self, network: nn.Module, scores: Tensor) -> IntArray:
        with torch.no_grad():
            parts = _parts(network, scores).unbind()
        return np.stack(self._hinge.predict(parts, [self.space(scores.shape[1])] * len(scores)))

    @property
    def _hinge(self) -> StructuredHinge:
        return StructuredHinge(
            self.engine, self.loss, allow_infeasible_gold=self.allow_infeasible_gold
        )


class _Words(nn.Module):
    """Embeddings of words, column by column, and features of their characters."""

    def __init__(self, vocabulary: Vocabulary, words: int, characters: int, forget: float) -> None:
        super().__init__()
        self.embeddings = nn.ModuleList(
            nn.Embedding(len(column) + 1, words) for column in vocabulary.columns
        )
        self.width = words * len(vocabulary.columns)
        for place, counts in enumerate(vocabulary.counts):
            seen = torch.tensor([0, *counts], dtype=torch.float32)
            share = forget / (forget + seen) if forget else torch.zeros_like(seen)
            self.register_buffer(f"forgotten{place}", share, persistent=False)
        self.letters: nn.Embedding | None = None
        if vocabulary.characters:
            count = len(vocabulary.characters) + CHARACTERS
            self.letters = nn.Embedding(count, LETTER_WIDTH, padding_idx=FILLER)
            self.spelling = nn.Conv1d(LETTER_WIDTH, characters, LETTERS, padding=LETTERS // 2)
            self.width += characters

    def forward(self, words: Tensor, letters: Tensor | None = None) -> Tensor:
        seen = []
        for place, embedding in enumerate(self.embeddings):
            column = words[..., place]
            if self.training:
                share = self.get_buffer(f"forgotten{place}")[column]
                column = column.masked_fill(torch.rand_like(share) < share, UNKNOWN)
            seen.append(embedding(column))
        if self.letters is not None and letters is not None:
            flat = letters.flatten(0, 1)
            found = self.spelling(self.letters(flat).transpose(1, 2))
            # What lies beyond the end of a word must not depend on its neighbours' lengths.
            found = found.masked_fill((flat == FILLER)[:, None, :], -torch.inf).amax(dim=2)
            seen.append(torch.tanh(found).reshape(*letters.shape[:2], -1))
        return torch.cat(seen, dim=-1)


class _Vectors(nn.Module):
    """A linear layer over dense vectors."""

    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.linear = nn.Linear(inputs, width)
        self.width = width

    def forward(self, vectors: Tensor) -> Tensor:
        return torch.relu(self.linear(vectors))


class _BiLSTM(nn.Module):
    """Scores (m, n, labels) of labels, and tables of scores of label tuples, pairs first."""

    def __init__(self, encoder: _Words | _Vectors, settings: BiLSTMTagger) -> None:
        super().__init__()
        hidden, layers, labels = settings.hidden, settings.layers, len(settings.labels)
        self.encoder = encoder
        self.dropout = nn.Dropout(settings.dropout)
        between = settings.dropout if layers > 1 else 0.0
        self.lstm = nn.LSTM(
            encoder.width, hidden, layers, batch_first=True, dropout=between, bidirectional=True
        )
        self.linear = nn.Linear(2 * hidden, labels)
        spans = range(2, settings.factors + 2)
        self.tables = nn.ParameterList(torch.zeros(labels**span) for span in spans)

    def forward(self, *tensors: Tensor) -> Tensor:
        states, _ = self.lstm(self.dropout(self.encoder(*tensors)))
        scores: Tensor = self.linear(self.dropout(states))
        return scores


def _parts(network: nn.Module, scores: Tensor) -> Tensor:
    """Part scores (m, parts), in the order of the space of a sequence."""
    assert isinstance(network, _BiLSTM)
    m, n, _ = scores.shape
    tables = [
        table.expand(m, max(0, n - span + 1), -1).flatten(1)
        for span, table in enumerate(network.tables, start=2)
    ]
    return torch.cat([scores.flatten(1), *tables], dim=1)


KINDS["BiLSTMTagger"] = BiLSTMTagger
