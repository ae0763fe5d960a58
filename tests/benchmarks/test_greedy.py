"""The benchmark of greedy search: its bars, and that it runs without data."""

import json

import numpy as np

from benchmarks import greedy
from benchmarks.greedy import MADE_UP, GreedyRow, bars_of, measure, problem


def row(case, median, percent=None):
    return GreedyRow(case, "RGS(0)", median, 1.0, None, 10, percent)


def test_bars_look_at_restarts_of_bibtex_and_at_values_that_are_known():
    assert [bar.met for bar in bars_of([row("bibtex", 49.0), row("bibtex", 51.0)])] == [True, False]
    found = bars_of([row("yeast", 99.0, 99.95), row("yeast", 1.0, 99.8)])
    assert [bar.met for bar in found] == [True, False]
    assert bars_of([row("scene", 1.0)]) == []


def test_pairs_that_go_together_score_above_those_that_do_not():
    given = problem(MADE_UP, True)
    scores = given.problem.scores[:, given.problem.space.labels :].reshape(-1, 91, 4)
    assert (scores[:, :, :3] == 0.0).all()
    assert (scores == scores[0]).all()
    assert scores[0, :, 3].max() > 0.1 > -0.1 > scores[0, :, 3].min()


def test_a_search_with_many_restarts_reaches_nearly_the_best(monkeypatch):
    rows = measure(MADE_UP, problem(MADE_UP, True), 1)
    assert [row.engine for row in rows] == ["RGS(0)", "RGS(0.5)", "RGS(0.9)"]
    for one in rows:
        assert np.isfinite(one.median_us)
        assert 99.0 <= one.value_percent <= 100.0 + 1e-6


def test_the_table_is_written_as_json(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("ROTE_DATA", raising=False)
    file = tmp_path / "rows.json"
    greedy.main(["--quick", "--repeats", "1", "--json", str(file)])
    written = json.loads(file.read_text(encoding="utf-8"))
    assert {one["case"] for one in written["rows"]} == {MADE_UP}
    assert "bibtex: left out" in capsys.readouterr().out
