"""The reader of bibliographic references: the format, damage, and the real files."""

from __future__ import annotations

import os

import pytest

from papers.data.cora_citations import (
    LABELS,
    load_cora_citations,
    load_cora_samples,
    read_references,
    read_samples,
    read_unlabeled,
)
from rote import DataError
from tests.io.damage import refused

SAMPLE = "Quill\tNNP\tauthor\n.\t.\tauthor\n\nGeese\tNNS\ttitle\n1997\tCD\tdate\n\n"


@pytest.fixture
def sample(tmp_path):
    for part in ("train", "dev", "test"):
        (tmp_path / f"{part}.tsv").write_text(SAMPLE)
    (tmp_path / "unlabeled.tsv").write_text("Geese\tNNS\t_\n\nLate\tRB\t_\n\n")
    return tmp_path


def test_a_reference_is_tokens_with_their_tags_and_a_field_each(sample):
    first, second = read_references(sample / "train.tsv")
    assert first == ((("Quill", "NNP"), (".", ".")), ("author", "author"))
    assert second.y == ("title", "date")


def test_a_reference_without_labels_has_no_output(sample):
    assert read_unlabeled(sample / "unlabeled.tsv") == (
        ((("Geese", "NNS"),), ()),
        ((("Late", "RB"),), ()),
    )


def test_a_damaged_file_is_answered_with_its_line_and_a_reason(sample):
    with pytest.raises(DataError, match=r"line 1: expected one of author .*got '_'"):
        read_references(sample / "unlabeled.tsv")
    with pytest.raises(DataError, match="line 1: expected one of _, got 'author'"):
        read_unlabeled(sample / "train.tsv")
    (sample / "train.tsv").write_text(SAMPLE.replace("\tCD", ""))
    with pytest.raises(DataError, match="line 5: expected 3 columns, got 2"):
        read_references(sample / "train.tsv")


def test_other_references_are_not_taken_for_the_real_ones(sample):
    with pytest.raises(DataError, match="unlabeled references: 1000 expected, 2 found"):
        load_cora_citations(sample)


PLACES = ",".join(map(str, range(0, 50, 2)))


def test_samples_are_places_in_train(tmp_path):
    path = tmp_path / "train25_samples.tsv"
    path.write_text(f"0\t{PLACES}\n1\t{PLACES}\n")
    assert read_samples(path, 49) == (tuple(range(0, 50, 2)),) * 2
    with pytest.raises(DataError, match="samples: 5 expected, 2 found"):
        load_cora_samples(tmp_path)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        (f"1\t{PLACES}\n", 1, "expected sample 0, got '1'"),
        (f"0\t{PLACES}\n1\t{PLACES},1\n", 2, "expected 25 places below 49, all different"),
        (f"0\t{PLACES.replace('0,2,', '2,2,')}\n", 1, "expected 25 places below 49, all different"),
        (f"0\t{PLACES.replace('48', '49')}\n", 1, "expected 25 places below 49, all different"),
        (f"0\t{PLACES.replace('48', 'x')}\n", 1, "expected 25 places below 49, all different"),
        ("0\n", 1, "expected 2 columns, got 1"),
    ],
)
def test_a_damaged_sample_is_answered_with_its_line_and_a_reason(tmp_path, text, line, reason):
    path = tmp_path / "samples.tsv"
    path.write_text(text)
    with refused(path, line, reason):
        read_samples(path, 49)


@pytest.fixture(scope="module")
def data():
    if not os.environ.get("ROTE_DATA"):
        pytest.skip("the real set is read where ROTE_DATA names the folder of cora_citations/")
    return load_cora_citations()


def test_the_real_references_have_their_parts_and_every_field(data):
    sizes = {part: len(examples) for part, examples in data.parts.items()}
    assert sizes == {"train": 300, "dev": 100, "test": 100, "unlabeled": 1000}
    assert {label for example in data["train"] for label in example.y} == set(LABELS)
    assert {example.y for example in data["unlabeled"]} == {()}
    assert len({example.x for example in data["unlabeled"]}) == 978


def test_train_dev_and_test_do_not_overlap(data):
    train, dev, test = ({example.x for example in data[p]} for p in ("train", "dev", "test"))
    assert train.isdisjoint(dev)
    assert test.isdisjoint(train | dev)
    assert len(test) == 99  # one reference stands there twice


def test_the_real_samples_are_five_times_25_references(data):
    samples = load_cora_samples()
    assert [len(sample) for sample in samples] == [25] * 5
    assert samples[0][:3] == (13, 41, 51)
    assert max(max(sample) for sample in samples) < len(data["train"])
