"""What tests of commands share: a way to call them, and a small problem."""

from __future__ import annotations

import sys

import pytest

from rote.cli import main

# Two variables with two labels each; (1, 0) is the most probable: 0.6 · 0.5 · 2 = 0.6.
UAI = """MARKOV
2
2 2
3
1 0
1 1
2 0 1
2 0.4 0.6
2 0.5 0.5
4 1 1 2 1
"""


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line; gives the exit code, what was printed, and what went wrong."""

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["rote", *map(str, arguments)])
        with pytest.raises(SystemExit) as leaving:
            main()
        printed = capsys.readouterr()
        return int(leaving.value.code or 0), printed.out, printed.err

    return call


@pytest.fixture
def uai(tmp_path):
    file = tmp_path / "problem.uai"
    file.write_text(UAI, encoding="utf-8")
    return file
