"""Examples in people's files, and outputs written back; one format for each task.

tagging
    A column file: one token per line, its cells apart by tabs if the first row has a tab, and
    otherwise by blanks; a blank line between sequences. The last column is the label; where a
    model is at hand, it may be left out. Outputs are the same lines with one more column.
entity-relation
    The column file of `rote.io.conll`, with any labels, its cells apart by tabs or blanks.
    Outputs are JSON lines with the words, the entities (start, stop, label) and the relations
    (first and second entity, label) of each sentence.
multilabel, multiclass
    JSON lines {"x": ..., "y": ...}: x is an object of features and their values, a list of
    names or a list of numbers; y is a list of labels, or one label. It is in all lines or in none.
    Outputs are the same objects with the predicted y.

All are UTF-8, plain or in .gz or .xz. What is wrong with a file is said with its line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from math import isfinite
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from rote.errors import DataError, LabelError, ModelError, SettingError
from rote.features import Features, Templates
from rote.io.conll import Sentence, numbered_sentences
from rote.io.text import json_text, line_error, read_text
from rote.tasks.entity_relation import EntityRelation, Extraction
from rote.tasks.multiclass import Multiclass
from rote.tasks.multilabel import MultiLabel
from rote.tasks.tagging import Tagging
from rote.tasks.task import Task

TAGGING, ENTITY_RELATION = "tagging", "entity-relation"
MULTILABEL, MULTICLASS = "multilabel", "multiclass"
NAMES: Mapping[type, str] = MappingProxyType(
    {
        Tagging: TAGGING,
        EntityRelation: ENTITY_RELATION,
        MultiLabel: MULTILABEL,
        Multiclass: MULTICLASS,
    }
)
# Not \s: a token may well be a blank of another alphabet.
_BLANKS = re.compile(r"[ \t]+")


@dataclass(frozen=True, eq=False)
class Contents:
    """The examples of a file; ``source`` is what their outputs are written back into."""

    path: Path
    name: str  # of the task
    xs: tuple[Any, ...]
    ys: tuple[Any, ...] | None
    source: Sequence[Any]  # the lines of a column file, the objects of JSON lines, sentences
    lines: tuple[int, ...]  # where each example begins

    def __len__(self) -> int:
        return len(self.xs)


def read_examples(name: str, path: str | Path, columns: Sequence[str] | None = None) -> Contents:
    """The examples of a file for the task of this name.

    The ``columns`` of a column file say what a token has beside its label; without them, there
    are labels, in the last column.
    """
    readers: Mapping[str, Callable[[Path], Contents]] = {
        TAGGING: lambda path: _read_columns(path, columns),
        ENTITY_RELATION: _read_sentences,
        MULTILABEL: lambda path: _read_objects(path, MULTILABEL, _label_set),
        MULTICLASS: lambda path: _read_objects(path, MULTICLASS, _label),
    }
    if name not in readers:
        raise SettingError(f"the task is one of {', '.join(readers)}; got {name!r}")
    return readers[name](Path(path))


def read_for(task: Task[Any, Any], path: str | Path) -> Contents:
    """The examples of a file for a task there is already; their outputs may be missing."""
    name = NAMES.get(type(task))
    if name is None:
        raise ModelError(
            f"files are read for models of {', '.join(NAMES.values())}; this model's task is "
            f"{type(task).__name__}, give it its inputs in Python"
        )
    if not isinstance(task, Tagging):
        return read_examples(name, path)
    if not isinstance(task.features, Templates):
        raise ModelError(
            "column files are read for models with templates, which name their columns; this "
            "model's features are a function, give it its inputs in Python"
        )
    return read_examples(name, path, task.features.columns)


def check_outputs(contents: Contents, task: Task[Any, Any], *, allow_unknown: bool = False) -> None:
    """Refuse examples without outputs and, unless allowed, labels that the task does not know."""
    if not contents.xs:
        raise DataError(f"{contents.path}: there are no examples in the file")
    if contents.ys is None:
        raise DataError(
            f"{contents.path}: there are inputs in the file and no outputs; add "
            f"{'a column with the labels' if contents.name == TAGGING else 'y to every line'}"
        )
    if allow_unknown:
        return
    for place, (x, y) in enumerate(zip(contents.xs, contents.ys, strict=True)):
        try:
            task.encode(x, y)
        except LabelError as error:
            where = _where(contents, place, task, y)
            raise LabelError(
                f"{contents.path}, {where}: {error}. Correct it, train with it, or say "
                "allow_unknown=True to count it as a mistake"
            ) from None


def output_text(contents: Contents, outputs: Sequence[Any]) -> str:
    """The text of a file with an output for each example of another, in its format."""
    if len(outputs) != len(contents):
        raise DataError(
            f"{contents.path}: there are {len(contents)} inputs, got {len(outputs)} outputs"
        )
    if contents.name == TAGGING:
        lines = _with_labels(contents.source, outputs)
    elif contents.name == ENTITY_RELATION:
        lines = map(json_text, map(extracted, contents.source, outputs))
    else:
        pairs = zip(contents.source, outputs, strict=True)
        lines = (json_text({**given, "y": y}) for given, y in pairs)
    return "".join(f"{line}\n" for line in lines)


def _where(contents: Contents, place: int, task: Task[Any, Any], y: Any) -> str:
    line = contents.lines[place]
    if isinstance(task, Tagging):
        line += next(t for t, label in enumerate(y) if label not in task.labels)
    return f"line {line}"


def _read_columns(path: Path, columns: Sequence[str] | None) -> Contents:
    lines = _lines(path)
    separator = _separator(lines)
    sequences: list[list[tuple[str, ...]]] = []
    starts: list[int] = []
    width, inside = 0, False
    for number, line in enumerate(lines, start=1):
        if _is_blank(line):
            inside = False
            continue
        cells = tuple(line.split("\t") if separator == "\t" else _BLANKS.split(line.strip(" \t")))
        if not width:
            _check_width(path, number, len(cells), columns)
            width = len(cells)
        if len(cells) != width:
            raise line_error(
                path, number, f"expected {width} columns as in the first row, got {len(cells)}"
            )
        if "" in cells:
            raise line_error(path, number, f"column {cells.index('') + 1} is empty in {line!r}")
        if not inside:
            sequences.append([])
            starts.append(number)
            inside = True
        sequences[-1].append(cells)
    if columns is not None and width == len(columns):
        return Contents(path, TAGGING, tuple(map(tuple, sequences)), None, lines, tuple(starts))
    xs = tuple(tuple(cells[:-1] for cells in rows) for rows in sequences)
    ys = tuple(tuple(cells[-1] for cells in rows) for rows in sequences)
    return Contents(path, TAGGING, xs, ys, lines, tuple(starts))


def _check_width(path: Path, number: int, width: int, columns: Sequence[str] | None) -> None:
    if columns is None:
        if width < 2:
            raise line_error(path, number, "expected a token and its label at least, got 1 column")
    elif width not in (len(columns), len(columns) + 1):
        raise line_error(
            path,
            number,
            f"expected the columns {', '.join(columns)}, and a label or none; got {width} columns",
        )


def _with_labels(lines: Sequence[str], outputs: Sequence[Sequence[str]]) -> Iterator[str]:
    separator = _separator(lines)
    labels = chain.from_iterable(outputs)
    for line in lines:
        yield "" if _is_blank(line) else f"{line.rstrip(' ')}{separator}{next(labels)}"


def _separator(lines: Sequence[str]) -> str:
    first = next((line for line in lines if not _is_blank(line)), "")
    return "\t" if "\t" in first else " "


def _is_blank(line: str) -> bool:
    return not line.strip(" \t")


def _lines(path: Path) -> tuple[str, ...]:
    text = read_text(path).removeprefix("\ufeff").removesuffix("\n")
    return tuple(line.removesuffix("\r") for line in text.split("\n")) if text else ()


def _read_sentences(path: Path) -> Contents:
    numbered = tuple(numbered_sentences(path, own=True))
    sentences = tuple(sentence for _, sentence in numbered)
    ys = tuple(map(Extraction.of, sentences))
    lines = tuple(line for line, _ in numbered)
    return Contents(path, ENTITY_RELATION, sentences, ys, sentences, lines)


def extracted(sentence: Sentence, output: Extraction) -> dict[str, Any]:
    """The output of a sentence as JSON has it, with its words and the spans of its entities."""
    spans = zip(sentence.entities, output.entities, strict=True)
    return {
        "id": sentence.id,
        "words": sentence.words,
        "entities": [{"start": e.start, "stop": e.stop, "label": label} for e, label in spans],
        "relations": [
            {"first": first, "second": second, "label": label}
            for (first, second), label in output.relations.items()
        ],
    }


def _read_objects(path: Path, name: str, output: Callable[[Any], Any]) -> Contents:
    given: list[dict[str, Any]] = []
    xs: list[Features] = []
    ys: list[Any] = []
    numbers: list[int] = []
    for number, line in enumerate(_lines(path), start=1):
        if _is_blank(line):
            continue
        try:
            value = _object(line)
            xs.append(features_of(value["x"]))
            if given and ("y" in value) != ("y" in given[0]):
                raise DataError('"y" is in some lines and not in others')
            if len(xs) > 1:
                _check_alike(xs[0], xs[-1])
            if "y" in value:
                ys.append(output(value["y"]))
        except DataError as error:
            raise line_error(path, number, str(error)) from None
        given.append(value)
        numbers.append(number)
    return Contents(path, name, tuple(xs), tuple(ys) if ys else None, given, tuple(numbers))


def _object(line: str) -> dict[str, Any]:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"expected an object in JSON: {error}") from None
    if not isinstance(value, dict) or "x" not in value:
        raise DataError(f'expected an object with "x", as in {{"x": ["red"], ...}}, got {line:.80}')
    return value


def features_of(x: Any) -> Features:
    """The feature vector that JSON has as an object, a list of names or a list of numbers."""
    if isinstance(x, dict):
        return {name: _number(value) for name, value in x.items()}
    if isinstance(x, list) and all(isinstance(value, str) for value in x):
        return x
    if isinstance(x, list) and not any(isinstance(value, str) for value in x):
        return np.array([_number(value) for value in x])
    raise DataError(
        f'"x" is an object of features and their values, a list of names or a list of numbers; '
        f"got {json.dumps(x):.80}"
    )


def _number(value: Any) -> float:
    try:
        number = float(value) if isinstance(value, (int, float)) else None
    except OverflowError:
        number = None
    if number is None or not isfinite(number):
        raise DataError(f"the value of a feature is a finite number, got {json.dumps(value):.80}")
    return number


def _check_alike(first: Features, other: Features) -> None:
    arrays = [isinstance(x, np.ndarray) for x in (first, other)]
    if arrays[0] != arrays[1]:
        raise DataError('"x" is a list of numbers in some lines and has names in others')
    if all(arrays) and len(first) != len(other):
        raise DataError(f'"x" has {len(first)} numbers in the first line, got {len(other)}')


def _label(y: Any) -> str:
    if not isinstance(y, str) or not y:
        raise DataError(f'"y" is a label in quotes, got {json.dumps(y):.80}')
    return y


def _label_set(y: Any) -> tuple[str, ...]:
    if not isinstance(y, list) or not all(isinstance(label, str) and label for label in y):
        raise DataError(f'"y" is a list of labels in quotes, got {json.dumps(y):.80}')
    if len(set(y)) < len(y):
        raise DataError(f'"y" names each label once, got {json.dumps(y):.80}')
    return tuple(y)
