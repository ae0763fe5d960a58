"""Loops over arrays, compiled by Cython when the package is built.

Kernels know nothing of spaces, rules or engines: arrays and scalars in, arrays out; nothing random,
nothing printed. Where a kernel takes a batch, the batch is its outermost loop. Every module is
plain Python and runs uncompiled as well, much slower: where there was no compiler, and everywhere
with ``ROTE_PLAIN_KERNELS=1``.
"""

from __future__ import annotations

import os
import re
import sys
import warnings
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    ExtensionFileLoader,
    ModuleSpec,
    SourceFileLoader,
)
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

_FOLDER = Path(__file__).parent
_BUILT = _FOLDER / "_built.txt"  # written by the build: the digest of the sources it compiled


def digest() -> str:
    """Of all sources of the kernels, as they are now."""
    from hashlib import sha256  # an installed rote never needs it

    state = sha256()
    for path in sorted([*_FOLDER.rglob("*.py"), *_FOLDER.rglob("*.pxd")]):
        state.update(path.relative_to(_FOLDER).as_posix().encode())
        state.update(path.read_bytes())
    return state.hexdigest()


def compiled() -> bool:
    """Whether the kernels that run are compiled, from the sources as they are now."""
    return _are_compiled and _BUILT.exists() and _BUILT.read_text(encoding="utf-8") == digest()


def _guard_doors(module: ModuleType, header: str) -> None:
    """Let doors, the functions that have no line in the header, name arguments that do not fit."""
    from rote.kernels.arrays import guard, guard_bundle

    inner = set(re.findall(r"(\w+)\(", header))
    for name, value in list(vars(module).items()):
        if not callable(value) or value.__module__ != module.__name__:
            continue
        if isinstance(value, type):
            guard_bundle(value)
        elif name not in inner:
            setattr(module, name, guard(value))


class _Kernels:
    """Finds kernels, compiled or plain, and guards their doors."""

    @staticmethod
    def find_spec(name: str, *_: object) -> ModuleSpec | None:
        source = _FOLDER.joinpath(*name.split(".")[2:]).with_suffix(".py")
        header = source.with_suffix(".pxd")
        if not name.startswith(f"{__name__}.") or not header.exists():
            return None
        files = map(source.with_suffix, EXTENSION_SUFFIXES if _are_compiled else ())
        built = next((str(file) for file in files if file.exists()), None)
        loader = ExtensionFileLoader(name, built) if built else SourceFileLoader(name, str(source))
        run = loader.exec_module

        def run_and_guard(module: ModuleType) -> None:
            run(module)
            if source.stem != "arrays":
                _guard_doors(module, header.read_text(encoding="utf-8"))

        loader.exec_module = run_and_guard  # type: ignore[method-assign]
        return spec_from_file_location(name, loader=loader)


sys.meta_path.insert(0, _Kernels)  # type: ignore[arg-type]
_is_built = any((_FOLDER / f"_shared{suffix}").exists() for suffix in EXTENSION_SUFFIXES)
_are_compiled = _is_built and os.environ.get("ROTE_PLAIN_KERNELS", "0") in ("", "0")
if not _are_compiled:
    if find_spec("cython") is None:
        from rote.kernels import no_cython

        sys.modules["cython"] = no_cython
    if not _is_built and "ROTE_PLAIN_KERNELS" not in os.environ:
        warnings.warn(
            "rote was installed without a C compiler, so its loops run as plain Python, 10 to 200 "
            "times slower; install gcc or clang and run: pip install --force-reinstall --no-deps "
            "rote-predict. ROTE_PLAIN_KERNELS=1 silences this warning",
            RuntimeWarning,
            stacklevel=2,
        )
elif (_FOLDER.parents[2] / "setup.py").exists() and not compiled():
    warnings.warn(
        "the kernels have changed since they were compiled; run: make build",
        RuntimeWarning,
        stacklevel=2,
    )
