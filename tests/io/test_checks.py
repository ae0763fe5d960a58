"""Complaints name the file, the line, what was expected and what came."""

from __future__ import annotations

from pathlib import Path

from rote.io.checks import line_error

PATH = Path("a.tsv")


def test_a_complaint_about_a_line_starts_with_file_and_line():
    assert str(line_error(PATH, 3, "is odd")) == "a.tsv, line 3: is odd"
