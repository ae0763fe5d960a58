"""Compile the kernels, src/rote/kernels: Python that Cython reads with the types of .pxd files.

Without a C compiler the package is installed all the same, and its loops run as plain Python.
``ROTE_BOUNDS_CHECKS=1`` compiles with checks of every index, for tests.
"""

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

from Cython.Compiler import Options

# A view of an array has room for the lengths of so many axes, of which ours have 3 and fewer, and
# is copied when it is handed to a function. Cython reads this number when it is imported.
Options.buffer_max_dims = 4

from Cython.Build import cythonize  # noqa: E402
from setuptools import Extension, setup  # noqa: E402
from setuptools.command.build_ext import build_ext  # noqa: E402

SOURCE = Path("src")
KERNELS = SOURCE / "rote" / "kernels"
SHARED = "rote.kernels._shared"
CHECKED = os.environ.get("ROTE_BOUNDS_CHECKS", "0") not in ("", "0")
CORES = os.cpu_count() or 1
# No -ffast-math and no contraction: an answer is the same to the bit, compiled or not.
FASTER = "-O1" if CHECKED else "-O3"
FLAGS = [] if sys.platform == "win32" else [FASTER, "-g0", "-ffp-contract=off", "-fno-math-errno"]
PLAIN = ("__init__.py", "constants.py", "inlined.py", "misfits.py", "no_cython.py")


def extension(path: Path) -> Extension:
    """The compiled module of one source."""
    name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    return Extension(name, [str(path)], extra_compile_args=FLAGS)


class BuildKernels(build_ext):
    """Compiles all kernels or none, and writes down which sources they were compiled from.

    setuptools lets optional extensions fail one by one, and not by every error of every compiler;
    what an earlier build left of one would then run together with newer ones.
    """

    def finalize_options(self) -> None:
        super().finalize_options()
        self.parallel = self.parallel or CORES  # editable installs forget what ``setup`` says

    def run(self) -> None:
        self.failed: list[str] = []
        built = Path(self.get_ext_fullpath(SHARED)).with_name("_built.txt")
        built.unlink(missing_ok=True)
        super().run()
        if self.failed:
            self.warn(f"no C compiler, or it failed: {self.failed[0]}. Kernels run as plain Python")
            for one in self.extensions:
                Path(self.get_ext_fullpath(one.name)).unlink(missing_ok=True)
        else:
            spec = spec_from_file_location("kernels", KERNELS / "__init__.py")
            kernels = module_from_spec(spec)
            os.environ.setdefault("ROTE_PLAIN_KERNELS", "1")  # only its digest is of use here
            spec.loader.exec_module(kernels)
            built.write_text(kernels.digest(), encoding="utf-8")

    def build_extension(self, ext: Extension) -> None:
        try:
            super().build_extension(ext)
        except Exception as error:  # noqa: BLE001 (compilers fail in many ways)
            self.failed.append(f"{ext.name}: {error}")


sources = (path for path in sorted(KERNELS.rglob("*.py")) if path.name not in PLAIN)
modules = [path for path in sources if path.with_suffix(".pxd").exists()]
# What Cython wrote under other options does not fit what it writes now, and it does not look.
shared = KERNELS / "_shared.c"
stale = shared.exists() and shared.stat().st_mtime < Path(__file__).stat().st_mtime
kernels = cythonize(
    [extension(shared), *map(extension, modules)],
    force=stale,
    nthreads=CORES,
    shared_utility_qualified_name=SHARED,
    compiler_directives={
        "language_level": 3,
        "boundscheck": CHECKED,
        "show_performance_hints": not CHECKED,
        "wraparound": False,
        "cdivision": True,
        "infer_types": True,
        "initializedcheck": CHECKED,
        "auto_pickle": False,
    },
)
for kernel in kernels:
    kernel.optional = True  # cythonize does not pass it on
setup(
    cmdclass={"build_ext": BuildKernels},
    ext_modules=kernels,
)
