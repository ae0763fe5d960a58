"""Commands that other packages bring, and what is said where one is missing or broken."""

import subprocess
import sys

import pytest

from rote.cli.added import GROUP, STUDIES
from tests.cli.lines import is_one_line

# The command line with other entry points than those that are installed.
OTHER = f"""
import importlib.metadata as metadata
found = metadata.entry_points
broken = [metadata.EntryPoint("papers", "papers.no_such_module", {GROUP!r})]
metadata.entry_points = lambda **given: %s if given == {{"group": {GROUP!r}}} else found(**given)
from rote.__main__ import main
main()
"""
NONE, BROKEN = OTHER % "()", OTHER % "broken"
STUDY_CALLS = [["reproduce", "tour", "--quick"], ["report", "x"], ["data"]]


def test_the_studies_of_the_papers_bring_their_commands(run):
    code, printed, _ = run("--help")
    assert code == 0
    assert [name for name in STUDIES if name not in printed] == []


@pytest.mark.parametrize("arguments", STUDY_CALLS, ids=lambda call: call[0])
@pytest.mark.parametrize(
    ("program", "said"), [(NONE, "pip install ./papers"), (BROKEN, "papers.no_such_module")]
)
def test_a_study_that_is_missing_or_broken_is_one_line_when_it_is_called(program, said, arguments):
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (2, "")
    assert is_one_line(done.stderr)
    assert said in done.stderr


def test_studies_that_cannot_be_imported_leave_all_other_commands():
    for arguments in (["--version"], ["solve", "--help"]):
        done = subprocess.run(
            [sys.executable, "-c", BROKEN, *arguments], check=False, capture_output=True, text=True
        )
        assert (done.returncode, done.stderr) == (0, "")
