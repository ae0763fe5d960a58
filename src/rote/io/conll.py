"""The entity-relation corpus of Roth and Yih (CoNLL 2004), in its original column file.

A sentence is a block of rows, a blank line, a block of relations (often empty), and a
blank line. Columns are separated by tabs:

    10   Peop   7   O   NNP/NNP   Tuvia/Tzafir   O   O   O
    7    0      Live_In

A row is the sentence's id, the label of an entity or O, the row's place, an O, tags,
words, and three more O. An entity of several words is *one* row, its words and tags
joined by "/"; the words are taken apart here, so that an entity is a span of words. A
relation is the rows of its two entities and its label. People's own files look the same,
and may have other labels, blanks instead of tabs, and no blank lines at their end.

As in the file: COMMA stands for a comma. In 33 rows of the corpus there are more or
fewer tags than words; there, the last tag is repeated, or tags are left off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from rote.io.text import line_error, numbered_lines

ENTITIES = ("Peop", "Loc", "Org", "Other")
"""The labels of entities in the corpus of Roth and Yih."""
RELATIONS = ("Kill", "Live_In", "Work_For", "OrgBased_In", "Located_In")
"""The labels of relations there."""
OUTSIDE = "O"  # the label of a row that is no entity
ROW_COLUMNS, RELATION_COLUMNS = 9, 3
Line: TypeAlias = tuple[int, str]


@dataclass(frozen=True)
class Entity:
    """``words[start:stop]`` of its sentence, and what they name.

    Parameters
    ----------
    start, stop
        The first word, counted from 0, and the one behind the last.
    label
        The type of what they name; empty where it is not known.
    """

    start: int
    stop: int
    label: str


@dataclass(frozen=True)
class Relation:
    """``entities[first]`` stands in this relation to ``entities[second]``.

    Parameters
    ----------
    first, second
        The two entities, by their position in the sentence; the order counts.
    label
        The type of the relation.
    """

    first: int
    second: int
    label: str


@dataclass(frozen=True)
class Sentence:
    """A sentence as the corpus has it: words, their tags, entities and relations.

    Parameters
    ----------
    id
        Its number in the file.
    words, pos
        The words, and a part-of-speech tag for each.
    entities, relations
        Spans of words in reading order, and how pairs of them are related.
    """

    id: int
    words: tuple[str, ...]
    pos: tuple[str, ...]
    entities: tuple[Entity, ...]
    relations: tuple[Relation, ...]

    def text(self, entity: Entity) -> str:
        """The words of an entity."""
        return " ".join(self.words[entity.start : entity.stop])


def numbered_sentences(
    path: Path, *, own: bool = False, lines: Sequence[str] | None = None
) -> Iterator[tuple[int, Sentence]]:
    """The sentences of a column file, each with the line where it begins; ``lines`` if it is read.

    People's ``own`` files have any labels, blanks between columns in lines without tabs, and their
    end is the end of the last sentence.
    """
    seen: set[int] = set()
    numbered = numbered_lines(path) if lines is None else enumerate(lines, start=1)
    for rows, relations, cut in _blocks(numbered):
        sentence = _sentence(path, rows, relations, own=own)
        start = rows[0][0]
        if cut and not own:
            said = f"the file ends inside sentence {sentence.id}; it may be cut off"
            raise line_error(path, cut, said)
        if sentence.id in seen:
            raise line_error(path, start, f"sentence {sentence.id} is in the file already")
        seen.add(sentence.id)
        yield start, sentence


def _blocks(lines: Iterable[Line]) -> Iterator[tuple[list[Line], list[Line], int]]:
    """The rows of each sentence, its relations, and the line where the file cuts them off, or 0."""
    rows: list[Line] = []
    relations: list[Line] = []
    closed = False
    for number, line in lines:
        if line or not rows:
            (relations if closed else rows).append((number, line))
        elif not closed:
            closed = True
        else:
            yield rows, relations, 0
            rows, relations, closed = [], [], False
    if rows:
        yield rows, relations, number


def _sentence(path: Path, rows: Sequence[Line], related: Sequence[Line], *, own: bool) -> Sentence:
    words: list[str] = []
    pos: list[str] = []
    entities: dict[int, Entity] = {}  # by their rows
    first = ""  # the id of the sentence, which all of its rows have
    for place, (number, line) in enumerate(rows):
        fields = _fields(path, number, line, ROW_COLUMNS, "a row", own=own)
        identity, label, row, _, tags, joined, *_ = fields
        if not identity.isdecimal() or (first and int(identity) != int(first)):
            expected = f"the id {first} of this sentence" if first else "the id of a sentence"
            raise line_error(path, number, f"expected {expected}, got {identity!r}")
        first = first or identity
        if row != str(place):
            raise line_error(path, number, f"expected row {place}, got row {row!r}")
        _check_label(path, number, label, None if own else (*ENTITIES, OUTSIDE))
        parts, own_tags = _parted(joined), _parted(tags)
        if not all(parts) or not all(own_tags):
            said = f"expected words and tags, got {joined!r} and {tags!r}"
            raise line_error(path, number, said)
        if label != OUTSIDE:
            entities[place] = Entity(len(words), len(words) + len(parts), label)
        words += ["," if word == "COMMA" else word for word in parts]
        pos += [own_tags[min(k, len(own_tags) - 1)] for k in range(len(parts))]
    position = {str(row): k for k, row in enumerate(entities)}
    relations: dict[tuple[int, int], str] = {}
    for number, line in related:
        *ends, label = _fields(path, number, line, RELATION_COLUMNS, "a relation", own=own)
        stray = [end for end in ends if end not in position]
        if stray:
            raise line_error(
                path,
                number,
                f"this relation points at row {stray[0]}, but sentence {first} has no entity "
                f"there; rows with an entity: {', '.join(position) or 'none'}",
            )
        _check_label(path, number, label, None if own else RELATIONS)
        pair = position[ends[0]], position[ends[1]]
        if pair[0] == pair[1]:
            raise line_error(path, number, f"row {ends[0]} is related to itself")
        if pair in relations:
            said = f"rows {ends[0]} and {ends[1]} are related already"
            raise line_error(path, number, said)
        relations[pair] = label
    joins = tuple(Relation(*pair, label) for pair, label in relations.items())
    return Sentence(int(first), tuple(words), tuple(pos), tuple(entities.values()), joins)


def _fields(
    path: Path, number: int, line: str, expected: int, what: str, *, own: bool
) -> list[str]:
    fields = line.split() if own and "\t" not in line else line.split("\t")
    if len(fields) != expected:
        got = f"{len(fields)} in {line!r}" if line else "a blank line"
        raise line_error(path, number, f"expected {expected} columns of {what}, got {got}")
    return fields


def _check_label(path: Path, number: int, label: str, known: Sequence[str] | None) -> None:
    if not label:
        raise line_error(path, number, "the label is empty")
    if known is not None and label not in known:
        raise line_error(path, number, f"expected one of {', '.join(known)}, got {label!r}")


def _parted(joined: str) -> list[str]:
    # A row may be a lone slash, which joins nothing.
    return [joined] if joined == "/" else joined.split("/")
