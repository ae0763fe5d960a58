"""What is installed: the library alone, and the studies of the papers as a package of their own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent
pytest.importorskip("setuptools", minversion="77", reason="wheels are built without downloads")


def modules(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*.py")}


def wheel_of(sources: Path, wheels: Path) -> dict[str, str]:
    """Build a wheel, as pip asks setuptools to; the names in it, and what its metadata say."""
    build = "import sys; from setuptools.build_meta import build_wheel; build_wheel(sys.argv[1])"
    done = subprocess.run(
        [sys.executable, "-c", build, wheels],
        cwd=sources,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    (path,) = wheels.iterdir()
    with ZipFile(path) as archive:
        return {
            name: archive.read(name).decode() if ".dist-info/" in name else ""
            for name in archive.namelist()
        }


def copied(tmp_path: Path, *names: str) -> Path:
    """A copy of some of the checkout, in which a build leaves what it leaves."""
    to = tmp_path / "sources"
    to.mkdir()
    ignored = shutil.ignore_patterns("__pycache__", "build", "*.egg-info")
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, to / name, ignore=ignored)
        else:
            shutil.copy(ROOT / name, to)
    return to


def test_the_wheel_of_the_library_has_nothing_but_the_library(tmp_path):
    everything = copied(
        tmp_path, "pyproject.toml", "README.md", "LICENSE", "src", "papers", "tests", "tools"
    )
    names = wheel_of(everything, tmp_path / "wheels")
    whole = {name for name in names if ".dist-info/" not in name}
    assert {name for name in whole if name.endswith(".py")} == modules(ROOT / "src")
    assert {name.split("/")[0] for name in whole} == {"rote"}
    assert {"rote/py.typed", "rote/serve/page.html"} <= whole
    (points,) = (text for name, text in names.items() if name.endswith("entry_points.txt"))
    assert points.split() == ["[console_scripts]", "rote", "=", "rote.__main__:main"]


def test_the_wheel_of_the_studies_has_all_of_them_and_adds_their_commands(tmp_path):
    names = wheel_of(copied(tmp_path, "papers") / "papers", tmp_path / "wheels")
    whole = {name for name in names if ".dist-info/" not in name}
    wanted = {f"papers/{name}" for name in modules(ROOT / "papers") if "build/" not in name}
    assert {name for name in whole if name.endswith(".py")} == wanted
    assert "papers/report/style.css" in whole
    (points,) = (text for name, text in names.items() if name.endswith("entry_points.txt"))
    assert points.split() == ["[rote.commands]", "papers", "=", "papers.commands"]
    (about,) = (text for name, text in names.items() if name.endswith("METADATA"))
    assert "Requires-Dist: rote\n" in about
