"""Importing rote is cheap: nothing heavy is loaded."""

from __future__ import annotations

import json
import os
import subprocess
import sys

HEAVY = ("gurobipy", "highspy", "joblib", "pandas", "rich", "scipy", "sklearn", "torch", "typer")
SECONDS = (
    1.0  # over three times what an idle machine needs; `benchmarks.cold_start` prints the real time
)


def in_fresh_interpreter(program: str) -> object:
    """What the program prints, read as JSON."""
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env=inherited,
    )
    return json.loads(done.stdout)


def test_no_heavy_package_is_loaded_by_importing_rote():
    program = f"""
import json, sys
import rote
early = [name for name in sys.modules if name.startswith(("numpy", "rote."))]
from rote import *
print(json.dumps([early, [name for name in {HEAVY!r} if name in sys.modules]]))
"""
    assert in_fresh_interpreter(program) == [[], []]


def test_importing_rote_is_quick():
    program = """
import time
start = time.perf_counter()
from rote import *
print(time.perf_counter() - start)
"""
    # The best of three: other work on the machine can only add to it.
    assert min(in_fresh_interpreter(program) for _ in range(3)) < SECONDS
