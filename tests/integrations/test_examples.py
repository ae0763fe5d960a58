"""The examples of integrations are short, listed, and say whether they meet their bar."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parent.parent.parent / "examples" / "integrations"
SCRIPTS = sorted(FOLDER.glob("*.py"))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_an_example_has_at_most_20_lines_beside_its_imports(path):
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    assert ast.get_docstring(tree)
    imports = {
        line
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    first = tree.body[0].end_lineno + 1
    lines = list(enumerate(text.splitlines(), start=1))[first - 1 :]
    code = [line for k, line in lines if k not in imports and line.split("#")[0].strip()]
    assert len(code) <= 20
    assert "NOT MET" in text


def test_every_example_has_a_line_in_the_list():
    listed = re.findall(r"\(integrations/(\w+\.py)\)", (FOLDER.parent / "README.md").read_text())
    assert listed == sorted(path.name for path in SCRIPTS)
