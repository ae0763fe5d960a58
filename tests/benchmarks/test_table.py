"""Rows as a table for people and as JSON for programs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from io import StringIO
from math import inf, nan

from rich.console import Console

from benchmarks.table import Bar, Row, framed, number, say_bars, write_json

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


def test_a_bar_is_met_or_not_and_says_why(capsys):
    bars = [Bar("a", met=True, says="[2] times faster"), Bar("b", met=False, says="too slow")]
    say_bars(Console(width=120), bars)
    assert capsys.readouterr().out == "a: met: [2] times faster\nb: NOT MET: too slow\n"


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


def test_without_bars_to_meet_json_has_none(tmp_path):
    path = tmp_path / "rows.json"
    write_json(path, ROWS)
    assert list(json.loads(path.read_text(encoding="utf-8"))) == ["rows"]
