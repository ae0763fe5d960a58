"""The features of tagging: read for many sentences at once, and name by name.

`Tagging` follows texts through a tree of names, for all tokens of a batch together. Beside it is
the plain way: the names of a token are put together one by one, and looked up in a dictionary.
Both must give the same arrays. A model learns from made-up sentences in which every tenth word is
made of random letters; then each turn reads 300 new sentences, predicts 300 others, and as many one
at a time. The two take turns, and times are processor times: medians, per sentence.

    python -m benchmarks.features [--repeats N] [--json FILE]
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import process_time
from typing import Any

import numpy as np

from benchmarks.table import Bar, Columns, Row, end, number, options, show
from rote import Perceptron, Tagging, Templates, train
from rote.datasets import english_sentences
from rote.features import CHUNKING, POS_TAGGING, FeatureReader
from rote.kernels.bundles import Vectors
from rote.model import Model
from rote.types import AnyArray

OURS, PLAIN = "many at once", "name by name"
TRAINING, BATCH, REPEATS = 2000, 300, 7
FASTER = 3.0  # than name by name, at least, where many sentences are read
READ, PREDICT, ALONE = "read", "predict", "predict one"
CASES = {
    "POS_TAGGING": (("word",), POS_TAGGING),
    "CHUNKING": (("word", "pos"), CHUNKING),
}
Tokens = Sequence[Sequence[str]]
Sentences = Sequence[Tokens]


@dataclass(frozen=True)
class NameByName(Tagging):
    """The same task, whose names are put together one by one."""

    @property
    def feature_reader(self) -> FeatureReader | None:
        return None


@dataclass(frozen=True)
class FeatureRow(Row):
    """Times are per sentence; ``what`` is done with it."""

    what: str
    repeats: int


def sentences(count: int, columns: int, seed: int) -> tuple[Sentences, list[list[str]]]:
    """Made-up sentences and their labels, which are tags, or with two columns chunks."""
    rng = np.random.default_rng(seed)
    xs, ys = [], []
    for sentence in english_sentences(count, seed):
        words = list(sentence.words)
        for k in np.flatnonzero(rng.random(len(words)) < 0.1).tolist():
            words[k] = "".join(rng.choice(list("abcdefghijklmnoprstuw"), rng.integers(3, 10)))
        xs.append([token[:columns] for token in zip(words, sentence.pos, strict=True)])
        labels = list(sentence.pos)
        if columns > 1:
            labels = ["O"] * len(words)
            for entity in sentence.entities:
                labels[entity.start : entity.stop] = ["I-X"] * (entity.stop - entity.start)
                labels[entity.start] = "B-X"
        ys.append(labels)
    return xs, ys


def models(columns: Sequence[str], templates: Sequence[str]) -> dict[str, Model[Any, Any]]:
    """The same model twice, whose features are read in one way and in the other."""
    xs, ys = sentences(TRAINING, len(columns), seed=0)
    labels = tuple(sorted({label for y in ys for label in y}))
    settings = labels, Templates(tuple(columns), tuple(templates))
    model = train(Tagging(*settings), xs, ys, learner=Perceptron(iterations=1))
    return {OURS: model, PLAIN: replace(model, task=NameByName(*settings))}


def arrays_of(vectors: Vectors) -> list[AnyArray]:
    """The arrays of feature vectors, to compare."""
    return [np.asarray(array) for array in (vectors.ptr, vectors.column, vectors.value)]


def measure(case: str, turns: int) -> list[FeatureRow]:
    """Both take turns, after one that is not counted; what they find is compared."""
    columns, templates = CASES[case]
    both = models(columns, templates)
    jobs: dict[str, Callable[[Model[Any, Any], Sentences], Any]] = {
        READ: lambda model, xs: arrays_of(model.prepare(xs).vectors),
        PREDICT: lambda model, xs: model.predict(xs),
        ALONE: lambda model, xs: [model.predict([x])[0] for x in xs],
    }
    times: dict[tuple[str, str], list[float]] = {}
    for turn in range(turns + 1):
        order = (OURS, PLAIN) if turn % 2 else (PLAIN, OURS)
        for place, (what, job) in enumerate(jobs.items()):
            xs, _ = sentences(BATCH, len(columns), seed=1 + len(jobs) * turn + place)
            found = {}
            for engine in order:
                begin = process_time()
                found[engine] = job(both[engine], xs)
                if turn:
                    times.setdefault((what, engine), []).append(process_time() - begin)
            if not all(map(np.array_equal, found[OURS], found[PLAIN])):
                raise AssertionError(f"{case}, {what}: the two ways give different answers")
    medians = {key: statistics.median(own) / BATCH * 1e6 for key, own in times.items()}
    return [
        FeatureRow(case, engine, own, own / medians[what, OURS], None, what, turns)
        for (what, engine), own in medians.items()
    ]


def bars(rows: Sequence[FeatureRow]) -> list[Bar]:
    """Reading a batch is so much faster, and predicting one sentence is not slower."""
    batch, one = (
        min(row.ratio_to_ours or 0.0 for row in rows if (row.engine, row.what) == (PLAIN, what))
        for what in (READ, ALONE)
    )
    return [
        Bar(
            "FEATURES",
            batch >= FASTER,
            f"a batch is read {batch:.1f} times as fast, at least {FASTER:.0f} asked for",
        ),
        Bar("FEATURES", one >= 1.0, f"one sentence {one:.2f} times as fast, at least 1 asked for"),
    ]


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table and the bars; with --json also write them."""
    parser = options("Features of tagging, read in two ways.", repeats=REPEATS)
    chosen = parser.parse_args(argv)
    rows = [row for case in CASES for row in measure(case, chosen.repeats)]
    columns: Columns[FeatureRow] = (
        ("what", lambda row: row.what),
        ("µs per sentence", lambda row: number(row.median_us, ".1f")),
        ("times ours", lambda row: number(row.ratio_to_ours, ".2f")),
    )
    show(rows, columns, bars(rows), chosen.json)


if __name__ == "__main__":
    end(main)
