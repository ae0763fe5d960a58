"""`Exact` under a time limit on MPE problems that others wrote, whose best known value is known.

    python -m benchmarks.map_instances --limit 20 --json FILE --plot FILE

The problems are those of $ROTE_DATA/map_instances that are given as tables; the others are refused
in one line each. Every problem is solved three times: by `Exact` without any extra solver, by
`Exact` with what is installed, and by `Toulbar2` alone with 80 % of the time. Values are worked out
here from the tables of the file, not taken from the engine. With --json, problems that the file
already has are not solved again, so that a long run can be stopped and taken up.

With --processor-time limits count processor seconds, for a machine that does other things as well;
HiGHS and CP-SAT still look at the clock on the wall, and so have less.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, dataclass, field
from math import inf, log
from pathlib import Path
from time import perf_counter, process_time
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.table import Bar, end, say, wide_console
from rote import DataError, Exact, Solutions, Status, Toulbar2
from rote.inference.exact import branch, neighbourhoods, portfolio
from rote.inference.exact.exact import choice
from rote.inference.exact.portfolio import within
from rote.inference.problem import Problem
from rote.inference.solvers import milp, worker
from rote.inference.solvers.isolated import Isolated
from rote.io.networks import CostNetwork, read_network
from rote.tasks.network_files import NetworkProblem, network_problem
from rote.types import IntArray

ALONE, EXTRAS, PEER = "Exact", "Exact with extras", "toulbar2, 80 %"
REACHED, WITHOUT_OUTPUT = 15, 2  # at least, and at most
CLOSE = 1e-6  # relative, where the known value has all of its digits
SHARE = 0.8


@dataclass(frozen=True)
class Known:
    """One line of the index."""

    file: str
    unit: str
    value: float
    decimals: int

    @property
    def tolerance(self) -> float:
        return max(0.5 * 10.0**-self.decimals, CLOSE * abs(self.value))


@dataclass(frozen=True)
class Run:
    """What a contestant came to; values are in the unit of the index, larger is better."""

    file: str
    engine: str
    limit: float
    value: float | None  # None without an output
    bound: float
    status: str
    source: str
    seconds: float
    processor: float  # seconds of this process alone
    trace: list[tuple[float, float | None, float]] = field(default_factory=list)


def index(folder: Path) -> Iterator[Known]:
    """The MPE problems."""
    path = folder / "INDEX.tsv"
    if not path.is_file():
        raise DataError(f"there is no {path}; set ROTE_DATA to the folder that has map_instances")
    with path.open() as lines:
        for row in csv.DictReader(lines, delimiter="\t"):
            if row["task"] == "MPE":
                sign = 1.0 if row["unit"] == "log10 p" else -1.0
                decimals = len(row["known"].partition(".")[2])
                yield Known(row["file"], row["unit"], sign * float(row["known"]), decimals)


def evaluated(network: CostNetwork, labels: IntArray) -> float:
    """The value of an output by the tables of the file; -inf where one forbids it."""
    total = network.constant
    for scope, table, allowed in zip(network.scopes, network.tables, network.allowed, strict=True):
        at = tuple(labels[list(scope)])
        total += float(table[at]) if allowed[at] else -np.inf
    return total


@contextmanager
def no_extras() -> Iterator[None]:
    """As if no package of a solver were installed."""
    with patch.object(Isolated, "installed", classmethod(lambda _: False)):
        yield


@contextmanager
def processor_time() -> Iterator[None]:
    """Let limits count the seconds of processors."""
    with ExitStack() as stack:
        for module in (branch, portfolio, neighbourhoods, milp):
            stack.enter_context(patch.object(module, "perf_counter", process_time))
        stack.enter_context(patch.object(worker, "GRACE", inf))
        stack.enter_context(patch.object(worker.Worker, "_nudge", lambda _: None))
        yield


def run(
    known: Known,
    engine: str,
    limit: float,
    clock: Callable[[], float],
    network: CostNetwork,
    problem: NetworkProblem,
) -> Run:
    """One contestant on one problem."""
    start, first, began = perf_counter(), clock(), process_time()
    unit = log(10.0) if known.unit == "log10 p" else 1.0
    trace: list[tuple[float, float | None, float]] = []

    def said(found: Solutions) -> tuple[float | None, float]:
        bound = (float(found.bound[0]) + problem.constant) / unit
        if found.labels[0].min() < 0:
            return None, bound
        return evaluated(network, found.labels[0]) / unit, bound

    def watch(found: Solutions) -> None:
        trace.append((clock() - first, *said(found)))

    asked = Problem(problem.space, problem.scores)
    found = solve(engine, limit, asked, watch)
    watch(found)
    value, bound = said(found)
    return Run(
        known.file,
        engine,
        limit,
        value,
        bound,
        Status(int(found.status[0])).name,
        found.proof(0).rpartition("by ")[2],
        perf_counter() - start,
        process_time() - began,
        trace,
    )


def solve(
    engine: str, limit: float, problem: Problem, watch: Callable[[Solutions], None]
) -> Solutions:
    if engine == PEER:
        return Toulbar2(time_limit=SHARE * limit).solve(problem.space, problem)
    if choice(problem.space) is not None:
        return Exact(time_limit=limit).solve(problem.space, problem)
    if engine == EXTRAS:
        return within(limit, problem, watch=watch)
    with no_extras():
        return within(limit, problem, watch=watch)


def judged(known: dict[str, Known], runs: Sequence[Run]) -> list[Bar]:
    """The bars."""
    by_engine = {
        name: {each.file: each for each in runs if each.engine == name}
        for name in (ALONE, EXTRAS, PEER)
    }
    alone = by_engine[ALONE]
    reached = [file for file, each in alone.items() if is_reached(known[file], each)]
    none = [file for file, each in alone.items() if each.value is None]
    best = {
        file: max(each.value for each in runs if each.file == file and each.value is not None)
        for file in alone
        if any(each.file == file and each.value is not None for each in runs)
    }
    wrong = [
        f"{each.file} by {each.engine}"
        for each in runs
        if each.status == "OPTIMAL"
        and each.value is not None
        and each.value < max(best[each.file], known[each.file].value) - known[each.file].tolerance
    ]
    bars = [
        Bar(
            "KNOWN",
            len(reached) >= REACHED,
            f"{len(reached)} of {len(alone)} at the known value without extras, {REACHED} asked "
            f"for; not: {', '.join(sorted(set(alone) - set(reached))) or 'none'}",
        ),
        Bar(
            "OUTPUT",
            len(none) <= WITHOUT_OUTPUT,
            f"{len(none)} of {len(alone)} without an output, {WITHOUT_OUTPUT} allowed",
        ),
        Bar("PROOF", not wrong, f"{len(wrong)} wrong proofs: {', '.join(wrong) or 'none'}"),
    ]
    behind = [
        file
        for file, each in by_engine[PEER].items()
        if file in by_engine[EXTRAS]
        and each.value is not None
        and not is_as_good(by_engine[EXTRAS][file].value, each.value)
    ]
    if by_engine[PEER]:
        says = f"behind toulbar2 with {SHARE:.0%} of the time: {', '.join(behind) or 'never'}"
        bars.append(Bar("TOULBAR2", not behind, says))
    return bars


def is_as_good(value: float | None, other: float) -> bool:
    return value is not None and value >= other - CLOSE * abs(other)


def is_reached(known: Known, run: Run) -> bool:
    return run.value is not None and run.value >= known.value - known.tolerance


def plot(path: Path, known: dict[str, Known], runs: Sequence[Run]) -> None:
    """How far each contestant is below the known value, over time."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    files = sorted({each.file for each in runs})
    columns = 4
    rows = -(-len(files) // columns)
    figure, axes = plt.subplots(rows, columns, figsize=(16, 3 * rows), squeeze=False)
    colours = {ALONE: "tab:blue", EXTRAS: "tab:green", PEER: "tab:red"}
    for axis in axes.ravel()[len(files) :]:
        axis.set_visible(False)
    for file, axis in zip(files, axes.ravel(), strict=False):
        for each in (each for each in runs if each.file == file):
            points = [(max(0.01, t), v) for t, v, _ in each.trace if v is not None]
            if not points:
                continue
            times, values = zip(*points, (each.limit, points[-1][1]), strict=True)
            best = np.maximum.accumulate(values) - known[file].value
            axis.step(times, best, where="post", color=colours[each.engine], label=each.engine)
            axis.plot(times[:1], best[:1], "o", color=colours[each.engine], markersize=3)
        axis.axhline(0.0, color="grey", linewidth=0.5)
        axis.set_xscale("log")
        axis.set_yscale("symlog", linthresh=1.0)
        axis.set_title(file.rpartition("__")[2], fontsize=9)
        axis.set_xlabel("seconds", fontsize=8)
        axis.set_ylabel("value - known", fontsize=8)
    axes[0, 0].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=80)


def main(argv: Sequence[str] | None = None) -> None:
    """Solve, print a line for each run and the bars, and write what was asked for."""
    parser = argparse.ArgumentParser(description="Exact under a time limit on MPE problems.")
    parser.add_argument("--limit", type=float, default=20.0, metavar="S", help="seconds each")
    parser.add_argument("--case", action="append", help="only files whose name contains this")
    names = [ALONE, EXTRAS, PEER]
    parser.add_argument("--engine", choices=names, action="append", help="only these")
    parser.add_argument("--processor-time", action="store_true", help="what limits count")
    parser.add_argument("--json", type=Path, metavar="FILE", help="read and write runs there")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw value over time there")
    chosen = parser.parse_args(argv)
    if not chosen.limit > 0:
        parser.error(f"--limit is more than 0, got {chosen.limit}")
    console = wide_console()
    folder = Path(os.environ.get("ROTE_DATA", "data")) / "map_instances"
    runs = _read(chosen.json)
    done = {(each.file, each.engine, each.limit) for each in runs}
    known = {each.file: each for each in index(folder)}
    contestants = chosen.engine or (names if Toulbar2.installed() else [ALONE])
    taken = []
    for file, one in known.items():
        if chosen.case and not any(part in file for part in chosen.case):
            continue
        try:
            network = read_network(folder / file)
        except DataError as error:
            say(console, f"{file} is refused: {error}")
            continue
        taken.append(file)
        problem = network_problem(network)
        for engine in contestants:
            if (file, engine, chosen.limit) in done:
                continue
            with processor_time() if chosen.processor_time else nullcontext():
                clock = process_time if chosen.processor_time else perf_counter
                found = run(one, engine, chosen.limit, clock, network, problem)
            runs.append(found)
            _write(chosen.json, runs)
            value = "no output" if found.value is None else f"{found.value:.6f}"
            say(
                console,
                f"{file} {engine}: {value} (known {one.value:.6f}), bound {found.bound:.6f}, "
                f"{found.status.lower()} by {found.source} in {found.seconds:.1f} s "
                f"({found.processor:.1f} s of this processor)",
            )
    shown = [each for each in runs if each.file in taken and each.limit == chosen.limit]
    if chosen.plot is not None and shown:
        plot(chosen.plot, known, shown)
    for bar in judged(known, shown):
        say(console, f"{bar.case}: {'met' if bar.met else 'NOT MET'}: {bar.says}")


def _read(path: Path | None) -> list[Run]:
    if path is None or not path.exists():
        return []
    rows: list[dict[str, Any]] = json.loads(path.read_text())
    return [Run(**row) for row in rows]


def _write(path: Path | None, runs: Sequence[Run]) -> None:
    if path is not None:
        path.write_text(json.dumps([asdict(each) for each in runs], indent=1))


if __name__ == "__main__":
    end(main)
