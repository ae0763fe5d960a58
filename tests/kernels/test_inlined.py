"""The bodies that Cython takes in are those of Python."""

import ast
import re

import pytest

from tests.kernels.sources import text_of

HEAD = re.compile(
    r"^cdef inline (.+?) (\w+)\(([^)]*)\) noexcept nogil:\n((?:[ ]+.*\n|\n)+)", re.MULTILINE
)
OF_C = {"float": "double", "bool": "bint"}
# Bytes are copied or read as another type, or numbers two by two, which Python has other words for;
# what these answer is tested with the kernels that use them.
OF_MEMORY = {"repeat_row", "bits_of", "signed", "max_plus", "largest_size", "range_of"}


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
        yield name, (result, " ".join(given.split()).rstrip(","), body)


def without_types(body):
    """The body of a header as Python reads it, without types of locals and casts."""
    body = re.sub(r"^( +)cdef [\w ]+? (\w+ = )", r"\1\2", body, flags=re.MULTILINE)
    body = re.sub(r"^ +cdef .*\n", "", body, flags=re.MULTILINE)
    (function,) = ast.parse("def body():\n" + re.sub(r"<\w+>", "", body)).body
    return body_of(function.body)


PYTHON, HEADER = dict(in_python()), dict(in_header(text_of("inlined.pxd")))


def test_both_have_the_same_functions():
    assert PYTHON
    assert list(PYTHON) == list(HEADER)
    assert len(HEADER) == text_of("inlined.pxd").count("cdef inline ")


@pytest.mark.parametrize("name", PYTHON)
def test_both_take_and_return_the_same(name):
    result, given, _ = PYTHON[name]
    assert HEADER[name][1] == given
    assert HEADER[name][0] in ({"Int", "Word"} if result == "Int" else {result})


@pytest.mark.parametrize("name", [name for name in PYTHON if name not in OF_MEMORY])
def test_both_have_the_same_body(name):
    assert without_types(HEADER[name][2]) == PYTHON[name][2].replace(" & WORD", "")


def test_another_body_is_seen():
    changed = text_of("inlined.pxd").replace("code * layout", "code + layout")
    *_, body = dict(in_header(changed))["tuple_of"]
    assert without_types(body) != PYTHON["tuple_of"][2]
