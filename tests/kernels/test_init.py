"""Whether kernels are compiled, and from which sources."""

import os
import subprocess
import sys
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

from rote import kernels

SOURCE = Path(kernels.__file__).parents[2]
ANSWER = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from rote import Exact, SpaceBuilder
import rote.kernels, rote.kernels.outputs
builder = SpaceBuilder()
x, y = builder.variable("x", "ab"), builder.variable("y", "ab")
builder.require(x["a"] >> y["b"])
print(Exact().solve(builder.build(), [[2.0, 0.0, 1.0, 0.0]]).labels.tolist())
print(rote.kernels.compiled(), rote.kernels.outputs.__file__.endswith(".py"))
print([str(one.message) for one in caught])
"""


def answered(source: Path, **environment: str) -> list[str]:
    inherited = {k: v for k, v in os.environ.items() if k != "ROTE_PLAIN_KERNELS"}
    done = subprocess.run(
        [sys.executable, "-c", ANSWER],
        check=True,
        capture_output=True,
        text=True,
        env={**inherited, "PYTHONPATH": str(source), **environment},
        cwd=source,
    )
    return done.stdout.splitlines()


def test_plain_bodies_run_when_asked_for():
    answer, how, warned = answered(SOURCE, ROTE_PLAIN_KERNELS="1")
    assert answer == "[[0, 1]]"
    assert how == "False True"
    assert warned == "[]"


@pytest.mark.skipif(not kernels.compiled(), reason="needs compiled kernels")
def test_compiled_kernels_run_otherwise():
    assert answered(SOURCE) == ["[[0, 1]]", "True False", "[]"]


def test_without_compiled_kernels_one_warning_says_what_to_do(tmp_path):
    copytree(SOURCE / "rote", tmp_path / "src" / "rote", ignore=ignore_patterns("*.so", "*.pyd"))
    answer, how, warned = answered(tmp_path / "src")
    assert answer == "[[0, 1]]"
    assert how == "False True"
    assert warned.count("without a C compiler") == 1


@pytest.mark.skipif(not kernels.compiled(), reason="needs compiled kernels")
def test_kernels_that_changed_since_are_not_run_unseen(tmp_path):
    copytree(SOURCE / "rote", tmp_path / "src" / "rote")
    (tmp_path / "setup.py").touch()
    changed = tmp_path / "src" / "rote" / "kernels" / "outputs.py"
    changed.write_text(changed.read_text(encoding="utf-8") + "\n# changed\n", encoding="utf-8")
    answer, how, warned = answered(tmp_path / "src")
    assert answer == "[[0, 1]]"
    assert how == "False False"
    assert "have changed since they were compiled" in warned
