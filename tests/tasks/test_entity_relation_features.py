"""Features are what stands in the sentence, and never what the corpus says of it."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import pytest

from rote.data.conll04 import Entity, Relation, Sentence
from rote.data.english import english_sentences
from rote.tasks.entity_relation_features import entity_features, pair_features

# Anna Bell lives in New York COMMA near IBM .
SENTENCE = Sentence(
    7,
    ("Anna", "Bell", "lives", "in", "New", "York", "COMMA", "near", "IBM", "."),
    ("NNP", "NNP", "VBZ", "IN", "NNP", "NNP", ",", "IN", "NNP", "."),
    (Entity(0, 2, "Peop"), Entity(4, 6, "Loc"), Entity(8, 9, "Org")),
    (Relation(0, 1, "Live_In"),),
)


@pytest.mark.parametrize(
    ("i", "there", "not_there"),
    [
        (0, {"bias", "length=2", "first=anna", "last=bell", "at the start"}, {"all capitals"}),
        (0, {"-1=<edge>", "+1=lives", "+2=in", "+3=new", "tag+1=vbz", "near=lives"}, {"+4=york"}),
        (1, {"text=new york", "words=new york", "last ends=ork", "last begins=yo"}, {"word=in"}),
        (1, {"-2-1=lives in", "+1+2=comma near", "-1+1=in comma", "-1 shape=in Xx"}, set()),
        (1, {"shapes=Xx Xx", "tags=NNP NNP", "shape=Xx"}, {"at the start", "a number"}),
        (2, {"all capitals", "length=1", "last shape=X", "+1=.", "+2=<edge>"}, {"no capital"}),
    ],
)
def test_an_entity_is_seen_with_its_neighbours(i, there, not_there):
    row = set(entity_features(SENTENCE, i))
    assert there <= row
    assert not not_there & row


def test_numbers_and_small_letters_are_noticed():
    plain = replace(
        SENTENCE, words=("the", "1990", *SENTENCE.words[2:]), pos=("DT", "CD", *SENTENCE.pos[2:])
    )
    assert {"a number", "no capital"} <= set(entity_features(plain, 0))


@pytest.mark.parametrize(
    ("pair", "there", "not_there"),
    [
        ((0, 1), {"bias>", "one=bell", "two=york", "distance=2", "entities between=0"}, {"bias<"}),
        ((0, 1), {"between=lives", ">between=lives", "words=lives in", "verb=lives"}, set()),
        ((0, 1), {"all=lives in", "first between=lives", "last between=in", "tags=VBZ IN"}, set()),
        ((0, 1), {"around=<edge> comma", "signs=", "ends=bell york"}, {"signs=comma"}),
        ((1, 0), {"bias<", "one=york", "two=bell", "<between=lives", "<all=lives in"}, {"bias>"}),
        ((0, 2), {"distance=6", "entities between=1", "signs=comma", "between=york"}, {"all=x"}),
        ((2, 1), {"<distance=2", "before=in", "after=.", "one looks=X/NNP/1"}, {"verb=near"}),
    ],
)
def test_a_pair_is_seen_with_what_stands_between_and_around(pair, there, not_there):
    row = set(pair_features(SENTENCE, *pair))
    assert there <= row
    assert not not_there & row


def test_neighbours_with_nothing_between_have_features_too():
    close = replace(SENTENCE, entities=(Entity(0, 1, "Peop"), Entity(1, 2, "Peop")))
    row = pair_features(close, 0, 1)
    assert {"distance=0", "all=", "tags="} <= set(row)
    inside = ("between=", "first between=", "last between=", "words=", "verb=")
    assert [name for name in row if name.lstrip("<>").startswith(inside)] == []


def test_labels_and_relations_are_never_looked_at():
    for sentence in (SENTENCE, *english_sentences(30, seed=3)):
        blank = tuple(Entity(e.start, e.stop, "?") for e in sentence.entities)
        unknown = replace(sentence, id=-1, entities=blank, relations=())
        n = len(blank)
        for i in range(n):
            assert entity_features(sentence, i) == entity_features(unknown, i)
            for j in range(n):
                if i != j:
                    assert pair_features(sentence, i, j) == pair_features(unknown, i, j)


def test_the_order_of_features_is_the_same_in_every_process():
    code = (
        "from rote.data.english import english_sentences\n"
        "from rote.tasks.entity_relation_features import entity_features, pair_features\n"
        "for s in english_sentences(5, seed=0):\n"
        "    print(entity_features(s, 0), pair_features(s, 0, 1))\n"
    )
    texts = {
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            text=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(texts) == 1
