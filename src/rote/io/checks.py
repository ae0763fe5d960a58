"""Complaints about files, worded the same by every reader."""

from __future__ import annotations

from pathlib import Path

from rote.errors import DataError


def line_error(path: Path, number: int, reason: str) -> DataError:
    """What is wrong with one line of a file."""
    return DataError(f"{path}, line {number}: {reason}")
