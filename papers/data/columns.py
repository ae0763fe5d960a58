"""Tagged examples from column files: the last column holds the labels, the others the tokens."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from papers.data.checks import check_label
from papers.data.examples import Example, TaggedExample
from rote.io.checks import line_error
from rote.io.columns import Block, Row, read_blocks


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
