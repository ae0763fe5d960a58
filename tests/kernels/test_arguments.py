"""No kernel takes more than a few arguments: what travels together is a bundle."""

import ast

import pytest

from tests.kernels.sources import MODULES, names_of

MOST = 9


@pytest.mark.parametrize("file", MODULES, ids=names_of(MODULES))
def test_functions_take_few_arguments(file):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name != "__init__":  # of a bundle
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            assert len(given) <= MOST, f"{node.name} takes {len(given)}; hand over a bundle"
