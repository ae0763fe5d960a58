"""What Cython would take for something else than Python does is in no kernel.

Compiled kernels read before an array where an index is negative, and take ``int`` and ``bool`` for
Python's own: `rote.kernels.arrays` has names for those of C.
"""

import ast

import pytest

from tests.kernels.sources import FOLDER, MODULES, names_of

PYTHONS_OWN = {"int", "bool"}
every_module = pytest.mark.parametrize("file", MODULES, ids=names_of(MODULES))


def is_negative(index):
    return (
        isinstance(index, ast.UnaryOp)
        and isinstance(index.op, ast.USub)
        and isinstance(index.operand, ast.Constant)
    )


def negative_indices(tree):
    """The lines of ``x[-1]``, along whichever axis."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            along = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
            if any(map(is_negative, along)):
                yield node.lineno


def misnamed_parameters(tree):
    """Parameters whose type is Python's own, not that of C."""
    for node in ast.walk(tree):
        if isinstance(node, ast.arg) and node.annotation is not None:
            named = ast.unparse(node.annotation)
            if named in PYTHONS_OWN:
                yield f"{node.arg}, line {node.lineno}"


@every_module
def test_every_kernel_has_a_header(file):
    assert file.with_suffix(".pxd").exists()


def test_every_folder_of_kernels_can_be_imported_from_by_headers():
    for folder in {path.parent for path in MODULES}:
        assert (folder / "__init__.pxd").exists(), folder


def test_every_header_has_a_kernel():
    for header in FOLDER.rglob("*.pxd"):
        assert header.with_suffix(".py").exists(), header


@every_module
def test_no_index_is_negative(file):
    assert not list(negative_indices(ast.parse(file.read_text(encoding="utf-8"))))


@every_module
def test_parameters_have_the_types_of_c(file):
    assert not list(misnamed_parameters(ast.parse(file.read_text(encoding="utf-8"))))


@pytest.mark.parametrize(
    ("source", "count"),
    [("x[-1]", 1), ("x[0, -2] = 1", 1), ("y = x[a[-1]]", 1), ("x[n - 1] = -x[1]", 0), ("x[:2]", 0)],
)
def test_negative_indices_are_seen(source, count):
    assert len(list(negative_indices(ast.parse(source)))) == count


def test_types_of_python_are_seen():
    tree = ast.parse("def f(a: int, b: Int, c: bool, d: float) -> int: ...")
    assert list(misnamed_parameters(tree)) == ["a, line 1", "c, line 1"]
