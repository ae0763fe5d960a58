"""Compile the kernels: src/rote/kernels, Python that Cython reads with the types of its .pxd files."""

import os
from pathlib import Path

from Cython.Build import cythonize
from setuptools import Extension, setup

FLAGS = ["-O3", "-g0", "-ffp-contract=off", "-fno-math-errno"]
SOURCE = Path("src")
KERNELS = SOURCE / "rote" / "kernels"
SHARED = "rote.kernels._shared"


def extension(path: Path) -> Extension:
    name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    return Extension(name, [str(path)], extra_compile_args=FLAGS)


modules = [path for path in sorted(KERNELS.rglob("*.py")) if path.with_suffix(".pxd").exists() and path.name not in ("__init__.py", "inlined.py", "constants.py")]
setup(
    ext_modules=cythonize(
        [Extension(SHARED, [str(KERNELS / "_shared.c")], extra_compile_args=["-O2", "-g0"]), *map(extension, modules)],
        nthreads=os.cpu_count() or 1,
        shared_utility_qualified_name=SHARED,
        compiler_directives={
            "language_level": 3,
            "boundscheck": False,
            "wraparound": False,
            "cdivision": True,
            "infer_types": True,
            "initializedcheck": False,
            "auto_pickle": False,
        },
    ),
    options={"build_ext": {"parallel": os.cpu_count() or 1}},
)
