"""A stream of Wikipedia sentences with marked entities: inputs for entity-relation models.

Three collections in three formats, five files. They stand for the newspaper text that
papers on amortized inference run over, which cannot be given away.

    wikineural  2 <tab> to <tab> O        a place, a word and a BIO tag, as a program set it;
                3 <tab> Tuvalu <tab> B-LOC        a blank line after each sentence
    redocred    JSON: documents with sents, and vertexSet, the mentions of each entity
    fewrel      JSON: for each relation sentences (tokens) with a head h and a tail t

What comes out are sentences as those of the entity-relation corpus, without tags (each is
"") and without relations. An entity keeps the label of its file, which is "" in fewrel.

- A tag I-x that continues no entity x marks nothing, so only tags B-x count entities.
- In redocred and fewrel entities may overlap, and a word may be blank.
- A span is one entity, though redocred may list it under two; a sentence of fewrel is one
  sentence, with all its entities, though it may be given for several relations.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

from papers.data.checks import check_counts, check_label
from papers.data.columns import Block, read_blocks
from papers.data.folder import data_folder
from rote.errors import DataError
from rote.io import Entity, Sentence
from rote.io.text import line_error, read_text

FOLDER = "entity_stream"
FILES: Mapping[str, str] = MappingProxyType(
    {
        "wikineural_val": "wikineural_en_val.conllu.gz",
        "wikineural_test": "wikineural_en_test.conllu.gz",
        "redocred_dev": "redocred_dev.json.gz",
        "redocred_test": "redocred_test.json.gz",
        "fewrel": "fewrel_val_wiki.json.gz",
    }
)
WIKINEURAL_LABELS = ("PER", "LOC", "ORG", "MISC")
REDOCRED_LABELS = (*WIKINEURAL_LABELS, "TIME", "NUM")
WIKINEURAL_TAGS = ("O", *(f"{mark}-{label}" for label in WIKINEURAL_LABELS for mark in "BI"))

KINDS: Mapping[type, str] = {
    list: "a list",
    dict: "an object",
    str: "a string",
    int: "a whole number",
}
Json = TypeVar("Json", list[Any], dict[str, Any], str, int)

# Of each part: sentences, entities, and sentences with two entities or more.
COUNTS: Mapping[str, tuple[int, int, int]] = MappingProxyType(
    {
        "wikineural_val": (11590, 19182, 4368),
        "wikineural_test": (11597, 19116, 4401),
        "redocred_dev": (4110, 13153, 3107),
        "redocred_test": (3966, 12949, 3048),
        "fewrel": (10996, 22610, 10996),
    }
)
COUNTED = ("sentences", "entities", "sentences with two entities or more")


def stream_sentences(
    folder: str | Path | None = None, parts: Iterable[str] = tuple(FILES)
) -> Iterator[Sentence]:
    """The sentences of the parts named, one after the other, numbered from 0 in each.

    One file is read at a time, and its counts are checked when its last sentence has been
    given out. By default the folder is ROTE_DATA/entity_stream.
    """
    parts = tuple(parts)
    unknown = [part for part in parts if part not in FILES]
    if unknown:
        raise DataError(f"{FOLDER} has the parts {', '.join(FILES)}; got {unknown[0]!r}")
    folder = data_folder(FOLDER) if folder is None else Path(folder)
    return _stream(folder, parts)


def _stream(folder: Path, parts: Sequence[str]) -> Iterator[Sentence]:
    for part in parts:
        path = folder / FILES[part]
        sentences, entities, pairs = 0, 0, 0
        for sentence in READERS[part.partition("_")[0]](path):
            sentences += 1
            entities += len(sentence.entities)
            pairs += len(sentence.entities) >= 2
            yield sentence
        expected = dict(zip(COUNTED, COUNTS[part], strict=True))
        found = dict(zip(COUNTED, (sentences, entities, pairs), strict=True))
        check_counts(f"{FOLDER}, {part}", path, expected, found)


def read_wikineural(path: str | Path) -> Iterator[Sentence]:
    """The sentences of a column file."""
    path = Path(path)
    for number, block in enumerate(read_blocks(path, 3)):
        words = tuple(cells[1] for _, cells in block.rows)
        yield _sentence(str(path), number, words, _tagged_entities(path, block))


def _tagged_entities(path: Path, block: Block) -> list[Entity]:
    entities: list[Entity] = []
    label = ""  # of the entity that the next word may continue
    for place, (number, (written, _, tag)) in enumerate(block.rows):
        if written != str(place):
            raise line_error(path, number, f"expected place {place}, got {written!r}")
        check_label(path, number, tag, WIKINEURAL_TAGS)
        mark, _, kind = tag.partition("-")
        if mark == "B":
            entities.append(Entity(place, place + 1, kind))
            label = kind
        elif mark == "I" and kind == label:
            entities[-1] = Entity(entities[-1].start, place + 1, kind)
        else:
            label = ""
    return entities


def read_redocred(path: str | Path) -> Iterator[Sentence]:
    """The sentences of a JSON list of documents."""
    path = Path(path)
    number = 0
    for at, document in enumerate(_parsed(path, list)):
        where = f"{path}, document {at}"
        texts = [_words(where, text) for text in _member(where, document, "sents", list)]
        marked: list[list[Entity]] = [[] for _ in texts]
        for cluster in _member(where, document, "vertexSet", list):
            for mention in _checked(where, cluster, list):
                place = _member(where, mention, "sent_id", int)
                if not 0 <= place < len(texts):
                    raise DataError(f"{where}: expected a sentence below {len(texts)}, got {place}")
                marked[place].append(_redocred_entity(where, mention))
        for words, entities in zip(texts, marked, strict=True):
            yield _sentence(where, number, words, entities)
            number += 1


def read_fewrel(path: str | Path) -> Iterator[Sentence]:
    """The sentences of a JSON object of relations, each sentence once."""
    path = Path(path)
    merged: dict[tuple[str, ...], list[Entity]] = {}
    for relation, items in _parsed(path, dict).items():
        for at, item in enumerate(_checked(f"{path}, relation {relation}", items, list)):
            where = f"{path}, relation {relation}, sentence {at}"
            entities = merged.setdefault(_words(where, _member(where, item, "tokens", list)), [])
            for end in ("h", "t"):
                *_, places = _member(where, item, end, list) or [[]]
                entities += [_fewrel_entity(where, span) for span in _checked(where, places, list)]
    for number, (words, entities) in enumerate(merged.items()):
        yield _sentence(f"{path}, sentence {' '.join(words)!r}", number, words, entities)


READERS: Mapping[str, Callable[[Path], Iterator[Sentence]]] = MappingProxyType(
    {"wikineural": read_wikineural, "redocred": read_redocred, "fewrel": read_fewrel}
)


def _redocred_entity(where: str, mention: object) -> Entity:
    span, label = _member(where, mention, "pos", list), _member(where, mention, "type", str)
    if label not in REDOCRED_LABELS:
        raise DataError(f"{where}: expected one of {' '.join(REDOCRED_LABELS)}, got {label!r}")
    if len(span) != 2 or not all(isinstance(k, int) for k in span):
        raise DataError(f"{where}: expected the start and the stop of an entity, got {span}")
    return Entity(span[0], span[1], label)


def _fewrel_entity(where: str, places: object) -> Entity:
    whole = _checked(where, places, list)
    if not whole or not all(isinstance(k, int) for k in whole) or whole != _row_of(whole):
        raise DataError(f"{where}: expected the places of an entity, got {places!r}")
    return Entity(whole[0], whole[-1] + 1, "")


def _row_of(places: list[int]) -> list[int]:
    return list(range(places[0], places[0] + len(places)))


def _sentence(
    where: str, number: int, words: tuple[str, ...], entities: Iterable[Entity]
) -> Sentence:
    ordered = sorted(set(entities), key=lambda entity: (entity.start, -entity.stop))
    for entity in ordered:
        if not 0 <= entity.start < entity.stop <= len(words):
            raise DataError(
                f"{where}: an entity from word {entity.start} to before word {entity.stop} does "
                f"not fit in {len(words)} words"
            )
    return Sentence(number, words, ("",) * len(words), tuple(ordered), ())


def _words(where: str, words: object) -> tuple[str, ...]:
    return tuple(_checked(where, word, str) for word in _checked(where, words, list))


def _parsed(path: Path, kind: type[Json]) -> Json:
    try:
        found = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise line_error(path, error.lineno, f"is not whole JSON: {error.msg}") from None
    except RecursionError:
        raise DataError(f"{path}: is nested too deeply to be one of these files") from None
    return _checked(str(path), found, kind)


def _member(where: str, owner: object, name: str, kind: type[Json]) -> Json:
    members = _checked(where, owner, dict)
    if name not in members:
        raise DataError(f"{where}: expected the member {name!r}, got {', '.join(members)}")
    return _checked(f"{where}, {name}", members[name], kind)


def _checked(where: str, value: object, kind: type[Json]) -> Json:
    if not isinstance(value, kind):
        raise DataError(f"{where}: expected {KINDS[kind]}, got {json.dumps(value)[:60]}")
    return value
