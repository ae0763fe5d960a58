"""What is built from: the sources alone, by programs that do not see the checkout."""

import sys

import pytest

from tools.package import MADE, ROOT, SOURCES, copied, read_only, run, unprivileged


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


def test_where_nothing_can_be_written_no_file_is_and_folders_are_as_before_afterwards(tmp_path):
    (tmp_path / "kept").write_text("old", encoding="utf-8")
    mode = tmp_path.stat().st_mode
    with read_only(tmp_path):
        run([*unprivileged(), "true"])
        for file in ("kept", "new"):
            with pytest.raises(SystemExit, match="failed"):
                run([*unprivileged(), "sh", "-c", f"echo text > {tmp_path / file}"])
    assert (tmp_path / "kept").read_text(encoding="utf-8") == "old"
    assert tmp_path.stat().st_mode == mode


def test_a_file_that_is_new_in_a_read_only_folder_is_told(tmp_path):
    def write():
        with read_only(tmp_path):
            tmp_path.chmod(0o755)
            (tmp_path / "new").touch()

    with pytest.raises(SystemExit, match=r"running wrote .*/new"):
        write()
