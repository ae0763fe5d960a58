"""The kernels' tests with every access to memory checked, in a copy that is built for it.

    python -m tools.checked bounds      every index is compared with the length of its axis
    python -m tools.checked sanitize    GCC's address sanitizer watches what is read and written
    python -m tools.checked bounds tools.fuzz_kernels --calls 1000000    another module

The copy lies in a temporary folder, so that the checkout and what is built there stay as they are.
What is wrong in a function without the GIL cannot be raised: Python reports it, and pytest fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from tools.package import MADE, ROOT, copied

TESTS = ("pytest", "-q", "-p", "no:cacheprovider", "-n", "2", "--dist", "worksteal")
SANITIZER = "-fsanitize=address -fno-omit-frame-pointer"


def variables(way: str) -> tuple[dict[str, str], dict[str, str]]:
    """The environment variables of the build, and those of the run."""
    if way == "bounds":
        return {"ROTE_BOUNDS_CHECKS": "1"}, {}
    find = ["gcc", "-print-file-name=libasan.so"]
    library = subprocess.run(find, check=True, capture_output=True, text=True).stdout.strip()
    # Python leaves some memory to the system when it ends.
    watched = {"LD_PRELOAD": library, "ASAN_OPTIONS": "detect_leaks=0"}
    return {"CC": "gcc", "CFLAGS": SANITIZER, "LDFLAGS": SANITIZER}, watched


def main(arguments: list[str]) -> int:
    """Build a copy, and run a module there."""
    if not arguments or arguments[0] not in ("bounds", "sanitize"):
        raise SystemExit(__doc__)
    way, *module = arguments
    building, running = variables(way)
    with TemporaryDirectory(prefix=f"rote-{way}-") as temporary:
        copy = copied(Path(temporary) / "rote")
        for name in ("tests", "tools"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns(*MADE))
        inherited = {k: v for k, v in os.environ.items() if k != "ROTE_PLAIN_KERNELS"}
        inherited["PYTHONPATH"] = os.pathsep.join([str(copy / "src"), str(copy)])
        begin = perf_counter()
        build = [sys.executable, "setup.py", "--quiet", "build_ext", "--inplace"]
        subprocess.run(build, check=True, cwd=copy, env={**inherited, **building})
        print(f"{way}: built in {perf_counter() - begin:.0f} s", flush=True)
        compiled = "import rote.kernels, sys; sys.exit(not rote.kernels.compiled())"
        python = {**inherited, **running}
        subprocess.run([sys.executable, "-c", compiled], check=True, cwd=copy, env=python)
        begin = perf_counter()
        command = [sys.executable, "-m", *(module or (*TESTS, "tests/kernels"))]
        done = subprocess.run(command, check=False, cwd=copy, env=python)
        print(f"{way}: run in {perf_counter() - begin:.0f} s", flush=True)
        return done.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
