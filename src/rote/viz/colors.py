"""Colours and letters that tell labels apart.

The eight colours are those of Okabe and Ito, which people with any kind of colour vision can tell
from each other; beyond eight labels they come again, lighter and then darker. Letters are what
labels are told apart by, colours only help.
"""

from __future__ import annotations

from collections.abc import Sequence
from string import ascii_lowercase, ascii_uppercase, digits
from typing import NamedTuple

_HUES = (
    (86, 180, 233),
    (230, 159, 0),
    (0, 158, 115),
    (204, 121, 167),
    (240, 228, 66),
    (0, 114, 178),
    (213, 94, 0),
    (153, 153, 153),
)
_SHADES = (((255, 255, 255), 0.0), ((255, 255, 255), 0.55), ((0, 0, 0), 0.45))
BROKEN = "#e03131"  # stands out on white and on black


class Color(NamedTuple):
    """A colour to fill with, and the ink that can be read on it."""

    fill: str
    ink: str


def color(number: int) -> Color:
    """The colour of a label by its position.

    >>> color(0)
    Color(fill='#56b4e9', ink='#000000')
    """
    toward, share = _SHADES[number // len(_HUES) % len(_SHADES)]
    hue = _HUES[number % len(_HUES)]
    mixed = [round(a + share * (b - a)) for a, b in zip(hue, toward, strict=True)]
    # Black or white ink, whichever has more contrast: the relative luminance of WCAG says.
    parts = [v / 255 / 12.92 if v <= 10 else ((v / 255 + 0.055) / 1.055) ** 2.4 for v in mixed]
    luminance = sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), parts, strict=True))
    ink = "#000000" if luminance > 0.179 else "#ffffff"
    return Color("#" + "".join(f"{c:02x}" for c in mixed), ink)


def letters(labels: Sequence[str]) -> list[str]:
    """A letter for each label, no two alike: one of its own where that is free.

    Where there are more labels than letters and digits, they are numbered.

    >>> letters(["sea", "sand", "sky"])
    ['S', 'A', 'K']
    """
    plain = ascii_uppercase + ascii_lowercase + digits
    if len(labels) > len(plain):
        return [str(number) for number in range(len(labels))]
    taken: dict[str, None] = {}
    for label in labels:
        own = [c for c in label if c in plain]
        wanted = [*(c.upper() for c in own), *own, *plain]
        taken[next(c for c in wanted if c not in taken)] = None
    return list(taken)
