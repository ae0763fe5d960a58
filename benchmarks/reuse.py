"""What memory saves: `Exact` as it was at commit 78bb81a, as it is, and with `Amortized` around it.

Streams of questions (`benchmarks.reuse_streams`) are recorded once. The old version answers in an
environment and a process of its own, ours in another, by the same text (`benchmarks.reuse_side`).
They take turns batch by batch, and so do the engine alone and the one with a memory. Times are
processor times of everything: looking up, proving, solving, remembering. A question counts once its
key is known to memory; what is asked before is answered by all sides, and compiles what a space
needs compiled. The old version is asked no more once it has taken some seconds in a case.

A time is per question; where several are asked at once, each takes its share. "Faster" is how many
times as fast as the row above, over the questions that both rows answered: all time over all time,
and median over median. The labels of an engine alone and with a memory must be equal to the bit,
values and those of the old version within a tie. With solvers underneath, only those questions
count whose answer was reused, or finished from a warm start; a row that ends in "-" has the same
certificates and an empty memory for every question, so that the rest of the gain is theirs.

    python -m benchmarks.reuse [--case NAME] [--quick] [--keep FOLDER] [--json FILE]

With ``--keep`` the old environment (the one of `benchmarks.kernels`) and the streams stay in
FOLDER, and are taken from there the next time.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple, TypeAlias

import numpy as np

from benchmarks import reuse_side
from benchmarks.kernels import COMMIT, ROOT, Side, environment, running
from benchmarks.reuse_side import FORGETS, REMEMBERS
from benchmarks.reuse_streams import SOLVERS, STREAMS, write
from benchmarks.table import (
    Bar,
    Columns,
    Row,
    end,
    is_installed,
    number,
    options,
    say,
    show,
    wide_console,
)
from rote import DataError, engines
from rote.types import FloatArray

OURS, EXACT = "ours", "Exact"
THEN_NAME = f"{EXACT}, {COMMIT}"
PATIENCE = 20.0  # seconds in a case, after which the old version is asked no more
PACKAGES = {"HiGHS": "highspy", "Gurobi": "gurobipy", "CpSat": "ortools", "Toulbar2": "pytoulbar2"}

# How many times as fast an engine must be as it was then, and with a memory as without.
THEN = {"rcv1subset1": 30.0, "grids 1 %": 5.0, "grids 5 %": 5.0, "conll04, one home": 5.0}
THEN_ELSEWHERE = 1 / 1.10
MEMORY = {
    "grids 1 %": 2.5,
    "grids 5 %": 1.4,
    "msrc21": 2.0,
    "1aho": 5.0,
    "pedigree1": 20.0,
    "Segmentation_12": 2.0,
    "citations": 2.0,
    **dict.fromkeys(("conll04", "scene", "yeast", "Promedas_70"), 1 / 1.05),
    **dict.fromkeys((f"conll04, {solver}" for solver in PACKAGES), 2.0),
}
MEMORY_MEDIAN = {"msrc21": 3.0}


@dataclass(frozen=True)
class ReuseRow(Row):
    """Times are per question; an error is the number of batches that were answered otherwise."""

    mean_us: float | None
    faster: float | None  # than the row above, in the mean
    faster_median: float | None
    questions: int
    first: int  # questions asked before memory knew their key
    reused: int
    warm: int
    cold: int


class Turn(NamedTuple):
    """What an engine answered to a batch."""

    seconds: float
    labels: str
    value: Sequence[float]
    ties: Sequence[float]
    counts: Sequence[int] | None  # reused, warm and cold


Turns: TypeAlias = Mapping[str, Mapping[int, Turn]]  # by engine and by number of the batch


class Recorded(NamedTuple):
    """A stream in a file, and which of its batches memory has all keys of."""

    path: Path
    known: Sequence[bool]


def recorded(folder: Path, case: str, *, quick: bool) -> Recorded:
    """The stream of a case; recorded where the folder does not have it."""
    path = folder / f"{case}{', quick' if quick else ''}.npz"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        write(path, STREAMS[case](quick))
    with np.load(path, allow_pickle=False) as arrays:
        batches = json.loads(str(arrays["description"]))["batches"]
    seen: set[tuple[int, int]] = set()
    known = []
    for space, keys in batches:
        named = {(space, key) for key in keys}
        known.append(named <= seen)
        seen |= named
    return Recorded(path, known)


def ask_all(
    sides: Mapping[str, Side], engines_of: Mapping[str, Sequence[str]], stream: Recorded
) -> Turns:
    """Every engine of every side, batch by batch, each time in the other order."""
    order = json.dumps({"load": str(stream.path)})
    spaces = [sides[side].ask(order)["spaces"] for side in engines_of]
    if any(own != spaces[0] for own in spaces):
        raise DataError(f"the two versions of rote do not build the same spaces of {stream.path}")
    found: defaultdict[str, dict[int, Turn]] = defaultdict(dict)
    for batch in range(len(stream.known)):
        for side in _in_order(list(engines_of), batch):
            names = _in_order(engines_of[side], batch)
            if side == COMMIT and _spent(found[THEN_NAME]) > PATIENCE:
                continue
            turns = sides[side].ask(json.dumps({"names": names, "batch": batch}))
            for name, turn in turns.items():
                engine = THEN_NAME if side == COMMIT else name
                found[engine][batch] = Turn(**turn)
    return found


def _in_order(names: Sequence[str], batch: int) -> Sequence[str]:
    return names[:: -1 if batch % 2 else 1]


def _spent(turns: Mapping[int, Turn]) -> float:
    """The seconds after the first batch, in which numba compiles."""
    return sum(turn.seconds for batch, turn in turns.items() if batch)


def rows_of(case: str, names: Sequence[str], turns: Turns, known: Sequence[bool]) -> list[ReuseRow]:
    """A row for each engine: those of rote as it is are an engine alone and then with a memory."""
    alone, memory = names[-2:]
    seen = [batch for batch, each in enumerate(known) if each and batch in turns[memory]]
    counts = np.array([turns[memory][batch].counts for batch in seen] or [[0, 0, 0]])
    counted = [k for k, (*_, cold) in zip(seen, counts, strict=False) if alone == EXACT or not cold]
    rows = []
    for above, name in pairwise(["", *names]):
        own = turns[name]
        times = _times(own, [batch for batch in counted if batch in own])
        faster = _faster(turns, above, name, counted) if above else (None, None)
        slower = _faster(turns, name, alone, counted)
        shares = counts.sum(axis=0).tolist() if name == memory else [0, 0, 0]
        rows.append(
            ReuseRow(
                case,
                name,
                1e6 * float(np.median(times)) if len(times) else None,
                slower[0],
                float(_errors(turns, alone, name)),
                1e6 * float(np.mean(times)) if len(times) else None,
                *faster,
                len(times),
                sum(len(own[batch].value) for batch in own if not known[batch]),
                *shares,
            )
        )
    return rows


def _times(turns: Mapping[int, Turn], batches: Sequence[int]) -> FloatArray:
    """The seconds of each question."""
    parts = [np.full(len(turns[k].value), turns[k].seconds / len(turns[k].value)) for k in batches]
    return np.concatenate(parts) if parts else np.empty(0)


def _faster(
    turns: Turns, than: str, name: str, counted: Sequence[int]
) -> tuple[float | None, float | None]:
    """How many times as fast over what both answered, in the mean and at the median."""
    both = [batch for batch in counted if batch in turns[than] and batch in turns[name]]
    if not both:
        return None, None
    theirs, own = _times(turns[than], both), _times(turns[name], both)
    return float(theirs.sum() / own.sum()), float(np.median(theirs) / np.median(own))


def _errors(turns: Turns, alone: str, name: str) -> int:
    """Batches that are not answered as by the engine alone: to the bit if both are of today."""
    differ = 0
    for batch, turn in turns[name].items():
        right = turns[alone][batch]
        far = np.abs(np.subtract(turn.value, right.value)) > right.ties
        differ += bool(far.any()) or (name.endswith(REMEMBERS) and turn.labels != right.labels)
    return differ


def bars_of(rows: Sequence[ReuseRow]) -> list[Bar]:
    """What each case must show, and that all answers are equal."""
    bars = []
    for row in rows:
        if row.engine == EXACT:
            asked = THEN.get(row.case, THEN_ELSEWHERE)
            bars.append(_bar(f"ENGINE, {row.case}", row.faster, asked, f"as at {COMMIT}"))
        elif row.engine.endswith(REMEMBERS):
            if row.case in MEMORY:
                name, asked = f"MEMORY, {row.case}", MEMORY[row.case]
                bars.append(_bar(name, row.faster, asked, _than(row, rows)))
            if row.case in MEMORY_MEDIAN:
                name, asked = f"MEMORY, {row.case}, median", MEMORY_MEDIAN[row.case]
                bars.append(_bar(name, row.faster_median, asked, "as the engine alone"))
    wrong = [f"{row.case} by {row.engine}" for row in rows if row.max_error]
    says = f"other answers: {', '.join(wrong)}" if wrong else "equal in all cases"
    return [*bars, Bar("ANSWERS", not wrong, says)]


def _than(row: ReuseRow, rows: Sequence[ReuseRow]) -> str:
    """What a memory is compared with, and how much of it its certificates do from nothing."""
    for other in rows:
        if other.case == row.case and other.engine.endswith(FORGETS) and row.ratio_to_ours:
            own = (other.ratio_to_ours or 0.0) / row.ratio_to_ours
            return f"as the engine alone ({own:.2f} as with an empty memory)"
    return "as the engine alone"


def _bar(name: str, faster: float | None, asked: float, than: str) -> Bar:
    if faster is None:
        return Bar(name, False, "no question was counted")
    return Bar(name, faster >= asked, f"{faster:.2f} times as fast {than}, {asked:.2f} asked for")


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table and the bars; with --json also write them."""
    about = f"Exact at {COMMIT}, now, and with a memory."
    parser = options(about, quick="fewer questions", cases=STREAMS)
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="keep version and streams there"
    )
    chosen = parser.parse_args(argv)
    console = wide_console()
    rows: list[ReuseRow] = []
    with ExitStack() as stack:
        folder = chosen.keep or Path(stack.enter_context(TemporaryDirectory(prefix="rote-old-")))
        folder = folder.resolve()
        old, here, script = environment(folder), [ROOT / "src", ROOT], reuse_side.__file__
        sides = {
            COMMIT: stack.enter_context(running(old, [], script)),
            OURS: stack.enter_context(running(Path(sys.executable), here, script)),
        }
        for case in chosen.case or STREAMS:
            stream = recorded(folder / "streams", case, quick=chosen.quick)
            say(console, f"{case}: {len(stream.known)} batches")
            if case != SOLVERS:
                turns = ask_all(sides, {COMMIT: [EXACT], OURS: with_memory(EXACT)}, stream)
                rows += rows_of(case, [THEN_NAME, *with_memory(EXACT)], turns, stream.known)
                continue
            for solver, package in PACKAGES.items():
                if solver not in reuse_side.ENGINES and not hasattr(engines, solver):
                    say(console, f"{solver} is left out: rote has no such engine")
                elif is_installed(console, solver, package):
                    names = [solver + FORGETS, *with_memory(solver)]
                    turns = ask_all(sides, {OURS: names}, stream)
                    rows += rows_of(f"conll04, {solver}", names, turns, stream.known)
    columns: Columns[ReuseRow] = (
        ("asked", lambda row: f"{row.questions}"),
        ("first", lambda row: f"{row.first}"),
        ("ms", lambda row: number(_ms(row.mean_us), ",.3f")),
        ("median", lambda row: number(_ms(row.median_us), ",.3f")),
        ("faster", lambda row: number(row.faster, ".2f")),
        ("median", lambda row: number(row.faster_median, ".2f")),
        ("reused/\nwarm/cold %", _shares),
        ("other\nanswers", lambda row: f"{row.max_error:.0f}"),
    )
    show(rows, columns, bars_of(rows), chosen.json)


def with_memory(engine: str) -> list[str]:
    """An engine alone, and the same with a memory."""
    return [engine, engine + REMEMBERS]


def _ms(microseconds: float | None) -> float | None:
    return None if microseconds is None else microseconds / 1000


def _shares(row: ReuseRow) -> str:
    """Of the questions whose key memory knew, in per cent."""
    counts = row.reused, row.warm, row.cold
    shares = (f"{100 * each / sum(counts):.0f}" for each in counts if any(counts))
    return "/".join(shares) or "-"


if __name__ == "__main__":
    end(main)
