"""Citations and lines of announcements, as trials: what to learn from and what to be judged on.

Without ROTE_DATA, both are made up by the seed; they obey the rules of `papers.samdani2012.fields`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple, TypeAlias

import numpy as np

from papers.data.cmu_seminar import load_cmu_seminar
from papers.data.cora_citations import SAMPLE_COUNT, load_cora_citations, load_cora_samples
from papers.data.examples import TaggedExample
from papers.data.folder import VARIABLE
from papers.samdani2012.fields import NOTHING

CITATIONS, SEMINARS = "citations", "seminars"

Example: TypeAlias = tuple[tuple[Sequence[str], ...], tuple[str, ...]]


@dataclass(frozen=True)
class Amounts:
    """How much there is: sizes of training, trials of small ones, folds, citations and lines."""

    sizes: tuple[int, ...] = (20, 300)
    trials: int = SAMPLE_COUNT
    folds: int = 2
    dev: int = 100
    test: int = 100
    dev_lines: int = 800
    test_lines: int = 5000
    train_lines: int = 5000


class Trial(NamedTuple):
    """Examples to learn from, to choose iterations by, and to be judged on."""

    corpus: str
    size: int
    train: Sequence[Example]
    dev: Sequence[Example]
    test: Sequence[Example]


def trials_of(amounts: Amounts, seed: int) -> Iterator[Trial]:
    """Every training set, with what it is judged on; citations first."""
    if not os.environ.get(VARIABLE):
        yield from _made_up(amounts, seed)
        return
    data, samples = load_cora_citations(), load_cora_samples()
    train, dev, test = (_examples(data[part]) for part in ("train", "dev", "test"))
    for size in amounts.sizes:
        if size >= len(train):
            yield Trial(CITATIONS, size, train, dev[: amounts.dev], test[: amounts.test])
            continue
        for sample in samples[: amounts.trials]:
            own = [train[k] for k in sample[:size]]
            yield Trial(CITATIONS, size, own, dev[: amounts.dev], test[: amounts.test])
    corpus = load_cmu_seminar()
    for k in range(amounts.folds):
        fold = corpus.fold(k)
        labeled, others, judged = (
            [line for example in fold[part] for line in lines_of(example)]
            for part in ("labeled", "unlabeled", "test")
        )
        yield Trial(
            SEMINARS,
            len(fold["labeled"]),
            labeled[: amounts.train_lines],
            others[: amounts.dev_lines],
            judged[: amounts.test_lines],
        )


def lines_of(example: TaggedExample) -> Iterator[Example]:
    """An announcement line by line; labels are slots, wherever in a slot a token is."""
    pairs = zip(example.x, example.y, strict=True)
    for _, group in groupby(pairs, key=lambda pair: pair[0][1]):
        tokens, labels = zip(*group, strict=True)
        yield tuple(tokens), tuple(label.partition("-")[2] or NOTHING for label in labels)


def _examples(part: Sequence[TaggedExample]) -> list[Example]:
    return [(tuple(example.x), tuple(example.y)) for example in part]


# Made-up examples

NAMES = ("Abel", "Brook", "Castro", "Dunn", "Ebers", "Falk", "Gray", "Huber", "Ito", "Jonas")
TOPICS = ("learning", "search", "graphs", "rules", "planning", "caches", "tables", "proofs")
PLACES = ("Berlin", "Oslo", "Kyoto", "Boston")


def _made_up(amounts: Amounts, seed: int) -> Iterator[Trial]:
    rng = np.random.default_rng(seed)

    def several(make: Callable[[np.random.Generator], Example], count: int) -> list[Example]:
        return [make(rng) for _ in range(count)]

    dev, test = several(made_up_citation, amounts.dev), several(made_up_citation, amounts.test)
    for size in amounts.sizes:
        for _ in range(1 if size >= max(amounts.sizes) > 20 else amounts.trials):
            yield Trial(CITATIONS, size, several(made_up_citation, size), dev, test)
    lines = [several(made_up_line, count) for count in (amounts.dev_lines, amounts.test_lines)]
    for _ in range(amounts.folds):
        train = several(made_up_line, amounts.train_lines)
        yield Trial(SEMINARS, amounts.train_lines, train, lines[0], lines[1])


def made_up_citation(rng: np.random.Generator) -> Example:
    """Authors, a title, a journal or proceedings, and a year."""

    def some(words: Sequence[str], count: int) -> str:
        return " ".join(rng.choice(list(words), count))

    chunks = [("author", f"{some('ABCDE', 1)} . {some(NAMES, 1)} .")]
    if rng.random() < 0.5:
        chunks = [("author", f"{some(NAMES, 1)} , {some('ABCDE', 1)} . and {some(NAMES, 1)} .")]
    chunks.append(("title", f"{some(TOPICS, 3).capitalize()} with {some(TOPICS, 2)} ."))
    year = ("date", f"{rng.integers(1980, 2010)} .")
    if rng.random() < 0.5:
        chunks.append(("journal", f"Journal of {some(TOPICS, 2)} ,"))
        chunks += [("volume", f"{rng.integers(1, 60)} ,"), ("pages", f"{rng.integers(1, 99)}-99 ,")]
    else:
        chunks.append(("booktitle", f"In Proceedings on {some(TOPICS, 2)} ,"))
        chunks += [
            ("pages", f"pp . {rng.integers(1, 99)}-99 ,"),
            ("location", f"{some(PLACES, 1)} ,"),
        ]
    return _spelled([*chunks, year])


def made_up_line(rng: np.random.Generator) -> Example:
    """A line with a heading, or one of talk."""
    hour = int(rng.integers(1, 9))
    name = f"Dr . {rng.choice(NAMES)}"
    room = f"Room {rng.integers(1, 999)}"
    lines = (
        [(NOTHING, "Time :"), ("stime", f"{hour} : 30 PM")],
        [(NOTHING, "Time :"), ("stime", f"{hour} : 00"), (NOTHING, "-"), ("etime", "9 : 00 PM")],
        [(NOTHING, "Place :"), ("location", room)],
        [(NOTHING, "Who :"), ("speaker", name)],
        [(NOTHING, "Topic : On"), (NOTHING, " ".join(rng.choice(TOPICS, 4)))],
        [("speaker", name), (NOTHING, "speaks on"), (NOTHING, str(rng.choice(TOPICS)))],
        [(NOTHING, "The talk is in"), ("location", room), (NOTHING, "at"), ("stime", f"{hour} pm")],
    )
    return _spelled(lines[int(rng.integers(len(lines)))])


def _spelled(chunks: Sequence[tuple[str, str]]) -> Example:
    pairs = [((word,), label) for label, text in chunks for word in text.split()]
    return tuple(token for token, _ in pairs), tuple(label for _, label in pairs)
