"""How long all of `rote` takes to import, beside numpy (which it needs) and numba (which waits).

Each time is measured inside a fresh interpreter, around the import alone. The three
take turns, so that a busy machine is unfair to none of them, and may keep bytecode, as
users do. Numba is beside us to show what rote would pay for if it imported numba at once.

    python -m benchmarks.import_time [--repeats N] [--json FILE]
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.table import Table

from benchmarks.table import Row, framed, number, wide_console, write_json

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


def measure(repeats: int) -> list[Row]:
    """Medians over ``repeats`` fresh interpreters, after one round that warms the disk."""
    modules = (OURS, *PEERS)
    rounds = [{module: seconds(module) for module in modules} for _ in range(repeats + 1)][1:]
    median = {m: 1e6 * statistics.median(taken[m] for taken in rounds) for m in modules}
    # An import has no answer to be wrong.
    return [Row("import", m, median[m], median[m] / median[OURS], None) for m in modules]


def as_table(rows: Sequence[Row]) -> Table:
    return framed(
        rows,
        [
            ("median µs", lambda row: number(row.median_us, ",.0f")),
            ("ratio\nto ours", lambda row: number(row.ratio_to_ours, ".2f")),
        ],
    )


def main() -> None:
    """Print the table; with --json also write it."""
    parser = argparse.ArgumentParser(description="The time it takes to import rote.")
    parser.add_argument("--repeats", type=int, default=9, help="fresh interpreters per module")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to FILE")
    chosen = parser.parse_args()
    if chosen.repeats < 1:
        parser.error(f"--repeats is at least 1, got {chosen.repeats}")
    rows = measure(chosen.repeats)
    wide_console().print(as_table(rows))
    if chosen.json:
        write_json(chosen.json, rows)


if __name__ == "__main__":
    main()
