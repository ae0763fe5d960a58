"""A layout as SVG: one column is 8 pixels wide, one row 20 pixels high.

Inside a page, the text has the colour of the text around it and there is no background, so that a
picture can be read in light and in dark; there is no style sheet and no id that could reach into
the page. In a file of its own it has both colours, chosen by what the reader prefers. Every text
says how wide it is, so that a picture does not depend on the fonts that are there.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from rote.viz.colors import BROKEN, color
from rote.viz.shapes import Arc, End, Layout, Said, Tile, Tone
from rote.viz.text import shortened, width_of

COLUMN, ROW = 8, 20
_SIZE = 13
_FONT = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
_INK = {Tone.PLAIN: "currentColor", Tone.FAINT: "currentColor", Tone.BROKEN: BROKEN}
_STANDALONE = (
    "<style>svg{color:#1a1a1a;background:#fff}"
    "@media (prefers-color-scheme:dark){svg{color:#e8e8e8;background:#161616}}</style>"
)


def svg_of(layout: Layout, title: str, *, standalone: bool = False) -> str:
    """The SVG of a layout; a standalone one has a background and follows light and dark."""
    pad = COLUMN if standalone else 1
    width, height = layout.columns * COLUMN + 2 * pad, layout.rows * ROW + 2 * pad
    body = [line for shape in layout.shapes for line in _painted(shape)]
    opening = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{width}" height="{height}" '
        f'viewBox="{-pad} {-pad} {width} {height}" style="max-width:100%;height:auto" '
        f'font-family="{_FONT}" font-size="{_SIZE}">'
    )
    style = [_STANDALONE] if standalone else []
    return "\n".join([opening, f"<title>{escape(title)}</title>", *style, *body, "</svg>"])


def html_of(svg: str, title: str) -> str:
    """A page with one picture."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>{escape(title)}</title></head>\n<body>\n{svg}\n</body></html>\n"
    )


def _painted(shape: Said | Tile | Arc) -> Iterator[str]:
    match shape:
        case Said():
            faint = ' fill-opacity="0.65"' if shape.tone is Tone.FAINT else ""
            bold = ' font-weight="bold"' if shape.bold or shape.tone is Tone.BROKEN else ""
            ink = _INK[shape.tone]
            yield _text(shape.text, shape.column, shape.row, ink, faint + bold)
        case Tile():
            yield from _tile(shape)
        case Arc():
            yield from _arc(shape)


def _text(text: str, column: float, row: int, ink: str, more: str = "") -> str:
    width = width_of(text) * COLUMN
    return (
        f'<text x="{column * COLUMN:g}" y="{row * ROW + 15}" textLength="{width}" '
        f'lengthAdjust="spacingAndGlyphs" xml:space="preserve" fill="{ink}"{more}>'
        f"{escape(text)}</text>"
    )


def _tile(tile: Tile) -> Iterator[str]:
    text = shortened(tile.text, tile.width)
    broken = tile.tone is Tone.BROKEN
    fill, ink = ("none", _INK[tile.tone]) if tile.color is None else color(tile.color)
    edge = f' stroke="{BROKEN}" stroke-width="2.5"' if broken else ""
    gap = 1 if broken or tile.framed else 0.5
    x, width = tile.column * COLUMN + gap, tile.width * COLUMN - 2 * gap
    y, height = tile.row * ROW + gap, ROW - 2 * gap
    round_corners = ' rx="4"' if tile.framed and tile.starts and tile.stops else ""
    if tile.color is not None or broken:
        yield (
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
            f'{round_corners} fill="{fill}"{edge}/>'
        )
    faint = ' fill-opacity="0.65"' if tile.tone is Tone.FAINT and tile.color is None else ""
    bold = ' font-weight="bold"' if broken else ""
    middle = tile.column + (tile.width - width_of(text)) / 2
    yield _text(text, middle, tile.row, ink, faint + bold)


def _arc(arc: Arc) -> Iterator[str]:
    ink = _INK[arc.tone]
    left, right = (arc.left + 0.5) * COLUMN, (arc.right + 0.5) * COLUMN
    top, bottom = arc.top * ROW + ROW / 2, (arc.bottom + 1) * ROW - 2
    bend = min(5.0, (right - left) / 2)
    # The line is left out where the label stands, so that no background is needed behind it.
    low, high = arc.label_at * COLUMN - 3, (arc.label_at + width_of(arc.label)) * COLUMN + 3
    inside = bool(arc.label) and left < low and high < right
    path = []
    if arc.left_end is End.EDGE:
        path.append(f"M{left - COLUMN / 2:g} {top:g}")
    else:
        foot = bottom - (5 if arc.left_end is End.HEAD else 0)
        path.append(f"M{left:g} {foot:g}V{top + bend:g}Q{left:g} {top:g} {left + bend:g} {top:g}")
    if inside:
        path.append(f"H{max(low, left + bend):g}M{min(high, right - bend):g} {top:g}")
    if arc.right_end is End.EDGE:
        path.append(f"H{right + COLUMN / 2:g}")
    else:
        foot = bottom - (5 if arc.right_end is End.HEAD else 0)
        path.append(f"H{right - bend:g}Q{right:g} {top:g} {right:g} {top + bend:g}V{foot:g}")
    thick = 2 if arc.tone is Tone.BROKEN else 1.3
    faint = ' opacity="0.75"' if arc.tone is Tone.FAINT else ""
    dashes = ' stroke-dasharray="4 3"' if arc.dashed else ""
    yield (
        f'<path d="{"".join(path)}" fill="none" stroke="{ink}" '
        f'stroke-width="{thick}"{dashes}{faint}/>'
    )
    for x in [(column + 0.5) * COLUMN for column, end in arc.ends if end is End.HEAD]:
        head = f"M{x - 4:g} {bottom - 7:g}H{x + 4:g}L{x:g} {bottom:g}Z"
        yield f'<path d="{head}" fill="{ink}"{faint}/>'
    if arc.label:
        bold = ' font-weight="bold"' if arc.tone is Tone.BROKEN else ""
        yield _text(arc.label, arc.label_at, arc.top, ink, bold + faint)
