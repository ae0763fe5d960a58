"""Column files: one row per line, its cells apart by one separator, no cell empty.

In a table every line is a row. In a file of blocks, blank lines stand between blocks,
a block is one input with one row per token, and lines that start with the file's mark
of a comment may come before its rows. In tagged examples, the last column holds the labels,
the others the tokens.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from papers.data.checks import check_label
from papers.data.examples import Example, TaggedExample
from rote.io.text import line_error, numbered_lines


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


def read_tagged(
    path: Path, columns: int, labels: Collection[str], *, separator: str = "\t"
) -> tuple[TaggedExample, ...]:
    """One example per block: the last column holds the labels, the others the tokens."""
    return tuple(
        tagged(path, block, labels) for block in read_blocks(path, columns, separator=separator)
    )


def tagged(path: Path, block: Block, labels: Collection[str]) -> TaggedExample:
    """A block as an example: the last column holds the labels, the others the tokens."""
    for number, cells in block.rows:
        check_label(path, number, cells[-1], labels)
    return Example(
        tuple(cells[:-1] for _, cells in block.rows), tuple(cells[-1] for _, cells in block.rows)
    )


def spelled(
    path: Path, row: Row, alphabets: Sequence[Collection[str]], output: int
) -> TaggedExample:
    """A row of words of one length as an example: the first is spelled out into tokens.

    Every cell keeps to its alphabet; the cell at ``output`` has a label for each token.
    """
    first = row.cells[0]
    for cell, alphabet in zip(row.cells, alphabets, strict=True):
        if len(cell) != len(first):
            raise line_error(
                path, row.number, f"expected {len(first)} signs as in {first!r}, got {cell!r}"
            )
        for sign in cell:
            check_label(path, row.number, sign, alphabet)
    return Example(tuple((sign,) for sign in first), tuple(row.cells[output]))


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
