"""What a network sees of sequences: dense vectors, or words and their characters, as tensors.

A batch holds sequences of one length n, so nothing is padded but the characters of words.

    Dense          one tensor (m, n, width), in single precision
    Vocabulary     numbers of words (m, n, columns); with characters, also (m, n, longest word)

Number 0 is a word that is not in the vocabulary. Among characters, 0 fills short words up, 1 is
a character that is not in the vocabulary, and 2 stands at both ends of a word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from rote.errors import DataError

UNKNOWN = 0
FILLER, STRANGE, EDGE = 0, 1, 2
CHARACTERS = 3  # the number of the first character of a vocabulary


@dataclass(frozen=True)
class Dense:
    """Sequences of vectors, all of this width."""

    width: int

    @staticmethod
    def of(xs: Sequence[Any]) -> Dense:
        """What these sequences have."""
        return Dense(int(np.shape(next(x for x in xs if len(x)))[-1]))

    def tensors(self, xs: Sequence[Any]) -> tuple[Tensor, ...]:
        """A batch of sequences of one length."""
        for x in xs:
            if np.shape(x) != (len(x), self.width):
                raise DataError(
                    f"an input of {len(x)} tokens has the shape ({len(x)}, {self.width}) here; "
                    f"got {np.shape(x)}"
                )
        values = np.array(xs, dtype=np.float32)
        if not np.isfinite(values).all():
            raise DataError("the vectors of an input are finite, and one is not")
        return (torch.from_numpy(values),)


@dataclass(frozen=True)
class Vocabulary:
    """The words of each column of a token, with how often each was seen, and characters.

    A token is a word, or several texts that are observed of it, of which the first is the word
    whose characters are looked at. With ``lower``, words are looked up in lower case; their
    characters never are.
    """

    columns: tuple[tuple[str, ...], ...]
    counts: tuple[tuple[int, ...], ...]
    characters: str = ""
    lower: bool = False

    @staticmethod
    def of(xs: Sequence[Any], *, characters: bool, lower: bool) -> Vocabulary:
        """What these sequences have, in sorted order."""
        width = len(_texts(next(x for x in xs if len(x))[0]))
        tokens = [_texts(token, width) for x in xs for token in x]
        seen = [
            Counter(sorted(word.lower() if lower else word for word in column))
            for column in zip(*tokens, strict=True)
        ]
        letters = {letter for texts in tokens for letter in texts[0]} if characters else ()
        counts = tuple(tuple(counter.values()) for counter in seen)
        return Vocabulary(tuple(map(tuple, seen)), counts, "".join(sorted(letters)), lower)

    def tensors(self, xs: Sequence[Any]) -> tuple[Tensor, ...]:
        """A batch of sequences of one length."""
        texts = [[_texts(token, len(self.columns)) for token in x] for x in xs]
        words = torch.tensor([[self._numbers(token) for token in x] for x in texts])
        if not self.characters:
            return (words,)
        spelled = [[self._spelled(token[0]) for token in x] for x in texts]
        longest = max(len(word) for x in spelled for word in x)
        filled = [[word + [FILLER] * (longest - len(word)) for word in x] for x in spelled]
        return words, torch.tensor(filled)

    def _numbers(self, texts: Sequence[str]) -> list[int]:
        known = [text.lower() for text in texts] if self.lower else texts
        return [own.get(text, UNKNOWN) for own, text in zip(self._places, known, strict=True)]

    def _spelled(self, word: str) -> list[int]:
        return [EDGE, *(self._letters.get(letter, STRANGE) for letter in word), EDGE]

    @cached_property
    def _places(self) -> list[dict[str, int]]:
        return [{word: k for k, word in enumerate(words, start=1)} for words in self.columns]

    @cached_property
    def _letters(self) -> dict[str, int]:
        return {letter: k for k, letter in enumerate(self.characters, start=CHARACTERS)}


Inputs = Dense | Vocabulary


def is_dense(xs: Sequence[Any]) -> bool:
    """Whether tokens are vectors of numbers, and not texts."""
    token = next(x for x in xs if len(x))[0]
    if isinstance(token, str | Mapping):
        return False
    return not (len(token) and isinstance(token[0], str))


def _texts(token: Any, width: int | None = None) -> tuple[str, ...]:
    texts = (token,) if isinstance(token, str) else tuple(token)
    if isinstance(token, Mapping):
        raise DataError(f"a token here is texts in a fixed order, got a dict: {token!r:.80}")
    if not all(isinstance(text, str) for text in texts) or width not in (None, len(texts)):
        wanted = "texts" if width is None else f"{width} texts"
        raise DataError(f"a token here is {wanted}, got {token!r:.80}")
    return texts
