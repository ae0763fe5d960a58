"""How long rote takes to start: imports beside numpy's, commands, and a service's first answer.

An import or a command is a fresh interpreter each time, and its time is that of the processor, from
the interpreter's start to its end: on a machine with nothing else to do, that is the time it takes.
All take turns, so that a busy machine is unfair to none of them, and may keep bytecode and compiled
kernels, as users do; a round before warms both. The first answer of `rote serve` is timed by the
clock, from a request that is sent as soon as /health says that the service is open.

    python -m benchmarks.import_time [--repeats N] [--json FILE]
"""

from __future__ import annotations

import http.client
import json
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

from benchmarks.table import Bar, Columns, Row, end, in_turn, number, options, show

OURS, ALL, NUMPY = "rote", "all of rote", "numpy"
IMPORTS = {
    NUMPY: "import numpy",
    OURS: "from rote import Exact, SpaceBuilder",
    ALL: "from rote import *",
}
HELP, DEMO, FIRST = "rote --help", "rote demo", "first answer"
LIMITS = {HELP: 0.4, DEMO: 1.5, FIRST: 0.05}  # seconds
ABOVE_NUMPY = 0.08  # seconds that our import may take beyond numpy's


def seconds(*arguments: str) -> float:
    """The processor's time for one interpreter with these arguments."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(
        [sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL, env=_keeping_bytecode()
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _keeping_bytecode() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def first_answer(folder: Path) -> float:
    """Serve the model of a folder, wait until it is open, and time one request."""
    command = [sys.executable, "-m", "rote", "serve", str(folder), "--port", "0"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env=_keeping_bytecode()
    ) as process:
        assert process.stdout is not None
        try:
            said = process.stdout.readline()
            address = urlsplit(next(word for word in said.split() if word.startswith("http:")))
            _asked(address.netloc, "GET", "/health")  # waits until the service is open
            start = time.perf_counter()
            _asked(address.netloc, "POST", "/predict", json.dumps({"input": "the cat barked"}))
            return time.perf_counter() - start
        finally:
            process.terminate()


def _asked(host: str, method: str, path: str, body: str | None = None) -> None:
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request(method, path, body)
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    connection.close()


def _saved_model(folder: Path) -> Path:
    from rote import Perceptron, Tagging, Templates, train

    task = Tagging(("B-NP", "I-NP", "O"), Templates(("word",), ("word[0]",)), bio=True)
    xs, ys = [[["the"], ["dog"], ["barked"]]], [["B-NP", "I-NP", "O"]]
    train(task, xs, ys, learner=Perceptron(iterations=2)).save(folder)
    return folder


def _again(run: Callable[[], float], _: int) -> float:
    return run()


def measure(repeats: int) -> list[Row]:
    """Medians over ``repeats`` turns, after one that warms the disk."""
    with TemporaryDirectory() as folder:
        model = _saved_model(Path(folder) / "chunker")
        runs = {name: partial(seconds, "-c", program) for name, program in IMPORTS.items()}
        runs |= {name: partial(seconds, "-m", *name.split()) for name in (HELP, DEMO)}
        runs[FIRST] = partial(first_answer, model)
        turns = in_turn({name: partial(_again, run) for name, run in runs.items()}, repeats + 1)
    median = {name: 1e6 * statistics.median(own[1:]) for name, own in turns.items()}
    # Nothing here has an answer to be wrong.
    return [
        Row("import", name, us, us / median[OURS], None)
        if name in IMPORTS
        else Row("serve" if name == FIRST else "command", name, us, None, None)
        for name, us in median.items()
    ]


def bars_of(rows: Sequence[Row]) -> list[Bar]:
    """Our import beside numpy's, and limits on all that is no import."""
    took = {row.engine: (row.median_us or 0.0) / 1e6 for row in rows}
    more = took[OURS] - took[NUMPY]
    asked = f"{more:.3f} s above numpy, at most {ABOVE_NUMPY:g} asked for"
    return [
        Bar("import", more <= ABOVE_NUMPY, asked),
        *(
            Bar(name, took[name] <= most, f"{took[name]:.3f} s, at most {most:g} asked for")
            for name, most in LIMITS.items()
        ),
    ]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table and the bars; with --json also write them."""
    chosen = options("The time it takes rote to start.", repeats=9).parse_args(argv)
    rows = measure(chosen.repeats)
    columns: Columns[Row] = (
        ("median µs", lambda row: number(row.median_us, ",.0f")),
        ("ratio\nto ours", lambda row: number(row.ratio_to_ours, ".2f")),
    )
    show(rows, columns, bars_of(rows), chosen.json)


if __name__ == "__main__":
    end(main)
