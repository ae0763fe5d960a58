"""Grids of labels: a coloured cell with a letter for each, and a legend of the letters.

A grid that is wider than the picture goes on below, some columns at a time. The gold grid stands
beside, or below where there is no room.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from rote.viz.colors import letters
from rote.viz.shapes import BROKEN_SIGN, DIFFERENT_SIGN, Layout, Said, Shape, Tile, Tone
from rote.viz.text import shortened, visible, width_of

NOBODY_SAID = "·"
APART = 3  # columns between a grid and the gold one
Cells: TypeAlias = tuple[tuple[int | None, ...], ...]


class _Block(NamedTuple):
    """Some columns of one of the grids, and where they go."""

    cells: Cells
    first: int
    last: int
    row: int
    column: int
    title: str


@dataclass(frozen=True)
class Grid:
    """The position of each cell's label among ``labels``; None where nobody said it."""

    cells: Cells
    labels: tuple[str, ...]
    broken: frozenset[tuple[int, int]] = field(default_factory=frozenset)
    gold: Cells | None = None

    def layout(self, columns: int) -> Layout:
        letter = letters(self.labels)
        across = max(map(len, self.cells), default=0)
        least = max(map(len, letter), default=1) + bool(self.broken) + (self.gold is not None)
        cell = max(2, least + 1 if across * (least + 1) <= columns else least)
        per = max(1, min(across, columns // cell))
        shapes: list[Shape] = []
        row = 0
        for block in self._blocks(across, per, cell, columns):
            if block.title:
                shapes.append(Said(block.row, block.column, block.title, Tone.FAINT))
            shapes += self._cells(block, letter, cell)
            row = max(row, block.row + bool(block.title) + len(block.cells) + 1)
        used = {number for line in (*self.cells, *(self.gold or ())) for number in line}
        legend = [n for n in range(len(self.labels)) if n in used]
        key = list(_legend(legend, letter, self.labels, row, columns))
        rows = 2 + key[-1].row if key else row
        return Layout((*shapes, *key), rows, columns)

    def _blocks(self, across: int, per: int, cell: int, columns: int) -> Iterator[_Block]:
        sides = (
            [("", self.cells)] if self.gold is None else [("y", self.cells), ("gold", self.gold)]
        )
        if self.gold is not None and 2 * across * cell + APART <= columns:
            for k, (title, cells) in enumerate(sides):
                yield _Block(cells, 0, across, 0, k * (across * cell + APART), title)
            return
        row = 0
        for title, cells in sides:
            for first in range(0, across, per):
                last = min(first + per, across)
                where = f"columns {first + 1} to {last}" if per < across else ""
                said = ", ".join(filter(None, (title, where)))
                yield _Block(cells, first, last, row, 0, shortened(said, columns))
                row += bool(said) + len(cells) + 1

    def _cells(self, block: _Block, letter: Sequence[str], cell: int) -> Iterator[Tile]:
        is_gold = block.cells is self.gold
        for r, line in enumerate(block.cells):
            for c in range(block.first, min(block.last, len(line))):
                label = line[c]
                broken = not is_gold and (r, c) in self.broken
                mark = BROKEN_SIGN if broken else ""
                if self.gold is not None and not is_gold and self.gold[r][c] not in (None, label):
                    mark += DIFFERENT_SIGN
                yield Tile(
                    block.row + bool(block.title) + r,
                    block.column + (c - block.first) * cell,
                    cell,
                    (NOBODY_SAID if label is None else letter[label]) + mark,
                    label,
                    Tone.BROKEN if broken else Tone.FAINT if label is None else Tone.PLAIN,
                )


def _legend(
    numbers: Sequence[int], letter: Sequence[str], labels: Sequence[str], row: int, columns: int
) -> Iterator[Tile | Said]:
    column = 0
    for number in numbers:
        size = len(letter[number]) + 2
        name = shortened(visible(labels[number]), columns - size - 1)
        width = size + 1 + width_of(name)
        if column and column + width > columns:
            row, column = row + 1, 0
        yield Tile(row, column, size, letter[number], number)
        yield Said(row, column + size + 1, name)
        column += width + 3
