"""Fields of bibliographic references (Cora; the split of Grenager, Klein and Manning 2005).

A row is a token, its part of speech and its field, apart by tabs; a blank line ends a
reference. A reference that nobody has labelled has the field _ on each row:

    Quill	NNP	author
    1997	CD	date

`train25_samples.tsv` has small training sets: the number of the sample, a tab, and 25
places in train, counted from 0, apart by commas.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from papers.data.checks import check_counts, part_sizes
from papers.data.columns import read_table, read_tagged
from papers.data.examples import DataSet, Labels, TaggedExample, Tokens
from papers.data.folder import data_folder
from rote.io.text import line_error

NAME = "cora_citations"
LABELS = (
    "author",
    "title",
    "booktitle",
    "date",
    "journal",
    "pages",
    "volume",
    "editor",
    "location",
    "institution",
    "publisher",
    "tech",
    "note",
)
UNKNOWN = "_"
COLUMNS = 3
SAMPLES = "train25_samples.tsv"
SAMPLE_COUNT, SAMPLE_SIZE = 5, 25

COUNTS: Mapping[str, int] = MappingProxyType(
    {
        "train references": 300,
        "train tokens": 10_803,
        "dev references": 100,
        "dev tokens": 3651,
        "test references": 100,
        "test tokens": 3502,
        "unlabeled references": 1000,
        "unlabeled tokens": 34_767,
    }
)


def load_cora_citations(folder: str | Path | None = None) -> DataSet[Tokens, Labels]:
    """References of (token, part of speech), and a field for each token.

    The parts are train, dev, test and unlabeled; in unlabeled y is empty.
    """
    folder = data_folder(NAME) if folder is None else Path(folder)
    parts = {part: read_references(folder / f"{part}.tsv") for part in ("train", "dev", "test")}
    parts["unlabeled"] = read_unlabeled(folder / "unlabeled.tsv")
    check_counts(NAME, folder, COUNTS, part_sizes(parts, "references", "tokens"))
    return DataSet(NAME, parts)


def load_cora_samples(folder: str | Path | None = None) -> tuple[tuple[int, ...], ...]:
    """The five small training sets, each as 25 places in the part train."""
    folder = data_folder(NAME) if folder is None else Path(folder)
    samples = read_samples(folder / SAMPLES, COUNTS["train references"])
    check_counts(NAME, folder / SAMPLES, {"samples": SAMPLE_COUNT}, {"samples": len(samples)})
    return samples


def read_references(path: str | Path) -> tuple[TaggedExample, ...]:
    """The labelled references of a file."""
    return read_tagged(Path(path), COLUMNS, LABELS)


def read_unlabeled(path: str | Path) -> tuple[TaggedExample, ...]:
    """The references of a file without labels; y is empty."""
    return tuple(e._replace(y=()) for e in read_tagged(Path(path), COLUMNS, (UNKNOWN,)))


def read_samples(path: str | Path, references: int) -> tuple[tuple[int, ...], ...]:
    """Samples in the order of their numbers; ``references`` is how many there are to point at."""
    path = Path(path)
    samples: list[tuple[int, ...]] = []
    for number, (name, joined) in read_table(path, 2):
        if name != str(len(samples)):
            raise line_error(path, number, f"expected sample {len(samples)}, got {name!r}")
        words = joined.split(",")
        places = [int(word) for word in words if word.isdecimal() and int(word) < references]
        if len(set(places)) != SAMPLE_SIZE or len(words) != SAMPLE_SIZE:
            raise line_error(
                path,
                number,
                f"expected {SAMPLE_SIZE} places below {references}, all different, got {joined!r}",
            )
        samples.append(tuple(places))
    return tuple(samples)
