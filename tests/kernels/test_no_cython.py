"""What stands for the package cython where it is not installed."""

import ast
import re
from pathlib import Path

from rote import kernels
from rote.kernels import no_cython

USED = re.compile(r"\bcython\.(\w+)")


def test_it_has_all_that_kernels_use():
    sources = Path(kernels.__file__).parent.rglob("*.py")
    used = {name for path in sources for name in USED.findall(path.read_text(encoding="utf-8"))}
    assert {name for name in used if not hasattr(no_cython, name)} == set()
    assert "nogil" in used


def test_nothing_is_compiled_and_nothing_released():
    assert no_cython.compiled is False
    with no_cython.nogil, no_cython.nogil:
        assert no_cython.cast(int, 3.7) == 3
        assert no_cython.cast(float, 3) == 3


def test_kernels_import_cython_and_nothing_of_it():
    for path in Path(kernels.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            assert not (isinstance(node, ast.ImportFrom) and (node.module or "") == "cython"), path
