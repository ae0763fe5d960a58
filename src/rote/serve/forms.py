"""What an input and an output look like in JSON; one form for each task that files are read for.

tagging
    A list of tokens, each a list with a text for every column; where there is one column, a list
    of texts will do. Or one text: words apart by blanks where there is one column, and otherwise a
    token per line, as in a file. The output is a list of labels.
entity-relation
    {"words": [...], "pos": [...], "entities": [{"start": 0, "stop": 2}, ...]}: entities are spans
    of words, in order. Without "pos", tags are as if never seen before. Or one text with the
    entities in brackets, as in "[Ada Byron] lives in [London] ." The output has the words, entities
    and relations that `rote predict` writes. Outputs can be read again: what only they have is
    passed over, and any other key is refused.
multilabel, multiclass
    An object of features and their values, a list of names or a list of numbers; or one text of
    names apart by blanks. The output is a list of labels, or a label.

An input that would make a space too large to be solved while others wait is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

from rote.errors import DataError, ModelError, SettingError, TooLarge
from rote.features import Features, Templates
from rote.io.conll import Entity, Sentence
from rote.tasks.entity_relation import EntityRelation, Extraction
from rote.tasks.files import NAMES, extracted, features_of
from rote.tasks.multiclass import Multiclass
from rote.tasks.multilabel import MultiLabel
from rote.tasks.tagging import Tagging
from rote.tasks.task import Task

MOST_TOKENS, MOST_ENTITIES = 1000, 32  # of one input
UNTAGGED = "?"
# Of a sentence and of an entity: what is read, and what outputs have beside it.
SENTENCE_KEYS = ("words", "pos", "entities", "id", "relations")
ENTITY_KEYS = ("start", "stop", "label")
BRACKETED = re.compile(r"[\[\]]|[^\s\[\]]+")


class Form(Protocol):
    """Reads inputs and writes outputs."""

    @property
    def hint(self) -> str:
        """What to type, in a sentence."""
        ...

    @property
    def example(self) -> str:
        """An input that can be typed."""
        ...

    def read(self, value: Any) -> Any:
        """The input that JSON has; a `DataError` where it has none."""
        ...

    def write(self, x: Any, y: Any) -> Any:
        """An output as JSON."""
        ...


@dataclass(frozen=True)
class TokenForm:
    """Tokens with these columns.

    >>> TokenForm(("word",)).read("the dog")
    (('the',), ('dog',))
    """

    columns: tuple[str, ...]

    @property
    def hint(self) -> str:
        if len(self.columns) == 1:
            return "Words, with blanks between them and around punctuation."
        return f"One token per line: {', '.join(self.columns)}, with blanks between them."

    @property
    def example(self) -> str:
        if len(self.columns) == 1:
            return "the old dog barked ."
        return "\n".join(" ".join([word, *self.columns[1:]]) for word in ("the", "dog"))

    def read(self, value: Any) -> tuple[tuple[str, ...], ...]:
        if isinstance(value, str):
            rows: list[Any] = self._typed(value)
        elif isinstance(value, list):
            rows = value
        else:
            raise DataError(f"an input is a text or a list of tokens, got {_shown(value)}")
        if not rows:
            raise DataError("an input has at least one token, got none")
        check_size("tokens", len(rows), MOST_TOKENS)
        return tuple(self._token(place, row) for place, row in enumerate(rows))

    def write(self, x: Sequence[Sequence[str]], y: Sequence[str]) -> list[str]:
        return list(y)

    def _typed(self, text: str) -> list[Any]:
        if len(self.columns) == 1:
            return [[word] for word in text.split()]
        lines = [line for line in text.splitlines() if line.strip()]
        return [line.split("\t") if "\t" in line else line.split() for line in lines]

    def _token(self, place: int, row: Any) -> tuple[str, ...]:
        cells = [row] if isinstance(row, str) else row
        fits = isinstance(cells, list) and len(cells) == len(self.columns)
        if not fits or not all(isinstance(cell, str) and cell for cell in cells):
            raise DataError(
                f"token {place}: expected a text for each column ({', '.join(self.columns)}), "
                f"got {_shown(row)}"
            )
        return tuple(cells)


@dataclass(frozen=True)
class SentenceForm:
    """Sentences whose entities are marked.

    >>> SentenceForm().read("[Ada Byron] lives in [London]").entities
    (Entity(start=0, stop=2, label=''), Entity(start=4, stop=5, label=''))
    """

    hint: str = "Words with blanks between them, and every entity in brackets."
    example: str = "[Maria Lincoln] lives in [New Boston] , and works for [Ford] ."

    def read(self, value: Any) -> Sentence:
        if isinstance(value, str):
            words, spans = _bracketed(value)
            pos = [UNTAGGED] * len(words)
        elif isinstance(value, dict):
            _check_keys("an input", value, SENTENCE_KEYS)
            words = _texts(value, "words")
            pos = _texts(value, "pos") if "pos" in value else [UNTAGGED] * len(words)
            spans = _spans(value.get("entities"))
        else:
            raise DataError(
                "an input is a text with entities in brackets, or an object with words, pos and "
                f"entities; got {_shown(value)}"
            )
        if len(pos) != len(words):
            raise DataError(f"pos has one tag per word, {len(words)}; got {len(pos)}")
        check_size("words", len(words), MOST_TOKENS)
        check_size("entities", len(spans), MOST_ENTITIES)
        for start, stop in spans:
            if not 0 <= start < stop <= len(words):
                raise DataError(
                    f"an entity has a word at least, and ends within the {len(words)} words; got "
                    f"start {start} and stop {stop}"
                )
        for (_, before), (after, _) in pairwise(spans):
            if after < before:
                raise DataError("entities are in the order of their words, and have none in common")
        entities = tuple(Entity(start, stop, "") for start, stop in spans)
        return Sentence(0, tuple(words), tuple(pos), entities, ())

    def write(self, x: Sentence, y: Extraction) -> dict[str, Any]:
        found = extracted(x, y)
        del found["id"]
        return {**found, "words": list(x.words)}


@dataclass(frozen=True)
class FeatureForm:
    """Feature vectors.

    >>> FeatureForm().read("red small")
    ['red', 'small']
    """

    hint: str = "Names of features with blanks between them, or their values as JSON."
    example: str = '{"red": 1, "small": 0.5}'

    def read(self, value: Any) -> Features:
        return value.split() if isinstance(value, str) else features_of(value)

    def write(self, x: Features, y: Any) -> Any:
        return y if isinstance(y, str) else list(y)


def form_for(task: Task[Any, Any]) -> Form:
    """The form of a task's inputs and outputs."""
    if isinstance(task, Tagging) and isinstance(task.features, Templates):
        return TokenForm(task.features.columns)
    if isinstance(task, EntityRelation):
        return SentenceForm()
    if isinstance(task, MultiLabel | Multiclass):
        return FeatureForm()
    raise ModelError(
        f"inputs are read from JSON for models of {', '.join(NAMES.values())}, tagging with "
        f"templates; this model's task is {type(task).__name__}, serve it from Python with "
        "Service(model, form=...)"
    )


def check_form(form: object) -> None:
    """Refuse what is no form, such as one that has no example to show."""
    if isinstance(form, type):
        raise SettingError(f"a form is made first, as in {form.__name__}(); got its class")
    missing = [
        name for name in ("hint", "example") if not isinstance(getattr(form, name, None), str)
    ]
    missing += [name for name in ("read", "write") if not callable(getattr(form, name, None))]
    if missing:
        raise SettingError(
            "a form has the texts hint and example and the methods read(value) and write(x, y); "
            f"{type(form).__name__} has no {', no '.join(missing)}"
        )


def check_size(what: str, count: int, most: int) -> None:
    """Refuse more than a limit allows."""
    if count > most:
        raise TooLarge(f"at most {most} {what}, got {count}; send less at once")


def _bracketed(text: str) -> tuple[list[str], list[tuple[int, int]]]:
    words: list[str] = []
    spans: list[tuple[int, int]] = []
    start: int | None = None
    for sign in BRACKETED.findall(text):
        if sign not in "[]":
            words.append(sign)
        elif (sign == "[") != (start is None):
            raise DataError("brackets are around entities, none of which is inside another")
        elif start is None:
            start = len(words)
        else:
            spans.append((start, len(words)))
            start = None
    if start is not None:
        raise DataError("a bracket is open at the end of the text; close it with ]")
    if not spans:
        raise DataError("no entity is marked; put brackets around them, as in [New York]")
    return words, spans


def _check_keys(what: str, value: dict[str, Any], keys: Sequence[str]) -> None:
    stray = sorted(value.keys() - set(keys))
    if stray:
        raise DataError(
            f"{what} has no other keys than {', '.join(keys)}; got {_shown(stray[0])}, leave it out"
        )


def _texts(value: dict[str, Any], key: str) -> list[str]:
    texts = value.get(key)
    if not isinstance(texts, list) or not all(isinstance(text, str) and text for text in texts):
        raise DataError(f'"{key}" is a list of texts, none of them empty; got {_shown(texts)}')
    return texts


def _spans(entities: Any) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    for entity in entities if isinstance(entities, list) else [None]:
        ends = entity if isinstance(entity, dict) else {}
        _check_keys("an entity", ends, ENTITY_KEYS)
        start, stop = ends.get("start"), ends.get("stop")
        if type(start) is not int or type(stop) is not int:
            raise DataError(
                '"entities" is a list of objects such as {"start": 0, "stop": 2}, which are the '
                f"first word and the one after the last; got {_shown(entities)}"
            )
        spans.append((start, stop))
    return spans


def _shown(value: Any) -> str:
    return f"{json.dumps(value):.80}"
