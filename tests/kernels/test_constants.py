"""The numbers that Cython is given are those of Python."""

from __future__ import annotations

import ast
import re

import pytest

from rote.kernels import constants
from tests.kernels.sources import MODULES, names_of, text_of

DEFINED = re.compile(r"^ +#define (\w+) (\S+)$", re.MULTILINE)
DECLARED = re.compile(r"^ +const (?:double|long long) (\w+)$", re.MULTILINE)
ENUM = re.compile(r"^cdef enum:\n((?: +.+\n)+)", re.MULTILINE)


def number(text):
    """As C reads it."""
    if text.lower().startswith(("0x", "-0x")) and "p" in text.lower():
        return float.fromhex(text)
    return ast.literal_eval(re.sub(r"[uUlL]+$", "", text))


def in_python():
    return {name: value for name, value in vars(constants).items() if name.isupper()}


def test_constants_are_the_same():
    header = text_of("constants.pxd")
    found = {name: number(text) for name, text in DEFINED.findall(header)}
    assert found == in_python()
    assert {name: type(value) for name, value in found.items()} == {
        name: type(value) for name, value in in_python().items()
    }
    assert sorted(DECLARED.findall(header)) == sorted(found)


@pytest.mark.parametrize(
    ("text", "expected"), [("0x1p1000", 2.0**1000), ("1e9", 1e9), ("4LL", 4), ("0x10ULL", 16)]
)
def test_numbers_are_read_as_c_does(text, expected):
    assert number(text) == expected


def known_uncompiled(file):
    """Whole numbers of a module for Python: those of the block that Cython does not see."""
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.If) and ast.unparse(node.test) == "not cython.compiled":
            for one in node.body:
                if isinstance(one, ast.Assign) and len(one.targets) == 1:
                    yield from assigned(one)


def assigned(statement):
    (target,) = statement.targets
    if isinstance(target, ast.Tuple) and isinstance(statement.value, ast.Tuple):
        pairs = zip(target.elts, statement.value.elts, strict=True)
    else:
        pairs = [(target, statement.value)]
    for name, value in pairs:
        if isinstance(name, ast.Name) and name.id.isupper():
            yield name.id, eval(ast.unparse(value))  # noqa: S307


def in_enum(file):
    header = file.with_suffix(".pxd")
    text = header.read_text(encoding="utf-8") if header.exists() else ""
    for block in ENUM.findall(text):
        for line in block.splitlines():
            name, _, value = line.partition("#")[0].partition("=")
            yield name.strip(), eval(value)  # noqa: S307


@pytest.mark.parametrize("file", MODULES, ids=names_of(MODULES))
def test_whole_numbers_of_a_module_are_the_same(file):
    assert dict(in_enum(file)) == dict(known_uncompiled(file))
