"""The kernels of every subfolder beside those of commit 78bb81a, which numba compiled.

That commit is taken out of the repository's own history into a temporary folder, with an
environment of its own: what it depends on, numba among it, and other packages as new as they are
here. Its engines and learners run in a child process, ours in another, by the same text
(`benchmarks.kernel_cases`). The two take turns; a first one warms up, and there numba compiles,
which takes minutes. Times are processor times, and the ratio of a row is that of the two medians.
All arrays must be equal to the bit.

    python -m benchmarks.kernels [--repeats N] [--case NAME] [--keep FOLDER] [--json FILE]

With ``--keep`` the old environment stays in FOLDER, and is taken from there the next time.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from benchmarks import kernel_cases
from benchmarks.table import Bar, Columns, Row, end, number, options, say, show, wide_console
from rote import DataError

ROOT = Path(__file__).parent.parent
COMMIT = "78bb81a"
OURS, OLD = "ours", COMMIT
REPEATS = 7
MEDIAN, MOST = 0.75, 1.05  # of the old times: the median of all rows at most, and every row
SAME = ("highspy", "numpy", "scikit-learn", "scipy")  # of the same version on both sides


@dataclass(frozen=True)
class KernelRow(Row):
    """Times are of a turn; an error is 1 where arrays differ."""

    repeats: int


class Turn(NamedTuple):
    """Processor seconds, and the digest of what was found."""

    seconds: float
    digest: str


class Side:
    """A version of rote in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def turn(self, case: str) -> Turn:
        """Have a case run once more."""
        return Turn(**self.ask(case))

    def ask(self, line: str) -> Any:
        """What the process answers to a line, which it does by a line of JSON."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise DataError(f"{line}: a version of rote ended; what it said is above")
        return json.loads(answer)


@contextmanager
def running(python: Path, path: Sequence[Path], script: str, *more: str) -> Iterator[Side]:
    """A script of cases, by this interpreter with these folders to import from."""
    one_thread = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1"
    )
    environment = {**os.environ, **one_thread, "PYTHONPATH": os.pathsep.join(map(str, path))}
    with subprocess.Popen(
        [python, "-P", script, *more],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        try:
            yield Side(process)
        finally:
            process.terminate()


def sources(folder: Path) -> Path:
    """The library as it was at `COMMIT`, from the history of this checkout."""
    git = shutil.which("git")
    if git is None:
        raise DataError(f"git is not installed, and {COMMIT} is in the history of this checkout")
    wanted = ["src", "pyproject.toml", "README.md", "LICENSE"]
    done = subprocess.run(
        [git, "-C", ROOT, "archive", COMMIT, *wanted], check=False, capture_output=True
    )
    if done.returncode != 0:
        said = done.stderr.decode(errors="replace").strip()
        raise DataError(f"{COMMIT} is not in the history of {ROOT}, clone all of it: {said}")
    with tarfile.open(fileobj=BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder


def environment(folder: Path) -> Path:
    """The interpreter of an environment in which the old version runs; made where there is none."""
    python = folder / "venv" / "bin" / "python"
    ready = folder / "ready"
    if not ready.exists():
        sources(folder / "sources")
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder / "venv"], check=True)
        pinned = [f"{package}=={version(package)}" for package in SAME]
        quiet = ("--quiet", "--disable-pip-version-check")
        install = (str(python), "-m", "pip", "install", *quiet)
        subprocess.run([*install, "--editable", str(folder / "sources"), *pinned], check=True)
        ready.touch()
    return python


def measure(sides: Mapping[str, Side], case: str, repeats: int) -> list[KernelRow]:
    """Both versions in turn, after a turn that is not counted."""
    turns: dict[str, list[Turn]] = {name: [] for name in sides}
    for turn in range(repeats + 1):
        for name in (list(sides), list(sides)[::-1])[turn % 2]:
            turns[name].append(sides[name].turn(case))
    medians = {name: statistics.median(t.seconds for t in own[1:]) for name, own in turns.items()}
    right = turns[OLD][0].digest
    return [
        KernelRow(
            case,
            name,
            1e6 * medians[name],
            medians[name] / medians[OURS],
            float(any(turn.digest != right for turn in own)),
            repeats,
        )
        for name, own in turns.items()
    ]


def shares(rows: Sequence[KernelRow]) -> dict[str, float]:
    """Our time over the old one, by case."""
    return {row.case: 1 / (row.ratio_to_ours or 1.0) for row in rows if row.engine == OLD}


def bars_of(rows: Sequence[KernelRow]) -> list[Bar]:
    """Faster as a rule, nowhere slower, the same to the bit, and no subfolder left out."""
    share = shares(rows)
    median, slowest = statistics.median(share.values()), max(share, key=lambda case: share[case])
    differ = sorted({row.case for row in rows if row.max_error})
    wanted = {case.split(":")[0] for case in kernel_cases.CASES}
    missing = sorted(wanted - {case.split(":")[0] for case in share})
    return [
        Bar(
            "KERNELS, median",
            median <= MEDIAN,
            f"{median:.2f} of the time of {COMMIT}, at most {MEDIAN} asked for",
        ),
        Bar(
            "KERNELS, slowest",
            share[slowest] <= MOST,
            f"{share[slowest]:.2f} of it in the case {slowest}, at most {MOST} asked for",
        ),
        Bar(
            "KERNELS, arrays",
            not differ,
            f"other arrays in {', '.join(differ)}" if differ else "equal to the bit in all cases",
        ),
        Bar(
            "KERNELS, subfolders",
            not missing,
            f"not measured: {', '.join(missing)}" if missing else "at least one case of each",
        ),
    ]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table and the bars; with --json also write them."""
    about = f"The kernels beside those of {COMMIT}, which numba compiled."
    parser = options(about, repeats=REPEATS)
    parser.add_argument("--case", action="append", metavar="TEXT", help="cases with this text")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the old version there")
    chosen = parser.parse_args(argv)
    cases = [c for c in kernel_cases.possible() if any(t in c for t in chosen.case or [""])]
    if not cases:
        parser.error(f"no case that can be run here has the text {' or '.join(chosen.case)}")
    console = wide_console()
    for case in kernel_cases.CASES.keys() - set(kernel_cases.possible()):
        say(console, f"{case}: left out, as {kernel_cases.VARIABLE} is not set")
    rows: list[KernelRow] = []
    with ExitStack() as stack:
        folder = chosen.keep or Path(stack.enter_context(TemporaryDirectory(prefix="rote-old-")))
        old = environment(folder.resolve())
        here, script = [ROOT / "src", ROOT], kernel_cases.__file__
        sides = {
            OURS: stack.enter_context(running(Path(sys.executable), here, script, "new")),
            OLD: stack.enter_context(running(old, [], script, "old")),
        }
        for case in cases:
            rows += measure(sides, case, chosen.repeats)
    columns: Columns[KernelRow] = (
        ("median µs", lambda row: number(row.median_us, ",.0f")),
        ("ratio\nto ours", lambda row: number(row.ratio_to_ours, ".2f")),
        ("other arrays", lambda row: "yes" if row.max_error else "no"),
    )
    show(rows, columns, bars_of(rows), chosen.json)


if __name__ == "__main__":
    end(main)
