"""Variables and their labels, in as many columns as fit: a picture for any space."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import NamedTuple

from rote.viz.shapes import DIFFERENT_SIGN, Layout, Said, Shape, Tone
from rote.viz.text import folded, shortened, visible, width_of

SHOWN = 300  # variables; of more, those that are marked and the first others
APART = 3


class Entry(NamedTuple):
    """A variable and its label; ``gold`` where the right one is another."""

    name: str
    label: str
    mark: str = ""
    gold: str | None = None

    @property
    def text(self) -> str:
        said = visible(self.label) + (f" {self.mark}" if self.mark else "")
        return said if self.gold is None else f"{said} {DIFFERENT_SIGN} {visible(self.gold)}"


@dataclass(frozen=True)
class Listing:
    """Entries, read downwards."""

    entries: tuple[Entry, ...]

    def layout(self, columns: int) -> Layout:
        shown = self._shown()
        names = [visible(entry.name) for entry in shown]
        width = min(max(map(width_of, names), default=0), columns // 2)
        texts = [shortened(entry.text, columns - width - 1) for entry in shown]
        whole = width + 1 + max(map(width_of, texts), default=0)
        across = max(1, (columns + APART) // (whole + APART))
        down = ceil(len(shown) / across)
        shapes: list[Shape] = []
        for k, (entry, name, text) in enumerate(zip(shown, names, texts, strict=True)):
            row, column = k % down, k // down * (whole + APART)
            tone = Tone.BROKEN if entry.mark else Tone.PLAIN
            shapes.append(Said(row, column, shortened(name, width), Tone.FAINT))
            shapes.append(Said(row, column + width + 1, text, tone, bold=True))
        left_out = len(self.entries) - len(shown)
        rest = f"… and {left_out} more variables" if left_out else ""
        more = list(folded(rest, columns, "  "))
        shapes += [Said(row, 0, line, Tone.FAINT) for row, line in enumerate(more, start=down)]
        return Layout(tuple(shapes), down + len(more) + 1, columns)

    def _shown(self) -> list[Entry]:
        plain = [not entry.mark and entry.gold is None for entry in self.entries]
        first = sorted(range(len(plain)), key=plain.__getitem__)[:SHOWN]
        return [self.entries[k] for k in sorted(first)]
