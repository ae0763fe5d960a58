"""Column files: one row per line, its cells apart by one separator, no cell empty.

In a table every line is a row. In a file of blocks, blank lines stand between blocks,
a block is one input with one row per token, and lines that start with the file's mark
of a comment may come before its rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rote.io.checks import line_error
from rote.io.text import read_text


class Row(NamedTuple):
    """The cells of a line, and the line's number."""

    number: int
    cells: tuple[str, ...]


class Block(NamedTuple):
    """Rows without a blank line between them, and the comments before them."""

    number: int  # of its first line
    comments: tuple[str, ...]
    rows: tuple[Row, ...]


def read_table(path: Path, columns: int) -> Iterator[Row]:
    """The rows of a file without blank lines, cells apart by tabs."""
    for number, line in numbered_lines(path):
        yield _full_row(path, number, line, columns, "\t")


def read_blocks(
    path: Path, columns: int | None, *, separator: str = "\t", comment: str | None = None
) -> Iterator[Block]:
    """The blocks of a file; ``columns=None`` leaves the cells of a row to the caller's checks."""
    start, comments, rows = 0, list[str](), list[Row]()
    for number, line in numbered_lines(path):
        if line and not (comments or rows):
            start = number
        if not line:
            if comments or rows:
                yield _block(path, start, comments, rows)
                comments, rows = [], []
        elif comment is not None and line.startswith(comment):
            if rows:
                raise line_error(
                    path, number, f"expected a row or a blank line, got the comment {line!r}"
                )
            comments.append(line)
        elif columns is None:
            rows.append(Row(number, tuple(line.split(separator))))
        else:
            rows.append(_full_row(path, number, line, columns, separator))
    if comments or rows:
        yield _block(path, start, comments, rows)


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file, plain or compressed, counted from 1."""
    lines = read_text(path).removesuffix("\n").split("\n")
    return ((number, line.removesuffix("\r")) for number, line in enumerate(lines, start=1))


def _full_row(path: Path, number: int, line: str, columns: int, separator: str) -> Row:
    cells = tuple(line.split(separator))
    if len(cells) != columns:
        got = f"{len(cells)} in {line!r}" if line else "a blank line"
        raise line_error(path, number, f"expected {columns} columns, got {got}")
    if "" in cells:
        raise line_error(path, number, f"column {cells.index('') + 1} is empty in {line!r}")
    return Row(number, cells)


def _block(path: Path, start: int, comments: list[str], rows: list[Row]) -> Block:
    if not rows:
        raise line_error(path, start, f"no rows follow {comments[-1]!r}; the file may be cut off")
    return Block(start, tuple(comments), tuple(rows))
