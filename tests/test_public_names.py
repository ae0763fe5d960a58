"""The public names are a list kept by hand; these tests keep the list honest."""

import importlib
import inspect
import tomllib
from pathlib import Path

import pytest

import rote
from rote import errors
from tools.reference import PROMISED, promised

ROOT = Path(__file__).parent.parent


def test_all_is_a_list_of_strings_without_repeats():
    # Its order is for the linter to check.
    assert all(isinstance(name, str) for name in rote.__all__)
    assert len(rote.__all__) == len(set(rote.__all__))


def test_all_is_what_the_package_holds():
    assert [name for name in rote.__all__ if not hasattr(rote, name)] == []
    assert dir(rote) == sorted(rote.__all__)
    with pytest.raises(AttributeError, match="no attribute 'magic'"):
        _ = rote.magic


def test_a_name_is_looked_up_where_it_is_defined():
    defined = {name: rote._MODULES[name] for name in rote.__all__ if name != "__version__"}
    assert rote._MODULES == defined
    values = {name: getattr(rote, name) for name in defined}
    elsewhere = [name for name, v in values.items() if v.__module__ != f"rote.{defined[name]}"]
    assert elsewhere == []


def test_every_error_is_public():
    tree = {
        name
        for name, value in inspect.getmembers(errors, inspect.isclass)
        if issubclass(value, errors.RoteError)
    }
    assert tree <= set(rote.__all__)


def test_a_star_import_gives_every_public_name():
    scope: dict[str, object] = {}
    exec("from rote import *", scope)  # noqa: S102
    assert set(rote.__all__) <= set(scope)


def test_every_public_class_and_function_is_documented():
    documented = [getattr(rote, name) for name in rote.__all__ if name != "__version__"]
    assert [value.__name__ for value in documented if not inspect.getdoc(value)] == []


def test_the_version_is_the_one_that_is_packaged():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert rote.__version__ == project["version"]


@pytest.mark.parametrize("namespace", PROMISED)
def test_a_namespace_holds_what_it_promises(namespace):
    if namespace == "rote.torch":
        pytest.importorskip("torch")
    module = importlib.import_module(namespace)
    assert module.__doc__
    names = promised()[namespace]
    assert [name for name in names if not hasattr(module, name)] == []
    assert len(names) == len(set(names)) > 0
