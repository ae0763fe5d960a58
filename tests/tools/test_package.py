"""What is built from: the sources alone, by programs that do not see the checkout."""

from __future__ import annotations

import sys

import pytest

from tools.package import MADE, ROOT, SOURCES, copied, run


def test_a_copy_has_the_sources_and_nothing_that_was_built(tmp_path):
    folder = copied(tmp_path / "copy")
    assert {path.name for path in folder.iterdir()} == set(SOURCES)
    assert [path for pattern in MADE for path in folder.rglob(pattern)] == []
    here = {path.relative_to(ROOT) for path in (ROOT / "src").rglob("*.py")}
    assert {path.relative_to(folder) for path in (folder / "src").rglob("*.py")} == here


def test_a_program_does_not_see_the_checkout_and_says_why_it_failed(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    code = "import os, sys; sys.exit('PYTHONPATH' in os.environ or os.environ['CC'] != 'a')"
    run([sys.executable, "-c", code], {"CC": "a"}, cwd=tmp_path)
    with pytest.raises(SystemExit, match="failed:\nwhy"):
        run([sys.executable, "-c", "import sys; sys.exit('why')"])
