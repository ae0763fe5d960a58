"""Seminar announcements: when, where and by whom (Freitag 1998; folds of Zheng and Chang 2016).

A document starts with its id and has one row per token: the token, the number of its
line in the announcement, and a label, where B- begins a slot and I- goes on with it:

    # doc talks-17:0
    Room	3	B-location
    12	3	I-location

`splits.tsv` says for every document what it is in each of five folds: labeled,
unlabeled, test, or - where it is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from papers.data.checks import check_counts, part_sizes
from papers.data.columns import read_blocks, read_table, tagged
from papers.data.examples import DataSet, Labels, TaggedExample, Tokens
from papers.data.folder import data_folder
from rote.errors import DataError
from rote.io.text import line_error

NAME = "cmu_seminar"
DOCUMENTS, SPLITS = "seminars.tsv.gz", "splits.tsv"
SLOTS = ("stime", "etime", "speaker", "location")
LABELS = (*(f"{place}-{slot}" for slot in SLOTS for place in "BI"), "O")
COLUMNS = 3
HEADING = "# doc "
FOLDS = 5
FOLD_PARTS = ("labeled", "unlabeled", "test")
LEFT_OUT = "-"

COUNTS: Mapping[str, int] = MappingProxyType(
    {
        "all documents": 485,
        "all tokens": 161_047,
        "B-stime": 982,
        "B-speaker": 757,
        "B-location": 643,
        "B-etime": 433,
        **{f"fold {k} labeled": 25 for k in range(FOLDS)},
        **{f"fold {k} -": 2 for k in range(FOLDS)},
    }
)


@dataclass(frozen=True, eq=False, repr=False)
class CmuSeminar(DataSet[Tokens, Labels]):
    """The announcements as the one part "all", and what each is in each fold."""

    splits: Mapping[str, tuple[str, ...]]  # by document, in the order of "all"

    def fold(self, k: int) -> DataSet[Tokens, Labels]:
        """The parts labeled, unlabeled and test of fold ``k``, counted from 0."""
        if k not in range(FOLDS):
            raise DataError(f"{self.name} has the folds 0 to {FOLDS - 1}; got {k!r}")
        parts = {
            part: tuple(
                example
                for example, split in zip(self["all"], self.splits.values(), strict=True)
                if split[k] == part
            )
            for part in FOLD_PARTS
        }
        return DataSet(f"{self.name} fold {k}", parts)


def load_cmu_seminar(folder: str | Path | None = None) -> CmuSeminar:
    """Announcements of (token, its line's number), and a label for each token."""
    folder = data_folder(NAME) if folder is None else Path(folder)
    documents, splits = read_documents(folder / DOCUMENTS), read_splits(folder / SPLITS)
    apart = documents.keys() ^ splits.keys()
    if apart:
        lacking = SPLITS if min(apart) in documents else DOCUMENTS
        raise DataError(f"{folder / lacking}: the document {min(apart)!r} is missing")
    parts = {"all": tuple(documents.values())}
    found = part_sizes(parts, "documents", "tokens")
    found += Counter(label for example in parts["all"] for label in example.y)
    found += Counter(f"fold {k} {part}" for own in splits.values() for k, part in enumerate(own))
    check_counts(NAME, folder, COUNTS, found)
    return CmuSeminar(NAME, parts, {document: splits[document] for document in documents})


def read_documents(path: str | Path) -> dict[str, TaggedExample]:
    """The announcements of a file by their id, in order."""
    path = Path(path)
    documents: dict[str, TaggedExample] = {}
    for block in read_blocks(path, COLUMNS, comment=HEADING):
        if len(block.comments) != 1:
            raise line_error(
                path, block.number, f"expected one line '{HEADING}<id>' before a document's rows"
            )
        document = block.comments[0].removeprefix(HEADING)
        if document in documents:
            raise line_error(path, block.number, f"the document {document!r} is there already")
        for number, cells in block.rows:
            if not cells[1].isdecimal():
                raise line_error(path, number, f"expected the number of a line, got {cells[1]!r}")
        documents[document] = tagged(path, block, LABELS)
    return documents


def read_splits(path: str | Path) -> dict[str, tuple[str, ...]]:
    """What each document is in each fold."""
    path = Path(path)
    head, *rows = read_table(path, 1 + FOLDS)
    heading = ("doc", *(f"fold{k}" for k in range(FOLDS)))
    if head.cells != heading:
        raise line_error(path, head.number, f"expected the heading {heading}, got {head.cells}")
    splits: dict[str, tuple[str, ...]] = {}
    known = (*FOLD_PARTS, LEFT_OUT)
    for number, (document, *own) in rows:
        unknown = [part for part in own if part not in known]
        if unknown:
            raise line_error(
                path, number, f"expected one of {', '.join(known)}, got {unknown[0]!r}"
            )
        if document in splits:
            raise line_error(path, number, f"the document {document!r} is there already")
        splits[document] = tuple(own)
    return splits
