"""The structural SVM beside other taggers: time, memory and accuracy on tweets.

Everybody sees the same tweets with the same names of features, and learns to its own end: ours
until its duality gap is below 1 % of the best primal so far, CRFsuite's passive-aggressive
learner until it makes no mistake, its L-BFGS and scikit-learn's LinearSVC (for which a token is
an example) until they say so, and our perceptron for 10 epochs; ours stands there once more after
5 iterations. All other settings are those that each has by default.

Each turn is a process of its own, whose peak memory is that of everything it did: imports, data,
features, training and tagging. Turns go round; what is shown is the median. Loading and
extracting features are not in the times; see `benchmarks.taggers` for how they are taken.

    python -m benchmarks.svm_speed [--repeats N] [--train FILE --test FILE] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import math
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from rich.console import Console

from benchmarks.table import (
    Bar,
    Columns,
    Row,
    end,
    in_turn,
    is_installed,
    median_turn,
    number,
    options,
    say,
    show,
    wide_console,
)
from benchmarks.taggers import CRFsuite, Ours, Tagger, TokenByToken, tweets
from papers.data import twitter_pos
from papers.data.folder import data_folder
from rote import DataError, Perceptron, State, StructuredSVM
from rote.metrics import token_accuracy

FEW = 5  # iterations of an SVM that is not waited for
OURS, SHORT, PRICE = "StructuredSVM", f"StructuredSVM, {FEW} iterations", "Perceptron"
GAP = 0.01
DELTA = 0.01  # small enough for the gap to be reached before the learner is done
MAX_ITERATIONS = 500
EPOCHS = 10
NO_LOSS = 1e-6  # a mean loss that CRFsuite takes for none
REPEATS = 3
ROOT = Path(__file__).parents[1]


class Gap:
    """Whether the best primal so far is close to the dual, relative to itself."""

    def __init__(self, enough: float) -> None:
        self._enough = enough
        self._best = math.inf

    def __call__(self, state: State) -> bool:
        primal = state.measures["primal"]
        if primal < self._best:  # it is nan where it was not worked out
            self._best = primal
        return self._best - state.measures["dual"] < self._enough * self._best < math.inf


def svm(seed: int) -> StructuredSVM:
    return StructuredSVM(delta=DELTA, iterations=MAX_ITERATIONS, seed=seed)


TAGGERS: Mapping[str, Callable[[], Tagger]] = MappingProxyType(
    {
        OURS: lambda: Ours(OURS, svm, Gap(GAP), warm_up=4),
        SHORT: lambda: Ours(SHORT, lambda seed: StructuredSVM(iterations=FEW, seed=seed)),
        PRICE: lambda: Ours(PRICE, lambda seed: Perceptron(iterations=EPOCHS, seed=seed)),
        "CRFsuite pa": lambda: CRFsuite("CRFsuite pa", "pa", epsilon=NO_LOSS),
        "CRFsuite lbfgs": lambda: CRFsuite("CRFsuite lbfgs", "lbfgs"),
        "LinearSVC": lambda: TokenByToken("LinearSVC"),
    }
)
PACKAGES: Mapping[str, str] = MappingProxyType(
    {
        "CRFsuite pa": CRFsuite.package,
        "CRFsuite lbfgs": CRFsuite.package,
        "LinearSVC": TokenByToken.package,
    }
)


class Files(NamedTuple):
    """Tweets to train on and to test on."""

    train: Path
    test: Path


class Turn(NamedTuple):
    """What one process says of itself."""

    seconds: float
    iterations: int
    accuracy: float
    peak_mb: float


@dataclass(frozen=True)
class LearnerRow(Row):
    """Times are per training."""

    seconds: float
    peak_mb: float
    peak_ratio_to_ours: float
    accuracy: float
    iterations: int
    repeats: int


def take_turn(engine: str, files: Files, seed: int) -> Turn:
    """Load, learn and tag in this process."""
    corpus = tweets(*files)
    tagger = TAGGERS[engine]()
    tagger.load(corpus)
    learned = tagger.learn(seed)
    accuracy = token_accuracy(corpus.gold, learned.tagged)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    to_mb = 1e-6 if sys.platform == "darwin" else 1.024e-3  # bytes there, kibibytes elsewhere
    return Turn(learned.seconds, learned.iterations, accuracy, peak * to_mb)


def turn_apart(engine: str, files: Files, seed: int) -> Turn:
    """`take_turn` in a fresh process.

    On Linux its peak begins with that of this process, which therefore stays small: it neither
    reads tweets nor loads a learner's libraries.
    """
    command = [sys.executable, "-m", "benchmarks.svm_speed", "--turn", engine, str(seed)]
    command += ["--train", str(files.train.resolve()), "--test", str(files.test.resolve())]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    return Turn(*json.loads(done.stdout))


def measure(engines: Sequence[str], files: Files, repeats: int) -> list[LearnerRow]:
    """One row per engine; the first one is ours."""
    takes = {e: lambda seed, e=e: turn_apart(e, files, seed) for e in engines}
    median = {engine: median_turn(own) for engine, own in in_turn(takes, repeats).items()}
    ours = median[engines[0]]
    return [
        LearnerRow(
            twitter_pos.NAME,
            engine,
            median_us=1e6 * own.seconds,
            ratio_to_ours=own.seconds / ours.seconds,
            max_error=None,  # learners of different problems have no common answer
            seconds=own.seconds,
            peak_mb=own.peak_mb,
            peak_ratio_to_ours=own.peak_mb / ours.peak_mb,
            accuracy=own.accuracy,
            iterations=int(own.iterations),
            repeats=repeats,
        )
        for engine, own in median.items()
    ]


def bar_of(rows: Sequence[LearnerRow]) -> Bar:
    """Ours to a gap is as good as the best of the others."""
    ours, *others = rows
    best = max(others, key=lambda row: row.accuracy)
    times = ours.seconds / next(row.seconds for row in rows if row.engine == PRICE)
    says = (
        f"{OURS} to a gap of {GAP:.0%} has {ours.accuracy:.2%} right, {best.engine} has "
        f"{best.accuracy:.2%}; it takes {times:.1f} times the time of {EPOCHS} epochs of {PRICE}"
    )
    return Bar(twitter_pos.NAME, ours.accuracy >= best.accuracy, says)


def installed(console: Console) -> list[str]:
    """The engines that can be had here; says of others why not."""
    return [each for each in TAGGERS if is_installed(console, each, PACKAGES.get(each, "rote"))]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table and the bar; with --json also write them."""
    parser = options("The structural SVM beside other taggers.", repeats=REPEATS)
    parser.add_argument("--train", type=Path, metavar="FILE", help="other tweets to train on")
    parser.add_argument("--test", type=Path, metavar="FILE", help="other tweets to test on")
    parser.add_argument("--turn", nargs=2, metavar=("ENGINE", "SEED"), help=argparse.SUPPRESS)
    chosen = parser.parse_args(argv)
    if (chosen.train is None) != (chosen.test is None):
        parser.error("--train and --test are given together")
    console = wide_console()
    try:
        files = Files(chosen.train, chosen.test) if chosen.train else tweets_here()
    except DataError as error:
        say(console, f"{twitter_pos.NAME} is skipped: {error}")
        return
    if chosen.turn:
        engine, seed = chosen.turn
        print(json.dumps(take_turn(engine, files, int(seed))))
        return
    rows = measure(installed(console), files, chosen.repeats)
    columns: Columns[LearnerRow] = (
        ("seconds", lambda row: f"{row.seconds:.2f}"),
        ("ratio\nto ours", lambda row: number(row.ratio_to_ours, ".2f")),
        ("peak MB", lambda row: f"{row.peak_mb:.0f}"),
        ("ratio\nto ours", lambda row: f"{row.peak_ratio_to_ours:.2f}"),
        ("accuracy", lambda row: f"{row.accuracy:.2%}"),
        ("iterations", lambda row: str(row.iterations)),
    )
    show(rows, columns, [bar_of(rows)], chosen.json)


def tweets_here() -> Files:
    """The files of the data set."""
    folder = data_folder(twitter_pos.NAME)
    return Files(*(folder / twitter_pos.FILES[part] for part in ("train", "test")))


if __name__ == "__main__":
    end(main)
