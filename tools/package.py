"""Build the wheel and the sdist, and try each in an environment of its own.

    python -m tools.package    wheel, sdist, and the sdist where there is no C compiler

What is tried is the first example of the README (`tools/first_example.py`), with the core
dependencies and nothing else; from the wheel also `rote demo`, and both once more where nothing can
be written. Everything is built in a temporary folder from what is committed or
lies in the checkout, so that the checkout stays as it is.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

ROOT = Path(__file__).parent.parent
SOURCES = ("pyproject.toml", "setup.py", "MANIFEST.in", "README.md", "LICENSE", "src")
MADE = ("__pycache__", "*.egg-info", "build", "*.c", "*.so", "*.pyd", "_built.txt")
EXAMPLE = ("README.md", "tools/first_example.py")
NO_COMPILER = {"CC": "no-such-compiler", "CXX": "no-such-compiler"}
NOWHERE = "/proc/nowhere"  # a folder that is not there and cannot be made
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


def unprivileged() -> list[str]:
    """What a command begins with so that it may write to no file, whoever starts it.

    Root keeps its name, as an interpreter may lie where nobody else may look, and loses its powers.
    """
    setpriv = os.getuid() == 0 and shutil.which("setpriv")
    drop = [setpriv, "--bounding-set=-all", "--inh-caps=-all"] if setpriv else []
    return ["sh", "-c", 'ulimit -f 0; exec "$@"', "sh", *drop]


@contextmanager
def read_only(folder: Path) -> Iterator[None]:
    """Nobody may write into a folder for a while, and nothing is new in it afterwards."""
    before = {folder, *folder.rglob("*")}
    modes = {path: path.stat().st_mode for path in before if not path.is_symlink()}
    try:
        for path, mode in modes.items():
            path.chmod(mode & 0o555)
        yield
        new = sorted({*folder.rglob("*")} - before)
        if new:
            raise SystemExit(f"running wrote {', '.join(map(str, new))}")
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


def try_read_only(python: Path, page: Path) -> None:
    """The example and the demo without a home, a temporary folder, or any file to write to."""
    nowhere = {"HOME": NOWHERE, "TMPDIR": NOWHERE}
    program = page.parent / "first_example.py"
    with read_only(python.parent.parent):
        run([*unprivileged(), python, "-P", program, page], nowhere, cwd=python.parent)
        run([*unprivileged(), python.parent / "rote", "demo"], nowhere, cwd=python.parent)


def main() -> None:
    """Build, install and run all three."""
    with TemporaryDirectory(prefix="rote-package-") as temporary:
        folder = Path(temporary)
        page, program = (Path(shutil.copy(ROOT / name, folder)) for name in EXAMPLE)
        sdist = build_sdist(folder / "sdist")
        ways: dict[str, tuple[Path, Mapping[str, str], tuple[str, ...]]] = {
            "wheel": (build_wheel(folder / "wheel"), {}, ()),
            "sdist": (sdist, {}, ()),
            "sdist, no compiler": (sdist, NO_COMPILER, ("--plain",)),
        }
        for number, (way, (package, variables, flags)) in enumerate(ways.items()):
            begin = perf_counter()
            python = environment(folder / f"venv{number}", str(package), **variables)
            run([python, "-P", program, page, *flags], cwd=folder)
            if way == "wheel":
                try_read_only(python, page)
            print(f"{way}: {package.name} works, {perf_counter() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
