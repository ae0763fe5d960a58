"""The table beside pystruct, with words of two letters and a peer that is played."""

import sys

import numpy as np
import pytest

from benchmarks import pystruct_speed
from benchmarks.pystruct_speed import C, Ours, Turn, ask, bars_of, measure, write_words
from papers.data import ocr
from papers.data.examples import DataSet, Example


def image(*letters):
    """Letters whose first pixels say which they are."""
    pixels = np.zeros((len(letters), ocr.HEIGHT * ocr.WIDTH), np.uint8)
    pixels[range(len(letters)), [ocr.LABELS.index(letter) for letter in letters]] = 1
    return pixels


@pytest.fixture
def words():
    examples = tuple(Example(image(*word), tuple(word)) for word in ("ab", "ba", "abba", "b"))
    return DataSet("words", {"train": examples[:3], "test": examples[3:]})


def test_ours_ends_within_a_hundredth_of_the_optimum(words):
    turn = Ours(words).learn(seed=0)
    assert 0 <= turn.gap <= 0.01 * turn.primal
    assert turn.accuracy == 1.0


def test_the_primal_without_weights_is_one_loss_per_letter(words):
    """All zero, every letter of the 8 is wrong in the worst output: C · 8 bounds the optimum."""
    assert Ours(words).learn(seed=0).primal < C * 8


def test_words_are_written_as_the_peer_reads_them(words, tmp_path):
    path = tmp_path / "words.npz"
    write_words(path, words)
    written = np.load(path)
    assert written["lengths"].tolist() == [2, 2, 4, 1]
    assert written["train"] == 3
    assert written["y"].tolist() == [0, 1, 1, 0, 0, 1, 1, 0, 1]
    assert written["x"].argmax(axis=1).tolist() == written["y"].tolist()


def test_a_peer_is_asked_in_its_own_interpreter(monkeypatch, tmp_path):
    played = tmp_path / "turn.py"
    played.write_text("import sys\nprint([float(sys.argv[3]), 7, 20.0, 0.5, 0.75])\n")
    monkeypatch.setattr(pystruct_speed, "PEER", played)
    assert ask(sys.executable, "any", tmp_path, 0.25, 9.0, 0) == Turn(0.25, 7, 20.0, 0.5, 0.75)


def test_a_peer_gets_our_gap_and_its_median_is_shown(monkeypatch, words):
    gaps = []

    def played(_python, _name, _path, gap, limit, seed):
        gaps.append(gap)
        return Turn(2.0 * limit if seed else 1.0, 5, 1.0, gap, 0.5)

    monkeypatch.setattr(pystruct_speed, "ask", played)
    ours, *theirs = measure(words, sys.executable, repeats=3, limit=10.0)
    assert [row.engine for row in theirs] == list(pystruct_speed.PEERS)
    assert all(row.seconds == 20.0 and row.at_least for row in theirs)
    assert len(bars_of([ours, *theirs])) == 2
    assert gaps[0] == pytest.approx(0.01 * ours.primal, rel=0.05)  # of that turn, not the median


def test_without_an_interpreter_ours_stands_alone(words):
    (ours,) = measure(words, None, repeats=1, limit=1.0)
    assert ours.ratio_to_ours == 1.0
    assert not ours.at_least
    assert [bar.met for bar in bars_of([ours])] == [False]
