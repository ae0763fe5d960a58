"""Every command that README.md and docs/ name, in a fresh clone with just the extras it needs.

    python -m tools.fresh --list             what would be run
    python -m tools.fresh                    all of it, before a release: an hour or more
    python -m tools.fresh --only 'examples'  commands that contain this pattern
    python -m tools.fresh --long             also make test, make bench and all experiments

The clone holds what is committed. A command runs in a virtual environment that has the extras of
`NEEDS` and nothing else; each target of `make` has a clone of its own, where it sets up the
environment by itself, and `pip` has an empty environment. Files that a page
shows under their names are there when its commands run, and so are those of `SAMPLES`, which pages
speak of without showing them.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PROGRAMS = ("make", "pip", "python", "rote")
# What of a command tells that it needs an extra, or the package of the studies.
NEEDS = {
    r"^rote (reproduce|report|data)\b": "papers",
    r"^rote serve\b|serve_it\.py": "serve",
    r"redis://": "redis",
    r"--engine gurobi": "gurobi",
    r"neural_tagger\.py": "torch",
    r"own_classifier\.py": "sklearn",
    r"benchmarks\.picture": "report",
    r"benchmarks\.(?!picture|serving)": "bench",
    r"benchmarks\.serving": "serve",
}
# What is not run, and why.
LEFT_OUT = {
    r"redis://cache\.example": "needs a server",
    r"benchmarks\.(chains|pystruct_speed)": "needs a package that is no extra",
    r"^rote reproduce --all(?!.*--quick)": "takes hours",
}
LONG = re.compile(
    r"^make (bench|coverage|test)\b|^rote reproduce --all|^rote report results\b"
    r"|benchmarks\.kernels"
)
UNTIL_STOPPED = re.compile(r"^rote serve\b")
SECONDS_UP = 20  # a service that is still up then is well
_TAGS = "the DT B-NP\ndog NN I-NP\nruns VB O\n\na DT B-NP\ncat NN I-NP\n"
_FACTS = (
    "0\tPeop\t0\tO\tNNP\tAda\tO\tO\tO\n0\tO\t1\tO\tVBZ\tlikes\tO\tO\tO\n"
    "0\tLoc\t2\tO\tNNP\tRome\tO\tO\tO\n\n0\t2\tLive_In\n\n"
)
_MARKOV = "MARKOV\n2\n2 2\n2\n1 0\n2 0 1\n2 0.4 0.6\n4 1 1 2 1\n"
SAMPLES = {
    "problem.uai": _MARKOV,
    **dict.fromkeys(("train.txt", "dev.txt", "test.txt", "new.txt"), _TAGS),
    **dict.fromkeys(("train.conll", "new.conll"), _FACTS),
}


class Command(NamedTuple):
    """A line for a shell, the page that names it first, and the extras that it needs."""

    line: str
    page: str
    extras: tuple[str, ...]

    @property
    def left_out(self) -> str | None:
        """Why it is not run, if it is not."""
        return next((why for sign, why in LEFT_OUT.items() if re.search(sign, self.line)), None)


def collect(pages: Mapping[str, str]) -> list[Command]:
    """The commands of pages, each once: of blocks for a shell, of single words, and examples."""
    found: dict[str, Command] = {}
    for page, text in pages.items():
        blocks = re.findall(r"^```(?:sh|bash|console)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
        lines = [line for block in blocks for line in block.splitlines()]
        plain = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
        lines += re.findall(r"`(make [a-z]+|pip install [^`]+|python -m benchmarks\.\w+)`", plain)
        scripts = re.findall(r"\((?:\.\./)*(?:examples/)?(\w+\.py)\)", plain)
        lines += [f"python examples/{name}" for name in scripts]
        for line in lines:
            line = re.sub(r"(^|\s+)#.*", "", line).strip().removeprefix("$ ")
            if line and line.split()[0] in PROGRAMS:
                found.setdefault(line, Command(line, page, extras_of(line)))
    return list(found.values())


def extras_of(line: str) -> tuple[str, ...]:
    """The extras of a command; those that pip is told to install are its own affair."""
    return tuple(sorted({extra for sign, extra in NEEDS.items() if re.search(sign, line)}))


def shown(text: str) -> dict[str, str]:
    """The files that a page shows under their names."""
    return dict(re.findall(r"(?ms)^`([\w.-]+)`:\n\n```text\n(.*?)^```$", text))


def pages_of(root: Path) -> dict[str, str]:
    """README.md, CONTRIBUTING.md, and all pages of docs/ and examples/."""
    paths = [
        root / "README.md",
        root / "CONTRIBUTING.md",
        *sorted((root / "docs").rglob("*.md")),
        root / "examples/README.md",
    ]
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}


class Outcome(NamedTuple):
    """How long a command took, and what went wrong; None is nothing."""

    seconds: float
    wrong: str | None


def run(line: str, folder: Path, binaries: Path | None, limit: float) -> Outcome:
    """Run a command in a folder, with the programs of an environment first."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    path = os.pathsep.join([*([] if binaries is None else [str(binaries)]), os.environ["PATH"]])
    program, *arguments = shlex.split(line)
    whole = shutil.which(program, path=path)
    if whole is None:
        return Outcome(0.0, f"there is no {program}")
    serving = UNTIL_STOPPED.search(line) is not None
    start = time.perf_counter()
    with subprocess.Popen(
        [whole, *arguments],
        cwd=folder,
        env={**inherited, "PATH": path},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            printed, _ = process.communicate("y\n", timeout=SECONDS_UP if serving else limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 15)
            wrong = None if serving else f"did not end within {limit:.0f} seconds"
            return Outcome(time.perf_counter() - start, wrong)
    seconds = time.perf_counter() - start
    if process.returncode == 0 and not serving:
        return Outcome(seconds, None)
    return Outcome(seconds, (printed.strip().splitlines() or ["it printed nothing"])[-1])


def cloned(folder: Path) -> Path:
    """What is committed, in a folder that was not there."""
    git = shutil.which("git") or "git"
    subprocess.run([git, "clone", "--quiet", str(ROOT), str(folder)], check=True)
    return folder


def environment(folder: Path, clone: Path, command: Command) -> Path:
    """The programs of an environment with the extras of a command; made once for each set."""
    program = command.line.split()[0]
    name = re.sub(r"\W+", "-", command.line) if program == "pip" else "-".join(command.extras)
    binaries = folder / f"venv-{name}" / "bin"
    if not binaries.exists():
        subprocess.run([sys.executable, "-m", "venv", str(binaries.parent)], check=True)
        if program == "pip":
            return binaries
        extras = [extra for extra in command.extras if extra != "papers"]
        wanted = [str(clone) + (f"[{','.join(extras)}]" if extras else "")]
        if "papers" in command.extras:
            wanted.append(str(clone / "papers"))
        install = [str(binaries / "pip"), "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, *wanted], check=True)
    return binaries


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked for, print a table, and say whether all went well."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--list", action="store_true", help="show what would be run")
    parser.add_argument("--only", default="", metavar="PATTERN", help="commands with this pattern")
    parser.add_argument("--long", action="store_true", help="also what takes long")
    parser.add_argument("--limit", type=float, default=1800, metavar="S", help="seconds for each")
    asked = parser.parse_args(arguments)
    pages = pages_of(ROOT)
    commands = [one for one in collect(pages) if re.search(asked.only, one.line)]
    skipped = {one: one.left_out for one in commands}
    if not asked.long:
        skipped |= {one: "takes long; say --long" for one in commands if LONG.search(one.line)}
    if asked.list:
        for one in commands:
            note = skipped[one] or ", ".join(one.extras)
            print(f"{one.page:32} {one.line}" + (f"   ({note})" if note else ""))
        return 0
    failed = 0
    with TemporaryDirectory(prefix="rote-fresh-") as temporary:
        folder = Path(temporary)
        clone = cloned(folder / "clone")
        for one in commands:
            if skipped[one]:
                print(f"{'-':>8}  left out  {one.line}   ({skipped[one]})", flush=True)
                continue
            if one.line.startswith("make "):
                own = cloned(folder / "make")
                seconds, wrong = run(one.line, own, None, asked.limit)
                shutil.rmtree(own)
            else:
                for name, content in {**SAMPLES, **shown(pages[one.page])}.items():
                    (clone / name).write_text(content, encoding="utf-8")
                seconds, wrong = run(one.line, clone, environment(folder, clone, one), asked.limit)
            failed += wrong is not None
            said = "ok" if wrong is None else "failed"
            why = "" if wrong is None else f"   ({wrong})"
            print(f"{seconds:8.1f}  {said:8}  {one.line}{why}", flush=True)
    print(f"{len(commands)} commands, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
