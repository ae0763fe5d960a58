"""What a picture is laid out in: shapes on a grid of rows and columns, one character each.

A drawing lays itself out in so many columns; `rote.viz.terminal` and `rote.viz.vector`
paint the same layout as text and as SVG. Whatever colour says is said by a sign as well: ✗ and the
number of a broken rule, ≠ where an output differs from the gold one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import NamedTuple, Protocol, TypeAlias

BROKEN_SIGN, DIFFERENT_SIGN, MORE = "✗", "≠", "…"
RULES_SHOWN = 20  # below a picture
NUMBERS_SHOWN = 3  # of the rules that one variable breaks
# Characters that XML or a terminal cannot take, or that turn the direction of all that follows.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


class Tone(Enum):
    """How something is said."""

    PLAIN = "plain"
    FAINT = "faint"
    BROKEN = "broken"


class End(Enum):
    """How an arc ends on one side."""

    TAIL = "tail"
    HEAD = "head"
    EDGE = "edge"  # it goes on in another line


class Said(NamedTuple):
    """Text."""

    row: int
    column: int
    text: str
    tone: Tone = Tone.PLAIN
    bold: bool = False


class Tile(NamedTuple):
    """A box with a text in the middle; a framed one is as wide as what stands above it."""

    row: int
    column: int
    width: int
    text: str
    color: int | None = None
    tone: Tone = Tone.PLAIN
    framed: bool = False
    starts: bool = True  # or goes on from the line before
    stops: bool = True  # or goes on in the next line


class Arc(NamedTuple):
    """A line from one column up to a row, across, and down at another column."""

    top: int
    bottom: int  # the row where its ends are
    left: int
    right: int
    left_end: End
    right_end: End
    label: str
    label_at: int
    tone: Tone = Tone.PLAIN
    dashed: bool = False


Shape: TypeAlias = Said | Tile | Arc


class Layout(NamedTuple):
    """Shapes, and how many rows and columns they take."""

    shapes: tuple[Shape, ...]
    rows: int
    columns: int


class Drawing(Protocol):
    """What a picture shows."""

    def layout(self, columns: int) -> Layout:
        """Its shapes in no more than so many columns, of which there are at least 12."""
        ...


def visible(text: str) -> str:
    """The text with nothing in it that cannot be seen; an empty one is a sign for a blank.

    >>> visible(f"a{chr(27)}[31mb"), visible(" ")
    ('a�[31mb', '␣')
    """
    return _UNSEEN.sub("�", text) if text.strip() else "␣" * max(len(text), 1)


def width_of(text: str) -> int:
    """How many columns a text takes.

    >>> width_of("map"), width_of("地図")
    (3, 4)
    """
    return sum(_width_of(character) for character in text)


def shortened(text: str, columns: int) -> str:
    """The text, cut to so many columns where it is longer.

    >>> shortened("Constantinople", 6)
    'Const…'
    """
    if width_of(text) <= columns:
        return text
    kept, taken = "", 0
    for character in text:
        taken += _width_of(character)
        if taken > columns - 1:
            break
        kept += character
    return kept + MORE


def folded(text: str, columns: int, indent: str) -> Iterator[str]:
    """A sentence in lines of so many columns, all but the first indented."""
    line = ""
    for word in text.split():
        while width_of(word) > columns - len(indent):  # a word that fits no line is cut
            if line.strip():
                yield line
            head = shortened(word, columns - len(indent) + 1)[:-1]
            yield (indent if line else "") + head
            line, word = indent, word[len(head) :]
        if line.strip() and width_of(line) + 1 + width_of(word) > columns:
            yield line
            line = indent + word
        else:
            line = f"{line} {word}" if line.strip() else line + word
    if line.strip():
        yield line


def mark_of(numbers: Sequence[int]) -> str:
    """The sign of broken rules, and the numbers of those that are listed.

    >>> mark_of([2, 5]), mark_of([])
    ('✗2,5', '')
    """
    if not numbers:
        return ""
    shown = [number for number in numbers if number <= RULES_SHOWN][:NUMBERS_SHOWN]
    return BROKEN_SIGN + ",".join(map(str, shown)) + (MORE if len(shown) < len(numbers) else "")


def _width_of(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
