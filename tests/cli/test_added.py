"""Commands that other packages bring, and what is said where one is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

from rote.cli.added import GROUP, STUDIES
from tests.cli.lines import is_one_line

# A shell as it is where the studies are not installed: no entry point names them.
WITHOUT = f"""
import importlib.metadata as metadata
found = metadata.entry_points
metadata.entry_points = lambda **chosen: () if chosen == {{"group": {GROUP!r}}} else found(**chosen)
from rote.cli import main
main()
"""


def test_the_studies_of_the_papers_bring_their_commands(run):
    code, printed, _ = run("--help")
    assert code == 0
    assert [name for name in STUDIES if name not in printed] == []


@pytest.mark.parametrize("arguments", [["reproduce", "tour", "--quick"], ["report", "x"], ["data"]])
def test_without_the_studies_a_command_says_in_one_line_how_to_get_them(arguments):
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT, *arguments], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert is_one_line(done.stderr)
    assert "pip install ./papers" in done.stderr
