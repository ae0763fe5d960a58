"""The rules of the house that no other tool checks."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import rote
from tools.reference import promised

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "rote"
TESTS = ROOT / "tests"
MODULES = sorted(path.relative_to(SOURCE) for path in SOURCE.rglob("*.py"))

# Words of the field that a reader looks for; each entry leads to where the thing is.
FIELD = [
    "MAP inference",
    "factor graph",
    "constraint",
    "constrained conditional model",
    "dual decomposition",
    "Lagrangian bound",
    "marginals",
    "loss-augmented inference",
    "cutting plane",
    "working set",
    "warm start",
    "incumbent",
    "admission policy",
]

# Modules without a mirrored test file, and the file that tests them instead.
TESTED_ELSEWHERE = {
    "kernels/bundles.py": "space/test_network.py",  # bundles of arrays, filled by the network
    "inference/asking.py": "contracts/test_numbers.py",  # by every engine
    "kernels/local_search/large_neighbourhood.py": "inference/exact/test_neighbourhoods.py",
    "tasks/candidates.py": "tasks/test_extraction.py",  # which a schema makes
    # Tested against the package itself, where it is installed.
    "adapters/gliner2.py": "integrations/test_gliner2.py",
    "adapters/spacy.py": "integrations/test_spacy.py",
    "adapters/spacy_factories.py": "integrations/test_spacy.py",
    # Names that are promised, and no code.
    "engines.py": "test_public_names.py",
    "learners.py": "test_public_names.py",
    "losses.py": "test_public_names.py",
    "sklearn.py": "test_public_names.py",
    "stores.py": "test_public_names.py",
}

# The order of the rooms, from the left, as the contract of the import linter must have it.
ROOMS = [
    {"errors", "types", "settings", "kernels"},
    {"io", "metrics"},
    {"datasets"},
    {"features"},
    {"space"},
    {"viz"},
    {"inference"},
    {"tasks"},
    {"model"},
    {"learning"},
    {"engines", "learners", "losses", "sklearn", "stores"},
    {"torch", "serve", "adapters"},
    {"cli"},
]


def text_of(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def contracts() -> list[dict[str, object]]:
    return tomllib.loads(text_of("pyproject.toml"))["tool"]["importlinter"]["contracts"]


def glossary() -> dict[str, dict[str, str]]:
    """The entries of each section."""
    sections = re.split(r"^## (.+)\n", text_of("docs/glossary.md"), flags=re.MULTILINE)[1:]
    entry = re.compile(r"^(\S.*)\n: ((?:.+\n)(?:  .+\n)*)", re.MULTILINE)
    return {
        title: {word: " ".join(text.split()) for word, text in entry.findall(body)}
        for title, body in zip(sections[::2], sections[1::2], strict=True)
    }


def test_the_glossary_is_in_order_and_has_each_word_once():
    sections = glossary()
    for words in sections.values():
        assert list(words) == sorted(words, key=str.lower)
    found = [word for words in sections.values() for word in words]
    assert len(found) > 80
    assert len(found) == len(set(found))
    lines = re.findall(r"^: ", text_of("docs/glossary.md"), re.MULTILINE)
    assert len(found) == len(lines)  # none is left out here


@pytest.mark.parametrize("word", FIELD)
def test_a_word_of_the_field_leads_to_where_it_is(word):
    (text,) = (words[word] for words in glossary().values() if word in words)
    assert "*Also called* " in text
    names = re.findall(r"\]\[([\w.]+)\]", text)
    pages = re.findall(r"\]\(([\w/-]+\.md)[)#]", text)
    files = re.findall(r"`([\w/]+\.py)`", text)
    assert names or files
    promises = {f"{module}.{name}" for module, names in promised().items() for name in names}
    assert [name for name in names if name not in promises] == []
    assert [page for page in pages if not (ROOT / "docs" / page).is_file()] == []
    assert [file for file in files if not (SOURCE / file).is_file()] == []


def test_the_glossary_defines_every_status_and_source():
    glossary = text_of("docs/glossary.md").lower()
    words = [member.name.lower() for kind in (rote.Status, rote.FoundBy) for member in kind]
    assert [word for word in words if word.replace("_", " ") not in glossary] == []


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_a_module_states_what_it_is(module):
    tree = ast.parse((SOURCE / module).read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)


def test_every_module_has_a_test_file_that_mirrors_it():
    wanted = {
        module.as_posix(): TESTED_ELSEWHERE.get(
            module.as_posix(), (module.parent / f"test_{module.name}").as_posix()
        )
        for module in MODULES
        if not module.name.startswith("__")
    }
    assert [module for module, test in wanted.items() if not (TESTS / test).is_file()] == []


def test_every_module_of_the_papers_is_tested():
    tests = {path.relative_to(TESTS): text_of(path) for path in (TESTS / "papers").rglob("*.py")}
    texts = "\n".join(tests.values())
    studies = [path.relative_to(ROOT) for path in sorted((ROOT / "papers").rglob("*.py"))]
    assert len(studies) > 50
    for module in studies:
        imported = rf"from {'.'.join(module.parent.parts)}(\.| import .*\b){module.stem}\b"
        mirrored = module.parent / f"test_{module.name}"
        assert module.name[:2] == "__" or mirrored in tests or re.search(imported, texts), module


def test_the_table_of_modules_tested_elsewhere_has_no_stale_entry():
    assert set(TESTED_ELSEWHERE) <= {module.as_posix() for module in MODULES}


@pytest.mark.parametrize("module", MODULES, ids=str)
def test_the_library_prints_nothing(module):
    tree = ast.parse((SOURCE / module).read_text(encoding="utf-8"))
    calls = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    assert [c.lineno for c in calls if isinstance(c.func, ast.Name) and c.func.id == "print"] == []


def test_the_changelog_speaks_of_this_version_or_of_what_comes():
    assert re.search(
        rf"^## \[(Unreleased|{re.escape(rote.__version__)})\]",
        text_of("CHANGELOG.md"),
        re.MULTILINE,
    )


def test_the_changelog_names_what_is_promised():
    text = text_of("CHANGELOG.md")
    gone = {
        name
        for was in re.findall(r"^  \| (.*) \| .* \|$", text, re.MULTILINE)
        for name in re.findall(r"`(\w+)`", was)
    }
    known = {name for names in promised().values() for name in names} | {"GridSearchCV"}
    named = set(re.findall(r"`([A-Z]\w*[a-z]\w*)(?:\([^`]*\))?`", text))
    assert len(named) > 60
    assert named - known <= gone
    assert gone & known == set()


def test_the_import_contract_has_the_rooms_in_order_and_no_exception():
    layers = next(contract for contract in contracts() if contract["type"] == "layers")
    found = [{name.strip(" ()") for name in re.split("[|:]", layer)} for layer in layers["layers"]]
    assert found[::-1] == ROOMS
    assert [contract["name"] for contract in contracts() if "ignore_imports" in contract] == []


def test_every_room_but_types_is_closed_to_the_kernels():
    rule = next(contract for contract in contracts() if "kernels" in contract["name"])
    here = {
        f"rote.{path.stem}" for path in SOURCE.iterdir() if not path.name.startswith(("_", "py."))
    }
    assert set(rule["forbidden_modules"]) == here - {"rote.types", "rote.kernels"}


def test_the_design_names_every_room_there_is():
    design = text_of("docs/design.md")
    here = [path.stem for path in SOURCE.iterdir() if not path.name.startswith(("_", "py."))]
    assert [room for room in here if not re.search(rf"\b{room}\b", design)] == []


def test_every_page_is_in_the_menu_of_the_documentation():
    docs = ROOT / "docs"
    pages = {path.relative_to(docs).as_posix() for path in docs.rglob("*.md")}
    assert pages == set(re.findall(r": (\S+\.md)$", text_of("mkdocs.yml"), re.MULTILINE))


def test_the_page_about_engines_names_every_engine():
    engines = [n for n in rote.__all__ if hasattr(getattr(rote, n), "solve")]
    page = text_of("docs/howto/choose-an-engine.md")
    assert {"Engine", "Wrapper"} < set(engines)  # which others derive from
    engines = [name for name in engines if name not in {"Engine", "Wrapper"}]
    assert [name for name in engines if f"`{name}`" not in page] == []


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_every_make_target_a_page_names_exists(page):
    named = set(re.findall(r"`make (\w+)`", text_of(page)))
    there = set(re.findall(r"^(\w+):", text_of("Makefile"), re.MULTILINE))
    assert named
    assert named <= there


def make(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    inherited = {k: v for k, v in os.environ.items() if k not in ("ROTE_DATA", "MAKEFLAGS")}
    return subprocess.run(
        ["make", "--no-print-directory", *arguments],  # noqa: S607
        cwd=ROOT,
        check=False,
        capture_output=True,
        text=True,
        env={**inherited, **environment},
    )


def test_an_old_python_is_answered_by_a_sentence(tmp_path):
    old = tmp_path / "python3"
    old.write_text('#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.9.2" && exit 0\nexit 1\n')
    old.chmod(0o755)
    done = make("run", f"PYTHON={old}", f"VENV={tmp_path / 'venv'}")
    assert done.returncode != 0
    assert "needs Python 3.11 or newer" in done.stderr
    assert "Python 3.9.2" in done.stderr
    assert not (tmp_path / "venv").exists()


def test_a_data_folder_of_the_users_own_wins():
    done = make("--eval=show: ; @echo $$ROTE_DATA", "show", ROTE_DATA="/my/own")
    assert done.stdout.strip() == "/my/own"


def test_the_module_and_the_command_are_the_same_program():
    done = subprocess.run(
        [sys.executable, "-m", "rote", "--version"], check=True, capture_output=True, text=True
    )
    assert done.stdout == f"rote {rote.__version__}\n"
