"""The reader of spoken words: the format, damage, and the real files."""

from __future__ import annotations

import gzip
import os

import pytest

from papers.data.nettalk import FILES, PHONEMES, STRESSES, load_nettalk, read_spoken
from rote import DataError, SettingError
from tests.io.damage import damaged, refused

SAMPLE = "oak\to-k\t1<<\nago\txgo\t0>1\n"


@pytest.fixture
def sample(tmp_path):
    for file, columns in FILES.values():
        text = SAMPLE if columns == 3 else SAMPLE.replace("\n", "\t0\n")
        (tmp_path / file).write_bytes(gzip.compress(text.encode()))
    return tmp_path


@pytest.mark.parametrize(("file", "columns"), FILES.values())
def test_a_word_is_letters_and_a_phoneme_or_a_stress_each(sample, file, columns):
    letters = ((("o",), ("a",), ("k",)), (("a",), ("g",), ("o",)))
    spoken = read_spoken(sample / file, columns, "phoneme")
    assert spoken == ((letters[0], ("o", "-", "k")), (letters[1], ("x", "g", "o")))
    stressed = read_spoken(sample / file, columns, "stress")
    assert stressed == ((letters[0], ("1", "<", "<")), (letters[1], ("0", ">", "1")))


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("xgo\t0>1", "xg\t0>1", "expected 3 signs as in 'ago', got 'xg'"),
        ("xgo\t0>1", "xgo\t0>", "expected 3 signs as in 'ago', got '0>'"),
        ("xgo", "xg?", r"expected one of ! # .*got '\?'"),
        ("0>1", "0>3", "expected one of 0 1 2 < >, got '3'"),
        ("ago", "Ago", "got 'A'"),
        ("ago\t", "", "expected 3 columns, got 2"),
    ],
)
def test_a_damaged_file_is_answered_with_its_line_and_a_reason(tmp_path, old, new, reason):
    path = tmp_path / "words.tsv"
    path.write_text(damaged(SAMPLE, old, new))
    with refused(path, 2, reason):
        read_spoken(path, 3, "phoneme")


def test_another_output_is_answered_with_those_there_are(sample):
    with pytest.raises(SettingError, match="output is one of phoneme, stress, got 'sound'"):
        load_nettalk(sample, output="sound")


def test_other_words_are_not_taken_for_the_real_ones(sample):
    with pytest.raises(DataError, match="full words: 20008 expected, 2 found"):
        load_nettalk(sample)


@pytest.mark.parametrize(("output", "labels"), [("phoneme", PHONEMES), ("stress", STRESSES)])
def test_the_real_words_have_their_parts_and_every_label(output, labels):
    if not os.environ.get("ROTE_DATA"):
        pytest.skip("the real words are read where ROTE_DATA names the folder of nettalk/")
    data = load_nettalk(output=output)
    sizes = {part: len(examples) for part, examples in data.parts.items()}
    assert sizes == {"train": 1000, "test": 1000, "full": 20008}
    assert {label for example in data["full"] for label in example.y} == set(labels)
    spoken = dict(data["full"])
    aardvark = spoken[tuple((letter,) for letter in "aardvark")]
    assert "".join(aardvark) == {"phoneme": "a-rdvark", "stress": "1<<<>2<<"}[output]
    assert len(labels) == {"phoneme": 51, "stress": 5}[output]
