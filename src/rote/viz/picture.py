"""`Picture`: something drawn, and below it what is known of it and which rules it breaks.

One value for all places: a notebook shows it as SVG, Rich prints it in a terminal, `save` writes it
to a file, and `print` shows it without colours.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rote.errors import SettingError
from rote.viz.shapes import BROKEN_SIGN, RULES_SHOWN, Drawing, Layout, Said, Tone
from rote.viz.terminal import plain_text, rich_text
from rote.viz.text import folded, visible
from rote.viz.vector import html_of, svg_of

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

COLUMNS = 96  # of an SVG
LEAST_COLUMNS = 12


@dataclass(frozen=True, repr=False)
class Picture:
    """An output to look at.

    Parameters
    ----------
    title
        What it is, for people who cannot see it.
    drawing
        What lays out the output in shapes.
    broken
        A sentence for each broken rule, in the order of the numbers in the drawing.
    facts
        What else is known, to stand below.
    """

    title: str
    drawing: Drawing
    broken: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()

    def layout(self, columns: int) -> Layout:
        """The drawing with its caption, in so many columns."""
        room = max(columns, LEAST_COLUMNS)
        drawn = self.drawing.layout(room)
        caption = [
            Said(drawn.rows + number, 0, line, tone)
            for number, (line, tone) in enumerate(self._caption(room))
        ]
        rows = drawn.rows + len(caption) if caption else drawn.rows - 1  # a blank row comes last
        return Layout((*drawn.shapes, *caption), rows, room)

    def svg(self, columns: int = COLUMNS, *, standalone: bool = False) -> str:
        """The picture as SVG, for a page or, standalone, for a file."""
        laid = self.layout(columns)
        used = max([1, *(shape.end for shape in laid.shapes)])  # no empty columns on the right
        title = ". ".join([self.title, *self.facts, *(f"Broken: {b}" for b in self.broken)])
        return svg_of(laid._replace(columns=used), visible(title), standalone=standalone)

    def text(self, columns: int = 80) -> str:
        """The picture as lines of characters without colours."""
        return plain_text(self.layout(columns))

    def save(self, path: str | Path) -> None:
        """Write the picture to a file whose name ends in .svg or .html."""
        file = Path(path)
        if file.suffix not in {".svg", ".html"}:
            raise SettingError(
                f"a picture is saved as .svg or .html, got {file.name!r}; change the file's name"
            )
        is_page = file.suffix == ".html"
        text = html_of(self.svg(), self.title) if is_page else self.svg(standalone=True)
        file.write_text(text, encoding="utf-8")

    def _repr_html_(self) -> str:
        return self.svg()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield rich_text(self.layout(options.max_width), ascii_only=options.ascii_only)

    def __repr__(self) -> str:
        import shutil

        return self.text(shutil.get_terminal_size().columns)

    def _caption(self, columns: int) -> Iterator[tuple[str, Tone]]:
        texts = [("", visible(fact), Tone.PLAIN) for fact in self.facts]
        for number, rule in enumerate(self.broken[:RULES_SHOWN], start=1):
            texts.append((f"{BROKEN_SIGN}{number} ", visible(rule), Tone.BROKEN))
        if len(self.broken) > RULES_SHOWN:
            more = f"and {len(self.broken) - RULES_SHOWN} more broken rules"
            texts.append((f"{BROKEN_SIGN} ", more, Tone.BROKEN))
        for head, text, tone in texts:
            for line in folded(head + text, columns, " " * (len(head) or 2)):
                yield line, tone
