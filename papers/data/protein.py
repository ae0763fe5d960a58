"""Secondary structure of proteins: helix, sheet or coil (Qian and Sejnowski 1988).

A line is the number of a protein, the residues of one of its chains in one-letter
codes, and a label for each residue, apart by tabs; h is a helix, e a sheet, _ a coil:

    0	GVGTV	__eee
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from papers.data.checks import check_counts, part_sizes
from papers.data.columns import Row, read_table, spelled
from papers.data.examples import DataSet, Labels, TaggedExample, Tokens
from papers.data.folder import data_folder
from rote.io.text import line_error

NAME = "protein"
RESIDUES = tuple("ACDEFGHIKLMNPQRSTVWY")
LABELS = ("h", "e", "_")
COLUMNS = 3

COUNTS: Mapping[str, int] = MappingProxyType(
    {
        "train chains": 111,
        "train residues": 18_105,
        "train h": 4601,
        "train e": 3636,
        "train _": 9868,
        "test chains": 17,
        "test residues": 3520,
        "test h": 849,
        "test e": 748,
        "test _": 1923,
    }
)


def load_protein(folder: str | Path | None = None) -> DataSet[Tokens, Labels]:
    """Chains of (residue,), and a label for each residue; the parts are train and test."""
    folder = data_folder(NAME) if folder is None else Path(folder)
    parts = {part: read_chains(folder / f"protein_{part}.tsv.gz") for part in ("train", "test")}
    found = part_sizes(parts, "chains", "residues")
    for part, examples in parts.items():
        found += Counter(f"{part} {label}" for example in examples for label in example.y)
    check_counts(NAME, folder, COUNTS, found)
    return DataSet(NAME, parts)


def protein_numbers(folder: str | Path | None = None) -> dict[str, tuple[int, ...]]:
    """For each chain of `load_protein`, by parts, which protein it is of.

    Chains of one protein may be alike, so that what is learned from one of them is no fair judge
    of another.
    """
    folder = data_folder(NAME) if folder is None else Path(folder)
    return {
        part: tuple(protein for protein, _ in _numbered(folder / f"protein_{part}.tsv.gz"))
        for part in ("train", "test")
    }


def read_chains(path: str | Path) -> tuple[TaggedExample, ...]:
    """The chains of a file in this format, plain or compressed."""
    return tuple(chain for _, chain in _numbered(Path(path)))


class _Numbered(NamedTuple):
    protein: int
    chain: TaggedExample


def _numbered(path: Path) -> list[_Numbered]:
    found = []
    for number, (protein, *chain) in read_table(path, COLUMNS):
        if not protein.isdecimal():
            raise line_error(path, number, f"expected the number of a protein, got {protein!r}")
        example = spelled(path, Row(number, tuple(chain)), (RESIDUES, LABELS), 1)
        found.append(_Numbered(int(protein), example))
    return found
