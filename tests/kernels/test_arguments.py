"""No kernel takes more than a few arguments: what travels together is a bundle."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import rote.kernels

MOST = 8
FOLDER = Path(rote.kernels.__file__).parent
FILES = sorted(FOLDER.rglob("*.py"))


@pytest.mark.parametrize("file", FILES, ids=[str(file.relative_to(FOLDER)) for file in FILES])
def test_functions_take_few_arguments(file):
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.FunctionDef):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            assert len(given) <= MOST, f"{node.name} takes {len(given)}; hand over a bundle"
