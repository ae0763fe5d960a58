"""Text in columns of a fixed width, with nothing in it that cannot be seen."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

MORE = "…"
# Characters that XML or a terminal cannot take, or that turn the direction of all that follows.
_UNSEEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


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


def _width_of(character: str) -> int:
    if unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
