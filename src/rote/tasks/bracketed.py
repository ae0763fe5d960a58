"""Texts with spans of words in brackets, as people type them."""

from __future__ import annotations

import re

from rote.errors import DataError

_SIGNS = re.compile(r"[\[\]]|[^\s\[\]]+")


def bracketed(
    text: str, what: str, *, nested: bool = False
) -> tuple[list[str], list[tuple[int, int]]]:
    """The words of a text, and the spans (start, stop) that brackets mark, in reading order.

    Errors say ``what`` they are. Of spans that are ``nested``, a longer one comes before those
    inside it.

    >>> bracketed("[Ada Byron] lives in [London]", "entities")
    (['Ada', 'Byron', 'lives', 'in', 'London'], [(0, 2), (4, 5)])
    """
    words: list[str] = []
    spans: list[tuple[int, int]] = []
    opened: list[int] = []
    for sign in _SIGNS.findall(text):
        if sign not in "[]":
            words.append(sign)
        elif (sign == "[" and opened and not nested) or (sign == "]" and not opened):
            inside = "" if nested else ", none of which is inside another"
            raise DataError(f"brackets are around {what}, opened and closed{inside}")
        elif sign == "[":
            opened.append(len(words))
        else:
            spans.append((opened.pop(), len(words)))
    if opened:
        raise DataError("a bracket is open at the end of the text; close it with ]")
    if not spans:
        raise DataError(f"no {what} are marked; put brackets around them, as in [New York]")
    return words, sorted(spans, key=lambda span: (span[0], -span[1]))
