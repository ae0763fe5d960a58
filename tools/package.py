"""Build the wheel and the sdist, and try each in an environment of its own.

    python -m tools.package    wheel, sdist, and the sdist where there is no C compiler

What is tried is the first example of the README (`tools/first_example.py`), with the core
dependencies and nothing else. Everything is built in a temporary folder from what is committed or
lies in the checkout, so that the checkout stays as it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

ROOT = Path(__file__).parent.parent
SOURCES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "src")
MADE = ("__pycache__", "*.egg-info", "build", "*.c", "*.so", "*.pyd", "_built.txt")
NO_COMPILER = {"CC": "no-such-compiler", "CXX": "no-such-compiler"}
BUILD = "import sys; from setuptools import build_meta; build_meta.build_{kind}(sys.argv[1])"


def copied(folder: Path) -> Path:
    """The sources of the package, without anything that a build has made of them."""
    folder.mkdir(parents=True)
    for name in SOURCES:
        path = ROOT / name
        if path.is_dir():
            shutil.copytree(path, folder / name, ignore=shutil.ignore_patterns(*MADE))
        elif path.exists():
            shutil.copy(path, folder)
    return folder


def run(
    command: Sequence[str | Path], more: Mapping[str, str] | None = None, cwd: Path | None = None
) -> None:
    """Run a program that does not see the checkout; what it says is shown where it fails."""
    hidden = ("PYTHONPATH", "VIRTUAL_ENV", "PYTHONDONTWRITEBYTECODE")
    inherited = {k: v for k, v in os.environ.items() if k not in hidden}
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        env={**inherited, **(more or {})},
        cwd=cwd,
    )
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))} failed:\n{done.stdout}{done.stderr}")


def environment(folder: Path, *requirements: str, **variables: str) -> Path:
    """The interpreter of a fresh environment, with bytecode as pip leaves it."""
    run([sys.executable, "-m", "venv", folder])
    python = folder / "bin" / "python"
    if requirements:
        quiet = ("--quiet", "--disable-pip-version-check", "--no-cache-dir")
        run([python, "-m", "pip", "install", *quiet, *requirements], variables)
    return python


def build_wheel(folder: Path) -> Path:
    """The wheel, by a build in isolation, as pip does it."""
    sources = copied(folder / "sources")
    wheels = folder / "wheels"
    quiet = ("--quiet", "--disable-pip-version-check", "--no-deps")
    run([sys.executable, "-m", "pip", "wheel", *quiet, "--wheel-dir", wheels, sources])
    (wheel,) = wheels.iterdir()
    return wheel


def build_sdist(folder: Path) -> Path:
    """The sdist, by the setuptools and Cython that are installed here."""
    sources = copied(folder / "sources")
    run([sys.executable, "-c", BUILD.format(kind="sdist"), folder / "sdists"], cwd=sources)
    (sdist,) = (folder / "sdists").iterdir()
    return sdist


def main() -> None:
    """Build, install and run all three."""
    with TemporaryDirectory(prefix="rote-package-") as temporary:
        folder = Path(temporary)
        sdist = build_sdist(folder / "sdist")
        ways: dict[str, tuple[Path, Mapping[str, str], tuple[str, ...]]] = {
            "wheel": (build_wheel(folder / "wheel"), {}, ()),
            "sdist": (sdist, {}, ()),
            "sdist, no compiler": (sdist, NO_COMPILER, ("--plain",)),
        }
        for number, (way, (package, variables, flags)) in enumerate(ways.items()):
            begin = perf_counter()
            python = environment(folder / f"venv{number}", str(package), **variables)
            example = (ROOT / "tools" / "first_example.py", ROOT / "README.md")
            run([python, "-P", *example, *flags], cwd=folder)
            print(f"{way}: {package.name} works, {perf_counter() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
