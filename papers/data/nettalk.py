"""How English words are spoken: a phoneme and a stress for each letter (Sejnowski, Rosenberg 1987).

A line is a word, its phonemes and its stresses, one sign per letter of the word, apart
by tabs; in the full list, a class of regularity follows. A - is a silent letter; 0, 1
and 2 are the stress of a vowel, and < and > point from a consonant to its syllable's:

    oak	o-k	1<<
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from string import ascii_lowercase
from types import MappingProxyType
from typing import Literal

from papers.data.checks import check_counts, part_sizes
from papers.data.columns import Row, read_table, spelled
from papers.data.examples import DataSet, Labels, TaggedExample, Tokens
from papers.data.folder import data_folder
from rote.settings import check, one_of

NAME = "nettalk"
# Both in the order of ASCII.
PHONEMES = tuple("!#*+-@ACDEGIJKLMNORSTUWXYZ^abcdefghiklmnoprstuvwxyz")
STRESSES = tuple("012<>")
OUTPUTS: Mapping[str, tuple[str, ...]] = MappingProxyType({"phoneme": PHONEMES, "stress": STRESSES})
FILES: Mapping[str, tuple[str, int]] = MappingProxyType(  # with their columns
    {
        "train": ("nettalk_train1000.tsv.gz", 3),
        "test": ("nettalk_test1000.tsv.gz", 3),
        "full": ("nettalk_full.tsv.gz", 4),
    }
)

COUNTS: Mapping[str, int] = MappingProxyType(
    {
        "train words": 1000,
        "train letters": 7230,
        "test words": 1000,
        "test letters": 7242,
        "full words": 20_008,
    }
)


def load_nettalk(
    folder: str | Path | None = None, *, output: Literal["phoneme", "stress"] = "phoneme"
) -> DataSet[Tokens, Labels]:
    """Words of (letter,), and a phoneme or a stress for each letter.

    The parts are train and test, with 1,000 words each, and full, the whole list.
    """
    check("output", output, one_of(*OUTPUTS))
    folder = data_folder(NAME) if folder is None else Path(folder)
    parts = {
        part: read_spoken(folder / file, columns, output) for part, (file, columns) in FILES.items()
    }
    check_counts(NAME, folder, COUNTS, part_sizes(parts, "words", "letters"))
    return DataSet(f"{NAME} {output}", parts)


def read_spoken(
    path: str | Path, columns: int, output: Literal["phoneme", "stress"]
) -> tuple[TaggedExample, ...]:
    """The words of a file with so many columns."""
    path = Path(path)
    at = 1 + list(OUTPUTS).index(output)
    return tuple(
        spelled(path, Row(number, cells[:3]), (ascii_lowercase, *OUTPUTS.values()), at)
        for number, cells in read_table(path, columns)
    )
