"""Text files as others write them: plain or compressed, and cut into words that know their line.

Lines are counted only when something is wrong, so reading a large file that is in
order costs no more than cutting it up.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
import zlib
from collections.abc import Iterator
from itertools import islice
from math import nan
from pathlib import Path
from typing import Any

import numpy as np

from rote.errors import DataError
from rote.types import FloatArray

BLANK_SEPARATED = re.compile(r"\S+")


def read_text(path: Path) -> str:
    """The text of a file; names that end in .gz or .xz are decompressed, "-" is standard input."""
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
        if path.suffix == ".gz":
            data = gzip.decompress(data)
        elif path.suffix == ".xz":
            data = _decompressed_xz(path, data)
        return data.decode("utf-8")
    except FileNotFoundError:
        raise DataError(f"{path}: there is no such file") from None
    except OSError as error:
        # gzip's own complaint is an OSError without a number.
        reason = error.strerror or f"it is not a whole gzip file ({error})"
        raise DataError(f"{path}: cannot be read: {reason}") from None
    except (EOFError, zlib.error) as error:
        raise DataError(f"{path}: is not a whole gzip file: {error}") from None
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise DataError(f"{path}, line {line}: is not UTF-8 text: {error.reason}") from None


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file, plain or compressed, counted from 1; only a line feed ends one."""
    lines = read_text(path).removesuffix("\n").split("\n")
    return ((number, line.removesuffix("\r")) for number, line in enumerate(lines, start=1))


def line_error(path: Path, number: int, reason: str) -> DataError:
    """What is wrong with one line of a file."""
    return DataError(f"{path}, line {number}: {reason}")


def plain_suffix(path: Path) -> str:
    """The suffix of a file name under any .gz or .xz.

    >>> plain_suffix(Path("a.wcsp.gz"))
    '.wcsp'
    """
    inner = path.with_suffix("") if path.suffix in {".gz", ".xz"} else path
    return inner.suffix.lower()


def json_text(value: Any, indent: int | None = None) -> str:
    """JSON for people: letters of all alphabets stand as they are.

    Only where UTF-8 cannot write one, half of a pair of surrogates, all are escaped.

    >>> print(json_text({"fruit": "🍒"}))
    {"fruit": "🍒"}
    """
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text


class Words:
    """The words of a text, taken one after the other.

    >>> words = Words(Path("a.txt"), "3  1.5 2")
    >>> words.whole("a count"), words.numbers(2, "values").tolist()
    (3, [1.5, 2.0])
    """

    def __init__(self, path: Path, text: str, pattern: re.Pattern[str] = BLANK_SEPARATED) -> None:
        self.path = path
        self._text = text
        self._pattern = pattern
        # For blanks, split finds the same words faster.
        by_blanks = pattern is BLANK_SEPARATED
        self._words: list[str] = text.split() if by_blanks else pattern.findall(text)
        self._at = 0

    @property
    def taken(self) -> int:
        """How many words have been taken."""
        return self._at

    @property
    def left(self) -> int:
        """How many words have not been taken."""
        return len(self._words) - self._at

    def peek(self) -> str:
        """The next word, which stays; empty at the end."""
        return self._words[self._at] if self.left else ""

    def peek_many(self, count: int) -> list[str]:
        """The next ``count`` words, which stay; fewer at the end."""
        return self._words[self._at : self._at + count]

    def take(self, what: str) -> str:
        """The next word; ``what`` says what it should be."""
        return self.take_many(1, what)[0]

    def take_many(self, count: int, what: str) -> list[str]:
        """The next ``count`` words."""
        if self.left < count:
            raise self.error(
                f"expected {what}, and the file ends here; it may have been cut off",
                back=-self.left,
            )
        words = self.peek_many(count)
        self._at += count
        return words

    def whole(self, what: str, least: int | None = 0, most: int | None = None) -> int:
        """The next word as a whole number between ``least`` and ``most``."""
        word = self.take(what)
        try:
            value = int(word)
        except ValueError:
            raise self.error(f"expected {what}, a whole number, got {word!r}") from None
        if (least is not None and value < least) or (most is not None and value > most):
            raise self.error(f"expected {what}, {_between(least, most)}, got {value}")
        return value

    def wholes(self, count: int, what: str, least: int = 0, most: int | None = None) -> list[int]:
        """The next ``count`` words as whole numbers."""
        return [self.whole(what, least, most) for _ in range(count)]

    def numbers(self, count: int, what: str) -> FloatArray:
        """The next ``count`` words as finite numbers."""
        words = self.take_many(count, what)
        try:
            values = np.array(list(map(float, words)))
        except ValueError:
            values = np.array([_as_number(word) for word in words])
        finite = np.isfinite(values)
        if finite.all():
            return values
        wrong = int(np.argmin(finite))
        raise self.error(
            f"expected {what}, a finite number, got {words[wrong]!r}", back=count - wrong
        )

    def end(self) -> None:
        """Nothing more may follow."""
        if self.left:
            word = self.take("the end of the file")
            raise self.error(f"expected the end of the file, got {word!r}")

    def error(self, reason: str, back: int = 1) -> DataError:
        """What is wrong with the word taken ``back`` words ago, and on which line it stands."""
        return line_error(self.path, self._line(self._at - back), reason)

    def _line(self, position: int) -> int:
        found = next(islice(self._pattern.finditer(self._text), max(position, 0), None), None)
        before = self._text[: found.start()] if found else self._text.rstrip("\n")
        return before.count("\n") + 1


def _decompressed_xz(path: Path, data: bytes) -> bytes:
    import lzma  # which not every Python was built with

    try:
        return lzma.decompress(data)
    except lzma.LZMAError as error:
        raise DataError(f"{path}: is not a whole xz file: {error}") from None


def _as_number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return nan


def _between(least: int | None, most: int | None) -> str:
    if most is None:
        return f"at least {least}"
    return f"at most {most}" if least is None else f"between {least} and {most}"
