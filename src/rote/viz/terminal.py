"""A layout as lines of characters, coloured where the terminal can.

Arcs are boxes drawn with lines, spans are brackets under their words. A terminal that knows ASCII
only gets +, -, | and v, and a question mark for letters that it does not know.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from rote.viz.colors import color
from rote.viz.shapes import Arc, End, Layout, Said, Tile, Tone
from rote.viz.text import shortened, width_of

if TYPE_CHECKING:
    from rich.text import Text

_STYLES = {Tone.PLAIN: "", Tone.FAINT: "dim", Tone.BROKEN: "bold red"}
_BROKEN_TILE = "bold #ffffff on #c92a2a"
_ASCII = str.maketrans("─╌│┌┐└┘┼▼✗≠→…·␣", "--|+++++vx#>.._")


class Piece(NamedTuple):
    """Some characters of one style."""

    text: str
    style: str


class _Canvas(list[dict[int, Piece]]):
    """Rows of pieces by their column; a later piece takes the place of what it covers."""

    def put(self, row: int, column: int, text: str, style: str = "") -> None:
        for covered in range(column, column + width_of(text)):
            self[row].pop(covered, None)
        self[row][column] = Piece(text, style)

    def lines(self) -> Iterator[list[Piece]]:
        for row in self:
            line, end = [], 0
            for column, piece in sorted(row.items()):
                if column > end:
                    line.append(Piece(" " * (column - end), ""))
                line.append(piece)
                end = column + width_of(piece.text)
            yield line


def lines_of(layout: Layout, *, ascii_only: bool = False) -> list[list[Piece]]:
    """The lines of a layout, each in pieces of one style."""
    canvas = _Canvas({} for _ in range(layout.rows))
    arcs = [shape for shape in layout.shapes if isinstance(shape, Arc)]
    for paint in (_across, _down, _label):  # what comes later lies above
        for arc in arcs:
            paint(canvas, arc, _STYLES[arc.tone])
    for shape in layout.shapes:
        if isinstance(shape, Said):
            style = _STYLES[shape.tone] + (" bold" if shape.bold else "")
            canvas.put(shape.row, shape.column, shape.text, style.strip())
        elif isinstance(shape, Tile):
            _tile(canvas, shape)
    written = _as_ascii if ascii_only else str
    return [[Piece(written(text), style) for text, style in line] for line in canvas.lines()]


def rich_text(layout: Layout, *, ascii_only: bool = False) -> Text:
    """The layout for Rich."""
    from rich.text import Text

    lines = lines_of(layout, ascii_only=ascii_only)
    return Text("\n", no_wrap=True, overflow="ignore").join(
        [Text.assemble(*line, no_wrap=True, overflow="ignore") for line in lines]
    )


def plain_text(layout: Layout) -> str:
    """The layout without colours."""
    return "\n".join("".join(p.text for p in line).rstrip() for line in lines_of(layout))


def _across(canvas: _Canvas, arc: Arc, style: str) -> None:
    for column in range(arc.left, arc.right + 1):
        canvas.put(arc.top, column, "╌" if arc.dashed else "─", style)
    if arc.left_end is not End.EDGE:
        canvas.put(arc.top, arc.left, "┌", style)
    if arc.right_end is not End.EDGE:
        canvas.put(arc.top, arc.right, "┐", style)


def _down(canvas: _Canvas, arc: Arc, style: str) -> None:
    for column, end in arc.ends:
        for row in range(arc.top + 1, arc.bottom + 1):
            crossed = column in canvas[row] and canvas[row][column].text in {"─", "╌"}
            canvas.put(row, column, "┼" if crossed else "│", style)
        if end is End.HEAD:
            canvas.put(arc.bottom, column, "▼", style)


def _label(canvas: _Canvas, arc: Arc, style: str) -> None:
    if arc.label:
        canvas.put(arc.top, arc.label_at, arc.label, style)


def _tile(canvas: _Canvas, tile: Tile) -> None:
    text = shortened(tile.text, tile.width)
    if tile.framed:
        left, right = "└" if tile.starts else "─", "┘" if tile.stops else "─"
        inner = tile.width - 2 - width_of(text)
        if inner >= 0:
            half = inner // 2
            text = f"{left}{'─' * half}{text}{'─' * (inner - half)}{right}"
    free = tile.width - width_of(text)
    text = " " * (free // 2) + text + " " * (free - free // 2)
    if tile.tone is Tone.BROKEN:
        style = _BROKEN_TILE
    elif tile.color is None:
        style = _STYLES[tile.tone]
    else:
        fill, ink = color(tile.color)
        style = f"{ink} on {fill}"
    canvas.put(tile.row, tile.column, text, style)


def _as_ascii(text: str) -> str:
    """The same number of columns in ASCII."""
    return "".join(c if c.isascii() else "?" * width_of(c) for c in text.translate(_ASCII))
