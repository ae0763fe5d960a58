"""The CoNLL-2000 shared task: which words of a sentence form a chunk.

Columns, apart by a space, are word, part of speech and chunk label; a blank line ends
a sentence. B-X begins a chunk of type X, I-X goes on with it, O is outside:

    Seven CD B-NP
    geese NNS I-NP
    left VBD B-VP
    . . O
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from papers.data.checks import check_counts, part_sizes
from papers.data.columns import read_tagged
from papers.data.examples import DataSet, Labels, TaggedExample, Tokens
from papers.data.folder import data_folder

NAME = "conll2000"
CHUNKS = ("ADJP", "ADVP", "CONJP", "INTJ", "LST", "NP", "PP", "PRT", "SBAR", "UCP", "VP")
LABELS = (*(f"{place}-{chunk}" for chunk in CHUNKS for place in "BI"), "O")
COLUMNS = 3
FIT = 8000  # the first sentences of train, where people hold the rest out as dev

COUNTS: Mapping[str, int] = MappingProxyType(
    {
        "train sentences": 8936,
        "train tokens": 211_727,
        "train chunks": 106_978,
        "test sentences": 2012,
        "test tokens": 47_377,
        "test chunks": 23_852,
    }
)


def load_conll2000(folder: str | Path | None = None) -> DataSet[Tokens, Labels]:
    """Sentences of (word, part of speech), and a chunk label for each word.

    The parts are train and test, and train once more in two: fit, its first 8,000
    sentences, and dev, the last 936.
    """
    folder = data_folder(NAME) if folder is None else Path(folder)
    parts = {part: read_chunked(folder / f"{part}.txt.gz") for part in ("train", "test")}
    found = part_sizes(parts, "sentences", "tokens")
    for part, examples in parts.items():
        found[f"{part} chunks"] = sum(y.startswith("B-") for e in examples for y in e.y)
    check_counts(NAME, folder, COUNTS, found)
    train = parts["train"]
    return DataSet(NAME, {"fit": train[:FIT], "dev": train[FIT:], **parts})


def read_chunked(path: str | Path) -> tuple[TaggedExample, ...]:
    """The sentences of a file in this format, plain or compressed."""
    return read_tagged(Path(path), COLUMNS, LABELS, separator=" ")
