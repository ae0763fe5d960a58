"""Every script in examples/ asks a question in its first line, runs, and prints the answer."""

from __future__ import annotations

import ast
import re
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

# What a network learns differs a little from one processor to the next.
NEURAL = re.compile(
    r"words alone: F1 (0\.\d\d), [1-9]\d* impossible outputs\n"
    r"with rules: F1 (0\.\d\d), 0 impossible outputs\n"
    r"pairs and rules: F1 (0\.\d\d), 0 impossible outputs\n"
)


def printed(path):
    done = subprocess.run([sys.executable, str(path)], check=True, capture_output=True, text=True)
    return done.stdout


def test_every_script_has_its_answer_here():
    assert {path.name for path in SCRIPTS} == {*ANSWERS, "neural_tagger.py"}


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_titled_by_a_question(path):
    title = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
    assert title
    assert "?" in title.splitlines()[0]


@pytest.mark.parametrize("name", ANSWERS)
def test_a_script_prints_the_answer(name):
    assert printed(EXAMPLES / name) == ANSWERS[name]


def test_a_network_gains_from_rules_and_more_from_pairs():
    pytest.importorskip("torch")
    found = NEURAL.fullmatch(printed(EXAMPLES / "neural_tagger.py"))
    assert found
    alone, ruled, paired = map(float, found.groups())
    assert 0.5 < alone <= ruled <= paired


def test_a_task_of_ones_own_takes_fewer_than_40_lines():
    lines = (EXAMPLES / "own_task.py").read_text(encoding="utf-8").splitlines()
    assert len([line for line in lines if line.strip()]) < 40
