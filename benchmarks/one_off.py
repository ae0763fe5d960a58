"""Rule spaces that are built by `SpaceBuilder`, solved once, and thrown away, beside 78bb81a.

The problems are those of `benchmarks.one_off_cases`: implications, exclusions and counts over 10 to
200 yes/no variables. Each version runs in a process of its own (`benchmarks.kernels` says how the
old one is made), they take turns, and what is timed is the processor time of building the space and
solving it. Labels and values must be equal. Presolve's own share is measured beside it.

    python -m benchmarks.one_off [--repeats N] [--size N] [--keep FOLDER] [--json FILE]
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import NamedTuple

from benchmarks import one_off_cases
from benchmarks.kernels import COMMIT, OLD, OURS, ROOT, Side, environment, running
from benchmarks.one_off_cases import drawn, space_of
from benchmarks.table import Bar, Columns, Row, end, number, options, show
from rote import Exact, Problem
from rote.inference.exact.presolve import Presolved, graph_of_rules

SIZES = (10, 20, 50, 100, 200)
TURNS, EACH = 10, 10  # of other problems each time: something may be left of those in memory
FASTER = 5.0


@dataclass(frozen=True)
class OneOffRow(Row):
    """Times are of one problem; an error is 1 where labels or values differ."""

    problems: int
    presolve_share: float | None  # of our time
    removed: float | None  # of the variables, by presolve


class Share(NamedTuple):
    """What presolve takes of the time of a problem, and of its variables."""

    time: float
    variables: float


def share_of(size: int, seed: int) -> Share:
    """Presolve by itself, beside all of a problem."""
    problem = drawn(size, seed)
    begin = process_time()
    space = space_of(problem)
    Exact().solve(space, problem.scores)
    whole = process_time() - begin
    asked, graph = Problem.of(space, problem.scores), graph_of_rules(space)
    begin = process_time()
    left = Presolved.of(asked, graph).left
    return Share((process_time() - begin) / whole, 1 - float(left[0]) / size)


def measure(sides: Mapping[str, Side], size: int, turns: int) -> list[OneOffRow]:
    """Both versions in turn, each time on other problems, after a turn that is not counted."""
    names = list(sides)
    seconds: dict[str, list[float]] = {name: [] for name in names}
    differ = dict.fromkeys(names, False)
    for turn in range(turns + 1):
        order = names if turn % 2 else names[::-1]
        asked = f"{size} {turn * EACH} {EACH}"
        found = {name: sides[name].turn(asked) for name in order}
        for name in names if turn else ():
            seconds[name].append(found[name].seconds)
            differ[name] |= found[name].digest != found[OLD].digest
    medians = {name: statistics.median(own) for name, own in seconds.items()}
    shares = [share_of(size, seed) for seed in range(EACH, EACH * (turns + 1))]
    return [
        OneOffRow(
            f"{size} variables",
            name,
            1e6 * medians[name],
            medians[name] / medians[OURS],
            float(differ[name]),
            EACH * turns,
            statistics.median(share.time for share in shares) if name == OURS else None,
            statistics.median(share.variables for share in shares) if name == OURS else None,
        )
        for name in names
    ]


def bars_of(rows: Sequence[OneOffRow]) -> list[Bar]:
    """So many times as fast at every size, and the same answers."""
    bars = [
        Bar(
            f"ONE OFF, {row.case}",
            (row.ratio_to_ours or 0.0) >= FASTER,
            f"{row.ratio_to_ours:.1f} times as fast as {COMMIT} at the median, {FASTER:g} asked",
        )
        for row in rows
        if row.engine == OLD
    ]
    differ = sorted({row.case for row in rows if row.max_error})
    says = f"others with {', '.join(differ)}" if differ else "the same labels and values everywhere"
    return [*bars, Bar("ONE OFF, answers", not differ, says)]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table and the bars; with --json also write them."""
    parser = options(f"Rule spaces that are solved once, beside {COMMIT}.", repeats=TURNS)
    parser.add_argument("--size", type=int, choices=SIZES, action="append", help="only these sizes")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the old version there")
    chosen = parser.parse_args(argv)
    rows: list[OneOffRow] = []
    with ExitStack() as stack:
        folder = chosen.keep or Path(stack.enter_context(TemporaryDirectory(prefix="rote-old-")))
        old, script = environment(folder.resolve()), one_off_cases.__file__
        here = [ROOT / "src", ROOT]
        sides = {
            OURS: stack.enter_context(running(Path(sys.executable), here, script)),
            OLD: stack.enter_context(running(old, [], script)),
        }
        for size in chosen.size or SIZES:
            rows += measure(sides, size, chosen.repeats)
    columns: Columns[OneOffRow] = (
        ("median µs", lambda row: number(row.median_us, ",.0f")),
        ("ratio\nto ours", lambda row: number(row.ratio_to_ours, ".1f")),
        ("presolve's\nshare of time", lambda row: number(row.presolve_share, ".1%")),
        ("variables it\nremoves", lambda row: number(row.removed, ".0%")),
        ("other answers", lambda row: "yes" if row.max_error else "no"),
    )
    show(rows, columns, bars_of(rows), chosen.json)


if __name__ == "__main__":
    end(main)
