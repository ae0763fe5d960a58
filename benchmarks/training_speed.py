"""The averaged perceptron beside CRFsuite's: seconds per epoch, and how good it is afterwards.

Both see the same sentences, the same names of features and as many epochs. They take turns; what is
shown is the median over turns, each of which is another order of the sentences. Loading data, and
extracting features are not in the times; see `benchmarks.taggers` for how they are taken. Our own
time is measured for parts of the data, too, to see whether it grows as they do.

The bars: ours needs at most twice the time of CRFsuite, and its accuracy is not lower by more than
a standard error of a share of that many tokens.

    python -m benchmarks.training_speed [--case NAME] [--quick] [--repeats N] [--json FILE]
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
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
    number,
    options,
    say,
    show,
    wide_console,
)
from benchmarks.taggers import (
    Corpus,
    CRFsuite,
    Learned,
    Ours,
    Tagger,
    chunking,
    letters,
    standard_error,
)
from rote import DataError, Perceptron
from rote.metrics import chunk_f1, token_accuracy

OURS, PEER = "Perceptron", "CRFsuite ap"
EPOCHS, QUICK_EPOCHS = 10, 3
REPEATS = 3
QUICK_SHARE = 8  # of the data, when it has to be quick
PARTS = (8, 4, 2)  # the shares of the data for which ours is measured again
PEER_TIMES = 2.0  # the bar
CASES: Mapping[str, Callable[[], Corpus]] = MappingProxyType(
    {"conll2000": chunking, "ocr": letters}
)
ABSENT = (
    "Not beside us: pystruct, whose last release, 0.3.2, does not build for Python 3.11 or newer "
    "(benchmarks.pystruct_speed asks it in an older one); SVM-hmm, which is in no package index."
)


@dataclass(frozen=True)
class EpochRow(Row):
    """Times are per epoch. ``growth`` is that per sequence over the same with all the data."""

    seconds_per_epoch: float
    growth: float | None
    accuracy: float
    chunk_f1: float | None
    sequences: int
    tokens_of_test: int
    epochs: int
    repeats: int


class Entry(NamedTuple):
    """A tagger, what it learns from, and the case under which the table has it."""

    case: str
    corpus: Corpus
    tagger: Tagger


def perceptron(epochs: int) -> Ours:
    return Ours(OURS, lambda seed: Perceptron(iterations=epochs, average=True, seed=seed))


def entries(corpus: Corpus, epochs: int, console: Console) -> list[Entry]:
    """Ours first, then the peer if it is installed, then ours with 1/8, 1/4 and 1/2 of the data."""
    found = [Entry(corpus.name, corpus, perceptron(epochs))]
    if is_installed(console, PEER, CRFsuite.package):
        found.append(Entry(corpus.name, corpus, CRFsuite(PEER, "ap", max_iterations=epochs)))
    for parts in PARTS:
        share = corpus.share(parts)
        found.append(Entry(f"{corpus.name}, 1/{parts}", share, perceptron(epochs)))
    return found


def compete(entered: Sequence[Entry], repeats: int) -> list[EpochRow]:
    """One row per entry; the first one is ours with all the data."""
    for entry in entered:
        entry.tagger.load(entry.corpus)
    takes = {f"{k}": entry.tagger.learn for k, entry in enumerate(entered)}
    turns = list(in_turn(takes, repeats).values())
    ours = _per_epoch(turns[0]), len(entered[0].corpus.train)
    return [row_of(entry, own, *ours) for entry, own in zip(entered, turns, strict=True)]


def row_of(entry: Entry, turns: Sequence[Learned], seconds: float, sequences: int) -> EpochRow:
    """What the table says of one entry, given the time of ours for all the sequences."""
    gold, own = entry.corpus.gold, len(entry.corpus.train)
    is_ours = entry.tagger.name == OURS
    f1 = None
    if entry.corpus.chunks:
        f1 = statistics.median(chunk_f1(gold, turn.tagged).micro.f1 for turn in turns)
    taken = _per_epoch(turns)
    return EpochRow(
        entry.case,
        entry.tagger.name,
        median_us=1e6 * taken,
        ratio_to_ours=taken / seconds if own == sequences else None,
        max_error=None,  # taggers that learn differently have no common answer
        seconds_per_epoch=taken,
        growth=taken / own / (seconds / sequences) if is_ours else None,
        accuracy=statistics.median(token_accuracy(gold, turn.tagged) for turn in turns),
        chunk_f1=f1,
        sequences=own,
        tokens_of_test=sum(map(len, gold)),
        epochs=turns[0].iterations,
        repeats=len(turns),
    )


def _per_epoch(turns: Sequence[Learned]) -> float:
    return statistics.median(turn.seconds / turn.iterations for turn in turns)


def bar_of(case: str, rows: Sequence[EpochRow]) -> Bar:
    """Judge the rows of one case, the first of which is ours."""
    ours = rows[0]
    peer = next((row for row in rows if row.engine == PEER), None)
    if peer is None:
        return Bar(case, met=False, says=f"{PEER} was not measured")
    times = ours.seconds_per_epoch / max(peer.seconds_per_epoch, 1e-9)
    spread = standard_error(peer.accuracy, peer.tokens_of_test)
    met = times <= PEER_TIMES and ours.accuracy >= peer.accuracy - spread
    than = f"{times:.2f} times the time of {PEER}, at most {PEER_TIMES:.0f} asked for"
    says = (
        f"{than}; accuracy {ours.accuracy:.2%} beside {peer.accuracy:.2%}, "
        f"of which a standard error is {spread:.2%}"
    )
    return Bar(case, met, says)


COLUMNS: Columns[EpochRow] = (
    ("training\nsequences", lambda row: f"{row.sequences:,}"),
    ("seconds\nper epoch", lambda row: f"{row.seconds_per_epoch:.3f}"),
    ("ratio\nto ours", lambda row: number(row.ratio_to_ours, ".2f")),
    ("growth", lambda row: number(row.growth, ".2f")),
    ("accuracy", lambda row: f"{row.accuracy:.2%}"),
    ("chunk F1", lambda row: number(row.chunk_f1, ".2%")),
)


def run(
    names: Sequence[str], *, quick: bool, repeats: int, console: Console
) -> tuple[list[EpochRow], list[Bar]]:
    """All rows and bars of these cases; says of a case without data why it is skipped."""
    epochs = QUICK_EPOCHS if quick else EPOCHS
    rows: list[EpochRow] = []
    bars: list[Bar] = []
    for name in names:
        try:
            corpus = CASES[name]()
        except DataError as error:
            say(console, f"{name} is skipped: {error}")
            continue
        if quick:
            corpus = corpus.share(QUICK_SHARE)
        say(console, f"{corpus.about}; {epochs} epochs")
        shown = compete(entries(corpus, epochs, console), repeats)
        bars.append(bar_of(name, shown))
        rows += shown
    return rows, bars


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table and the bars; with --json also write them."""
    about = "The averaged perceptron beside CRFsuite's."
    parser = options(about, repeats=REPEATS, quick="less data and fewer epochs", cases=CASES)
    chosen = parser.parse_args(argv)
    console = wide_console()
    names = chosen.case or list(CASES)
    rows, bars = run(names, quick=chosen.quick, repeats=chosen.repeats, console=console)
    say(console, ABSENT)
    show(rows, COLUMNS, bars, chosen.json, note=ABSENT)


if __name__ == "__main__":
    end(main)
