"""The table of the structural SVM, on tweets that take no time."""

import json
from importlib.util import find_spec

import numpy as np
import pytest

from benchmarks import svm_speed
from benchmarks.svm_speed import Files, Gap, Turn, measure, take_turn
from rote import State

TWEETS = "@ada\t@\nruns\tV\nfast\tR\n\nlol\t!\n@bob\t@\neats\tV\n\n"


@pytest.fixture
def files(tmp_path):
    train, test = tmp_path / "train", tmp_path / "test"
    train.write_text(TWEETS * 4, encoding="utf-8")
    test.write_text(TWEETS, encoding="utf-8")
    return Files(train, test)


def state(primal, dual):
    return State(1, np.zeros(1), done=False, measures={"primal": primal, "dual": dual})


def test_the_gap_is_relative_to_the_best_primal_so_far():
    enough = Gap(0.01)
    assert not enough(state(np.nan, 0.0))
    assert not enough(state(100.0, 98.0))
    assert not enough(state(150.0, 98.9))
    assert enough(state(150.0, 99.1))


@pytest.mark.parametrize("engine", svm_speed.TAGGERS)
def test_every_engine_takes_a_turn(engine, files):
    package = svm_speed.PACKAGES.get(engine, "rote")
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    turn = take_turn(engine, files, seed=0)
    assert turn.accuracy == 1.0
    assert turn.seconds >= 0
    assert turn.peak_mb > 20
    assert turn.iterations >= 1


def test_rows_are_medians_of_turns_that_go_round(monkeypatch, files):
    asked = []

    def turn(engine, given, seed):
        assert given is files
        asked.append((engine, seed))
        scale = 2.0 if engine == "LinearSVC" else 1.0
        return Turn(scale * (1 + seed), 5 + seed, 0.9, 100.0 * scale)

    monkeypatch.setattr(svm_speed, "turn_apart", turn)
    rows = measure(["StructuredSVM", "LinearSVC"], files, repeats=3)
    assert asked == [(e, k) for k in range(3) for e in ("StructuredSVM", "LinearSVC")]
    assert [row.seconds for row in rows] == [2.0, 4.0]
    assert [row.median_us for row in rows] == [2e6, 4e6]
    assert [row.ratio_to_ours for row in rows] == [1.0, 2.0]
    assert [row.peak_ratio_to_ours for row in rows] == [1.0, 2.0]
    assert rows[0].iterations == 6


def test_the_whole_run_prints_and_writes_its_rows(monkeypatch, capsys, tmp_path, files):
    ours = ("StructuredSVM", "Perceptron")
    monkeypatch.setattr(svm_speed, "TAGGERS", {name: svm_speed.TAGGERS[name] for name in ours})
    path = tmp_path / "rows.json"
    arguments = ["--train", str(files.train), "--test", str(files.test)]
    svm_speed.main(["--repeats", "1", "--json", str(path), *arguments])
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    assert [row["engine"] for row in rows] == list(ours)
    assert all(row["case"] == "twitter_pos" for row in rows)
    assert all(row["accuracy"] == 1.0 for row in rows)
    assert all(row["median_us"] == 1e6 * row["seconds"] for row in rows)
    assert all(row["max_error"] is None for row in rows)
    assert rows[0]["ratio_to_ours"] == rows[0]["peak_ratio_to_ours"] == 1.0
    printed = capsys.readouterr().out
    assert "twitter_pos: met: StructuredSVM to a gap of 1%" in printed


def test_without_data_there_is_a_sentence(monkeypatch, capsys):
    monkeypatch.delenv("ROTE_DATA", raising=False)
    svm_speed.main([])
    assert "twitter_pos is skipped: " in capsys.readouterr().out


def test_files_to_train_on_and_to_test_on_are_given_together(capsys):
    with pytest.raises(SystemExit):
        svm_speed.main(["--train", "tweets"])
    assert "--train and --test are given together" in capsys.readouterr().err
