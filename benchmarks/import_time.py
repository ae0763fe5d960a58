"""How long all of `rote` takes to import, beside numpy (which it needs) and numba (which waits).

Each time is measured inside a fresh interpreter, around the import alone. The three
take turns, so that a busy machine is unfair to none of them, and may keep bytecode, as
users do. Numba is beside us to show what rote would pay for if it imported numba at once.

    python -m benchmarks.import_time [--repeats N] [--json FILE]
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from functools import partial

from benchmarks.table import Bar, Columns, Row, end, in_turn, number, options, show

OURS = "rote"
PEERS = ("numpy", "numba")

PROGRAM = """
import time
start = time.perf_counter()
from {module} import *
print(time.perf_counter() - start)
"""


def seconds(module: str) -> float:
    """The time one import takes in an interpreter of its own."""
    keeps_bytecode = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(module=module)],
        check=True,
        capture_output=True,
        text=True,
        env=keeps_bytecode,
    )
    return float(done.stdout)


def _again(module: str, _: int) -> float:
    return seconds(module)


def measure(repeats: int) -> list[Row]:
    """Medians over ``repeats`` fresh interpreters, after one round that warms the disk."""
    modules = (OURS, *PEERS)
    turns = in_turn({m: partial(_again, m) for m in modules}, repeats + 1)
    median = {m: 1e6 * statistics.median(own[1:]) for m, own in turns.items()}
    # An import has no answer to be wrong.
    return [Row("import", m, median[m], median[m] / median[OURS], None) for m in modules]


def bar_of(rows: Sequence[Row]) -> Bar:
    """Numba is not imported, so it takes longer than all of rote."""
    numba = next(row.ratio_to_ours or 0.0 for row in rows if row.engine == "numba")
    return Bar("import", numba >= 1, f"numba takes {numba:.2f} times as long, at least 1 asked for")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table and the bar; with --json also write them."""
    chosen = options("The time it takes to import rote.", repeats=9).parse_args(argv)
    rows = measure(chosen.repeats)
    columns: Columns[Row] = (
        ("median µs", lambda row: number(row.median_us, ",.0f")),
        ("ratio\nto ours", lambda row: number(row.ratio_to_ours, ".2f")),
    )
    show(rows, columns, [bar_of(rows)], chosen.json)


if __name__ == "__main__":
    end(main)
