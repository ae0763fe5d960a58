"""The structural SVM beside pystruct's, on handwritten words: one objective, one gap.

    ½ ‖w‖² + C Σ_i ξ_i,   Hamming loss, C = 0.1, the black pixels of letters and pairs of letters

Everybody learns from the 626 words of one fold until the duality gap is below 1 % of the primal
that ours ended with, or gives up after a limit. Turns go round, in processes of their own; what is
shown is the median of processor times, loading and tagging left out.

pystruct's last release builds for Python 3.6 and for none that we run on, so that it is asked in
an interpreter of its own:

    python3.6 -m venv old && old/bin/pip install "setuptools<58" numpy cvxopt scikit-learn==0.20.4
    old/bin/pip install ad3 && old/bin/pip install --no-build-isolation --no-deps pystruct
    python -m benchmarks.pystruct_speed --python old/bin/python [--repeats N] [--json FILE]
"""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from time import process_time
from typing import Any, NamedTuple

import numpy as np

from benchmarks.svm_speed import Gap
from benchmarks.table import (
    Bar,
    Columns,
    Row,
    end,
    median_turn,
    number,
    options,
    say,
    show,
    wide_console,
)
from benchmarks.taggers import pixels
from papers.data import ocr
from papers.data.examples import DataSet, Labels
from rote import DataError, Model, StructuredSVM, Tagging, prepare
from rote.metrics import token_accuracy

OURS = "StructuredSVM"
PEERS = ("FrankWolfeSSVM", "OneSlackSSVM")
C = 0.1
GAP = 0.01
DELTA = 0.01  # small enough for the gap to be reached before the learner is done
MAX_ITERATIONS = 500
LIMIT = 300.0
REPEATS = 3
FASTER = 10.0  # than each of pystruct's learners, at least
PEER = Path(__file__).parent / "peers" / "pystruct_turn.py"
Words = DataSet[ocr.Images, Labels]


class Turn(NamedTuple):
    """What one training took and came to."""

    seconds: float
    iterations: float
    primal: float
    gap: float
    accuracy: float


@dataclass(frozen=True)
class WordsRow(Row):
    """Times are per training; ``at_least`` where the limit came before the gap."""

    seconds: float
    at_least: bool
    primal: float
    gap: float
    accuracy: float
    iterations: int
    repeats: int


class Ours:
    """The words made ready off the clock."""

    def __init__(self, words: Words) -> None:
        self._task = Tagging(ocr.LABELS, pixels)
        train, self._test = words["train"], words["test"]
        self._prepared = prepare(self._task, (e.x for e in train), (e.y for e in train))
        layout = self._prepared.layout
        self._model: Model[Any, Labels] = Model(self._task, layout, layout.zeros())
        self.learn(0)

    def learn(self, seed: int) -> Turn:
        learner = StructuredSVM(C, squared=False, delta=DELTA, iterations=MAX_ITERATIONS, seed=seed)
        enough, best, start = Gap(GAP), math.inf, process_time()
        for state in learner.iterate(self._model, self._prepared):
            best = min(best, state.measures["primal"])
            if enough(state):
                break
        seconds = process_time() - start
        tagged = self._model.with_weights(state.weights).predict([e.x for e in self._test])
        accuracy = token_accuracy([e.y for e in self._test], tagged)
        return Turn(seconds, state.iteration, best, best - state.measures["dual"], accuracy)


def write_words(path: Path, words: Words) -> None:
    """As `pystruct_turn` reads them."""
    examples = [*words["train"], *words["test"]]
    np.savez(
        path,
        x=np.concatenate([e.x for e in examples]).astype(np.float64),
        y=np.array([ocr.LABELS.index(letter) for e in examples for letter in e.y]),
        lengths=np.array([len(e.y) for e in examples]),
        train=np.array(len(words["train"])),
        labels=np.array(len(ocr.LABELS)),
        C=np.array(C),
    )


def ask(python: Path, name: str, path: Path, gap: float, limit: float, seed: int) -> Turn:
    """One training of a peer, in its own interpreter."""
    command = [str(python), str(PEER), name, str(path), str(gap), str(limit), str(seed)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return Turn(*json.loads(done.stdout))


def measure(words: Words, python: Path | None, repeats: int, limit: float) -> list[WordsRow]:
    """One row per learner, ours first; without an interpreter for pystruct, ours alone."""
    ours = Ours(words)
    turns: dict[str, list[Turn]] = {OURS: []}
    with TemporaryDirectory() as folder:
        path = Path(folder) / "words.npz"
        write_words(path, words)
        for repeat in range(repeats):
            own = ours.learn(repeat)
            turns[OURS].append(own)
            for name in PEERS if python is not None else ():
                assert python is not None
                theirs = ask(python, name, path, GAP * own.primal, limit, repeat)
                turns.setdefault(name, []).append(theirs)
    median = {name: median_turn(own) for name, own in turns.items()}
    return [row_of(name, own, median[OURS], repeats, limit) for name, own in median.items()]


def row_of(name: str, turn: Turn, ours: Turn, repeats: int, limit: float) -> WordsRow:
    return WordsRow(
        ocr.NAME,
        name,
        median_us=1e6 * turn.seconds,
        ratio_to_ours=turn.seconds / ours.seconds,
        max_error=None,  # weights within a gap of the optimum differ
        seconds=turn.seconds,
        at_least=turn.seconds > limit,
        primal=turn.primal,
        gap=turn.gap,
        accuracy=turn.accuracy,
        iterations=int(turn.iterations),
        repeats=repeats,
    )


def bars_of(rows: Sequence[WordsRow]) -> list[Bar]:
    """Judge the rows, the first of which is ours."""
    if len(rows) == 1:
        return [Bar(ocr.NAME, met=False, says="pystruct was not measured")]
    return [
        Bar(
            ocr.NAME,
            (row.ratio_to_ours or 0.0) >= FASTER,
            f"{row.ratio_to_ours:.0f} times faster than {row.engine}, at least {FASTER:.0f}",
        )
        for row in rows[1:]
    ]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table and the bars; with --json also write them."""
    parser = options("The structural SVM beside pystruct's.", repeats=REPEATS)
    parser.add_argument("--python", type=Path, metavar="FILE", help="one that has pystruct")
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="S", help="seconds of a peer")
    chosen = parser.parse_args(argv)
    console = wide_console()
    try:
        words = ocr.load_ocr().small(0)
    except DataError as error:
        say(console, f"{ocr.NAME} is skipped: {error}")
        return
    if chosen.python is None:
        say(console, "pystruct is left out: --python names no interpreter that has it")
    rows = measure(words, chosen.python, chosen.repeats, chosen.limit)
    columns: Columns[WordsRow] = (
        ("seconds", lambda row: f"{'> ' if row.at_least else ''}{row.seconds:.1f}"),
        ("ratio\nto ours", lambda row: number(row.ratio_to_ours, ".1f")),
        ("primal", lambda row: f"{row.primal:.1f}"),
        ("gap", lambda row: f"{row.gap:.1f}"),
        ("accuracy", lambda row: f"{row.accuracy:.2%}"),
        ("iterations", lambda row: str(row.iterations)),
    )
    show(rows, columns, bars_of(rows), chosen.json)


if __name__ == "__main__":
    end(main)
