"""The bodies that Cython takes in are those of Python."""

from __future__ import annotations

import ast
import re

import pytest

from tests.kernels.sources import text_of

HEAD = re.compile(
    r"^cdef inline (.+?) (\w+)\(([^)]*)\) noexcept nogil:\n((?:[ ]+.*\n|\n)+)", re.MULTILINE
)
OF_C = {"float": "double", "bool": "bint"}


def in_c(annotation):
    name = ast.unparse(annotation)
    return OF_C.get(name, name)


def result_in_c(annotation):
    if isinstance(annotation, ast.Subscript):  # a tuple
        return f"({', '.join(map(result_in_c, annotation.slice.elts))})"
    return {"int": "Int", "None": "void"}.get(ast.unparse(annotation), in_c(annotation))


class Bare(ast.NodeTransformer):
    """Without types of locals, which the two have in different places."""

    def visit_AnnAssign(self, node):
        return ast.Assign([node.target], node.value, lineno=node.lineno) if node.value else None


def body_of(statements):
    return "\n".join(ast.unparse(Bare().visit(one)) for one in statements)


def in_python():
    """By name: result, parameters and body."""
    for node in ast.parse(text_of("inlined.py")).body:
        if isinstance(node, ast.FunctionDef):
            given = ", ".join(f"{in_c(one.annotation)} {one.arg}" for one in node.args.args)
            documented = ast.get_docstring(node) is not None
            body = body_of(node.body[1:] if documented else node.body)
            yield node.name, (result_in_c(node.returns), given, body)


def in_header(text):
    for result, name, given, body in HEAD.findall(text):
        untyped = re.sub(r"^( +)cdef [\w ]+? (\w+ = )", r"\1\2", body, flags=re.MULTILINE)
        untyped = re.sub(r"^ +cdef .*\n", "", untyped, flags=re.MULTILINE)
        (function,) = ast.parse("def body():\n" + untyped).body
        yield name, (result, " ".join(given.split()), body_of(function.body))


PYTHON, HEADER = dict(in_python()), dict(in_header(text_of("inlined.pxd")))


def test_both_have_the_same_functions():
    assert PYTHON
    assert list(PYTHON) == list(HEADER)
    assert len(HEADER) == text_of("inlined.pxd").count("cdef inline ")


@pytest.mark.parametrize("name", PYTHON)
def test_both_say_the_same(name):
    assert HEADER[name] == PYTHON[name]


def test_another_body_is_seen():
    changed = text_of("inlined.pxd").replace("code * layout", "code + layout")
    assert dict(in_header(changed))["tuple_of"] != PYTHON["tuple_of"]
