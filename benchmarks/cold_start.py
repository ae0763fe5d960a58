"""What a user waits for who has just installed rote: fresh environments, fresh processes.

The wheel is built and installed in two environments of a temporary folder: one has the core
dependencies alone, the other the extras that examples ask for. Then each program runs in a process
of its own, several times; what is shown is the median of wall-clock times from its start to its
end, how long the first run took, and the largest memory of any run. A program is started by a small
process, as the memory of the process that starts it would count as its own. Then several processes
run the README's first example at once.

    python -m benchmarks.cold_start [--repeats N] [--json FILE]

The bars are those of `LIMITS`; besides, importing what the README's example imports may take so
much more processor time than `import numpy`; a process that runs beside others may take so much
more than one alone; the core installation may be so large beside an empty environment; and running
may write nothing, neither into the installation nor into the home folder nor a temporary one, so
that the first run is like the others. What all names of rote take is shown without a bar.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.table import (
    Bar,
    Columns,
    Row,
    end,
    in_turn,
    number,
    options,
    say,
    show,
    wide_console,
)
from rote import DataError
from tools.first_example import first_example
from tools.package import build_wheel, environment

ROOT = Path(__file__).parent.parent
REPEATS = 5
README, HELP, DEMO = "README's first example", "rote --help", "rote demo"
NUMPY, ALL = "import numpy", "from rote import *"
IMPORT = "from rote import Exact, SpaceBuilder"
LIMITS = {README: 0.5, HELP: 0.4, DEMO: 1.5}
EXAMPLE_LIMIT = 5.0  # seconds of every script of examples/
README_MEGABYTES, CORE_MEGABYTES = 90.0, 270.0
IMPORT_LIMIT = 0.08  # seconds of the processor above numpy
PROCESSES, MOST_WORK = 8, 1.3  # at once, and the processor time of each over that of one alone
AT_ONCE = f"{README}, {PROCESSES} at once"
EXTRAS = {"neural_tagger.py": "torch", "own_classifier.py": "sklearn", "serve_it.py": "serve"}
CORE, MORE = "core", "with extras"

STARTER = """
import json, resource, subprocess, sys, time
begin = time.perf_counter()
done = subprocess.run(sys.argv[1:], capture_output=True)
seconds = time.perf_counter() - begin
used = resource.getrusage(resource.RUSAGE_CHILDREN)
said = done.stderr.decode()[-2000:]
numbers = seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1.024 / 1000
print(json.dumps([*numbers, done.returncode, said]))
"""


class Program(NamedTuple):
    """Something that is run, and where."""

    engine: str  # which environment
    command: tuple[str, ...]
    processes: int = 1  # at once


class Run(NamedTuple):
    """One process from its start to its end."""

    seconds: float
    processor: float
    megabytes: float
    written: int  # files that it left behind


@dataclass(frozen=True)
class StartRow(Row):
    """Of a program: the first run, processor time, the largest memory, and files left behind."""

    first_us: float
    processor_us: float
    megabytes: float
    written: int


def run(program: Program) -> list[Run]:
    """Start its processes afresh, outside of any checkout, with an empty home."""
    hidden = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE", "ROTE_PLAIN_KERNELS")
    inherited = {k: v for k, v in os.environ.items() if k not in hidden}
    with TemporaryDirectory() as folder:
        started = [
            subprocess.Popen(
                [sys.executable, "-I", "-S", "-c", STARTER, *program.command],
                stdout=subprocess.PIPE,
                text=True,
                cwd=folder,
                env={**inherited, "HOME": folder, "TMPDIR": folder},
            )
            for _ in range(program.processes)
        ]
        said = [process.communicate()[0] for process in started]
        written = len(files(Path(folder)))
    runs = []
    for seconds, processor, megabytes, status, wrong in map(json.loads, said):
        if status != 0:
            raise DataError(f"{' '.join(program.command)} failed:\n{wrong}")
        runs.append(Run(seconds, processor, megabytes, written))
    return runs


def megabytes(folder: Path) -> float:
    """Of all files of a folder together."""
    return sum(path.lstat().st_size for path in folder.rglob("*")) / 1e6


def files(folder: Path) -> set[tuple[str, int]]:
    """Which there are, and when each was last written to."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {(str(path), path.stat().st_mtime_ns) for path in found}


def programs(core: Path, more: Path, left_out: Iterable[str]) -> dict[str, Program]:
    """All that are timed, by name; `core` and `more` are interpreters."""
    code, _ = first_example((ROOT / "README.md").read_text(encoding="utf-8"))
    command = str(core.parent / "rote")
    found = {
        NUMPY: Program(CORE, (str(core), "-c", NUMPY)),
        IMPORT: Program(CORE, (str(core), "-c", IMPORT)),
        ALL: Program(CORE, (str(core), "-c", ALL)),
        README: Program(CORE, (str(core), "-c", code)),
        AT_ONCE: Program(CORE, (str(core), "-c", code), PROCESSES),
        HELP: Program(CORE, (command, "--help")),
        DEMO: Program(CORE, (command, "demo")),
    }
    for path in sorted((ROOT / "examples").glob("*.py")):
        if path.name not in left_out:
            engine, python = (MORE, more) if path.name in EXTRAS else (CORE, core)
            found[f"examples/{path.name}"] = Program(engine, (str(python), str(path)))
    return found


def measure(wanted: Mapping[str, Program], repeats: int) -> list[StartRow]:
    """All programs in turn."""
    turns = {name: lambda _, program=program: run(program) for name, program in wanted.items()}
    return [
        row_of(name, wanted[name].engine, [one for turn in found for one in turn])
        for name, found in in_turn(turns, repeats).items()
    ]


def row_of(name: str, engine: str, runs: Sequence[Run]) -> StartRow:
    """What the table says of the runs of a program."""
    median, processor = (
        1e6 * statistics.median(times)
        for times in ([one.seconds for one in runs], [one.processor for one in runs])
    )
    most, written = max(one.megabytes for one in runs), max(one.written for one in runs)
    first = 1e6 * runs[0].seconds
    return StartRow(name, engine, median, None, None, first, processor, most, written)


def bars_of(rows: Sequence[StartRow], size: float, written: int) -> list[Bar]:
    """Whether everything starts at once, and is small."""
    seconds = {row.case: (row.median_us or 0.0) / 1e6 for row in rows}
    limits = LIMITS | {name: EXAMPLE_LIMIT for name in seconds if name.startswith("examples/")}
    bars = [
        Bar(name, seconds[name] < most, f"{seconds[name]:.2f} s, under {most} asked for")
        for name, most in limits.items()
    ]
    memory = next(row.megabytes for row in rows if row.case == README)
    processor = {row.case: row.processor_us / 1e6 for row in rows}
    above, all_above = (processor[name] - processor[NUMPY] for name in (IMPORT, ALL))
    work = processor[AT_ONCE] / processor[README]
    leaving = [row.case for row in rows if row.written]
    return [
        *bars,
        Bar(
            README,
            memory < README_MEGABYTES,
            f"{memory:.0f} MB, under {README_MEGABYTES:.0f} asked for",
        ),
        Bar(
            IMPORT,
            above <= IMPORT_LIMIT,
            f"{above:.3f} s of the processor above {NUMPY}, at most {IMPORT_LIMIT} asked for; "
            f"{ALL}: {all_above:.3f}",
        ),
        Bar(
            AT_ONCE,
            work <= MOST_WORK,
            f"{work:.2f} of the processor time of one alone, at most {MOST_WORK} asked for",
        ),
        Bar(
            "core installation",
            size < CORE_MEGABYTES,
            f"{size:.0f} MB beside an empty environment, under {CORE_MEGABYTES:.0f} asked for",
        ),
        Bar(
            "written",
            written == 0 and not leaving,
            f"{written} files of the installation, and files elsewhere by "
            f"{', '.join(leaving) or 'no program'}",
        ),
    ]


def pins(extras: Iterable[str]) -> list[str]:
    """PyTorch as it is here: a build for graphics cards would be gigabytes."""
    return [f"torch=={version('torch')}"] if "torch" in extras else []


def possible(extras: Iterable[str]) -> set[str]:
    """The extras that can be installed beside the core here."""
    try:
        version("torch")
    except PackageNotFoundError:
        return set(extras) - {"torch"}
    return set(extras)


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table and the bars; with --json also write them."""
    parser = options("What a user waits for who has just installed rote.", repeats=REPEATS)
    chosen = parser.parse_args(argv)
    extras = sorted(possible(EXTRAS.values()))
    left_out = [name for name, extra in EXTRAS.items() if extra not in extras]
    for name in left_out:
        say(wide_console(), f"examples/{name} is left out: {EXTRAS[name]} is not installed here")
    with TemporaryDirectory(prefix="rote-cold-") as temporary:
        folder = Path(temporary)
        wheel = str(build_wheel(folder / "build"))
        empty, core, more = folder / "empty", folder / "core", folder / "more"
        environment(empty)
        python = environment(core, wheel)
        with_extras = environment(more, f"{wheel}[{','.join(extras)}]", *pins(extras))
        size = megabytes(core) - megabytes(empty)
        before = files(core) | files(more)
        rows = measure(programs(python, with_extras, left_out), chosen.repeats)
        written = len((files(core) | files(more)) - before)
    columns: Columns[StartRow] = (
        ("median s", lambda row: number((row.median_us or 0.0) / 1e6, ".3f")),
        ("first s", lambda row: number(row.first_us / 1e6, ".3f")),
        ("processor s", lambda row: number(row.processor_us / 1e6, ".3f")),
        ("MB", lambda row: number(row.megabytes, ".0f")),
    )
    more_said = {"core_megabytes": size, "files_written": written}
    show(rows, columns, bars_of(rows, size, written), chosen.json, **more_said)


if __name__ == "__main__":
    end(main)
