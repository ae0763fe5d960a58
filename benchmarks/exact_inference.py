"""`Exact` beside Gurobi, HiGHS, toulbar2 and CP-SAT, on the same problems, one thread each.

Engines take turns, a few rounds of each case; a turn solves all problems of the case, and its time
is divided by their number. What is shown is the median of these times. Every engine is warmed up
first, on another problem of the same space: ours has its order of elimination chosen, a peer has
its model built where it can be reused. Answers are judged by their labels alone, whose value is
added up by one function for all.

The bars: on conll04, `Exact` is 50 times faster than Gurobi, or more; elsewhere it does not need
more than twice the time of the fastest peer. Everywhere, all optima are equal.

    python -m benchmarks.exact_inference [--case NAME] [--quick] [--time-limit S] [--json FILE]
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from math import inf
from time import perf_counter
from typing import Protocol

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks.peers import Peer, PeerFailed, Unfit, all_peers
from benchmarks.problems import CASES, Case
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
from rote import DataError, Exact, Solutions
from rote.types import BoolArray, FloatArray, IntArray

OURS = "Exact"
ROUNDS, QUICK_ROUNDS = 5, 3
EQUAL = 1e-9
BETTER, BREAKS = "BETTER THAN OURS", "BREAKS RULES"
GUROBI_TIMES = 50.0  # the bar on conll04
PEER_TIMES = 2.0  # the bar elsewhere
TURN_SECONDS = 0.05  # a turn that is over sooner is repeated
PATIENCE = 30.0  # an engine that has spent this on a case takes no further turn
WARM_UP_SECONDS = 1.0  # to warm up is not to finish


@dataclass(frozen=True)
class SolverRow(Row):
    """Times are per problem. What was not measured is None, and ``note`` says why."""

    note: str = ""
    at_least: bool = False  # some problem was stopped, so the time is a lower bound
    slowest_us: float | None = None  # of the problems, where they are timed one by one
    repeats: int = 0
    problems: int = 0


@dataclass(frozen=True, eq=False)
class Turn:
    """All problems of a case, solved once.

    Answers are looked at when the turns are over: doing so in between would leave the
    processor's caches in another state than solving does.
    """

    case: Case
    seconds: float
    labels: Sequence[IntArray]  # per group; -1 stands for no answer
    finished: Sequence[BoolArray]  # per group: which problems, before the time limit
    slowest: float | None = None  # seconds, where problems are timed one by one

    @property
    def stopped(self) -> int:
        return sum(int((~each).sum()) for each in self.finished)

    @property
    def proved(self) -> BoolArray:
        """Per problem: finished before the time limit."""
        return np.concatenate(self.finished)

    @cached_property
    def values(self) -> FloatArray:
        """Per problem; nan where nothing was found."""
        values = []
        for group, labels in zip(self.case.groups, self.labels, strict=True):
            found = (labels >= 0).all(axis=1)
            value = np.full(len(labels), np.nan)
            value[found] = group.space.value(group.scores[found], labels[found])
            values.append(value)
        return np.concatenate(values)

    @cached_property
    def broken(self) -> int:
        """How many answers break a rule."""
        pairs = zip(self.case.groups, self.labels, strict=True)
        return sum(
            int((~group.space.holds(labels[(labels >= 0).all(axis=1)])).sum())
            for group, labels in pairs
        )


class Contestant(Protocol):
    """What takes turns."""

    @property
    def name(self) -> str: ...

    def warm_up(self, case: Case) -> None: ...

    def turn(self, case: Case) -> Turn: ...


class Batches:
    """`Exact`, one call per space.

    It has no time limit, unless some problem needs more than the peers are given; this is
    tried beforehand, and helps no later call, since `Exact` remembers nothing of the scores.
    """

    name = OURS

    def __init__(self, limit: float) -> None:
        self.engine = Exact()
        self._limit = limit

    def warm_up(self, case: Case) -> None:
        limited = Exact(time_limit=self._limit)
        probe = [
            limited.solve(group.space, np.concatenate([group.warm_up, group.scores]))
            for group in case.groups
        ]
        self.engine = Exact() if all(each.optimal.all() for each in probe) else limited
        for group in case.groups:
            self.engine.solve(group.space, group.warm_up)

    def turn(self, case: Case) -> Turn:
        start = perf_counter()
        found = [self.engine.solve(group.space, group.scores) for group in case.groups]
        seconds = perf_counter() - start
        return Turn(
            case, seconds, [each.labels for each in found], [each.optimal for each in found]
        )


class OneAtATime:
    """`Exact`, one call per problem."""

    name = f"{OURS}, one at a time"

    def __init__(self, batches: Batches) -> None:
        self._batches = batches

    def warm_up(self, case: Case) -> None:
        """`Batches` has planned everything, and knows which engine to use."""

    def turn(self, case: Case) -> Turn:
        engine = self._batches.engine
        found: list[list[Solutions]] = []
        times = [perf_counter()]
        for group in case.groups:
            found.append([])
            for scores in group.scores:
                found[-1].append(engine.solve(group.space, scores))
                times.append(perf_counter())
        labels = [np.concatenate([each.labels for each in answers]) for answers in found]
        proved = [np.concatenate([each.optimal for each in answers]) for answers in found]
        return Turn(case, times[-1] - times[0], labels, proved, float(np.diff(times).max()))


class Beside:
    """A peer, one problem after the other, by its own clock."""

    def __init__(self, peer: Peer, limit: float) -> None:
        self._peer = peer
        self._limit = limit

    @property
    def name(self) -> str:
        return self._peer.name

    def warm_up(self, case: Case) -> None:
        """Each turn builds the models and warms them up, off the clock."""

    def turn(self, case: Case) -> Turn:
        answers, proved = [], []
        times = []
        for group in case.groups:
            labels = np.full((len(group.scores), len(group.space.variables)), -1, dtype=np.int64)
            session = self._peer.open(group.space)
            session.solve(group.warm_up[0], min(self._limit, WARM_UP_SECONDS))
            given = [session.solve(scores, self._limit) for scores in group.scores]
            session.close()
            for row, answer in zip(labels, given, strict=True):
                if answer.labels is not None:
                    row[:] = answer.labels
            answers.append(labels)
            proved.append(np.array([answer.proved for answer in given]))
            times += [answer.seconds for answer in given]
        return Turn(case, sum(times), answers, proved, max(times))


@dataclass
class Score:
    """What a contestant has shown so far in one case."""

    contestant: Contestant
    turns: list[Turn] = field(default_factory=list)
    excuse: str = ""  # why it takes no further turn

    @property
    def tired(self) -> bool:
        return bool(self.excuse) or sum(turn.seconds for turn in self.turns) > PATIENCE

    def play(self, case: Case) -> None:
        """One turn, or several short ones."""
        start = perf_counter()
        try:
            while not self.turns or perf_counter() - start < TURN_SECONDS:
                self.turns.append(self.contestant.turn(case))
                if self.turns[-1].stopped:
                    self.excuse = "stopped"
                    return
        except (Unfit, PeerFailed) as error:
            self.excuse = str(error)


def compete(
    case: Case, contestants: Sequence[Contestant], rounds: int, tick: Callable[[], None]
) -> list[SolverRow]:
    """One row per contestant; the first one is ours."""
    scores = [Score(contestant) for contestant in contestants]
    for score in scores:
        score.contestant.warm_up(case)
    for _ in range(rounds):
        for score in scores:
            if not score.tired:
                score.play(case)
            tick()
    ours = scores[0]
    return [row_of(case, score, ours) for score in scores]


def row_of(case: Case, score: Score, ours: Score) -> SolverRow:
    """What the table says of one contestant; where ours was stopped, nothing is compared."""
    name = score.contestant.name
    if not score.turns:
        return SolverRow(case.name, name, None, None, None, score.excuse, problems=case.problems)
    median = statistics.median(turn.seconds for turn in score.turns)
    reference = statistics.median(turn.seconds for turn in ours.turns)
    best = np.where(ours.turns[0].proved, ours.turns[0].values, np.nan)
    above = np.concatenate([turn.values - best for turn in score.turns])
    proved = np.concatenate([turn.proved for turn in score.turns]) & ~np.isnan(above)
    error = float(np.abs(above[proved]).max()) if proved.any() else None
    stopped = max(turn.stopped for turn in score.turns)
    slowest = [turn.slowest for turn in score.turns if turn.slowest is not None]
    notes = []
    if stopped:
        notes.append(f"{stopped} of {case.problems} stopped")
    elif score.excuse:
        notes.append(score.excuse)
    if any(turn.broken for turn in score.turns):
        notes.append(BREAKS)
        error = inf
    elif np.nanmax(above, initial=-inf) > EQUAL:
        notes.append(BETTER)
    elif error is not None and error > EQUAL:
        notes.append("misses the optimum")
    return SolverRow(
        case.name,
        name,
        median * 1e6 / case.problems,
        median / reference,
        error,
        "; ".join(notes),
        at_least=stopped > 0,
        slowest_us=1e6 * statistics.median(slowest) if slowest else None,
        repeats=len(score.turns),
        problems=case.problems,
    )


def bar_of(case: str, rows: Sequence[SolverRow]) -> Bar:
    """Judge the rows of one case, the first of which is ours."""
    if rows[0].at_least:
        return Bar(case, met=False, says=f"ours: {rows[0].note}")
    settled = [row for row in rows if row.median_us is not None and not row.at_least]
    peers = [row for row in settled if not row.engine.startswith(OURS)]
    error = max(row.max_error for row in rows if row.max_error is not None)
    # A stopped peer may be below our optimum, but not above it.
    equal = error <= EQUAL and not any(BETTER in row.note for row in rows)
    optima = f"all optima equal to {EQUAL:.0e}" if equal else "OPTIMA DIFFER"
    if case == "conll04":
        gurobi = next((row.ratio_to_ours for row in peers if row.engine == "Gurobi"), None)
        if gurobi is None:
            return Bar(case, met=False, says=f"Gurobi was not measured; {optima}")
        says = f"{gurobi:.0f} times faster than Gurobi, {GUROBI_TIMES:.0f} asked for; {optima}"
        return Bar(case, gurobi >= GUROBI_TIMES and equal, says)
    if not peers:
        return Bar(case, equal, f"no peer finished; {optima}")
    fastest = min(peers, key=lambda row: row.median_us or inf)
    ratio = fastest.ratio_to_ours or inf
    than = f"{ratio:.1f} times faster" if ratio >= 1 else f"{1 / ratio:.1f} times slower"
    says = f"{than} than the fastest peer, {fastest.engine}; {optima}"
    return Bar(case, ratio * PEER_TIMES >= 1 and equal, says)


def _at_least(row: SolverRow, shown: str) -> str:
    return f">{shown}" if row.at_least and shown != "-" else shown


def _time(microseconds: float | None) -> str:
    return number(microseconds, ",.1f" if (microseconds or 0) < 1000 else ",.0f")


def _ratio(ratio: float | None) -> str:
    return number(ratio, ",.2f" if (ratio or 0) < 10 else ",.0f")


COLUMNS: Columns[SolverRow] = (
    ("median µs\nper problem", lambda row: _at_least(row, _time(row.median_us))),
    ("ratio\nto ours", lambda row: _at_least(row, _ratio(row.ratio_to_ours))),
    ("slowest\nproblem", lambda row: _at_least(row, _time(row.slowest_us))),
    ("max\nerror", lambda row: number(row.max_error, ".1e")),
)


def cases(names: Sequence[str], *, quick: bool, console: Console) -> Iterator[Case]:
    """The cases that can be had here; says of others why not."""
    for name in names:
        try:
            case = CASES[name](quick)
        except (DataError, ImportError) as error:
            say(console, f"{name} is skipped: {error}")
            continue
        say(console, f"{case.name}: {case.about}")
        yield case


def run(
    names: Sequence[str], *, quick: bool, limit: float, console: Console
) -> tuple[list[SolverRow], list[Bar]]:
    """All rows and bars of these cases."""
    rounds = QUICK_ROUNDS if quick else ROUNDS
    rows: list[SolverRow] = []
    bars: list[Bar] = []
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with ExitStack() as stack:
        peers = []
        for peer in all_peers():
            if is_installed(console, peer.name, peer.package):
                stack.callback(peer.close)
                peers.append(Beside(peer, limit))
        ours = Batches(limit)
        contestants: list[Contestant] = [ours, OneAtATime(ours), *peers]
        # Drawn between turns only: a thread that draws would share the clock with ours.
        bar = Progress(
            *columns, TimeElapsedColumn(), console=console, transient=True, auto_refresh=False
        )
        stack.enter_context(bar)
        task = bar.add_task("turns", total=len(names) * rounds * len(contestants))

        def tick() -> None:
            bar.advance(task)
            bar.refresh()

        for case in cases(names, quick=quick, console=console):
            bar.update(task, description=case.name)
            shown = compete(case, contestants, rounds, tick)
            rows += shown
            bars.append(bar_of(case.name, shown))
    return rows, bars


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table and the bars; with --json also write them."""
    parser = options(
        "Exact inference beside other solvers.", quick="fewer problems and rounds", cases=CASES
    )
    parser.add_argument(
        "--time-limit", type=float, default=20.0, metavar="S", help="seconds per problem"
    )
    chosen = parser.parse_args(argv)
    if not chosen.time_limit > 0:
        parser.error(f"--time-limit is more than 0, got {chosen.time_limit}")
    names = chosen.case or list(CASES)
    rows, bars = run(names, quick=chosen.quick, limit=chosen.time_limit, console=wide_console())
    show(rows, COLUMNS, bars, chosen.json)


if __name__ == "__main__":
    end(main)
