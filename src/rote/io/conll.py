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

from rote.errors import DataError
from rote.io.text import line_error, numbered_lines

ENTITIES = ("Peop", "Loc", "Org", "Other")
"""The labels of entities in the corpus of Roth and Yih."""
RELATIONS = ("Kill", "Live_In", "Work_For", "OrgBased_In", "Located_In")
"""The labels of relations there."""
OUTSIDE = "O"  # the label of a row that is no entity
ROW_COLUMNS, RELATION_COLUMNS = 9, 3


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
    for block in _blocks(path, numbered, own=own):
        if block.id in seen:
            raise line_error(path, block.start, f"sentence {block.id} is in the file already")
        seen.add(block.id)
        yield block.start, block.sentence()


def _blocks(path: Path, lines: Iterable[tuple[int, str]], *, own: bool) -> Iterator[_Block]:
    block: _Block | None = None
    for number, line in lines:
        if block is None:
            block = _Block(path, number, line, own=own)
        elif line:
            block.add(number, line)
        elif not block.closed:
            block.closed = True
        else:
            yield block
            block = None
    if block is not None:
        if not own:
            raise line_error(
                path, number, f"the file ends inside sentence {block.id}; it may be cut off"
            )
        yield block


class _Block:
    """The rows of one sentence and, once they are ``closed``, its relations."""

    def __init__(self, path: Path, number: int, line: str, *, own: bool) -> None:
        self.path = path
        self.own = own
        self.start = number
        self.closed = False
        self.words: list[str] = []
        self.pos: list[str] = []
        self.entities: list[Entity] = []
        self.relations: dict[tuple[int, int], str] = {}
        self.rows = 0
        self.entity_at: dict[int, int] = {}
        self.id = -1
        self.add(number, line)

    def add(self, number: int, line: str) -> None:
        self.number = number
        fields = line.split() if self.own and "\t" not in line else line.split("\t")
        expected = RELATION_COLUMNS if self.closed else ROW_COLUMNS
        if len(fields) != expected:
            kind = "a relation" if self.closed else "a row"
            got = f"{len(fields)} in {line!r}" if line else "a blank line"
            raise self.error(f"expected {expected} columns of {kind}, got {got}")
        (self.add_relation if self.closed else self.add_row)(fields)

    def add_row(self, fields: list[str]) -> None:
        identity, label, place, _, tags, joined, *_ = fields
        if not identity.isdecimal() or (self.rows and int(identity) != self.id):
            expected = f"the id {self.id} of this sentence" if self.rows else "the id of a sentence"
            raise self.error(f"expected {expected}, got {identity!r}")
        self.id = int(identity)
        if place != str(self.rows):
            raise self.error(f"expected row {self.rows}, got row {place!r}")
        self.check_label(label, (*ENTITIES, OUTSIDE))
        words, pos = _parted(joined), _parted(tags)
        if not all(words) or not all(pos):
            raise self.error(f"expected words and tags, got {joined!r} and {tags!r}")
        start = len(self.words)
        self.words += ["," if word == "COMMA" else word for word in words]
        self.pos += [pos[min(k, len(pos) - 1)] for k in range(len(words))]
        if label != OUTSIDE:
            self.entity_at[self.rows] = len(self.entities)
            self.entities.append(Entity(start, len(self.words), label))
        self.rows += 1

    def add_relation(self, fields: list[str]) -> None:
        ends = []
        for place in fields[:2]:
            if not place.isdecimal() or int(place) not in self.entity_at:
                rows = ", ".join(map(str, self.entity_at)) or "none"
                raise self.error(
                    f"this relation points at row {place}, but sentence {self.id} has no entity "
                    f"there; rows with an entity: {rows}",
                )
            ends.append(self.entity_at[int(place)])
        label = fields[2]
        self.check_label(label, RELATIONS)
        if ends[0] == ends[1]:
            raise self.error(f"row {fields[0]} is related to itself")
        if (ends[0], ends[1]) in self.relations:
            raise self.error(f"rows {fields[0]} and {fields[1]} are related already")
        self.relations[ends[0], ends[1]] = label

    def check_label(self, label: str, known: Sequence[str]) -> None:
        if not label:
            raise self.error("the label is empty")
        if not self.own and label not in known:
            raise self.error(f"expected one of {', '.join(known)}, got {label!r}")

    def error(self, reason: str) -> DataError:
        return line_error(self.path, self.number, reason)

    def sentence(self) -> Sentence:
        related = (Relation(first, second, r) for (first, second), r in self.relations.items())
        return Sentence(
            self.id, tuple(self.words), tuple(self.pos), tuple(self.entities), tuple(related)
        )


def _parted(joined: str) -> list[str]:
    # A row may be a lone slash, which joins nothing.
    return [joined] if joined == "/" else joined.split("/")
