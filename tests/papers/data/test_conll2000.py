"""The reader of the chunking corpus: the format, damage, and the real files."""

from __future__ import annotations

import gzip
import os
from collections import Counter

import pytest

from papers.data.conll2000 import LABELS, load_conll2000, read_chunked
from rote import DataError
from tests.io.damage import damaged, refused

SAMPLE = "Seven CD B-NP\ngeese NNS I-NP\nleft VBD B-VP\n. . O\n\nWell UH B-INTJ\n\n"


@pytest.fixture
def sample(tmp_path):
    for part in ("train", "test"):
        (tmp_path / f"{part}.txt.gz").write_bytes(gzip.compress(SAMPLE.encode()))
    return tmp_path


def test_a_sentence_is_words_with_their_tags_and_a_chunk_label_each(sample):
    first, second = read_chunked(sample / "train.txt.gz")
    assert first.x == (("Seven", "CD"), ("geese", "NNS"), ("left", "VBD"), (".", "."))
    assert first.y == ("B-NP", "I-NP", "B-VP", "O")
    assert second == ((("Well", "UH"),), ("B-INTJ",))


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("left VBD B-VP", "left VBD", 3, "expected 3 columns, got 2"),
        ("left VBD B-VP", "left VBD B-XP", 3, "expected one of B-ADJP .*got 'B-XP'"),
        ("Well UH", "Well  UH", 6, "expected 3 columns, got 4"),
    ],
)
def test_a_damaged_file_is_answered_with_its_line_and_a_reason(tmp_path, old, new, line, reason):
    path = tmp_path / "train.txt"
    path.write_text(damaged(SAMPLE, old, new))
    with refused(path, line, reason):
        read_chunked(path)


def test_another_corpus_is_not_taken_for_the_real_one(sample):
    with pytest.raises(DataError, match="train sentences: 8936 expected, 2 found; train tokens: "):
        load_conll2000(sample)
    (sample / "test.txt.gz").unlink()
    with pytest.raises(DataError, match=r"test.txt.gz: there is no such file"):
        load_conll2000(sample)


@pytest.fixture(scope="module")
def data():
    if not os.environ.get("ROTE_DATA"):
        pytest.skip("the real corpus is read where ROTE_DATA names the folder of conll2000/")
    return load_conll2000()


def test_the_real_corpus_has_its_parts(data):
    assert {part: len(examples) for part, examples in data.parts.items()} == {
        "fit": 8000,
        "dev": 936,
        "train": 8936,
        "test": 2012,
    }
    assert data["fit"] + data["dev"] == data["train"]


def test_the_real_corpus_has_every_label_and_whole_chunks(data):
    labels = [y for part in ("train", "test") for example in data[part] for y in example.y]
    counts = Counter(labels)
    assert set(counts) == set(LABELS)
    assert (counts["B-NP"], counts["I-LST"], counts["O"]) == (67503, 2, 34082)
    # I-X follows B-X or I-X, always.
    for part in ("train", "test"):
        for example in data[part]:
            for before, label in zip(("O", *example.y), example.y, strict=False):
                assert not label.startswith("I-") or before[2:] == label[2:]
