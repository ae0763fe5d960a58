"""What every benchmark shows: one row per case and engine, as a table and as JSON.

A time is a median over repeats; a ratio is a row's time over ours in the same case and
run, so that ours has 1 and a slower engine has more.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.table import Table


@dataclass(frozen=True)
class Row:
    """One line of a table. What was not measured is None, and ``note`` says why."""

    case: str
    engine: str
    median_us: float | None
    ratio_to_ours: float | None
    max_error: float | None
    note: str = ""
    at_least: bool = False  # some problem was stopped, so the time is a lower bound
    slowest_us: float | None = None  # of the problems, where they are timed one by one
    repeats: int = 0
    problems: int = 0


def as_table(rows: Sequence[Row]) -> Table:
    """The rows, a line between cases."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("case", "engine"):
        table.add_column(name, no_wrap=True)
    for name in ("median µs\nper problem", "ratio\nto ours", "slowest\nproblem", "max\nerror"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("note")
    for i, row in enumerate(rows):
        more = ">" if row.at_least else ""
        table.add_row(
            row.case if i == 0 or rows[i - 1].case != row.case else "",
            row.engine,
            "-" if row.median_us is None else f"{more}{_time(row.median_us)}",
            "-" if row.ratio_to_ours is None else f"{more}{_ratio(row.ratio_to_ours)}",
            "-" if row.slowest_us is None else f"{more}{_time(row.slowest_us)}",
            "-" if row.max_error is None else f"{row.max_error:.1e}",
            row.note,
            end_section=i + 1 < len(rows) and rows[i + 1].case != row.case,
        )
    return table


def write_json(path: Path, rows: Sequence[Row], more: Mapping[str, object] | None = None) -> None:
    """``{"rows": [...]}`` and whatever ``more`` holds; JSON has no infinity, so that is null."""
    listed = [{key: _finite(value) for key, value in asdict(row).items()} for row in rows]
    text = json.dumps({"rows": listed, **(more or {})}, indent=2, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _time(microseconds: float) -> str:
    return f"{microseconds:,.1f}" if microseconds < 1000 else f"{microseconds:,.0f}"


def _ratio(ratio: float) -> str:
    return f"{ratio:,.2f}" if ratio < 10 else f"{ratio:,.0f}"


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
