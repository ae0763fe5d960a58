"""The entity-relation corpus: its splits, and the real thing."""

from __future__ import annotations

import gzip
import os
from collections import Counter

import pytest

from papers.data.conll04 import COUNTS, Conll04, load_conll04, read_sentences, read_splits, tally
from rote import DataError
from tests.io.test_conll import SAMPLE


@pytest.fixture
def write(tmp_path):
    def write_text(text, name="sample.corp"):
        path = tmp_path / name
        path.write_text(text, newline="")
        return path

    return write_text


def test_splits_are_read_and_damage_is_named(write):
    assert dict(read_splits(write("3\ttrain\n7\ttest\n", "splits.tsv"))) == {3: "train", 7: "test"}
    for text, reason in [
        ("3\ttrain\n7 test\n", "line 2: expected a sentence's id, a tab and one of"),
        ("3\ttrain\n7\tvalid\n", "line 2: expected a sentence's id, a tab and one of"),
        ("3\ttrain\n3\ttest\n", "line 2: sentence 3 has a split already"),
    ]:
        with pytest.raises(DataError, match=reason):
            read_splits(write(text, "splits.tsv"))


def test_a_split_is_a_part_of_the_corpus(write):
    corpus = Conll04(read_sentences(write(SAMPLE)), {3: "dev"})
    assert [s.id for s in corpus.split("dev")] == [3]
    assert corpus.split("train") == ()
    with pytest.raises(DataError, match="the splits are train, dev, test, got 'valid'"):
        corpus.split("valid")


def test_another_corpus_is_not_taken_for_the_real_one(tmp_path):
    (tmp_path / "conll04.corp.gz").write_bytes(gzip.compress(SAMPLE.encode()))
    (tmp_path / "relation_splits.tsv").write_text("3\ttrain\n")
    with pytest.raises(DataError, match="sentences: 5516 expected, 2 found"):
        load_conll04(tmp_path)


@pytest.fixture(scope="module")
def corpus():
    if not os.environ.get("ROTE_DATA"):
        pytest.skip("the real corpus is read where ROTE_DATA names the folder of conll04/")
    return load_conll04()


def test_the_real_corpus_has_the_counts_that_are_known_of_it(corpus):
    found = tally(corpus)
    assert {name: found[name] for name in COUNTS} == dict(COUNTS)
    related = [s for s in corpus.sentences if s.relations]
    assert Counter(e.label for s in related for e in s.entities) == {
        "Peop": 1691,
        "Loc": 1968,
        "Org": 984,
        "Other": 706,
    }
    assert sum(len(s.entities) * (len(s.entities) - 1) for s in related) == 19080


def test_spans_of_the_real_corpus_are_apart_and_in_order(corpus):
    for sentence in corpus.sentences:
        assert len(sentence.words) == len(sentence.pos)
        ends = [
            0,
            *(at for e in sentence.entities for at in (e.start, e.stop)),
            len(sentence.words),
        ]
        assert ends == sorted(ends)


def test_the_splits_of_the_real_corpus_are_its_sentences_with_a_relation(corpus):
    parts = [corpus.split(name) for name in ("train", "dev", "test")]
    assert [len(part) for part in parts] == [910, 243, 288]
    assert sum(len(s.relations) for s in parts[0]) == 1273
    assert {s.id for part in parts for s in part} == {s.id for s in corpus.sentences if s.relations}
