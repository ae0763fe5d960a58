"""Rows as a table for people and as JSON for programs."""

from __future__ import annotations

import json
from io import StringIO
from math import inf

from rich.console import Console

from benchmarks.table import Row, as_table, write_json

ROWS = [
    Row("a", "Exact", 12.34, 1.0, 0.0),
    Row("a", "slow", 2e7, 1620745.5, None, "1 of 1 stopped", at_least=True),
    Row("b", "absent", None, None, None, "not there"),
]


def test_the_table_says_what_was_measured_and_what_was_not():
    console = Console(width=120, record=True, file=StringIO())
    console.print(as_table(ROWS))
    lines = [line.split() for line in console.export_text().splitlines()]
    assert ["a", "Exact", "12.3", "1.00", "-", "0.0e+00"] in lines
    assert ["slow", ">20,000,000", ">1,620,746", "-", "-", "1", "of", "1", "stopped"] in lines
    assert ["b", "absent", "-", "-", "-", "-", "not", "there"] in lines


def test_json_has_the_rows_and_more_and_no_infinity(tmp_path):
    path = tmp_path / "rows.json"
    write_json(path, [*ROWS, Row("b", "wrong", 1.0, 1.0, inf)], {"bars": []})
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["bars"] == []
    assert [row["engine"] for row in written["rows"]] == ["Exact", "slow", "absent", "wrong"]
    assert written["rows"][0]["median_us"] == 12.34
    assert written["rows"][3]["max_error"] is None
