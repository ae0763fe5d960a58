"""How long `import rote` takes, beside numpy (which it needs) and numba (which waits).

Each time is measured inside a fresh interpreter, around the import alone. The three
take turns, so that a busy machine is unfair to none of them, and may keep bytecode, as
users do. Numba is beside us to show what rote would pay for if it imported numba at once.

    python -m benchmarks.import_time [--repeats N] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

OURS = "rote"
PEERS = ("numpy", "numba")

PROGRAM = """
import time
start = time.perf_counter()
import {module}
print(time.perf_counter() - start)
"""


@dataclass(frozen=True)
class Row:
    """One line of the table; ``ratio_to_ours`` is its median over ours."""

    case: str
    engine: str
    median_us: float
    ratio_to_ours: float
    max_error: float | None = None  # an import has no answer to be wrong


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
    return [Row("import", m, median[m], median[m] / median[OURS]) for m in modules]


def main() -> None:
    """Print the table; with --json also write it."""
    parser = argparse.ArgumentParser(description="The time it takes to import rote.")
    parser.add_argument("--repeats", type=int, default=9, help="fresh interpreters per module")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to FILE")
    chosen = parser.parse_args()
    if chosen.repeats < 1:
        parser.error(f"--repeats is at least 1, got {chosen.repeats}")
    rows = measure(chosen.repeats)
    print(f"{'import':<10}{'median ms':>12}{'ratio to rote':>16}")
    for row in rows:
        print(f"{row.engine:<10}{row.median_us / 1000:>12.1f}{row.ratio_to_ours:>16.2f}")
    if chosen.json:
        chosen.json.write_text(json.dumps({"rows": [asdict(row) for row in rows]}, indent=2) + "\n")


if __name__ == "__main__":
    main()
