"""Rows as a table for people and as JSON for programs."""

import json
from dataclasses import dataclass
from importlib import import_module
from io import StringIO
from math import inf, nan
from pathlib import Path
from typing import NamedTuple

import pytest
from rich.console import Console

from benchmarks import serving, table
from benchmarks.table import Bar, Row, end, framed, in_turn, median_turn, number, show, write_json

ROWS = [
    Row("a", "ours", 12.34, 1.0, 0.0),
    Row("a", "slow", 24.68, 2.0, None),
    Row("b", "absent", None, None, None),
]
COLUMNS = [
    ("time", lambda row: number(row.median_us, ".1f")),
    ("ratio\nto ours", lambda row: number(row.ratio_to_ours, ".2f")),
]


@dataclass(frozen=True)
class Noted(Row):
    note: str


class Point(NamedTuple):
    x: float
    y: float


def lines_of(table):
    console = Console(width=120, record=True, file=StringIO())
    console.print(table)
    return [line.split() for line in console.export_text().splitlines()]


def test_a_case_is_named_once_and_what_was_not_measured_is_a_dash():
    lines = lines_of(framed(ROWS, COLUMNS))
    assert ["case", "engine", "time", "to", "ours"] in lines
    measured = [["a", "ours", "12.3", "1.00"], ["slow", "24.7", "2.00"]]
    assert [line for line in lines if line in measured] == measured
    assert ["b", "absent", "-", "-"] in lines


def test_a_note_stands_last():
    rows = [Noted("b", "absent", None, None, None, "not there")]
    lines = lines_of(framed(rows, COLUMNS, note=lambda row: row.note))
    assert ["b", "absent", "-", "-", "not", "there"] in lines


def test_the_table_ends_with_a_line_for_each_bar(capsys):
    bars = [Bar("a", met=True, says="[2] times faster"), Bar("b", met=False, says="too slow")]
    show(ROWS, COLUMNS, bars, None)
    assert capsys.readouterr().out.endswith("a: met: [2] times faster\nb: NOT MET: too slow\n")


def test_contestants_take_turns_and_know_the_round():
    asked = []
    found = in_turn({name: lambda k, name=name: asked.append((name, k)) or k for name in "ab"}, 2)
    assert asked == [("a", 0), ("b", 0), ("a", 1), ("b", 1)]
    assert found == {"a": [0, 1], "b": [0, 1]}
    turn = median_turn([Point(1, 9), Point(2, 5), Point(7, 7)])
    assert turn == Point(2, 7)


MODULES = [
    path.stem
    for path in sorted(Path(table.__file__).parent.glob("*.py"))
    if "options(" in path.read_text() and path.stem != "table"
]


@pytest.mark.parametrize("name", MODULES)
def test_every_benchmark_knows_its_options_and_refuses_no_turn_at_all(name, capsys):
    main = import_module(f"benchmarks.{name}").main
    with pytest.raises(SystemExit) as stopped:
        main(["--help"])
    assert stopped.value.code == 0
    assert "--json FILE" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        main(["--repeats", "0"])
    assert "at least 1, got 0" in capsys.readouterr().err or name in ("exact_inference", "reuse")
    assert len(MODULES) == 16


def test_kernels_that_are_not_compiled_end_a_benchmark_before_it_begins(monkeypatch):
    monkeypatch.setattr(table, "compiled", lambda: False)
    begun = []
    with pytest.raises(SystemExit, match=r"^the kernels are not compiled .*; run: make build$"):
        end(lambda: begun.append(1))
    assert begun == []


def test_every_benchmark_that_measures_begins_there():
    folder = Path(table.__file__).parent
    programs = {p.stem: p.read_text() for p in folder.glob("*.py") if "__main__" in p.read_text()}
    others = {name for name, text in programs.items() if not text.endswith("    end(main)\n")}
    # Child processes, and a drawing.
    assert others == {"kernel_cases", "one_off_cases", "picture", "reuse_side"}


def test_what_is_missing_ends_a_benchmark_by_one_line(monkeypatch):
    monkeypatch.setattr(table, "compiled", lambda: True)
    monkeypatch.setattr("rote.serve.run.find_spec", lambda _: None)
    with pytest.raises(SystemExit, match=r"^a service needs the packages fastapi and uvicorn"):
        end(lambda: serving.main(["--quick"]))


def test_json_has_the_rows_and_more_and_no_infinity(tmp_path):
    path = tmp_path / "rows.json"
    rows = [*ROWS, Row("b", "wrong", 1.0, nan, inf), Noted("b", "noted", 1.0, 1.0, 0.0, "fine")]
    write_json(path, rows, [Bar("a", met=True, says="fast")], about="all")
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["bars"] == [{"case": "a", "met": True, "says": "fast"}]
    assert written["about"] == "all"
    assert [row["engine"] for row in written["rows"]] == [
        "ours",
        "slow",
        "absent",
        "wrong",
        "noted",
    ]
    assert written["rows"][0] == {
        "case": "a",
        "engine": "ours",
        "median_us": 12.34,
        "ratio_to_ours": 1.0,
        "max_error": 0.0,
    }
    assert (written["rows"][3]["ratio_to_ours"], written["rows"][3]["max_error"]) == (None, None)
    assert written["rows"][4]["note"] == "fine"
