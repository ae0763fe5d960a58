"""What a picture is laid out in: shapes on a grid of rows and columns, one character each.

A drawing lays itself out in so many columns; `rote.viz.terminal` and `rote.viz.vector`
paint the same layout as text and as SVG. Whatever colour says is said by a sign as well: ✗ and the
number of a broken rule, ≠ where an output differs from the gold one.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, Protocol, TypeAlias

from rote.viz.text import MORE, width_of

BROKEN_SIGN, DIFFERENT_SIGN = "✗", "≠"
RULES_SHOWN = 20  # below a picture
NUMBERS_SHOWN = 3  # of the rules that one variable breaks


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

    @property
    def end(self) -> int:
        return self.column + width_of(self.text)


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

    @property
    def end(self) -> int:
        return self.column + self.width


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

    @property
    def end(self) -> int:
        return max(self.right + 1, self.label_at + width_of(self.label))

    @property
    def ends(self) -> list[tuple[int, End]]:
        """The columns where it comes down, and how."""
        ends = ((self.left, self.left_end), (self.right, self.right_end))
        return [(column, end) for column, end in ends if end is not End.EDGE]


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


def mark_of(numbers: Sequence[int]) -> str:
    """The sign of broken rules, and the numbers of those that are listed.

    >>> mark_of([2, 5]), mark_of([])
    ('✗2,5', '')
    """
    if not numbers:
        return ""
    shown = [number for number in numbers if number <= RULES_SHOWN][:NUMBERS_SHOWN]
    return BROKEN_SIGN + ",".join(map(str, shown)) + (MORE if len(shown) < len(numbers) else "")
