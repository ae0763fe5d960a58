"""What the pages of docs/ say of the code is there; `mkdocs build --strict` checks their links.

All of it is read, not imported. The index of the reference links every public name to where it
is documented: that the list is complete is checked here, and that every link leads somewhere by
the strict build.
"""

import ast
import importlib.util
import re
import tomllib
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from papers.registry import EXPERIMENTS
from tools.reference import PROMISED, promised

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src"
DOCS = ROOT / "docs"
PAPERS = sorted((DOCS / "papers").glob("*.md"))
PATH = re.compile(r"`((?:rote|papers)(?:\.\w+)+)`")
SVG = "{http://www.w3.org/2000/svg}"


@cache
def tree_of(module: str) -> ast.Module | None:
    """The code of a module or package, None where there is none."""
    house = ROOT if module.split(".", maxsplit=1)[0] == "papers" else SOURCE
    stem = house.joinpath(*module.split("."))
    for path in (stem.with_suffix(".py"), stem / "__init__.py"):
        if path.is_file():
            tree = ast.parse(path.read_text(encoding="utf-8"))
            for branch in [node for node in tree.body if isinstance(node, ast.If)]:
                tree.body += branch.body  # imports for type checkers
            return tree
    return None


def exported(module: str) -> list[str]:
    """The names of a package's ``__all__``; none where it has no such list."""
    tree = tree_of(module)
    for node in tree.body if tree else []:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return ast.literal_eval(node.value)
    return []


PUBLIC = [(module, name) for module, names in promised().items() for name in names]


def defined(module: str, name: str) -> tuple[list[ast.stmt], int] | None:
    """The statements among which a name is defined and its place, imports followed."""
    tree = tree_of(module)
    for at, node in enumerate(tree.body if tree else []):
        match node:
            case ast.ClassDef(name=found) | ast.FunctionDef(name=found) if found == name:
                return tree.body, at
            case ast.Assign(targets=[ast.Name(id=found)]) if found == name:
                return tree.body, at
            case ast.AnnAssign(target=ast.Name(id=found)) if found == name:
                return tree.body, at
            case ast.ImportFrom(module=str(source), names=names):
                found = [alias.asname or alias.name for alias in names]
                if name in found or (found == ["*"] and defined(source, name)):
                    return defined(source, name)
    return None


def docstring_of(module: str, name: str) -> str | None:
    """A class and a function begin with it; after a value it stands in the next line."""
    place = defined(module, name)
    assert place is not None, f"{module} has no {name}"
    body, at = place
    node = body[at]
    if isinstance(node, ast.ClassDef | ast.FunctionDef):
        return ast.get_docstring(node)
    after = body[at + 1] if at + 1 < len(body) else None
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
        return after.value.value
    return None


def exists(path: str) -> bool:
    """Whether a dotted path is a module, or a name of one."""
    module, _, name = path.rpartition(".")
    return tree_of(path) is not None or defined(module, name) is not None


def test_every_public_name_has_a_docstring():
    assert len(PUBLIC) > 200
    assert [f"{m}.{name}" for m, name in PUBLIC if not docstring_of(m, name)] == []


def test_the_reference_lists_every_public_name_and_no_other():
    index = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")
    listed = re.findall(r"\[`(\w+)`\]\[([\w.]+)\]", index)
    assert all(path.endswith(f".{name}") for name, path in listed)
    assert sorted(path for _, path in listed) == sorted(f"{m}.{name}" for m, name in PUBLIC)


def test_the_reference_has_a_page_for_every_namespace():
    pages = {path.stem for path in (DOCS / "reference").glob("*.md")} - {"index"}
    assert pages == {name.split(".")[1] for name in PROMISED[1:]} - {"types"} | {
        "errors",
        "model",
        "space",
    }


def test_what_the_reference_picks_out_of_a_module_is_there():
    picked = [
        (module, name)
        for page in (DOCS / "reference").glob("*.md")
        for module, members in re.findall(
            r"^::: (\S+)\n    options:\n        members:\n((?: +- \w+\n?)+)",
            page.read_text(encoding="utf-8"),
            re.MULTILINE,
        )
        for name in re.findall(r"- (\w+)", members)
    ]
    assert len(picked) > 10
    assert [pair for pair in picked if defined(*pair) is None] == []


def imports(text: str) -> list[tuple[str, str]]:
    """The names of rote that code imports, with where from."""
    found = re.findall(r"^\s*from (rote[\w.]*) import (\([^)]*\)|[^\n]*)", text, re.MULTILINE)
    return [
        (module, name.split(" as ")[0].strip())
        for module, names in found
        for name in names.split("#")[0].strip("() \n").split(",")
        if name.strip()
    ]


@pytest.mark.parametrize(
    "page",
    [ROOT / "README.md", *sorted(DOCS.rglob("*.md")), *sorted((ROOT / "examples").glob("*.py"))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_pages_and_examples_import_promised_names_only(page):
    known = {(module, name) for module, name in PUBLIC} | {("rote", "__version__")}
    assert [pair for pair in imports(page.read_text(encoding="utf-8")) if pair not in known] == []


def test_what_users_read_first_needs_the_library_alone():
    first = [ROOT / "README.md", DOCS / "index.md", DOCS / "tutorial.md"]
    pages = [*first, *(DOCS / "howto").glob("*.md"), *(ROOT / "examples").glob("*.py")]
    studies = re.compile(r"^\s*(from|import) papers\b", re.MULTILINE)
    assert [page for page in pages if studies.search(page.read_text(encoding="utf-8"))] == []


@pytest.mark.parametrize("page", PAPERS, ids=lambda page: page.stem)
def test_what_a_page_about_a_paper_points_to_is_there(page):
    text = page.read_text(encoding="utf-8")
    paths = PATH.findall(text)
    assert len(paths) > 5
    assert [path for path in paths if not exists(path)] == []
    assert [path for path in re.findall(r"`(tests/\S+)`", text) if not (ROOT / path).exists()] == []


def test_a_path_that_is_not_there_is_noticed():
    assert exists("rote.learning.svm")
    assert exists("rote.learning.svm.StructuredSVM")
    assert exists("rote.learning.StructuredSVM")
    assert not exists("rote.learning.svn")
    assert not exists("rote.learning.svm.StructuredSVN")


def test_the_papers_pages_name_every_experiment_and_no_other():
    named = {
        name
        for page in PAPERS
        for name in re.findall(r"`rote reproduce ([\w-]+)`", page.read_text(encoding="utf-8"))
    }
    assert named == set(EXPERIMENTS) - {"tour"}  # which is about all of them


def test_the_drawing_has_the_rooms_in_the_order_that_is_enforced():
    drawing = ET.parse(DOCS / "rooms.svg")
    rows: dict[float, set[str]] = {}
    for text in drawing.iter(f"{SVG}text"):
        if text.get("class") == "name":
            rows.setdefault(float(text.get("y")), set()).add(text.text)
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = contracts["tool"]["importlinter"]["contracts"][0]["layers"]
    order = [{name.strip(" ()") for name in re.split("[|:]", layer)} for layer in layers]
    assert [rows[y] for y in sorted(rows)] == order[::-1]
    assert drawing.find(f"{SVG}title").text
    assert drawing.find(f"{SVG}desc").text


def test_the_design_shows_the_drawing_and_says_it_in_words():
    design = (DOCS / "design.md").read_text(encoding="utf-8")
    (words,) = re.findall(r"!\[([^\]]+)\]\(rooms\.svg\)", design)
    named = [words.index(room) for room in ("kernels", "space", "inference", "learning", "cli")]
    assert named == sorted(named)


def test_no_page_fetches_anything_from_a_network():
    files = (p for p in DOCS.rglob("*") if p.is_file() and p.suffix != ".pyc")
    texts = {p: p.read_text(encoding="utf-8") for p in files}
    fetched = re.compile(r"(src=|!\[[^\]]*\]\(|url\(|@import)\s*[\"']?(https?:)?//")
    assert [path for path, text in texts.items() if fetched.search(text)] == []
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert "\n  font: false" in config  # or the theme asks Google for one
    (script,) = re.findall(r"polyfills: \[(\S+)\]", config)  # or search asks unpkg.com for it
    assert "iframe-worker" in script
    assert (DOCS / script).is_file()


# -- docstrings as pages ---------------------------------------------------------------------


@pytest.fixture(scope="module")
def extension():
    pytest.importorskip("griffe")
    spec = importlib.util.spec_from_file_location("docstrings", DOCS / "docstrings.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_examples_of_a_docstring_stand_in_fenced_blocks(extension):
    text = "Adds.\n\n>>> 1 + 1\n2\n\nAnd again:\n\n>>> print('a\\n\\nb')\na\n<BLANKLINE>\nb"
    assert extension.fenced(text) == (
        "Adds.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nAnd again:\n\n"
        "```pycon\n>>> print('a\\n\\nb')\na\n\nb\n```"
    )
    assert extension.fenced("No example.\n\nNone.") == "No example.\n\nNone."


def test_examples_below_a_section_have_a_section_of_their_own(extension):
    parameters = "Adds.\n\nParameters\n----------\na\n    A number.\n\n"
    assert extension.readable(f"{parameters}>>> 1\n1") == (
        f"{parameters}Examples\n--------\n>>> 1\n1"
    )
    assert extension.readable("Adds.\n\n>>> 1\n1") == extension.fenced("Adds.\n\n>>> 1\n1")
    assert extension.readable(parameters) == parameters


def test_a_name_is_what_a_package_imports_and_not_a_module_of_that_name(extension, tmp_path):
    import griffe

    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "__init__.py").write_text('from shop.till import sell\n\n__all__ = ["sell"]\n')
    (shop / "till.py").write_text("def sell() -> None: ...\n")
    (shop / "sell.py").write_text("")
    loaded = griffe.load(
        "shop", search_paths=[tmp_path], extensions=griffe.load_extensions(DOCS / "docstrings.py")
    )
    assert loaded["sell"].final_target.path == "shop.till.sell"
    (tmp_path / "town").mkdir()
    shop.rename(tmp_path / "town" / "shop")
    (tmp_path / "town" / "shop" / "__init__.py").write_text(
        'from town.shop.till import sell\n\n__all__ = ["sell"]\n'
    )
    (tmp_path / "town" / "__init__.py").write_text(
        'from town.shop import *\n\n__all__ = ["sell"]\n'
    )
    loaded = griffe.load(
        "town", search_paths=[tmp_path], extensions=griffe.load_extensions(DOCS / "docstrings.py")
    )
    assert loaded["sell"].final_target.path == "town.shop.till.sell"


def test_a_module_of_imports_alone_exports_them(extension, tmp_path):
    import griffe

    shop = tmp_path / "shop"
    shop.mkdir()
    (shop / "__init__.py").write_text('from shop.names import *\n\n__all__ = ["sell"]\n')
    (shop / "names.py").write_text("from shop.till import sell as sell\n")
    (shop / "till.py").write_text("def sell() -> None: ...\n")
    loaded = griffe.load(
        "shop", search_paths=[tmp_path], extensions=griffe.load_extensions(DOCS / "docstrings.py")
    )
    assert loaded["sell"].final_target.path == "shop.till.sell"


def test_every_section_of_a_docstring_is_read(extension, caplog):
    import griffe

    house = griffe.load(
        "rote",
        search_paths=[SOURCE],
        extensions=griffe.load_extensions("dataclasses", DOCS / "docstrings.py"),
        resolve_aliases=True,
    )
    caplog.clear()  # of what cannot be found outside of rote
    for module, name in PUBLIC:
        thing = house[f"{module}.{name}".partition(".")[2]]
        members = thing.members.values() if thing.is_class else ()
        for one in (thing, *members):
            if one.docstring is not None and not one.name.startswith("_"):
                one.docstring.parse("numpy")
    assert [said.getMessage() for said in caplog.records] == []


def test_a_named_tuple_has_a_signature(extension, tmp_path):
    import griffe

    (tmp_path / "pair.py").write_text(
        "from typing import NamedTuple\n\n\nclass Pair(NamedTuple):\n    left: int\n"
        "    right: int = 0\n\n    @property\n    def both(self) -> int: ...\n"
    )
    pair = griffe.load(
        "pair", search_paths=[tmp_path], extensions=griffe.load_extensions(DOCS / "docstrings.py")
    )["Pair"]
    assert [(p.name, p.default) for p in pair.parameters][1:] == [("left", None), ("right", "0")]
    assert {"__init__", "both"} == set(pair.members)


def test_fields_are_in_the_signature_and_not_listed_again(extension, tmp_path):
    import griffe

    (tmp_path / "shop.py").write_text(
        "from dataclasses import dataclass\n\n\n"
        "@dataclass\nclass Item:\n    name: str\n    price: float = 0.0\n"
        '    """In euros."""\n\n    def sell(self) -> None: ...\n\n\n'
        'class Shop:\n    """Open.\n\n    >>> 1\n    1\n    """\n    hours = 8\n'
    )
    shop = griffe.load(
        "shop",
        search_paths=[tmp_path],
        extensions=griffe.load_extensions("dataclasses", DOCS / "docstrings.py"),
    )
    assert [p.name for p in shop["Item"].parameters] == ["self", "name", "price"]
    assert "name" not in shop["Item"].members
    assert {"price", "sell"} <= set(shop["Item"].members)
    assert "hours" in shop["Shop"].members
    assert "```pycon\n>>> 1\n1\n```" in shop["Shop"].docstring.value
