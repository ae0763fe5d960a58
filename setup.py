"""Compile the kernels, src/rote/kernels: Python that Cython reads with the types of .pxd files.

Without a C compiler the package is installed all the same, and its loops run as plain Python.
``ROTE_BOUNDS_CHECKS=1`` compiles with checks of every index, for tests.
"""

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

SOURCE = Path("src")
KERNELS = SOURCE / "rote" / "kernels"
SHARED = "rote.kernels._shared"
CHECKED = os.environ.get("ROTE_BOUNDS_CHECKS", "0") not in ("", "0")
CORES = os.cpu_count() or 1
# No -ffast-math and no contraction: an answer is the same to the bit, compiled or not.
FLAGS = [] if sys.platform == "win32" else ["-O3", "-g0", "-ffp-contract=off", "-fno-math-errno"]
PLAIN = ("__init__.py", "constants.py", "inlined.py", "no_cython.py")


def extension(path: Path) -> Extension:
    """The compiled module of one source."""
    name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    return Extension(name, [str(path)], extra_compile_args=FLAGS, optional=True)


class BuildKernels(build_ext):
    """Writes down which sources were compiled, once all of them are."""

    def run(self) -> None:
        super().run()
        if all(Path(self.get_ext_fullpath(one.name)).exists() for one in self.extensions):
            spec = spec_from_file_location("kernels", KERNELS / "__init__.py")
            kernels = module_from_spec(spec)
            os.environ.setdefault("ROTE_PLAIN_KERNELS", "1")  # only its digest is of use here
            spec.loader.exec_module(kernels)
            folder = Path(self.get_ext_fullpath(SHARED)).parent
            (folder / "_built.txt").write_text(kernels.digest(), encoding="utf-8")


modules = [path for path in sorted(KERNELS.rglob("*.py")) if path.name not in PLAIN and path.with_suffix(".pxd").exists()]
setup(
    cmdclass={"build_ext": BuildKernels},
    ext_modules=cythonize(
        [
            Extension(SHARED, [str(KERNELS / "_shared.c")], extra_compile_args=FLAGS, optional=True),
            *map(extension, modules),
        ],
        nthreads=CORES,
        shared_utility_qualified_name=SHARED,
        compiler_directives={
            "language_level": 3,
            "boundscheck": CHECKED,
            "wraparound": False,
            "cdivision": True,
            "infer_types": True,
            "initializedcheck": CHECKED,
            "auto_pickle": False,
        },
    ),
    options={"build_ext": {"parallel": CORES}},
)
