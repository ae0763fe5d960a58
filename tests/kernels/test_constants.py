"""The numbers that Cython is given are those of Python."""

import ast
import re

import pytest

from rote.kernels import constants
from tests.kernels.sources import FOLDER, MODULES, names_of, text_of

DEFINED = re.compile(r"^ +#define (\w+) (.+)$", re.MULTILINE)
DECLARED = re.compile(r"^ +const [a-zA-Z ]+ (\w+)$", re.MULTILINE)
ENUM = re.compile(r"^cp?def enum:\n((?: +.+\n)+)", re.MULTILINE)


def number(text):
    """As C reads it."""
    if re.fullmatch(r"0x[0-9a-f.]+p[0-9]+", text, re.IGNORECASE):
        return float.fromhex(text)
    return eval(re.sub(r"(?<=[0-9A-Fa-f])[uUlL]+\b", "", text))  # noqa: S307


def in_python():
    return {name: value for name, value in vars(constants).items() if name.isupper()}


def test_constants_are_the_same():
    header = text_of("constants.pxd")
    found = dict(in_header(FOLDER / "constants.py"))
    assert found == in_python()
    assert {name: type(value) for name, value in found.items()} == {
        name: type(value) for name, value in in_python().items()
    }
    assert DECLARED.findall(header) == [name for name, _ in DEFINED.findall(header)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0x1p1000", 2.0**1000), ("1e9", 1e9), ("4LL", 4), ("0x10ULL", 16), ("(1 - 0.5)", 0.5)],
)
def test_numbers_are_read_as_c_does(text, expected):
    assert number(text) == expected


def known_uncompiled(file):
    """The numbers of a module for Python: those of the block that Cython does not see."""
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


def in_header(file):
    header = file.with_suffix(".pxd")
    text = header.read_text(encoding="utf-8") if header.exists() else ""
    for name, value in DEFINED.findall(text):
        yield name, number(value)
    for block in ENUM.findall(text):
        for line in block.splitlines():
            name, _, value = line.partition("#")[0].partition("=")
            yield name.strip(), eval(value)  # noqa: S307


@pytest.mark.parametrize("file", MODULES, ids=names_of(MODULES))
def test_numbers_of_a_module_are_the_same(file):
    assert dict(in_header(file)) == dict(known_uncompiled(file))
