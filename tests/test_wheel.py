"""What is installed: the library alone, and the studies of the papers as a package of their own.

Everything is built here as where there is no C compiler, which is quick; `python -m tools.package`
builds and tries the whole.
"""

import configparser
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from zipfile import ZipFile

import pytest

from tools.package import BUILD, NO_COMPILER

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
PAPERS = tomllib.loads((ROOT / "papers" / "pyproject.toml").read_text(encoding="utf-8"))
NAME = "rote-predict"
LIBRARY = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "src")
pytest.importorskip("setuptools", minversion="77", reason="wheels are built without downloads")
pytest.importorskip("Cython", minversion="3.1", reason="wheels are built without downloads")


def modules(folder: Path, *endings: str) -> set[str]:
    found = (path for ending in endings or ("py",) for path in folder.rglob(f"*.{ending}"))
    return {path.relative_to(folder).as_posix() for path in found}


def built(kind: str, sources: Path, folder: Path) -> Path:
    """Build a wheel or an sdist, as pip asks setuptools to."""
    done = subprocess.run(
        [sys.executable, "-c", BUILD.format(kind=kind), folder],
        cwd=sources,
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **NO_COMPILER},
    )
    assert done.returncode == 0, done.stderr
    (path,) = folder.iterdir()
    return path


def wheel_of(sources: Path, wheels: Path) -> dict[str, str]:
    """The names in a wheel, and what its metadata say."""
    with ZipFile(built("wheel", sources, wheels)) as archive:
        return {
            name: archive.read(name).decode() if ".dist-info/" in name else ""
            for name in archive.namelist()
        }


def copied(tmp_path: Path, *names: str) -> Path:
    """A copy of some of the checkout, in which a build leaves what it leaves."""
    to = tmp_path / "sources"
    to.mkdir()
    # C sources that are there already are taken along: they would be made anew.
    ignored = shutil.ignore_patterns("__pycache__", "build", "*.egg-info", "*.so", "_built.txt")
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, to)
    return to


def test_the_wheel_of_the_library_has_nothing_but_the_library(tmp_path):
    everything = copied(tmp_path, *LIBRARY, "papers", "tests", "tools")
    names = wheel_of(everything, tmp_path / "wheels")
    whole = {name for name in names if ".dist-info/" not in name}
    assert {name for name in whole if name.endswith(".py")} == modules(ROOT / "src")
    assert {name.split("/")[0] for name in whole} == {"rote"}
    headers = {name for name in whole if name.endswith(".pxd")}
    assert headers == modules(ROOT / "src", "pxd")
    others = {name for name in whole if not name.endswith((".py", ".pxd"))}
    assert others == {"rote/py.typed", "rote/serve/page.html", "rote/datasets/english.toml"}
    (points,) = (text for name, text in names.items() if name.endswith("entry_points.txt"))
    found = configparser.ConfigParser()
    found.read_string(points)
    factories = "rote.adapters.spacy_factories:make_"
    assert {section: dict(found[section]) for section in found.sections()} == {
        "console_scripts": {"rote": "rote.__main__:main"},
        "spacy_factories": {"rote_cats": f"{factories}cats", "rote_spans": f"{factories}spans"},
    }


def test_the_wheel_of_the_studies_has_all_of_them_and_adds_their_commands(tmp_path):
    names = wheel_of(copied(tmp_path, "papers") / "papers", tmp_path / "wheels")
    whole = {name for name in names if ".dist-info/" not in name}
    wanted = {f"papers/{name}" for name in modules(ROOT / "papers") if "build/" not in name}
    assert {name for name in whole if name.endswith(".py")} == wanted
    assert "papers/report/style.css" in whole
    (points,) = (text for name, text in names.items() if name.endswith("entry_points.txt"))
    assert points.split() == ["[rote.commands]", "papers", "=", "papers.commands"]
    (about,) = (text for name, text in names.items() if name.endswith("METADATA"))
    assert f"Requires-Dist: {NAME}[sklearn]\n" in about


def test_the_sdist_has_what_a_build_needs_and_nothing_that_was_built(tmp_path):
    sources = copied(tmp_path, *LIBRARY, "tests", "tools")
    with tarfile.open(built("sdist", sources, tmp_path / "sdists")) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    there = {f"src/{name}" for name in modules(ROOT / "src", "py", "pxd", "toml", "html", "typed")}
    assert {*LIBRARY, *there} <= names
    assert [name for name in names if re.search(r"\.(c|so|pyd)$|_built|^tests|^tools", name)] == []


def test_every_text_about_the_distribution_has_its_name():
    assert PROJECT["project"]["name"] == NAME
    wanted = [
        *PROJECT["project"]["optional-dependencies"].values(),
        PAPERS["project"]["dependencies"],
    ]
    own = [one for extra in wanted for one in extra if one.startswith("rote")]
    assert own
    extras = set(PROJECT["project"]["optional-dependencies"])
    for one in own:
        found = re.fullmatch(rf"{NAME}(?:\[([\w,]+)\])?", one)
        assert found, one
        assert set((found[1] or "").split(",")) - {""} <= extras
    for page in ("README.md", "CHANGELOG.md", "SECURITY.md", "CONTRIBUTING.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        assert re.findall(r"pip install '?rote\b(?!-)|`rote\[", text) == [], page


def test_versions_of_python_and_of_the_package_are_the_same_everywhere():
    project, text = PROJECT["project"], (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {project['version']}\n" in text
    assert f"\nlicense: {project['license']}\n" in text
    named = [c.rpartition(" ")[2] for c in project["classifiers"] if ":: 3." in c]
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    assert named == re.findall(r'"(3\.\d+)"', workflow)
    built_for = PROJECT["tool"]["cibuildwheel"]["build"]
    assert built_for == [f"cp{version.replace('.', '')}-*" for version in named]
    assert project["requires-python"] == f">={named[0]}"
    assert "run: .ci/run\n" in workflow
