"""What every benchmark shows: one row per case and engine, as a table and as JSON.

A time is a median over repeats; a ratio is a row's time over ours in the same case and
run, so that ours has 1 and a slower engine has more.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TypeVar

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

WIDTH = 110  # of a table that goes to a file


@dataclass(frozen=True)
class Row:
    """What all benchmarks say of an engine; what was not measured or has no meaning is None."""

    case: str
    engine: str
    median_us: float | None
    ratio_to_ours: float | None
    max_error: float | None


@dataclass(frozen=True)
class Bar:
    """Whether a case shows what it must, and why we say so."""

    case: str
    met: bool
    says: str


R = TypeVar("R", bound=Row)


def wide_console() -> Console:
    """One in which the lines of a table are not broken, be it a terminal or not."""
    console = Console()
    return console if console.is_terminal else Console(width=WIDTH)


def say(console: Console, sentence: str) -> None:
    """Print it as it is: no brackets taken for markup, no numbers in colour."""
    console.print(sentence, markup=False, highlight=False)


def say_bars(console: Console, bars: Sequence[Bar]) -> None:
    for bar in bars:
        say(console, f"{bar.case}: {'met' if bar.met else 'NOT MET'}: {bar.says}")


def framed(
    rows: Sequence[R],
    columns: Sequence[tuple[str, Callable[[R], str]]],
    note: Callable[[R], str] | None = None,
) -> Table:
    """Case and engine, then these columns of numbers, then the note; a line between cases."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for name in ("case", "engine"):
        table.add_column(name, no_wrap=True)
    for name, _ in columns:
        table.add_column(name, justify="right", no_wrap=True)
    if note is not None:
        table.add_column("note")
    for i, row in enumerate(rows):
        table.add_row(
            row.case if i == 0 or rows[i - 1].case != row.case else "",
            row.engine,
            *(shown(row) for _, shown in columns),
            *([] if note is None else [note(row)]),
            end_section=i + 1 < len(rows) and rows[i + 1].case != row.case,
        )
    return table


def number(value: float | None, form: str) -> str:
    """The number in this format, or a dash where there is none."""
    return "-" if value is None else format(value, form)


def write_json(
    path: Path, rows: Sequence[Row], bars: Sequence[Bar] | None = None, **more: object
) -> None:
    """``{"rows": [...]}``, the bars if there are any to meet, and whatever ``more`` holds.

    JSON has no infinity, so that is null.
    """
    written: dict[str, object] = {
        "rows": [{key: _finite(value) for key, value in asdict(row).items()} for row in rows]
    }
    if bars is not None:
        written["bars"] = [asdict(bar) for bar in bars]
    text = json.dumps({**written, **more}, indent=2, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
