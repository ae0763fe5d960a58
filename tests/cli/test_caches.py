"""`rote cache`."""

import io
import json
import math
import sys

import pytest

from tests.cli.lines import is_one_line


@pytest.fixture
def remembered(tmp_path):
    """A store in a file: two entries and a damaged blob in one log, one entry in another."""
    import numpy as np

    from rote.inference.stores import SqliteStore
    from rote.inference.stores.base import sealed
    from rote.inference.wrappers.amortized.entries import Entry

    entry = Entry(np.array([1]), np.array([0.5, 2.0]), np.array([]), np.array([]), math.inf, 0.0)
    file, long = tmp_path / "store.sqlite", "3-abc" + "0" * 60
    with SqliteStore(file) as store:
        store.append(
            long, [sealed(entry.encoded(), long), sealed(entry.encoded(), long), b"damaged"]
        )
        store.append("3-abd", [sealed(entry.encoded(), "3-abd")])
    return file, len(sealed(entry.encoded(), long))


def test_cache_info_lists_the_logs_with_their_entries_and_sizes(run, remembered, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    file, size = remembered
    code, printed, wrong = run("cache", "info", file)
    assert (code, wrong) == (0, "")
    rows = [line.split() for line in printed.splitlines()]
    assert rows[1:] == [
        ["3-abc" + "0" * 27 + "…", "3", str(2 * size + 7), "bytes"],
        ["3-abd", "1", str(size), "bytes"],
        ["2", "in", "all", "4", str(3 * size + 7), "bytes"],
    ]
    records = json.loads(run("cache", "info", f"sqlite:{file}", "--json")[1])
    assert records == [
        {"log": "3-abc" + "0" * 60, "entries": 3, "bytes": 2 * size + 7},
        {"log": "3-abd", "entries": 1, "bytes": size},
    ]


def test_cache_info_writes_out_what_a_terminal_would_take_as_a_command(run, tmp_path):
    from rote.inference.stores import SqliteStore

    with SqliteStore(tmp_path / "odd.db") as store:
        store.append("\x1b[31m[red]\n\udcff", [b"1"])
    code, printed, _ = run("cache", "info", tmp_path / "odd.db")
    assert code == 0
    assert "\\x1b[31m[red]\\n\\udcff" in printed
    assert "\x1b" not in printed


def test_cache_clear_forgets_one_log_or_all(run, remembered):
    file, _ = remembered

    def logs():
        records = json.loads(run("cache", "info", file, "--json")[1])
        return [one["log"] for one in records]

    assert run("cache", "clear", file, "--log", "3-abc", "--yes") == (0, "forgot 3 entries\n", "")
    assert logs() == ["3-abd"]
    assert run("cache", "clear", file, "--yes") == (0, "forgot 1 entry\n", "")
    assert logs() == []
    assert run("cache", "clear", file, "--yes")[0] == 0


@pytest.mark.parametrize(("answer", "left"), [("y\n", 0), ("n\n", 2), ("", 2)])
def test_cache_clear_asks_first(run, remembered, monkeypatch, answer, left):
    file, _ = remembered
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
    code, printed, _ = run("cache", "clear", file)
    assert "Entries to forget: 4. Go on?" in printed
    assert code == (0 if left == 0 else 1)
    assert len(json.loads(run("cache", "info", file, "--json")[1])) == left


def test_cache_export_writes_json_lines_and_says_what_was_damaged(run, remembered, tmp_path):
    file, _ = remembered
    code, printed, wrong = run("cache", "export", file, tmp_path / "all.jsonl")
    assert (code, wrong) == (0, "")
    words = [line.split() for line in printed.splitlines()]
    assert words == [["entries", "3"], ["damaged,", "left", "out", "1"]]
    lines = (tmp_path / "all.jsonl").read_text(encoding="utf-8").splitlines()
    records = [json.loads(line) for line in lines]
    assert [record["log"][:5] for record in records] == ["3-abc", "3-abc", "3-abd"]
    assert (records[0]["labels"], records[0]["scores"]) == ([1], [0.5, 2.0])
    assert records[0]["margin"] is None


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["info", "nowhere.sqlite"], "nowhere.sqlite: there is no such file"),
        (["info", "store"], "got 'store'"),
        (["info", "memory"], "name a file or a server"),
        (["info", "thesis.db"], "thesis.db is no SQLite file"),
        (["info", "unix:///nowhere/redis.sock"], "cannot be reached"),
        (["clear", "nowhere.sqlite", "--yes"], "nowhere.sqlite: there is no such file"),
        (["clear", "store.sqlite", "--yes", "--log", "1"], "none of them begin with '1'"),
        (["clear", "store.sqlite", "--yes", "--log", "3-ab"], "2 of them begin with '3-ab'"),
        (["export", "nowhere.sqlite", "out.jsonl"], "nowhere.sqlite: there is no such file"),
        (["export", "store.sqlite", "nowhere/out.jsonl"], "out.jsonl: cannot be written"),
        (["export", "store.sqlite", "."], ".: cannot be written"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_a_store_that_cannot_be_used_is_one_line_and_nothing_is_made_or_lost(
    run, remembered, tmp_path, monkeypatch, arguments, said
):
    if arguments[1].startswith("unix:"):
        pytest.importorskip("redis")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "thesis.db").write_text("the only copy\n" * 100, encoding="utf-8")
    before = sorted(path.name for path in tmp_path.iterdir())
    code, printed, wrong = run("cache", *arguments)
    assert (code, printed) == (2, "")
    assert is_one_line(wrong)
    assert said in wrong
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert len(json.loads(run("cache", "info", remembered[0], "--json")[1])) == 2
