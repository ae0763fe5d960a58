"""Entities and relations in made-up English sentences, for when there is no corpus at hand.

The sentences are values of the same kind as those of the entity-relation corpus, and their
relations obey its argument types. Names are shared between persons, places and organisations
on purpose, and so are the small words between them: in "Jordan of Lincoln" each may be several
things, and what "of" means hangs on both. What tells them apart is often at only one of
the two names, or far from both, so a decision by itself is often wrong where decisions that
must agree are right.

A sentence is one to three clauses, each from a template, with two to six entities in all.
Entities of one clause are related as its template says; those of different clauses never.

A template is a line of words. ``Peop``, ``Loc``, ``Org``, ``Other`` and ``Nation`` (labelled
Other) stand for an entity, ``a|b`` for one of these words, ``#`` for a number, ``~`` for an
aside or nothing, and other capitals for a phrase. Templates, phrases and names are in
english.toml, and so is the tag of each word, unless it stands behind it as in ``shot/VBN``.
After ``=`` come relations, each with the places of its two entities in the template, counted
from 0.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple, TypeVar

import numpy as np

from rote.io.conll import ENTITIES, Entity, Relation, Sentence
from rote.settings import check, whole

Item = TypeVar("Item")

FEWEST_ENTITIES, MAX_ENTITIES = 2, 6
BARE_NAME = 0.5  # how often an entity is a name that other kinds of entities share
INTRODUCED = 0.12  # how often a word before a name says what it is
HEDGED = 0.2  # how often words before a name say nothing
ASIDE = 0.6  # how often something stands where a template allows an aside
OPENING = 0.35  # how often words stand before the first clause
CLAUSES = (0.3, 0.45, 0.25)  # how often a sentence has one, two, three

KINDS: Mapping[str, str] = MappingProxyType(
    {**{label: label for label in ENTITIES}, "Nation": "Other"}  # in a template, and its label
)


class _Template(NamedTuple):
    chunks: tuple[str, ...]
    relations: tuple[Relation, ...]
    entities: int


class _Words(NamedTuple):
    """What english.toml holds; names and tags by the words and kinds that they are asked for."""

    templates: tuple[_Template, ...]
    tags: Mapping[str, str]
    first_names: Sequence[str]
    shared_names: Mapping[str, Sequence[str]]
    telling_names: Mapping[str, Sequence[str]]
    introductions: Mapping[str, Sequence[str]]
    hedges: Sequence[str]
    phrases: Mapping[str, Sequence[str]]
    openings: Sequence[str]
    joins: Sequence[str]


@cache
def _words() -> _Words:
    text = files("rote.datasets").joinpath("english.toml").read_text(encoding="utf-8")
    read = tomllib.loads(text)
    tagged = (line.rpartition(": ") for line in read["tags"].strip().splitlines())
    shared = {
        label: [
            name.replace("_", " ")
            for kinds, names in read["shared_names"].items()
            if label in kinds.split()
            for name in names.split()
        ]
        for label in ENTITIES
    }
    return _Words(
        **read
        | {
            "templates": tuple(map(_parsed, read["templates"].strip().splitlines())),
            "tags": {word: tag for tag, _, words in tagged for word in words.split()},
            "first_names": read["first_names"].split(),
            "shared_names": shared,
        }
    )


def english_sentences(count: int, seed: int) -> tuple[Sentence, ...]:
    """Made-up sentences; of the same seed, fewer are the first of more.

    Parameters
    ----------
    count
        How many, 0 or more.
    seed
        The seed of all that is drawn.

    >>> only = english_sentences(1, seed=8)[0]
    >>> " ".join(only.words[:9])
    'It seems that Porsche , to the surprise of'
    >>> [(only.text(entity), entity.label) for entity in only.entities]
    [('Porsche', 'Peop'), ('Saint Paul', 'Loc'), ('Dallas', 'Loc')]
    """
    check("count", count, whole(0))
    rng = np.random.default_rng(seed)
    return tuple(_sentence(rng, number) for number in range(count))


def _sentence(rng: np.random.Generator, number: int) -> Sentence:
    words = _words()
    while True:
        clauses = 1 + int(rng.choice(len(CLAUSES), p=CLAUSES))
        chosen = [_pick(rng, words.templates) for _ in range(clauses)]
        if FEWEST_ENTITIES <= sum(template.entities for template in chosen) <= MAX_ENTITIES:
            break
    writer = _Writer(rng)
    if rng.random() < OPENING:
        writer.write(_pick(rng, words.openings).split())
    for place, template in enumerate(chosen):
        if place:
            writer.write(_pick(rng, words.joins).split())
        before = len(writer.entities)
        writer.write(template.chunks)
        writer.relations += [
            Relation(r.first + before, r.second + before, r.label) for r in template.relations
        ]
    writer.write(".")
    return writer.sentence(number)


class _Writer:
    """The words of one sentence as they are written, and what is known of them."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.words: list[str] = []
        self.pos: list[str] = []
        self.entities: list[Entity] = []
        self.relations: list[Relation] = []
        self.names: set[str] = set()

    def write(self, chunks: Sequence[str]) -> None:
        for piece in chunks:
            if piece in KINDS:
                self.write_entity(piece)
            elif piece in _words().phrases:
                self.write(_pick(self.rng, _words().phrases[piece]).split())
            elif piece == "~":
                if self.rng.random() < ASIDE:
                    self.write(_pick(self.rng, _words().phrases["ASIDE"]).split())
            elif piece == "#":
                self.add(str(self.rng.integers(2, 10 ** self.rng.integers(2, 5))), "CD")
            else:
                forms, _, tag = piece.partition("/")
                word = _pick(self.rng, forms.split("|"))
                self.add(word, tag or _words().tags[word])

    def write_entity(self, kind: str) -> None:
        drawn = self.rng.random()
        if drawn < INTRODUCED:
            self.write(_pick(self.rng, _words().introductions[kind]).split())
        elif drawn < INTRODUCED + HEDGED and kind != "Nation":
            self.write(_pick(self.rng, _words().hedges).split())
        name = _name(self.rng, kind)
        while name in self.names:  # no two entities of a sentence have the same name
            name = _name(self.rng, kind)
        self.names.add(name)
        start = len(self.words)
        for word in name.split():
            self.add(word, "JJ" if kind == "Nation" else _words().tags.get(word, "NNP"))
        self.entities.append(Entity(start, len(self.words), KINDS[kind]))

    def add(self, word: str, tag: str) -> None:
        starts = not self.words and word.islower()
        self.words.append(word.capitalize() if starts else word)
        self.pos.append(tag)

    def sentence(self, number: int) -> Sentence:
        words, pos = tuple(self.words), tuple(self.pos)
        return Sentence(number, words, pos, tuple(self.entities), tuple(self.relations))


def _name(rng: np.random.Generator, kind: str) -> str:
    words = _words()
    if kind == "Nation":
        return _pick(rng, words.telling_names[kind])
    shared = _pick(rng, words.shared_names[kind])
    if rng.random() < BARE_NAME:
        return shared
    if kind == "Peop":
        return f"{_pick(rng, words.first_names)} {shared}"
    return _pick(rng, words.telling_names[kind]).replace("*", shared)


def _pick(rng: np.random.Generator, items: Sequence[Item]) -> Item:
    return items[int(rng.integers(len(items)))]


def _parsed(line: str) -> _Template:
    text, _, related = line.partition(" =")
    chunks = tuple(text.split())
    triples = (relation.split() for relation in related.split(";") if relation.strip())
    relations = tuple(Relation(int(first), int(second), label) for label, first, second in triples)
    return _Template(chunks, relations, sum(piece in KINDS for piece in chunks))
