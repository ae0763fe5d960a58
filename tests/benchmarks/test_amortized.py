"""The table of the amortized engine, on questions that take no time."""

import json

import numpy as np
import pytest

from benchmarks import amortized
from benchmarks.amortized import AmortizedRow, Question, Training, bars_of, measure, take_turn
from rote import Amortized, Exact, SpaceBuilder


@pytest.fixture
def training():
    builder = SpaceBuilder()
    x, y = builder.variable("x", "abc"), builder.variable("y", "abc")
    builder.require(x["a"] >> y["b"])
    space = builder.build()
    scores = np.random.default_rng(0).normal(size=(5, 20, space.parts))
    return Training("small", [Question(space, batch) for batch in scores])


def row(engine, us, other=0.0):
    return AmortizedRow("case", engine, us, None, other, 10, 50.0)


def test_what_a_training_asks_is_written_down_batch_by_batch(monkeypatch):
    monkeypatch.delenv("ROTE_DATA", raising=False)
    asked = amortized.entity_relation(quick=True)
    assert asked.name == "made-up sentences"
    spaces = {question.space for question in asked.questions}
    assert len(asked.questions) % len(spaces) == 0  # every iteration asks about every space
    assert asked.problems == sum(len(question.scores) for question in asked.questions)
    assert asked.problems > 400


def test_a_turn_begins_with_an_empty_memory(training):
    def make():
        return Amortized(Exact(), certificate="condition", admission="always")

    first, second = take_turn(make, training), take_turn(make, training)
    assert first.calls == second.calls > 0
    for one, other in zip(first.labels, second.labels, strict=True):
        assert (one == other).all()


def test_all_engines_give_the_same_answers_and_ours_has_ratio_one(training):
    rows = measure(training, Exact, 1)
    assert [each.engine for each in rows] == [
        "Amortized(Exact)",
        "Exact",
        "Amortized(Exact), tests everything",
    ]
    assert rows[0].ratio_to_ours == 1.0
    assert all(each.max_error == 0 for each in rows)
    assert rows[1].calls_percent == 100.0
    assert all(each.problems == 100 for each in rows)


def test_bars_look_at_the_engine_alone():
    rows = [row("Amortized(Exact)", 10.9), row("Exact", 10.0)]
    assert [bar.met for bar in bars_of(rows)] == [True, True]
    rows = [row("Amortized(Exact)", 11.2), row("Exact", 10.0)]
    assert [bar.met for bar in bars_of(rows)] == [False, True]
    rows = [row("Amortized(Milp)", 1.0, other=1.0), row("Milp", 6.0)]
    assert [bar.met for bar in bars_of(rows)] == [True, False]


def test_the_table_is_written_as_json(monkeypatch, tmp_path, training, capsys):
    monkeypatch.setattr(amortized, "CASES", {"entity-relation": (lambda _: training, (Exact,))})
    file = tmp_path / "rows.json"
    amortized.main(["--repeats", "1", "--json", str(file)])
    written = json.loads(file.read_text(encoding="utf-8"))
    assert {"case", "engine", "median_us", "ratio_to_ours", "max_error"} <= set(written["rows"][0])
    assert len(written["bars"]) == 2
    assert "Amortized(Exact)" in capsys.readouterr().out
    amortized.main(["--repeats", "1", "--base", "Milp"])  # of which there is none here
    assert "Amortized(Exact)" not in capsys.readouterr().out
