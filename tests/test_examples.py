"""Every script in examples/ asks a question in its first line, runs, and prints the answer."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
SCRIPTS = sorted(EXAMPLES.glob("*.py"))

# Both owls would take the night; the rule leaves it to the one who is young as well.
ANSWERS = {
    "own_task.py": "Ada (owl): off\nDov (owl young): night\nBen (lark): day\nFay (tired): off\n",
}


def test_every_script_has_its_answer_here():
    assert {path.name for path in SCRIPTS} == set(ANSWERS)


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_titled_by_a_question_and_prints_the_answer(path):
    title = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert title
    assert "?" in title.splitlines()[0]
    done = subprocess.run([sys.executable, str(path)], check=True, capture_output=True, text=True)
    assert done.stdout == ANSWERS[path.name]


def test_a_task_of_ones_own_takes_fewer_than_40_lines():
    lines = (EXAMPLES / "own_task.py").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.strip()]) < 40
