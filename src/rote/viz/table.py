"""Rows under heads: a text first, which takes more lines where there is no room, then numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rote.viz.shapes import Layout, Said, Shape, Tone
from rote.viz.text import folded, shortened, visible, width_of

APART = 2
LEAST = 10  # columns of the text


@dataclass(frozen=True)
class Table:
    """Texts in columns, the first of which is aligned on the left and all others on the right."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]

    def layout(self, columns: int) -> Layout:
        lines = [[visible(cell) if cell else "" for cell in r] for r in (self.heads, *self.rows)]
        first, *widths = (max(map(width_of, column)) for column in zip(*lines, strict=True))
        others = sum(widths) + APART * len(widths)
        first = min(first, max(LEAST, columns - others))
        shapes: list[Shape] = []
        row = 0
        for number, (text, *cells) in enumerate(lines):
            tone = Tone.PLAIN if number else Tone.FAINT
            end = first
            for cell, width in zip(cells, widths, strict=True):
                end += APART + width
                if cell and end <= columns:
                    shapes.append(Said(row, end - width_of(cell), cell, tone))
            said = list(folded(text, first, "  ")) or [""]
            shapes += [
                Said(row + k, 0, shortened(line, columns), tone, bold=number > 0)
                for k, line in enumerate(said)
            ]
            row += len(said)
        return Layout(tuple(shapes), row + 1, columns)
