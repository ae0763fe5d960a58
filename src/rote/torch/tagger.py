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
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn

from rote.errors import LabelError, SettingError, check_number, check_whole
from rote.inference import Engine, Exact
from rote.learning.base import LOSS, check_labels
from rote.settings import check
from rote.space import Space
from rote.space.losses import Hamming, Loss
from rote.space.rule_text import Rules
from rote.tasks.tagging import Tagging, check_bio
from rote.torch.files import KINDS
from rote.torch.hinge import StructuredHinge
from rote.torch.inputs import (
    CHARACTERS,
    FILLER,
    UNKNOWN,
    Dense,
    Inputs,
    Vocabulary,
    is_dense,
)
from rote.torch.scorer import MANY, Scorer, batches, cross_entropy
from rote.types import IntArray

LearnsBy = Literal["hinge", "tokens"]
LETTER_WIDTH = 24  # the width of a character's embedding
LETTERS = 3  # characters that a character feature looks at together


@dataclass(frozen=True, eq=False)
class BiLSTMTagger(Scorer):
    """``order`` is that of `Tagging`: 1 if the tagger learns by "hinge", and 0 by "tokens".

    ``words`` is the width of word embeddings, or of the linear layer over dense vectors, and
    ``characters`` the number of character features, 0 for none; with ``lower``, words are looked up
    in lower case. ``hidden`` is the width of the LSTM in each direction. In training, a share
    ``dropout`` of all that goes into and comes out of the LSTM is left out, and a word that was
    seen c times is taken for unknown with probability ``forget`` / (``forget`` + c), so that
    something is learned of unknown words.

    ``bio`` and ``rules`` are those of `Tagging`; they hold in training (by "hinge") and prediction.
    Outputs to learn from that break one are refused there, unless ``allow_infeasible_gold``. The
    ``engine`` finds outputs in both, and ``loss`` says how wrong one is.
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

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.learns_by not in get_args(LearnsBy):
            known = ", ".join(get_args(LearnsBy))
            raise SettingError(f"learns_by is one of {known}; got {self.learns_by!r}")
        if self.bio:
            check_bio(self.labels)
        check_whole("order", self.factors, least=0)
        if self.learns_by == "tokens" and self.factors:
            raise SettingError(
                "a tagger that learns by 'tokens' has no scores of label tuples; leave order out, "
                "or say learns_by='hinge'"
            )
        for name in ("words", "hidden", "layers"):
            check_whole(name, getattr(self, name), least=1)
        check_whole("characters", self.characters, least=0)
        check_number("forget", self.forget, least=0)
        check_number("dropout", self.dropout, least=0)
        if self.dropout >= 1:
            raise SettingError(f"dropout is a share below 1, got {self.dropout}")
        check("loss", self.loss, LOSS)
        check_labels(self.loss, self.labels)

    @property
    def factors(self) -> int:
        """The order, where it is left to ``learns_by`` as well."""
        return int(self.learns_by == "hinge") if self.order is None else self.order

    def space(self, length: int) -> Space:
        """The space of a sequence of this many tokens."""
        task = Tagging(self.labels, self.log_probabilities, self.factors, self.bio, self.rules)
        return task.frame(range(length)).space

    def part_scores(self, xs: Sequence[Any]) -> list[Tensor]:
        """The part scores of each input, with their graph, for losses of your own."""
        network, inputs = self._ready()
        found = []
        for x in xs:
            scores = (
                network(*inputs.tensors([x])) if len(x) else torch.zeros(1, 0, len(self.labels))
            )
            found.append(_parts(network, scores)[0])
        return found

    def gold_of(self, xs: Sequence[Any], ys: Sequence[Sequence[str]]) -> list[IntArray]:
        gold = super().gold_of(xs, ys)
        if self.learns_by == "hinge" and not self.allow_infeasible_gold:
            for members in batches([len(labels) for labels in gold], MANY):
                self._check_rules(members, np.stack([gold[k] for k in members]))
        return gold

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
        return _BiLSTM(
            encoder, self.hidden, self.layers, self.dropout, len(self.labels), self.factors
        )

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

    def _check_rules(self, members: IntArray, gold: IntArray) -> None:
        space = self.space(gold.shape[1])
        wrong = np.flatnonzero(~space.satisfied(gold))
        if len(wrong):
            first = int(wrong[0])
            raise LabelError(
                f"the output of example {members[first]} breaks the rule "
                f"{space.broken(gold[first])[0].name!r}; correct the output, drop the rule, or say "
                "allow_infeasible_gold=True"
            )


class _Words(nn.Module):
    """Embeddings of words, column by column, and features of their characters."""

    def __init__(self, vocabulary: Vocabulary, words: int, characters: int, forget: float) -> None:
        super().__init__()
        self.embeddings = nn.ModuleList(
            nn.Embedding(len(column) + 1, words) for column in vocabulary.columns
        )
        self.width = words * len(vocabulary.columns)
        for number, counts in enumerate(vocabulary.counts):
            seen = torch.tensor([0, *counts], dtype=torch.float32)
            share = forget / (forget + seen) if forget else torch.zeros_like(seen)
            self.register_buffer(f"forgotten{number}", share, persistent=False)
        self.letters: nn.Embedding | None = None
        if vocabulary.characters:
            count = len(vocabulary.characters) + CHARACTERS
            self.letters = nn.Embedding(count, LETTER_WIDTH, padding_idx=FILLER)
            self.spelling = nn.Conv1d(LETTER_WIDTH, characters, LETTERS, padding=LETTERS // 2)
            self.width += characters

    def forward(self, words: Tensor, letters: Tensor | None = None) -> Tensor:
        seen = []
        for number, embedding in enumerate(self.embeddings):
            column = words[..., number]
            if self.training:
                share = self.get_buffer(f"forgotten{number}")[column]
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

    def __init__(
        self,
        encoder: _Words | _Vectors,
        hidden: int,
        layers: int,
        dropout: float,
        labels: int,
        order: int,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.dropout = nn.Dropout(dropout)
        between = dropout if layers > 1 else 0.0
        self.lstm = nn.LSTM(
            encoder.width, hidden, layers, batch_first=True, dropout=between, bidirectional=True
        )
        self.linear = nn.Linear(2 * hidden, labels)
        self.tables = nn.ParameterList(torch.zeros(labels**span) for span in range(2, order + 2))

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
