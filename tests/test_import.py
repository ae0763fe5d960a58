"""Importing rote is cheap: nothing heavy is loaded."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.import_time import bars_of
from benchmarks.table import Row

ROOT = Path(__file__).parent.parent
HEAVY = (
    "fastapi",
    "gurobipy",
    "highspy",
    "joblib",
    "pandas",
    "pydantic",
    "rich",
    "safetensors",
    "scipy",
    "sklearn",
    "torch",
    "typer",
    "uvicorn",
)
TYPER = {"pydantic", "rich", "typer"}  # and what it loads by itself
SECONDS = 1.0  # over three times what an idle machine needs; `make bench` prints the real time


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


def readme_example() -> str:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.search(r"```python\n(.*?)```", text, re.DOTALL)[1]


# What is loaded beyond what an interpreter has that was told to do nothing.
ADDED = """
import json, sys
before = {{name.split(".")[0] for name in sys.modules}}
{program}
added = {{name.split(".")[0] for name in sys.modules}} - before - set(sys.stdlib_module_names)
print(json.dumps(sorted(name for name in added if not name.startswith(("_", "cython")))))
"""


def test_the_first_example_loads_numpy_and_rote_alone():
    program = ADDED.format(program=readme_example().replace("print(", "str("))
    assert in_fresh_interpreter(program) == ["numpy", "rote"]


def test_a_name_loads_what_it_needs_and_no_more():
    program = """
import json, sys
from rote import Exact, SpaceBuilder
print(json.dumps(sorted(name[5:] for name in sys.modules if name.startswith("rote."))))
"""
    loaded = in_fresh_interpreter(program)
    rooms = ["errors", "inference", "kernels", "settings", "space", "types"]
    assert sorted({name.split(".")[0] for name in loaded}) == rooms
    engines = {"asking", "engine", "exact", "exact.exact", "problem", "solutions"}
    assert {name[10:] for name in loaded if name.startswith("inference.")} == engines
    assert not any(name.startswith(("kernels.dual", "kernels.search")) for name in loaded)


@pytest.mark.parametrize("command", ["--help", "train --help", "--version"])
def test_help_loads_no_numpy(command):
    program = f"""
import contextlib, io, json, sys
from rote.__main__ import main
sys.argv = ["rote", *{command.split()!r}]
with contextlib.redirect_stdout(io.StringIO()) as printed, contextlib.suppress(SystemExit):
    main()
heavy = {sorted({*HEAVY, "numpy"} - TYPER)!r}
print(json.dumps([len(printed.getvalue()) > 5, [name for name in heavy if name in sys.modules]]))
"""
    assert in_fresh_interpreter(program) == [True, []]


def test_importing_rote_is_quick():
    program = """
import time
start = time.process_time()
from rote import *
print(time.process_time() - start)
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
    written = json.loads(file.read_text(encoding="utf-8"))
    rows = written["rows"]
    assert [row["engine"] for row in rows] == [
        "numpy",
        "rote",
        "all of rote",
        "rote --help",
        "rote demo",
        "first answer",
    ]
    assert all(
        set(row) == {"case", "engine", "median_us", "ratio_to_ours", "max_error"} for row in rows
    )
    assert rows[1]["ratio_to_ours"] == 1
    assert all(row["median_us"] > 0 for row in rows)
    assert all(row["engine"] in done.stdout for row in rows)
    assert [bar["case"] for bar in written["bars"]] == [
        "import",
        "rote --help",
        "rote demo",
        "first answer",
    ]


@pytest.mark.parametrize(("rote", "met"), [(0.15, True), (0.19, False)])
def test_the_bar_is_on_what_rote_adds_to_numpy(rote, met):
    took = {"numpy": 0.1, "rote": rote, "rote --help": 0.41, "rote demo": 1, "first answer": 0.01}
    rows = [Row("", name, 1e6 * seconds, None, None) for name, seconds in took.items()]
    assert [bar.met for bar in bars_of(rows)] == [met, False, True, True]
