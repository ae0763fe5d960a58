"""Importing rote is cheap: nothing heavy is loaded and nothing is compiled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
HEAVY = ("gurobipy", "highspy", "numba", "rich", "scipy", "torch", "typer")
SECONDS = 1.0  # over three times what an idle machine needs; `make bench` prints the real time


def in_fresh_interpreter(program: str, **environment: str) -> object:
    """What the program prints, read as JSON."""
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        env={**inherited, **environment},
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


def test_no_kernel_is_compiled_by_importing_rote(tmp_path):
    program = """
import json, sys
from rote import *
from rote.kernels.jit import Kernel
rooms = [module for name, module in sys.modules.items() if name.startswith("rote.")]
kernels = {id(v): v for module in rooms for v in vars(module).values() if isinstance(v, Kernel)}
# Both are cached properties: they enter the kernel's own dictionary when first asked for.
compiled = [k.__name__ for k in kernels.values() if {"outer", "inner"} & set(vars(k))]
print(json.dumps([len(kernels), compiled]))
"""
    found, compiled = in_fresh_interpreter(program, NUMBA_CACHE_DIR=str(tmp_path))
    assert found > 0
    assert compiled == []
    assert list(tmp_path.iterdir()) == []


def test_importing_rote_is_quick():
    program = """
import time
start = time.perf_counter()
from rote import *
print(time.perf_counter() - start)
"""
    # The best of three: other work on the machine can only add to it.
    assert min(in_fresh_interpreter(program) for _ in range(3)) < SECONDS


def test_the_benchmark_writes_its_rows_as_json(tmp_path):
    file = tmp_path / "rows.json"
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.import_time", "--repeats", "1", "--json", str(file)],
        check=True,
        capture_output=True,
        text=True,
        cwd=ROOT,
    )
    rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
    assert [row["engine"] for row in rows] == ["rote", "numpy", "numba"]
    assert all(
        set(row) == {"case", "engine", "median_us", "ratio_to_ours", "max_error"} for row in rows
    )
    assert rows[0]["ratio_to_ours"] == 1
    assert all(row["median_us"] > 0 for row in rows)
    assert all(row["engine"] in done.stdout for row in rows)
