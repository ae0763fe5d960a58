"""Chains beside torch-struct: the same scores for both, and the same optima."""

import json

import pytest

from benchmarks import chains
from benchmarks.chains import OURS, PACKAGE, Shape, measure, potentials, problem
from rote import Exhaustive

SMALL = Shape(3, 4, 2)


def test_potentials_add_up_to_the_value_of_every_output():
    pytest.importorskip("torch")
    space, scores = problem(SMALL, seed=1)
    given = potentials(SMALL, scores).numpy()
    best = Exhaustive().solve(space, scores)
    for row, labels, value in zip(given, best.labels, best.value, strict=True):
        steps = zip(row, labels[1:], labels, strict=False)
        assert sum(step[after, before] for step, after, before in steps) == pytest.approx(value)


def test_both_find_the_same_optima():
    pytest.importorskip(PACKAGE)
    rows = measure(SMALL, repeats=1)
    assert [row.engine for row in rows] == [chains.OURS, chains.PEER]
    assert rows[1].max_error < 1e-9


def test_without_torch_struct_ours_is_measured_alone_and_that_is_said(
    monkeypatch, tmp_path, capsys
):
    monkeypatch.setattr(chains, "find_spec", lambda _: None)
    monkeypatch.setattr(chains, "SHAPES", [SMALL])
    path = tmp_path / "rows.json"
    chains.main(["--repeats", "2", "--json", str(path)])
    (row,) = json.loads(path.read_text())["rows"]
    assert (row["engine"], row["ratio_to_ours"], row["repeats"]) == (OURS, 1.0, 2)
    printed = capsys.readouterr().out
    assert "torch-struct is left out" in printed
    assert "2 labels: NOT MET: torch-struct was not measured" in printed
