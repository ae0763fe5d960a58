"""The reader of seminar announcements: the format, folds, damage, and the real files."""

from __future__ import annotations

import gzip
import os
from collections import Counter

import pytest

from papers.data import cmu_seminar
from papers.data.cmu_seminar import load_cmu_seminar, read_documents, read_splits
from rote import DataError
from tests.io.damage import damaged, refused

SAMPLE = """\
# doc talks-1:0
Room\t3\tB-location
12\t3\tI-location

# doc talks-2:0
#\t0\tO
Quill\t1\tB-speaker

# doc talks-3:0
noon\t1\tB-stime

"""
SPLITS = """\
doc\tfold0\tfold1\tfold2\tfold3\tfold4
talks-3:0\ttest\ttest\tunlabeled\t-\tlabeled
talks-1:0\tlabeled\ttest\tunlabeled\ttest\tlabeled
talks-2:0\tunlabeled\tlabeled\ttest\ttest\tlabeled
"""


@pytest.fixture
def write(tmp_path):
    def write_files(documents=SAMPLE, splits=SPLITS):
        (tmp_path / "seminars.tsv.gz").write_bytes(gzip.compress(documents.encode()))
        (tmp_path / "splits.tsv").write_text(splits)
        return tmp_path

    return write_files


def test_a_document_is_tokens_with_their_line_and_a_label_each(write):
    documents = read_documents(write() / "seminars.tsv.gz")
    assert list(documents) == ["talks-1:0", "talks-2:0", "talks-3:0"]
    assert documents["talks-1:0"] == (
        (("Room", "3"), ("12", "3")),
        ("B-location", "I-location"),
    )
    assert documents["talks-2:0"].x[0] == ("#", "0")


def test_a_fold_divides_the_documents_in_their_order(write, monkeypatch):
    monkeypatch.setattr(cmu_seminar, "COUNTS", {"all documents": 3})
    data = load_cmu_seminar(write())
    first, second, third = data["all"]
    assert third.y == ("B-stime",)
    assert data.fold(0).parts == {"labeled": (first,), "unlabeled": (second,), "test": (third,)}
    assert data.fold(1)["test"] == (first, third)
    assert data.fold(3).parts == {"labeled": (), "unlabeled": (), "test": (first, second)}
    assert repr(data.fold(4)) == "<DataSet cmu_seminar fold 4 (labeled: 3, unlabeled: 0, test: 0)>"
    for k in (-1, 5):
        with pytest.raises(DataError, match=f"has the folds 0 to 4; got {k}"):
            data.fold(k)


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("# doc talks-2:0\n", "", 5, "expected one line '# doc <id>' before"),
        ("# doc talks-2:0", "# doc talks-1:0", 5, "the document 'talks-1:0' is there already"),
        ("Room\t3", "Room\tthree", 2, "expected the number of a line, got 'three'"),
        ("B-speaker", "B-host", 7, "expected one of B-stime .*got 'B-host'"),
        ("12\t3", "12", 3, "expected 3 columns, got 2"),
        ("I-location\n\n", "I-location\n", 4, "expected a row or a blank line, got the comment"),
    ],
)
def test_a_damaged_file_is_answered_with_its_line_and_a_reason(write, old, new, line, reason):
    path = write(damaged(SAMPLE, old, new)) / "seminars.tsv.gz"
    with refused(path, line, reason):
        read_documents(path)


@pytest.mark.parametrize(
    ("old", "new", "line", "reason"),
    [
        ("fold4", "fold5", 1, "expected the heading"),
        ("\t-\t", "\ttrain\t", 2, "expected one of labeled, unlabeled, test, -, got 'train'"),
        ("talks-1:0\tlabeled", "talks-1:0", 3, "expected 6 columns, got 5"),
        ("talks-2:0", "talks-1:0", 4, "the document 'talks-1:0' is there already"),
    ],
)
def test_damaged_splits_are_answered_with_their_line_and_a_reason(write, old, new, line, reason):
    path = write(splits=damaged(SPLITS, old, new)) / "splits.tsv"
    with refused(path, line, reason):
        read_splits(path)


def test_splits_and_documents_must_be_of_the_same_documents(write):
    with pytest.raises(DataError, match=r"splits.tsv: the document 'talks-2:0' is missing"):
        load_cmu_seminar(write(splits=SPLITS[: SPLITS.index("talks-2")]))
    with pytest.raises(DataError, match=r"seminars.tsv.gz: the document 'talks-3:0' is missing"):
        load_cmu_seminar(write(SAMPLE[: SAMPLE.index("# doc talks-3")]))


def test_other_announcements_are_not_taken_for_the_real_ones(write):
    with pytest.raises(DataError, match="all documents: 485 expected, 3 found"):
        load_cmu_seminar(write())


@pytest.fixture(scope="module")
def data():
    if not os.environ.get("ROTE_DATA"):
        pytest.skip("the real set is read where ROTE_DATA names the folder of cmu_seminar/")
    return load_cmu_seminar()


def test_the_real_folds_are_25_labelled_documents_and_the_rest(data):
    sizes = [[len(examples) for examples in data.fold(k).parts.values()] for k in range(5)]
    assert all(labeled == 25 for labeled, _, _ in sizes)
    assert {unlabeled for _, unlabeled, _ in sizes} == {313, 314}
    assert {test for _, _, test in sizes} == {144, 145}
    assert all(sum(fold) == 483 for fold in sizes)


def test_the_real_announcements_name_each_slot(data):
    fills = Counter(label[2:] for e in data["all"] for label in e.y if label.startswith("B-"))
    assert fills == {"stime": 982, "speaker": 757, "location": 643, "etime": 433}
    assert len(data.splits) == len(data["all"]) == 485
