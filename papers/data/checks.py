"""What a data set must hold, asked the same way by every reader."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence, Sized
from pathlib import Path
from typing import TypeVar

from papers.data.examples import Example, Y
from rote.errors import DataError
from rote.io.text import line_error

SizedX = TypeVar("SizedX", bound=Sized)


def check_label(path: Path, number: int, label: str, known: Collection[str]) -> None:
    """A label must be one of those the data set is known to have."""
    if label not in known:
        raise line_error(path, number, f"expected one of {' '.join(known)}, got {label!r}")


def check_counts(
    name: str, path: Path, expected: Mapping[str, int], found: Mapping[str, int]
) -> None:
    """A data set must hold what is known of it; anything found beyond ``expected`` is ignored."""
    wrong = [what for what, count in expected.items() if found.get(what, 0) != count]
    if wrong:
        listed = "; ".join(
            f"{what}: {expected[what]} expected, {found.get(what, 0)} found" for what in wrong
        )
        raise DataError(f"{path}: not the whole of {name}, or another version of it: {listed}")


def part_sizes(
    parts: Mapping[str, Sequence[Example[SizedX, Y]]], inputs: str, tokens: str
) -> Counter[str]:
    """How many inputs each part has, and how many tokens they have together.

    >>> part_sizes({"test": [Example("abc", ()), Example("d", ())]}, "words", "letters")
    Counter({'test letters': 4, 'test words': 2})
    """
    found: Counter[str] = Counter()
    for part, examples in parts.items():
        found[f"{part} {inputs}"] = len(examples)
        found[f"{part} {tokens}"] = sum(len(example.x) for example in examples)
    return found
