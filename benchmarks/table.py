"""What all benchmarks share: options, turns, and one row per case and engine as a table and JSON.

A time is a median over repeats; a ratio is a row's time over ours in the same case and
run, so that ours has 1 and a slower engine has more.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from rote import RoteError
from rote.kernels import compiled

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
T = TypeVar("T")
Columns: TypeAlias = Sequence[tuple[str, Callable[[R], str]]]


def options(
    about: str, *, repeats: int | None = None, quick: str = "", cases: Iterable[str] = ()
) -> argparse.ArgumentParser:
    """A parser that knows --json, and --repeats, --quick and --case where they are asked for."""
    parser = argparse.ArgumentParser(description=about)
    if repeats is not None:
        parser.add_argument(
            "--repeats", type=_at_least_one, default=repeats, metavar="N", help="turns of each"
        )
    if quick:
        parser.add_argument("--quick", action="store_true", help=quick)
    if cases:
        parser.add_argument("--case", choices=list(cases), action="append", help="only these cases")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to FILE")
    return parser


def _at_least_one(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number of at least 1, got {text}")
    return int(text)


def is_installed(console: Console, engine: str, package: str) -> bool:
    """Whether an engine can take part; says why not."""
    if find_spec(package) is not None:
        return True
    say(console, f"{engine} is left out: {package} is not installed")
    return False


def in_turn(contestants: Mapping[str, Callable[[int], T]], repeats: int) -> dict[str, list[T]]:
    """What each gives in every round; each is told the number of the round, for a seed."""
    found: dict[str, list[T]] = {name: [] for name in contestants}
    for repeat in range(repeats):
        for name, take in contestants.items():
            found[name].append(take(repeat))
    return found


def median_turn(turns: Sequence[Any]) -> Any:
    """Of named tuples of numbers the one with the median of each."""
    return type(turns[0])(*(statistics.median(values) for values in zip(*turns, strict=True)))


def show(
    rows: Sequence[R],
    columns: Columns[R],
    bars: Sequence[Bar],
    json_file: Path | None,
    **more: object,
) -> None:
    """Print the table and a line for each bar, and write both where a file is named."""
    console = wide_console()
    noted = any(hasattr(row, "note") for row in rows)
    console.print(framed(rows, columns, note=_note if noted else None))
    for bar in bars:
        say(console, f"{bar.case}: {'met' if bar.met else 'NOT MET'}: {bar.says}")
    if json_file is not None:
        write_json(json_file, rows, bars, **more)


def _note(row: Any) -> str:
    return str(row.note)


def end(main: Callable[[], object]) -> None:
    """Run a benchmark; what rote refuses, for want of a package or data, ends it by one line.

    So does a stale build: times of anything but the kernels as they are would say nothing.
    """
    if not compiled():
        raise SystemExit(
            "the kernels are not compiled from the sources as they are; run: make build"
        )
    try:
        main()
    except RoteError as error:
        raise SystemExit(str(error)) from None


def wide_console() -> Console:
    """One in which the lines of a table are not broken, be it a terminal or not."""
    console = Console()
    return console if console.is_terminal else Console(width=WIDTH)


def say(console: Console, sentence: str) -> None:
    """Print it as it is: no brackets taken for markup, no numbers in colour."""
    console.print(sentence, markup=False, highlight=False)


def framed(
    rows: Sequence[R],
    columns: Columns[R],
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


def write_json(path: Path, rows: Sequence[Row], bars: Sequence[Bar], **more: object) -> None:
    """``{"rows": [...], "bars": [...]}`` and whatever ``more`` holds.

    JSON has no infinity, so that is null.
    """
    written = {
        "rows": [{key: _finite(value) for key, value in asdict(row).items()} for row in rows],
        "bars": [asdict(bar) for bar in bars],
        **more,
    }
    text = json.dumps(written, indent=2, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
