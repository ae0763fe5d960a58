"""What every test shares: a deterministic Hypothesis profile, no run of typed usage, files."""

import json
import sys

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("tests.io.damage")

collect_ignore = ["typing"]  # only type-checked, by `make check`

settings.register_profile(
    "rote",
    derandomize=True,
    max_examples=40,
    deadline=None,  # the first call of a kernel compiles it
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rote")


@pytest.fixture
def file(tmp_path):
    """Write a text, or values as one line of JSON each, and say where."""

    def write(content: str | list, name: str = "train.txt"):
        if isinstance(content, list):
            content = "".join(json.dumps(value) + "\n" for value in content)
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return path

    return write


@pytest.fixture
def run(monkeypatch, capsys):
    """Call the command line; gives the exit code, what was printed, and what went wrong."""

    from rote.cli import main

    def call(*arguments: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["rote", *map(str, arguments)])
        with pytest.raises(SystemExit) as leaving:
            main()
        printed = capsys.readouterr()
        return int(leaving.value.code or 0), printed.out, printed.err

    return call
