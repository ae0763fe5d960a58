"""Tagging: one label per token of a sequence, with label pairs, triples, … and any rules.

An input is a sequence of tokens, which are values in the order of the columns or dicts with their
names, or a DataFrame with a row for each token; an output is as many labels. The vectors of an
input come from templates (`rote.features.Templates`) over tokens with named columns, or from a
function of the whole input, which may return arrays. A factor over k neighbours has one weight per
label tuple. So has a global feature, which is not written out as a table: greedy search can look at
four neighbours at once.

In a file of columns there is one token per line, its cells apart by tabs if the first row has a
tab, and otherwise by blanks; a blank line between sequences. The last column is the label; where a
model is at hand, it may be left out. Outputs are the same lines with the predicted label as the
last column. In JSON, a token is a list with a text for every column, or an object with their names
where a model is at hand, or a text where there is one column.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain, groupby
from pathlib import Path
from typing import Any, ClassVar

from rote.errors import DataError, LabelError, ModelError, SettingError
from rote.features import CHUNKING, POS_TAGGING, FeatureReader, Features, Templates
from rote.io.shapes import shown
from rote.io.text import line_error
from rote.settings import FLAG, LIST, Checked, Setting, whole
from rote.space import Space, SpaceBuilder, template
from rote.space.compiled import keep_recent
from rote.space.global_features import tuples_along
from rote.space.rule_text import Rules, Vocabulary
from rote.tasks.adapter import (
    Adapter,
    Examples,
    Measured,
    label_of_each,
    labels_in,
    register,
)
from rote.tasks.encodings import Encoding, check_encoding, require_encoding
from rote.tasks.show import explained
from rote.tasks.task import Frame, Slot, positions
from rote.viz import Picture, picture_of_tagging

KIND = "token"
COLUMNS = ("word", "pos")  # those that follow are c2, c3, …
MAX_TOKENS = 1000  # of one input of a service
# Not \s: a token may well be a blank of another alphabet.
_BLANKS = re.compile(r"[ \t]+")
_LAST = re.compile(r"[ \t]+[^ \t]+[ \t]*$")


@dataclass(frozen=True)
class Tagging(Checked):
    """A label for each token of a sequence.

    Parameters
    ----------
    labels
        The labels of a token, in an order that counts.
    features
        Templates, or a function from an input to one feature vector per token.
    order
        0 scores tokens alone, 1 also pairs of neighbours, 2 also triples, and so on. Exact
        inference takes time in labels to the power of order + 1.
    bio
        Whether labels I-X may follow only B-X and I-X.
    rules
        A text (`rote.space.rule_text`) about token i, token i+1, …, or a function that adds rules,
        given a builder and its variables.
    max_ngram
        Tuples of up to so many neighbours that no factor has are global features of the output,
        for engines that search (`RGS`). 0 is none.

    Examples
    --------
    >>> from rote.features import Templates
    >>> task = Tagging(("B-NP", "I-NP", "O"), Templates(("word",), ("word[0]",)), bio=True)
    >>> task.frame([["the"], ["dog"]]).space
    Space(2 variables, 1 factors, 2 rules, 15 parts)
    """

    labels: tuple[str, ...]
    features: Templates | Callable[[Any], Sequence[Features]]
    order: int = 1
    bio: bool = False
    rules: Rules | None = None
    max_ngram: int = 0

    checks: ClassVar = {
        "labels": LIST,
        "features": Setting(
            "Templates, or a function from an input to one vector per token",
            lambda value: callable(value) or isinstance(value, Templates),
        ),
        "order": whole(0),
        "bio": FLAG,
        "max_ngram": whole(0),
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.bio:
            check_encoding(self.labels, "BIO", "bio")
        token_vocabulary(self.labels).check(self.rules)

    def frame(self, x: Sequence[Any]) -> Frame:
        return _frame(len(x), self.labels, self.order, self.bio, self.rules, self.max_ngram)

    def vectors(self, x: Sequence[Any]) -> Sequence[Features]:
        if isinstance(self.features, Templates):
            return self.features.rows(x)
        return self.features(x)

    @property
    def feature_reader(self) -> FeatureReader | None:
        """Templates are read from many inputs at once."""
        return self.features.reader(KIND) if isinstance(self.features, Templates) else None

    def encode(self, x: Sequence[Any], y: Sequence[str]) -> list[int]:
        if len(y) != len(x):
            raise LabelError(f"an output has one label per token; got {len(y)} for {len(x)} tokens")
        return positions(self.labels, y, unknown=True)

    def decode(self, x: Sequence[Any], labels: Sequence[int]) -> tuple[str, ...]:
        return tuple(self.labels[label] for label in labels)


@keep_recent
def _frame(
    length: int, labels: tuple[str, ...], order: int, bio: bool, rules: Rules | None, max_ngram: int
) -> Frame:
    space: Space = tokens_space(length, labels, order, "BIO" if bio else None, rules)
    slots = [_slot("label", t) for t in range(length)]
    slots += [_slot(f"{len(factor.variables)} labels") for factor in space.own_factors]
    global_features = tuple(
        tuples_along(f"{span} labels", length, span, len(labels))
        for span in range(order + 2, max_ngram + 1)
    )
    return Frame(space, tuple(slots), (KIND,) * length, global_features)


_slot = lru_cache(maxsize=4096)(Slot)  # frames of different lengths share theirs


@template
def tokens_space(
    builder: SpaceBuilder,
    length: int,
    labels: tuple[str, ...],
    order: int,
    encoding: Encoding | None,
    rules: Rules | None,
) -> None:
    """The labels of so many tokens, with factors over neighbours, an encoding and other rules."""
    tokens = [builder.variable(str(t), labels) for t in range(length)]
    for span in range(2, order + 2):
        for first in range(length - span + 1):
            builder.factor(*tokens[first : first + span])
    if encoding is not None:
        require_encoding(builder, tokens, encoding)
    places = {KIND: {(t,): token for t, token in enumerate(tokens)}}
    token_vocabulary(labels).require(builder, rules, tokens, places)


def token_vocabulary(labels: tuple[str, ...]) -> Vocabulary:
    """What rules may say of tokens."""
    return Vocabulary({KIND: (1, labels)})


def default_templates(columns: Sequence[str]) -> tuple[str, ...]:
    """What to look at: letters of a lone column; else neighbours, by the first two columns.

    >>> default_templates(("form", "tag", "lemma"))[-4:]
    ('tag[0]|tag[1]|tag[2]', 'lemma[-1]', 'lemma[0]', 'lemma[1]')
    """
    named = dict(zip(COLUMNS, columns, strict=False))
    chosen = POS_TAGGING if len(columns) == 1 else CHUNKING
    own = tuple(re.sub(r"(\w+)\[", lambda m: f"{named[m[1]]}[", t) for t in chosen)
    return own + tuple(f"{column}[{k}]" for column in columns[2:] for k in (-1, 0, 1))


def words_of(task: Any, x: Sequence[Any]) -> list[str]:
    """What is written for each token: itself, its word, or its number where it has none.

    The word is the column of that name where templates name columns, else the first column.
    """
    column = 0
    if isinstance(task.features, Templates):
        x = task.features.tokens(x)
        if "word" in task.features.columns:
            column = task.features.columns.index("word")
    return [_word(token, column, t) for t, token in enumerate(x)]


def _word(token: object, column: int, number: int) -> str:
    match token:
        case str():
            return token
        case Mapping():
            return str(token.get("word", number))
        case [*cells] if cells and isinstance(cells[column], str):
            return str(cells[column])
        case _:
            return str(number)


def _columns(task: Tagging) -> tuple[str, ...]:
    if not isinstance(task.features, Templates):
        raise ModelError(
            "tokens are read for models with templates, which name their columns; this model's "
            "features are a function: give it its inputs in Python, or serve it with "
            "Service(model, adapter=...)"
        )
    return task.features.columns


def _build(examples: Examples, settings: Mapping[str, Any]) -> Tagging:
    width = len(examples.xs[0][0]) if examples.xs else 1
    columns = settings.get("columns")
    if columns is None:
        columns = (*COLUMNS, *(f"c{k}" for k in range(2, width)))[:width]
    elif len(columns) != width:
        raise SettingError(
            f"columns names all but the last column of {examples.path}, which is the label: "
            f"{width}; got {', '.join(columns)}"
        )
    templates = settings.get("templates", default_templates(columns))
    others = {name: settings[name] for name in ("order", "bio", "rules") if name in settings}
    return Tagging(labels_in(examples.ys), Templates(columns, templates), **others)


def _read_columns(path: Path, lines: Sequence[str], task: Tagging | None) -> Examples:
    columns = None if task is None else _columns(task)
    tabs = "\t" in next((line for line in lines if not _is_blank(line)), "")

    def cells(line: str) -> tuple[str, ...]:
        if _is_blank(line):
            return ()
        return tuple(line.split("\t") if tabs else _BLANKS.split(line.strip(" \t")))

    numbered = [(number, cells(line)) for number, line in enumerate(lines, start=1)]
    first, width = next(((number, len(row)) for number, row in numbered if row), (0, 0))
    if columns is None and width == 1:
        raise line_error(path, first, "expected a token and its label at least, got 1 column")
    if width and columns is not None and width - len(columns) not in (0, 1):
        said = f"expected the columns {', '.join(columns)}, and a label or none"
        raise line_error(path, first, f"{said}; got {width} columns")
    for number, row in numbered:
        if row and len(row) != width:
            said = f"expected {width} columns as in the first row, got {len(row)}"
            raise line_error(path, number, said)
        if "" in row:
            said = f"column {row.index('') + 1} is empty in {lines[number - 1]!r}"
            raise line_error(path, number, said)
    found = [list(rows) for there, rows in groupby(numbered, lambda each: each[1] != ()) if there]
    bare = columns is not None and width == len(columns)
    xs = tuple(tuple(row if bare else row[:-1] for _, row in rows) for rows in found)
    ys = None if bare else tuple(tuple(row[-1] for _, row in rows) for rows in found)

    def write(outputs: Iterable[Sequence[str]]) -> Iterator[str]:
        said = list(chain.from_iterable(outputs))
        labels, rows = iter(said), chain.from_iterable(xs)
        cut = not tabs and any(" " in label for label in said)  # blanks would cut a label in two
        for line in lines:
            if _is_blank(line):
                yield ""
            elif tabs or cut:
                yield "\t".join([*next(rows), next(labels)])
            else:
                kept = line.rstrip(" \t") if bare else _LAST.sub("", line)
                yield f"{kept} {next(labels)}"

    starts = tuple(rows[0][0] for rows in found)
    return Examples(path, xs, ys, starts, write=write, by_token=True)


def _is_blank(line: str) -> bool:
    return not line.strip(" \t")


def _tokens(task: Tagging | None, value: Any) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list):
        raise DataError(f"an input is a text or a list of tokens, got {shown(value)}")
    if not value:
        raise DataError("an input has at least one token, got none")
    if task is None:
        width = 1 if isinstance(value[0], str) else len(value[0])
        columns = "", *(f"column {k}" for k in range(2, width + 1))
    else:
        columns = _columns(task)
    return tuple(_token(place, row, columns) for place, row in enumerate(value))


def _token(place: int, row: Any, columns: Sequence[str]) -> tuple[str, ...]:
    cells = [row] if isinstance(row, str) else row
    if isinstance(row, dict) and all(name in row for name in columns):
        cells = [row[name] for name in columns]
    fits = isinstance(cells, list) and len(cells) == len(columns)
    if not fits or not all(isinstance(cell, str) and cell for cell in cells):
        raise DataError(
            f"token {place}: expected a text for each column ({', '.join(columns)}), "
            f"got {shown(row)}"
        )
    return tuple(cells)


def _typed(task: Tagging, text: str) -> tuple[tuple[str, ...], ...]:
    if len(_columns(task)) == 1:
        return _tokens(task, text.split())
    lines = [line for line in text.splitlines() if line.strip()]
    return _tokens(task, [line.split("\t") if "\t" in line else line.split() for line in lines])


def _hint(task: Tagging) -> str:
    columns = _columns(task)
    if len(columns) == 1:
        return "Words, with blanks between them and around punctuation."
    return f"One token per line: {', '.join(columns)}, with blanks between them."


def _example(task: Tagging) -> str:
    columns = _columns(task)
    if len(columns) == 1:
        return "the old dog barked ."
    return "\n".join(" ".join([word, *columns[1:]]) for word in ("the", "dog"))


def _show(
    task: Tagging, x: Sequence[Any], y: Sequence[str], gold: Any, facts: Sequence[str]
) -> Picture:
    broken, said = explained(task, x, y, gold, facts)
    return picture_of_tagging(
        words_of(task, x),
        y,
        gold=gold,
        broken=broken,
        labels=task.labels,
        facts=said,
    )


def _measure(task: Tagging, gold: Sequence[Any], found: Sequence[Any]) -> Measured:
    """Tokens and sequences; chunks if all labels are B-X, I-X and O."""
    from rote.metrics.labels import exact_match, known_only, token_accuracy
    from rote.metrics.spans import OUTSIDE, chunk_f1

    gold, found = known_only(gold, found, task.labels)
    numbers = {
        "token accuracy": token_accuracy(gold, found),
        "exact match": exact_match(gold, found),
    }
    # Labels that the model does not know may be of another scheme, which has no chunks.
    inside = {*task.labels, *(label for y in gold for label in y)} - {OUTSIDE}
    if not inside or not all(label.startswith(("B-", "I-")) for label in inside):
        return numbers, {}
    chunks = chunk_f1(gold, found)
    return {**numbers, "chunk F1": chunks.micro.f1}, {"chunks": chunks}


register(
    Adapter(
        "tagging",
        Tagging,
        from_json=_tokens,
        output_from_json=label_of_each,
        to_json=lambda _task, _x, y: list(y),
        shape=lambda x: {"a token": f"{len(x[0])} texts"},
        settings=("order", "bio", "columns", "templates"),
        build=_build,
        own_format=_read_columns,
        typed=_typed,
        hint=_hint,
        example=_example,
        limits=(("tokens", len, MAX_TOKENS),),
        show=_show,
        measure=_measure,
    )
)
