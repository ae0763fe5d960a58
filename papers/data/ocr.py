"""Handwritten words, letter by letter (Kassel 1995, as cut up by Taskar, Guestrin, Koller 2003).

`ocr_letters.npz` has the arrays

- pixels: one row per letter, its 16 x 8 black and white pixels packed into 16 bytes;
- labels: one letter per row, 0 to 25 for a to z;
- word_ptr: word w is the rows ``word_ptr[w]`` to ``word_ptr[w + 1] - 1``;
- fold: the fold of each word, 0 to 9.

The first letter of each word, a capital, had been left out before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from string import ascii_lowercase
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from papers.data.checks import check_counts, part_sizes
from papers.data.examples import DataSet, Example, Labels
from papers.data.folder import data_folder
from papers.data.npz import Wanted, array_error, read_arrays
from rote import DataError
from rote.types import AnyArray, readonly

NAME = "ocr"
FILE = "ocr_letters.npz"
LABELS = tuple(ascii_lowercase)
FOLDS = 10
HEIGHT, WIDTH = 16, 8
WANTED: Mapping[str, Wanted] = MappingProxyType(
    {
        "pixels": Wanted("iu", (None, HEIGHT * WIDTH // 8)),
        "labels": Wanted("iu", (None,)),
        "word_ptr": Wanted("iu", (None,)),
        "fold": Wanted("iu", (None,)),
    }
)

WORDS_PER_FOLD = (626, 704, 684, 698, 693, 651, 739, 717, 690, 675)
COUNTS: Mapping[str, int] = MappingProxyType(
    {
        "all words": 6877,
        "all letters": 52_152,
        "distinct words": 55,
        **{f"words of fold {k}": count for k, count in enumerate(WORDS_PER_FOLD)},
    }
)

Images: TypeAlias = NDArray[np.uint8]  # (letters, 128), a pixel is 0 or 1


@dataclass(frozen=True, eq=False, repr=False)
class Ocr(DataSet[Images, Labels]):
    """The words as the one part "all", and the fold of each."""

    folds: tuple[int, ...]

    def small(self, k: int) -> DataSet[Images, Labels]:
        """HW-Small: train on fold ``k``, test on the nine others."""
        own, others = self._divided(k)
        return DataSet(f"{self.name} small {k}", {"train": own, "test": others})

    def large(self, k: int) -> DataSet[Images, Labels]:
        """HW-Large: test on fold ``k``, train on the nine others."""
        own, others = self._divided(k)
        return DataSet(f"{self.name} large {k}", {"train": others, "test": own})

    def _divided(
        self, k: int
    ) -> tuple[tuple[Example[Images, Labels], ...], tuple[Example[Images, Labels], ...]]:
        if k not in range(FOLDS):
            raise DataError(f"{self.name} has the folds 0 to {FOLDS - 1}; got {k!r}")
        pairs = list(zip(self["all"], self.folds, strict=True))
        return tuple(e for e, fold in pairs if fold == k), tuple(
            e for e, fold in pairs if fold != k
        )


def load_ocr(folder: str | Path | None = None) -> Ocr:
    """Words as images, one row of 128 pixels per letter, and the letters."""
    folder = data_folder(NAME) if folder is None else Path(folder)
    data = read_ocr(folder / FILE)
    found = part_sizes(data.parts, "words", "letters")
    found["distinct words"] = len({example.y for example in data["all"]})
    found += Counter(f"words of fold {fold}" for fold in data.folds)
    check_counts(NAME, folder, COUNTS, found)
    return data


def read_ocr(path: str | Path) -> Ocr:
    """The words of a file in this format."""
    path = Path(path)
    arrays = read_arrays(path, WANTED)
    letters, words = len(arrays["labels"]), len(arrays["fold"])
    packed, labels = arrays["pixels"], _within(path, arrays, "labels", len(LABELS))
    if packed.dtype != np.uint8 or len(packed) != letters:
        raise array_error(
            path,
            "pixels",
            f"expected a row of bytes for each of {letters} labels, "
            f"got {len(packed)} rows of {packed.dtype}",
        )
    folds, ends = _within(path, arrays, "fold", FOLDS), arrays["word_ptr"].tolist()
    if len(ends) != words + 1:
        raise array_error(
            path, "word_ptr", f"expected {words + 1} entries for {words} folds, got {len(ends)}"
        )
    spans = list(pairwise(ends))
    if ends[0] != 0 or ends[-1] != letters or any(start >= stop for start, stop in spans):
        raise array_error(path, "word_ptr", f"expected numbers that grow from 0 to {letters}")
    pixels = readonly(np.unpackbits(packed, axis=1))
    text = "".join(LABELS[label] for label in labels)
    examples = tuple(Example(pixels[start:stop], tuple(text[start:stop])) for start, stop in spans)
    return Ocr(NAME, {"all": examples}, tuple(folds))


def _within(path: Path, arrays: Mapping[str, AnyArray], name: str, size: int) -> list[int]:
    numbers: list[int] = arrays[name].tolist()
    outside = [number for number in numbers if not 0 <= number < size]
    if outside:
        raise array_error(path, name, f"expected numbers from 0 to {size - 1}, got {outside[0]}")
    return numbers
