"""The scores of a saved model on a file are those of the metrics of its task."""

from __future__ import annotations

import json

import pytest
from rote.cli.evaluation import evaluate_file
from rote.learning.files import TaskSettings, train_file

from rote.errors import DataError, LabelError, ModelError
from rote.learning import Local, StructuredSVM

OPTIONS = {"settings": TaskSettings(order=0, templates=("word[0]",)), "learner": Local()}
SENTENCES = """0\tPeop\t0\tO\tNNP\tAda\tO\tO\tO
0\tO\t1\tO\tIN\tin\tO\tO\tO
0\tLoc\t2\tO\tNNP\tRome\tO\tO\tO

0\t2\tLive_In

"""


@pytest.fixture
def chunker(file, tmp_path):
    """A model that knows three words by heart."""
    train_file("tagging", file("a B-X\nb I-X\nc O\n", "train"), tmp_path / "chunks", **OPTIONS)
    return tmp_path / "chunks"


def test_chunks_are_scored_beside_tokens_and_sequences(chunker, file):
    # It says B I O and B O: two chunks, both right, and there are three.
    scores = evaluate_file(chunker, file("a B-X\nb I-X\nc O\n\na B-X\nc B-X\n", "test"))
    assert (scores.task, scores.examples) == ("tagging", 2)
    assert scores.numbers == pytest.approx(
        {"token accuracy": 4 / 5, "exact match": 1 / 2, "chunk F1": 4 / 5}
    )
    assert scores.tables["chunks"].by_label["X"].right == 2


def test_labels_that_are_no_chunks_have_no_chunk_scores(file, tmp_path):
    train_file("tagging", file("a D\nb N\nc O\n", "train"), tmp_path / "m", **OPTIONS)
    scores = evaluate_file(tmp_path / "m", file("a D\nb D\n", "test"))
    assert scores.numbers == {"token accuracy": 0.5, "exact match": 0.0}
    assert scores.tables == {}
    train_file("tagging", file("a O\n", "train"), tmp_path / "m", **OPTIONS)
    assert "chunk F1" not in evaluate_file(tmp_path / "m", file("a O\n", "test")).numbers


def test_an_unknown_label_is_refused_or_missed(chunker, file):
    path = file("a B-X\nb I-X\nc B-Y\n", "test")
    with pytest.raises(LabelError, match="line 3: 'B-Y' is not a label"):
        evaluate_file(chunker, path)
    scores = evaluate_file(chunker, path, allow_unknown=True)
    assert scores.numbers["token accuracy"] == pytest.approx(2 / 3)
    assert scores.tables["chunks"].by_label["Y"].true == 1


def test_entities_and_relations_are_scored(file, tmp_path):
    train_file("entity-relation", file(SENTENCES, "train"), tmp_path / "m", learner=Local())
    scores = evaluate_file(tmp_path / "m", file(SENTENCES, "test"))
    assert scores.numbers == {
        "entity F1": 1.0,
        "relation F1": 1.0,
        "relation F1, strict": 1.0,
        "exact match": 1.0,
    }
    wrong = SENTENCES.replace("Peop", "Org").replace("Live_In", "OrgBased_In")
    scores = evaluate_file(tmp_path / "m", file(wrong, "test"))
    assert scores.numbers["entity F1"] == 0.5
    assert scores.numbers["relation F1"] == 0.0
    assert scores.numbers["exact match"] == 0.0
    assert set(scores.tables["relations"].by_label) == {"Live_In", "OrgBased_In"}


def test_sets_of_labels_are_scored_with_the_names_of_labels(file, tmp_path):
    train = [{"x": ["r"], "y": ["red"]}, {"x": ["b"], "y": ["big"]}, {"x": [], "y": []}]
    learner = StructuredSVM(C=10.0)
    train_file("multilabel", file(train, "train"), tmp_path / "m", learner=learner)
    path = file([{"x": ["r"], "y": ["red"]}, {"x": ["b"], "y": ["big", "new"]}], "test")
    with pytest.raises(LabelError, match="line 2: 'new' is not a label"):
        evaluate_file(tmp_path / "m", path)
    scores = evaluate_file(tmp_path / "m", path, allow_unknown=True)
    # It says {red} and {big}; three labels each are to be decided.
    assert scores.numbers == pytest.approx(
        {
            "hamming accuracy": 5 / 6,
            "example F1": (1 + 2 / 3) / 2,
            "example accuracy": (1 + 1 / 2) / 2,
            "exact match": 1 / 2,
            "micro F1": 4 / 5,
            "macro F1": 2 / 3,
        }
    )
    assert list(scores.tables["labels"].by_label) == ["big", "red", "new"]


def test_single_labels_are_scored(file, tmp_path):
    train = [{"x": ["r"], "y": "red"}, {"x": ["b"], "y": "big"}]
    train_file("multiclass", file(train, "train"), tmp_path / "m", learner=Local())
    test = [*train, {"x": ["b"], "y": "red"}, {"x": ["r"], "y": "red"}]
    scores = evaluate_file(tmp_path / "m", file(test, "test"))
    assert scores.numbers == pytest.approx({"accuracy": 3 / 4, "macro F1": (4 / 5 + 2 / 3) / 2})


def test_scores_become_json(chunker, file):
    record = evaluate_file(chunker, file("a B-X\nc O\n", "test")).record()
    assert json.loads(json.dumps(record)) == record
    assert record["scores"]["chunk F1"] == 1.0
    assert record["tables"]["chunks"]["by_label"]["X"]["true"] == 1


def test_what_cannot_be_evaluated_is_refused(chunker, file, tmp_path):
    with pytest.raises(DataError, match="no examples"):
        evaluate_file(chunker, file("", "test"))
    with pytest.raises(DataError, match="no outputs"):
        evaluate_file(chunker, file("a\n", "test"))
    with pytest.raises(ModelError, match="there is no such file"):
        evaluate_file(tmp_path / "nowhere", file("a O\n", "test"))
