"""Token classification as in Hugging Face's transformers: logits in, valid labels or entities out.

Logits are arrays or tensors of shape (batch, tokens, labels), padded; a mask, or labels that are
-100, say which tokens count. Sentences with as many tokens are solved together. The package itself
is not imported: arrays are all that is exchanged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from rote.errors import DataError, ScoreError
from rote.inference.engine import Engine
from rote.inference.exact.exact import Exact
from rote.io.tables import as_array
from rote.metrics.labels import IGNORED
from rote.settings import Checked, Setting, check, instance_of, one_of, optional
from rote.space.rule_text import Rules
from rote.tasks.encodings import Encoding, check_encoding, encoded_spans
from rote.tasks.sequences import labelled
from rote.tasks.tagging import token_vocabulary
from rote.types import FloatArray, IntArray, offsets_from_counts

__all__ = ["RuledTokens"]

Aggregation: TypeAlias = Literal["simple", "first", "average", "max"]


@dataclass(frozen=True)
class RuledTokens(Checked):
    """The best labels of tokens under rules, from the logits of a token classifier.

    Parameters
    ----------
    id2label
        The label of each id, as in ``model.config.id2label``: ids from 0 on, or texts of them.
    encoding
        How labels spell entities: "BIO" (IOB2), "IOB1", "BILOU" or "BIOES"; None requires nothing.
    rules
        A text (`rote.space.rule_text`) about token i, token i+1, …, or a function that adds rules,
        given a builder and the variables of the tokens that count.
    engine
        What finds the best labels; `Exact()` if not given.

    Examples
    --------
    >>> tokens = RuledTokens({0: "O", 1: "B-PER", 2: "I-PER"})
    >>> logits = [[[2.0, 0.0, 1.0], [0.0, 0.5, 3.0], [0.0, 9.0, 0.0]]]  # by themselves: O I-PER
    >>> tokens.predict(logits, attention_mask=[[1, 1, 0]])
    array([[   1,    2, -100]])
    """

    id2label: Mapping[int, str] | Mapping[str, str]
    encoding: Encoding | None = "BIO"
    rules: Rules | None = None
    engine: Engine = field(default_factory=Exact)

    checks: ClassVar = {
        "id2label": Setting(
            "a mapping from the ids 0, 1, … to labels, each once",
            lambda value: (
                isinstance(value, Mapping)
                and sorted(map(str, value)) == sorted(map(str, range(len(value))))
                and len(set(value.values())) == len(value) > 0
            ),
            lambda value: {int(key): str(label) for key, label in value.items()},
        ),
        "encoding": optional(one_of(*get_args(Encoding))),
        "engine": instance_of(Engine, "Exact()"),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.encoding is not None:
            check_encoding(self.labels, self.encoding)
        token_vocabulary(self.labels).check(self.rules)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels in the order of their ids."""
        return tuple(dict(sorted(self.id2label.items())).values())

    def predict(self, logits: Any, attention_mask: Any = None, labels: Any = None) -> IntArray:
        """The ids of the best labels, of shape (batch, tokens); -100 where a token does not count.

        Parameters
        ----------
        logits
            Of shape (batch, tokens, labels); -inf for a label that a token cannot have.
        attention_mask
            0 where a token does not count, of shape (batch, tokens).
        labels
            -100 where a token does not count, as special tokens and later pieces of words.
        """
        scores = self._scores(logits)
        counts = np.ones(scores.shape[:2], dtype=np.bool_)
        for name, given in (("attention_mask", attention_mask), ("labels", labels)):
            if given is not None:
                array = as_array(given)
                if array.shape != counts.shape:
                    raise ScoreError(
                        f"{name} has the shape {counts.shape} of the logits, without their last "
                        f"axis; got {array.shape}"
                    )
                counts &= array != (0 if name == "attention_mask" else IGNORED)
        found = np.full(counts.shape, IGNORED, dtype=np.int64)
        found[counts] = self._best(scores[counts], counts.sum(axis=1))
        return found

    def entities(
        self, logits: Any, encodings: Any, texts: Sequence[str], aggregation: Aggregation = "simple"
    ) -> list[list[dict[str, Any]]]:
        """The entities of each text, as ``pipeline("token-classification")`` returns them.

        Parameters
        ----------
        logits
            Of shape (batch, tokens, labels).
        encodings
            What a fast tokenizer makes of the texts with ``return_offsets_mapping=True``. Tokens
            that belong to no word, as special ones and padding, do not count.
        texts
            The texts, for the words of entities.
        aggregation
            "simple" labels every piece of a word by itself. The others label whole words, by their
            "first" piece, by the "average" of the probabilities of all, or by the piece that is
            surest ("max").
        """
        check("aggregation", aggregation, one_of(*get_args(Aggregation)))
        scores = self._scores(logits)
        if not len(texts) == len(scores) == len(encodings["offset_mapping"]):
            raise DataError(
                f"logits, encodings and texts are of the same sentences; got {len(scores)}, "
                f"{len(encodings['offset_mapping'])} and {len(texts)}"
            )
        offsets = as_array(encodings["offset_mapping"])
        words = [encodings.word_ids(row) for row in range(len(scores))]
        pieces = [  # of each sentence those of each word, or each by itself
            _pieces(own, apart=aggregation == "simple") for own in words
        ]
        each = [
            _aggregated(_log_softmax(own), runs, aggregation)
            for own, runs in zip(scores, pieces, strict=True)
        ]
        counts = np.array([len(own) for own in each], dtype=np.int64)
        flat = np.concatenate(each) if each else np.empty((0, len(self.labels)))
        ids = self._best(flat, counts)
        sure = np.exp(flat[np.arange(len(flat)), ids])
        ends = offsets_from_counts(counts).tolist()
        found = []
        for row, text in enumerate(texts):
            own = slice(ends[row], ends[row + 1])
            spans = encoded_spans([self.labels[a] for a in ids[own].tolist()])
            entities = []
            for first, stop, kind in spans:
                start = int(offsets[row, pieces[row][first][0], 0])
                end = int(offsets[row, pieces[row][stop - 1][-1], 1])
                entity = {"entity_group": kind, "score": float(sure[own][first:stop].mean())}
                entities.append({**entity, "word": text[start:end], "start": start, "end": end})
            found.append(entities)
        return found

    def _scores(self, logits: Any) -> FloatArray:
        scores = as_array(logits)
        if scores.ndim != 3 or scores.shape[2] != len(self.labels):
            raise ScoreError(
                f"logits have the shape (batch, tokens, {len(self.labels)}), with a column for "
                f"each label of id2label; got {scores.shape}"
            )
        return np.asarray(scores, dtype=np.float64)

    def _best(self, scores: FloatArray, counts: IntArray) -> IntArray:
        """The best labels of sentences that lie end to end, with so many tokens each."""
        return labelled(scores, counts, self.labels, self.encoding, self.rules, self.engine)


def _pieces(words: Sequence[int | None], *, apart: bool) -> list[list[int]]:
    """The places of the tokens of each word, or of each token that is part of one."""
    found: dict[Any, list[int]] = {}
    for place, word in enumerate(words):
        if word is not None:
            found.setdefault(place if apart else word, []).append(place)
    return list(found.values())


def _log_softmax(logits: FloatArray) -> FloatArray:
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def _aggregated(
    logs: FloatArray, pieces: Sequence[Sequence[int]], aggregation: Aggregation
) -> FloatArray:
    """Log-probabilities of words, from those of their pieces."""
    if aggregation in ("simple", "first"):
        return logs[[own[0] for own in pieces]]
    if aggregation == "max":
        best = logs.max(axis=1)
        return logs[[own[int(best[list(own)].argmax())] for own in pieces]]
    each = [np.exp(logs[list(own)]).mean(axis=0) for own in pieces]
    with np.errstate(divide="ignore"):
        return np.log(np.array(each).reshape(-1, logs.shape[1]))
