"""The sources of kernels, to be read by tests."""

from pathlib import Path

import rote.kernels

FOLDER = Path(rote.kernels.__file__).parent
NEVER_COMPILED = {"__init__.py", "constants.py", "inlined.py", "misfits.py", "no_cython.py"}
MODULES = sorted(path for path in FOLDER.rglob("*.py") if path.name not in NEVER_COMPILED)
"""Those that are compiled."""


def names_of(files):
    return [path.relative_to(FOLDER).as_posix() for path in files]


def text_of(name):
    return (FOLDER / name).read_text(encoding="utf-8")
