"""What `make` gives to pip: one whole requirement, with extras that there are."""

import re
import shlex
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
PHONY = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[0].split()
INSTALLED = re.findall(r"^(\$\(VENV\)/\.installed[\w-]*): pyproject", MAKEFILE, re.MULTILINE)


def installs(target, folder):
    """What pip is asked to install for a target where nothing is there yet."""
    command = ["make", "-n", "-C", str(ROOT), f"VENV={folder}", target]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    lines = [line for line in done.stdout.splitlines() if " pip install " in line]
    return [shlex.split(line)[shlex.split(line).index("--editable") + 1 :] for line in lines]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_every_target_installs_one_requirement_with_extras_that_exist(tmp_path):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = {target: installs(target, tmp_path / "venv") for target in PHONY}
    assert asked.pop("clean") == []
    assert {target: len(found) for target, found in asked.items()} == dict.fromkeys(asked, 1)
    seen = set()
    for ((requirement, *more),) in asked.values():
        assert more in ([], ["--editable", "./papers"])
        extras = re.fullmatch(r"\.\[([a-z]+(?:,[a-z]+)*)\]", requirement)
        assert extras, requirement
        assert set(extras[1].split(",")) <= set(project["optional-dependencies"])
        seen.add(requirement)
    assert len(seen) == len(INSTALLED)
