"""Which commands of the documentation are run before a release, and how."""

import re
import sys
from pathlib import Path

import pytest

from tools import fresh
from tools.fresh import Command, collect, main, pages_of, run, shown

PAGE = """Run `make check`, or `pip install '.[serve]'`; `rote data` needs nothing.

```sh
make run     # a comment
# only a comment
$ rote serve chunker --store answers.sqlite
curl http://localhost
cd elsewhere
```

```python
print("make nothing")
```

See [a script](examples/own_task.py) and [another](../examples/neural_tagger.py).

`tags.txt`:

```text
the DT
```
"""


def test_commands_are_collected_once_with_their_extras():
    pages = {"one.md": PAGE, "two.md": "```sh\nmake run\nrote predict m f --cache redis://h\n```\n"}
    assert collect(pages) == [
        Command("make run", "one.md", ()),
        Command("rote serve chunker --store answers.sqlite", "one.md", ("serve",)),
        Command("make check", "one.md", ()),
        Command("pip install '.[serve]'", "one.md", ()),
        Command("python examples/own_task.py", "one.md", ()),
        Command("python examples/neural_tagger.py", "one.md", ("torch",)),
        Command("rote predict m f --cache redis://h", "two.md", ("redis",)),
    ]


def test_files_that_a_page_shows_are_there():
    assert shown(PAGE) == {"tags.txt": "the DT\n"}


def test_the_documentation_is_read():
    found = {one.line: one for one in collect(pages_of(fresh.ROOT))}
    scripts = {f"python examples/{path.name}" for path in (fresh.ROOT / "examples").glob("*.py")}
    assert scripts <= found.keys()
    assert {"make run", "make test", "make bench", "make docs"} <= found.keys()
    assert found["python examples/serve_it.py"].extras == ("serve",)
    assert found["rote reproduce --all --out results"].left_out == "takes hours"
    assert found["rote reproduce --list"].left_out is None


def test_all_targets_of_make_are_there_and_the_long_ones_are_asked_for(capsys):
    makefile = (fresh.ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)[0].split())
    for options, long in (([], {"bench", "test"}), (["--long"], set())):
        assert main(["--list", "--only", "^make ", *options]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert {line.split()[2] for line in lines} == targets - {"coverage"}
        assert {line.split()[2] for line in lines if "takes long" in line} == long


def test_a_target_of_make_has_a_clone_of_its_own(capsys, monkeypatch):
    seen = []
    monkeypatch.setattr(fresh, "cloned", lambda folder: folder.mkdir() or folder)

    def run(line, folder, binaries, _limit):
        seen.append((line, folder.name, binaries, (folder / ".venv").exists()))
        (folder / ".venv").mkdir()
        return fresh.Outcome(1.0, None if line == "make docs" else "no docs")

    monkeypatch.setattr(fresh, "run", run)
    assert main(["--only", "^make (docs|check)"]) == 1
    assert seen == [(f"make {name}", "make", None, False) for name in ("docs", "check")]
    assert capsys.readouterr().out.endswith("2 commands, 1 failed\n")


def test_what_would_be_run_is_listed(capsys):
    assert main(["--list", "--only", "serve_it"]) == 0
    assert capsys.readouterr().out.split() == [
        "examples/README.md",
        "python",
        "examples/serve_it.py",
        "(serve)",
    ]


@pytest.mark.parametrize(
    ("program", "wrong"),
    [
        ("print(1)", None),
        ("raise SystemExit(input() != 'y')", None),
        ("print(1); raise SystemExit('no')", "no"),
        ("raise SystemExit(3)", "it printed nothing"),
        ("import time; time.sleep(60)", "did not end within 1 seconds"),
    ],
)
def test_a_command_is_run_and_judged(tmp_path, program, wrong):
    line = f'python -c "{program}"'
    found = run(line, tmp_path, Path(sys.executable).parent, 1)
    assert found.wrong == wrong
    assert found.seconds < 30
    assert run("no-such-program", tmp_path, None, 1).wrong == "there is no no-such-program"


def test_a_service_is_well_while_it_is_up(tmp_path, monkeypatch):
    monkeypatch.setattr(fresh, "SECONDS_UP", 1)
    for name, text, wrong in (
        ("up", "sleep 60", None),
        ("down", "echo no extra; exit 2", "no extra"),
    ):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "rote").write_text(f"#!/bin/sh\n{text}\n")
        (folder / "rote").chmod(0o700)
        assert run("rote serve chunker", tmp_path, folder, 30).wrong == wrong
