"""The stream of sentences: a small file of each format, damage, and the real stream."""

import gzip
import json
from itertools import islice

import pytest

from papers.data.entity_stream import (
    COUNTS,
    FILES,
    read_fewrel,
    read_redocred,
    read_wikineural,
    stream_sentences,
)
from rote import DataError
from rote.io.conll import Entity

# An entity of two words, two that touch, and a tag that continues nothing of its kind.
COLUMNS = """\
0\tAda\tB-PER
1\tQuill\tI-PER
2\tHull\tB-LOC
3\tYork\tB-LOC
4\tPost\tI-ORG
5\tsaid\tO
6\tHull\tI-LOC

0\tNo\tO
"""

# The first entity stands in two clusters, and one mention lies inside another.
DOCUMENTS = [
    {
        "title": "t",
        "sents": [["Ada", "of", "North", "Hull", "."], ["She", "left", "."]],
        "vertexSet": [
            [
                {"sent_id": 0, "pos": [0, 1], "type": "PER", "name": "Ada"},
                {"sent_id": 1, "pos": [0, 1], "type": "PER", "name": "She"},
            ],
            [{"sent_id": 0, "pos": [3, 4], "type": "LOC", "name": "Hull"}],
            [
                {"sent_id": 0, "pos": [2, 4], "type": "LOC", "name": "North Hull"},
                {"sent_id": 0, "pos": [0, 1], "type": "PER", "name": "Ada"},
            ],
        ],
        "labels": [],
    }
]

# The same sentence under two relations; the second time with the head at two places.
RELATIONS = {
    "P1": [{"tokens": ["A", "b", "C"], "h": ["a", "Q1", [[0]]], "t": ["c", "Q2", [[2]]]}],
    "P2": [
        {"tokens": ["D", "E"], "h": ["d", "Q3", [[0]]], "t": ["e", "Q4", [[1]]]},
        {"tokens": ["A", "b", "C"], "h": ["a", "Q1", [[0, 1], [0]]], "t": ["c", "Q2", [[2]]]},
    ],
}


@pytest.fixture
def write(tmp_path):
    def write_text(content, name="sample"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write_text


def test_tags_become_entities(write):
    first, second = read_wikineural(write(COLUMNS))
    assert (first.id, second.id) == (0, 1)
    assert first.words == ("Ada", "Quill", "Hull", "York", "Post", "said", "Hull")
    assert first.entities == (Entity(0, 2, "PER"), Entity(2, 3, "LOC"), Entity(3, 4, "LOC"))
    assert (first.pos, first.relations) == (("",) * 7, ())
    assert (second.words, second.entities) == (("No",), ())


def test_mentions_of_a_document_become_entities_of_its_sentences(write):
    first, second = read_redocred(write(DOCUMENTS))
    assert first.entities == (Entity(0, 1, "PER"), Entity(2, 4, "LOC"), Entity(3, 4, "LOC"))
    assert [first.text(entity) for entity in first.entities] == ["Ada", "North Hull", "Hull"]
    assert (second.id, second.words) == (1, ("She", "left", "."))
    assert second.entities == (Entity(0, 1, "PER"),)


def test_a_sentence_under_two_relations_comes_once_with_all_its_entities(write):
    first, second = read_fewrel(write(RELATIONS))
    assert first.words == ("A", "b", "C")
    assert first.entities == (Entity(0, 2, ""), Entity(0, 1, ""), Entity(2, 3, ""))
    assert second.entities == (Entity(0, 1, ""), Entity(1, 2, ""))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("3\tYork\tB-LOC", "3\tYork", "line 4: expected 3 columns, got 2"),
        ("3\tYork\tB-LOC", "4\tYork\tB-LOC", "line 4: expected place 3, got '4'"),
        ("B-PER", "B-TIME", "line 1: expected one of O B-PER .*, got 'B-TIME'"),
    ],
)
def test_a_damaged_column_file_is_answered_with_its_line(write, old, new, reason):
    with pytest.raises(DataError, match=reason):
        list(read_wikineural(write(COLUMNS.replace(old, new, 1))))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('"sents"', '"texts"', "document 0: expected the member 'sents', got title, texts"),
        ('"pos": [3, 4]', '"pos": [4, 6]', "from word 4 to before word 6 does not fit in 5 words"),
        ('"pos": [3, 4]', '"pos": [4, 4]', "from word 4 to before word 4 does not fit"),
        ('"pos": [3, 4]', '"pos": [3]', r"expected the start and the stop of an entity, got \[3\]"),
        ('"pos": [3, 4]', '"pos": "x"', 'document 0, pos: expected a list, got "x"'),
        ('"sent_id": 1', '"sent_id": 2', "expected a sentence below 2, got 2"),
        ('"type": "LOC"', '"type": "WHO"', "expected one of PER LOC .* NUM, got 'WHO'"),
        ('"She", "left"', '"She", 3', "expected a string, got 3"),
        ('"labels": []}]', '"labels": []}', "line 1: is not whole JSON"),
    ],
)
def test_a_damaged_document_is_answered_with_its_place(write, old, new, reason):
    text = json.dumps(DOCUMENTS)
    assert old in text
    path = write(text.replace(old, new, 1))
    with pytest.raises(DataError, match=reason) as caught:
        list(read_redocred(path))
    assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("[[0, 1], [0]]", "[[0, 2]]", r"P2, sentence 1: expected the places .*, got \[0, 2\]"),
        ("[[0, 1], [0]]", "[[]]", r"P2, sentence 1: expected the places of an entity, got \[\]"),
        ("[[0, 1], [0]]", "[3]", "P2, sentence 1: expected a list, got 3"),
        ("[[2]]", "[[3]]", "from word 3 to before word 4 does not fit in 3 words"),
        ('"tokens": ["D", "E"]', '"tokens": "DE"', "sentence 0, tokens: expected a list"),
        ('"t": ["e"', '"x": ["e"', "P2, sentence 0: expected the member 't', got tokens, h, x"),
    ],
)
def test_a_damaged_relation_is_answered_with_its_place(write, old, new, reason):
    text = json.dumps(RELATIONS)
    assert old in text
    with pytest.raises(DataError, match=reason):
        list(read_fewrel(write(text.replace(old, new, 1))))


def test_a_file_nested_beyond_reason_is_a_data_error(write):
    with pytest.raises(DataError, match="nested too deeply"):
        list(read_redocred(write("[" * 100_000)))


def test_a_stream_is_checked_when_a_part_is_through(tmp_path):
    (tmp_path / FILES["wikineural_val"]).write_bytes(gzip.compress(COLUMNS.encode()))
    stream = stream_sentences(tmp_path, ["wikineural_val"])
    assert [sentence.id for sentence in islice(stream, 2)] == [0, 1]
    with pytest.raises(DataError, match="sentences: 11590 expected, 2 found; entities: 19182 exp"):
        next(stream)


def test_a_part_nobody_knows_is_answered_before_anything_is_read(tmp_path):
    with pytest.raises(DataError, match=r"has the parts wikineural_val, .*fewrel; got 'gigaword'"):
        stream_sentences(tmp_path, ["fewrel", "gigaword"])
    with pytest.raises(DataError, match="there is no such file"):
        next(stream_sentences(tmp_path, ["fewrel"]))


@pytest.mark.usefixtures("real_data")
def test_the_real_stream_has_the_counts_that_are_known_of_it():
    sentences = list(stream_sentences())
    assert len(sentences) == sum(count for count, _, _ in COUNTS.values()) == 42259
    assert sum(len(s.entities) >= 2 for s in sentences) == 25920
    assert all(len(s.words) == len(s.pos) for s in sentences)
    named = [s for s in sentences if sum(e.label in {"PER", "LOC", "ORG"} for e in s.entities) > 1]
    assert len(named) == 3261 + 3175 + 2237 + 2167
