"""What threads save: `n_jobs` of engines, of prediction and of learning, beside one thread.

Kernels release the GIL, so that threads of one process share a space, its plans and the scores
without copies. Each case is timed with one thread and with several, in turn; what is shown is the
median of wall-clock and of processor times. Answers must be equal to the bit. Wall-clock times say
something only where nothing else runs, so the load of the machine is printed beside them.

    python -m benchmarks.threads [--jobs N] [--repeats N] [--json FILE]

The bars: half of the cases take at most 1 / (0.7 N) of the wall-clock time of one thread, and no
case more than 1.15 of its processor time.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from time import perf_counter, process_time
from typing import NamedTuple

import numpy as np

from benchmarks.problems import grid, random_entities
from benchmarks.table import (
    Bar,
    Columns,
    Row,
    end,
    in_turn,
    median_turn,
    number,
    options,
    say,
    show,
    wide_console,
)
from rote import RGS, BranchAndBound, Engine, Exact, Hamming, Milp, Model, Space, SpaceBuilder
from rote.learning.loss_augmented import most_violated_outputs
from rote.model.dataset import prepare
from rote.tasks.tagging import Tagging
from rote.types import AnyArray, FloatArray

JOBS, REPEATS = 2, 5
LEAST_SHARE = 0.7  # of the speed-up that so many processors could give
MOST_WORK = 1.15


class Times(NamedTuple):
    """Of one call, in seconds."""

    wall: float
    processor: float


@dataclass(frozen=True)
class ThreadRow(Row):
    """Several threads beside one; the median is the wall-clock time with several."""

    alone_us: float
    speedup: float
    work: float  # processor time over that of one thread


Work = Callable[[int], Sequence[AnyArray]]  # what some threads find, as arrays


def chain(length: int = 30, labels: int = 20) -> Space:
    builder = SpaceBuilder()
    names = [str(label) for label in range(labels)]
    variables = [builder.variable(f"x{j}", names) for j in range(length)]
    for first, second in pairwise(variables):
        builder.factor(first, second)
    return builder.build()


def solved(engine: Engine, space: Space, scores: FloatArray, n_jobs: int) -> Sequence[AnyArray]:
    return engine.solve(space, scores, n_jobs=n_jobs).arrays


def tagger(count: int = 1500) -> tuple[Work, Work]:
    """The inference of a tagger in prediction, and in learning with the Hamming loss."""
    rng = np.random.default_rng(0)
    labels = tuple(map(str, range(25)))
    xs = [rng.normal(size=(length, 20)) for length in rng.integers(15, 25, size=count)]
    ys = [tuple(rng.choice(labels, size=len(x))) for x in xs]
    task = Tagging(labels, list)
    prepared = prepare(task, xs, ys)
    weights = rng.normal(size=prepared.layout.size)
    model = Model(task, prepared.layout, weights)

    def predicted(n_jobs: int) -> list[AnyArray]:
        return [array for _, found in model.answers(prepared, n_jobs) for array in found.arrays]

    def violated(n_jobs: int) -> list[AnyArray]:
        found = list(most_violated_outputs(model.engine, prepared, weights, Hamming(), n_jobs))
        return [np.concatenate([each.slacks for each in found])]

    return predicted, violated


def cases() -> dict[str, Work]:
    """What is done by one thread or by several."""
    rng = np.random.default_rng(0)
    sequence, entities, cells = chain(), random_entities(10, 1000), grid(10, 4, 100)
    scores = rng.normal(size=(1500, sequence.parts))
    predicted, violated = tagger()
    (pairs,), (squares,) = entities.groups, cells.groups
    return {
        "chains, Exact": partial(solved, Exact(), sequence, scores),
        "10 entities, Exact": partial(solved, Exact(), pairs.space, pairs.scores),
        "grids, BranchAndBound": partial(solved, BranchAndBound(), squares.space, squares.scores),
        "grids, Milp": partial(solved, Milp(), squares.space, squares.scores[:12]),
        "grids, RGS": partial(solved, RGS(), squares.space, squares.scores),
        "tagger, prediction": predicted,
        "tagger, learning": violated,
    }


def timed(work: Work, n_jobs: int) -> Times:
    wall, processor = perf_counter(), process_time()
    work(n_jobs)
    return Times(perf_counter() - wall, process_time() - processor)


def row_of(case: str, work: Work, jobs: int, repeats: int) -> ThreadRow:
    """One case; the first calls build what the space keeps, and are compared."""
    pairs = zip(work(1), work(jobs), strict=True)
    same = all(one.tobytes() == other.tobytes() for one, other in pairs)
    takes: dict[str, Callable[[int], Times]] = {
        "alone": lambda _: timed(work, 1),
        "shared": lambda _: timed(work, jobs),
    }
    alone, shared = (median_turn(each) for each in in_turn(takes, repeats).values())
    error = 0.0 if same else float("inf")
    speedup, more = alone.wall / shared.wall, shared.processor / alone.processor
    name = f"{jobs} threads"
    return ThreadRow(case, name, 1e6 * shared.wall, None, error, 1e6 * alone.wall, speedup, more)


def bars_of(rows: Sequence[ThreadRow], jobs: int) -> list[Bar]:
    """Whether threads are worth it, and change nothing."""
    different = [row.case for row in rows if row.max_error]
    speedup, least = statistics.median(row.speedup for row in rows), LEAST_SHARE * jobs
    most = max(rows, key=lambda row: row.work)
    return [
        Bar("answers", not different, f"different in {', '.join(different) or 'no case'}"),
        Bar("wall-clock", speedup >= least, f"median {speedup:.2f}, {least:.2f} asked for"),
        Bar("processor", most.work <= MOST_WORK, f"at most {most.work:.2f}, in {most.case}"),
    ]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table and the bars; with --json also write them."""
    parser = options("What threads save.", repeats=REPEATS)
    parser.add_argument("--jobs", type=int, default=JOBS, metavar="N", help="how many threads")
    chosen = parser.parse_args(argv)
    before = os.getloadavg()[0]
    rows = [row_of(name, work, chosen.jobs, chosen.repeats) for name, work in cases().items()]
    load = f"load {before:.1f} before, {os.getloadavg()[0]:.1f} after"
    say(wide_console(), f"{os.cpu_count()} processors, {load}")
    columns: Columns[ThreadRow] = (
        ("1 thread s", lambda row: number(row.alone_us / 1e6, ".3f")),
        ("wall-clock s", lambda row: number((row.median_us or 0.0) / 1e6, ".3f")),
        ("times faster", lambda row: number(row.speedup, ".2f")),
        ("processor time", lambda row: number(row.work, ".2f")),
    )
    show(rows, columns, bars_of(rows, chosen.jobs), chosen.json, load=before)


if __name__ == "__main__":
    end(main)
