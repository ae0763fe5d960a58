"""The store in an SQLite file: killed processes, forks, foreign files."""

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import groupby
from pathlib import Path

import pytest

from rote.errors import StoreError
from rote.inference.stores import sqlite
from rote.inference.stores.sqlite import SqliteStore
from tests.inference.stores.killed import EACH, LOGS, name_of

ROOT = Path(__file__).parents[3]
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="processes do not fork here")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "store.sqlite"


def ask(path, *statements):
    """What SQLite itself says to the last of some statements."""
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            answer = connection.execute(statement).fetchall()
        connection.commit()
    return answer


def check_sound(path, limit=None):
    """SQLite finds no damage, and what is kept of sizes is what the blobs say."""
    assert ask(path, "PRAGMA integrity_check") == [("ok",)]
    ((size,),) = ask(path, "SELECT coalesce(sum(length(blob)), 0) FROM blobs")
    assert ask(path, "SELECT size FROM held") == [(size,)]
    assert limit is None or size <= limit


def check_writable(path, limit=None):
    with SqliteStore(path, limit) as store:
        sequence = store.read("log0")[1]
        store.append("log0", [b"after all"])
        assert store.read("log0", sequence)[0] == [b"after all"]


def run(program, *arguments, **options):
    return subprocess.run(
        [sys.executable, *map(str, (program, *arguments))],
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(["src", "."])},
        stdout=subprocess.PIPE,
        timeout=120,
        **options,
    ).stdout


# -- kill -9 ------------------------------------------------------------------------------


@needs_fork
@pytest.mark.parametrize("limit", [None, 60_000])
def test_writers_killed_at_any_moment_leave_whole_blobs_in_order(tmp_path, limit):
    rounds = 25
    program = Path(__file__).with_name("killed.py")
    told = json.loads(run(program, tmp_path, json.dumps(limit), rounds, 0))
    done, followed = dict(told["done"]), [tuple(one) for one in told["followed"]]
    assert len(done) == rounds * 3
    assert max(done.values()) > 0
    old = tmp_path / "old.sqlite"
    check_sound(old, limit)
    with SqliteStore(old, limit) as store:
        logs = {i: store.read(f"log{i}")[0] for i in range(LOGS)}
    lying = [(log, *name_of(blob)) for log, blobs in logs.items() for blob in blobs]
    assert lying
    if limit is None:
        # All of an add or nothing, nothing twice, and all that a writer was told to be done;
        # beyond that at most the one add that it could not be told of any more.
        adds = [(log, writer, number) for log, writer, number, _ in lying[::EACH]]
        assert lying == [(*add, place) for add in adds for place in range(EACH)]
        for writer, last in done.items():
            numbers = sorted(number for _, by, number in adds if by == writer)
            assert numbers in (list(range(last + 1)), list(range(last + 2)))
        assert sorted(followed) == sorted(lying)
    for log in range(LOGS):
        read = [one for one in followed if one[0] == log]
        kept = [one for one in lying if one[0] == log]
        assert kept == read[len(read) - len(kept) :]
        for writer, own in groupby(sorted(read, key=lambda one: one[1]), lambda one: one[1]):
            numbers = [number for _, _, number, _ in own]
            assert numbers == sorted(numbers), f"writer {writer}"
    # Where the first writers were killed while they made the file, it can still be made.
    for file in (old, *(tmp_path / f"young{i}.sqlite" for i in range(rounds))):
        check_writable(file, limit)
        check_sound(file, limit)


# -- forks, threads, copies ---------------------------------------------------------------

FORKING = """
import os, sys, threading
from rote.inference.stores.sqlite import SqliteStore

store = SqliteStore(sys.argv[1])
store.append("main", [b"before"])
going = threading.Event()

def work(name):
    number = 0
    while not going.is_set() or number < 20:
        store.append(name, [b"%d" % number])
        number += 1

threads = [threading.Thread(target=work, args=(f"thread{i}",)) for i in range(2)]
for thread in threads:
    thread.start()
children = []
for i in range(10):
    child = os.fork()
    if child == 0:
        code = 1
        try:
            assert store.read("main")[0][0] == b"before"
            for number in range(5):
                store.append(f"child{i}", [b"%d" % number])
            code = 0
        finally:
            os._exit(code)
    children.append(child)
    store.append("main", [b"%d" % i])
codes = [os.waitpid(child, 0)[1] for child in children]
going.set()
for thread in threads:
    thread.join()
assert codes == [0] * 10, codes
"""


@needs_fork
def test_a_store_that_threads_use_goes_on_in_the_parent_and_in_its_children(path):
    run("-c", FORKING, path)
    check_sound(path)
    with SqliteStore(path) as store:
        assert store.read("main")[0] == [b"before", *(b"%d" % i for i in range(10))]
        for i in range(10):
            assert store.read(f"child{i}")[0] == [b"%d" % number for number in range(5)]
        for i in range(2):
            blobs = store.read(f"thread{i}")[0]
            assert blobs == [b"%d" % number for number in range(len(blobs))]
            assert len(blobs) >= 20


@needs_fork
def test_no_connection_is_open_while_the_process_forks(path):
    with SqliteStore(path) as store:
        assert store._connection is not None
        sqlite._stop_for_fork()
        try:
            assert store._connection is None
        finally:
            sqlite._go_on_after_fork()
        store.append("a", [b"1"])
        assert store._connection is not None


def test_closing_takes_the_log_along(path):
    with SqliteStore(path) as store:
        store.append("a", [b"1"])
        assert {p.name for p in path.parent.iterdir()} > {path.name}
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_an_add_that_fails_leaves_nothing(path):
    with SqliteStore(path) as store:
        store.append("a", [b"1"])
        with pytest.raises(StoreError, match=r"store\.sqlite"):
            store.append("b", [b"2", object.__new__(Sized)])
        store.append("a", [b"3"])
        assert store.info() == {"a": (2, 2)}
    check_sound(path)


class Sized:
    """Has a length and is no bytes."""

    def __len__(self):
        return 1


def test_clearing_gives_the_disk_its_room_back(path):
    with SqliteStore(path) as store:
        store.append("a", [bytes(1_000_000)] * 3)
        store.append("b", [b"1"])
    assert path.stat().st_size > 3_000_000
    with SqliteStore(path) as store:
        store.clear("a")
        assert store.read("b")[0] == [b"1"]
    assert path.stat().st_size < 200_000
    check_sound(path)


def test_the_file_stays_about_as_large_as_its_limit(path):
    with SqliteStore(path, 200_000) as store:
        for i in range(60):
            store.append(f"log{i % 3}", [bytes(9_000)] * 4)
    assert path.stat().st_size < 600_000
    check_sound(path, 200_000)


def test_a_file_that_was_removed_and_made_anew_counts_on(path):
    with SqliteStore(path) as store:
        store.append("a", [b"1", b"2"])
        sequence = store.read("a")[1]
    path.unlink()
    with SqliteStore(path) as store:
        assert store.read("a", sequence) == ([], sequence)
        store.append("a", [b"3"])
        assert store.read("a", sequence)[0] == [b"3"]


# -- files that are no store --------------------------------------------------------------


def test_a_file_of_another_kind_is_refused_and_left_as_it_is(path):
    content = b"my thesis, the only copy\n" * 100
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"store\.sqlite is no SQLite file"):
        SqliteStore(path)
    assert path.read_bytes() == content
    assert [p.name for p in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_a_database_of_another_program_is_refused_and_left_as_it_is(path, journal):
    ask(path, f"PRAGMA journal_mode = {journal}", "CREATE TABLE mine (x)")
    ask(path, "INSERT INTO mine VALUES (1), (2)")
    content = path.read_bytes()
    with pytest.raises(StoreError, match=r"store\.sqlite is an SQLite file of another program"):
        SqliteStore(path)
    assert path.read_bytes() == content
    assert ask(path, "SELECT x FROM mine") == [(1,), (2,)]


def test_a_store_of_another_format_is_refused_and_left_as_it_is(path):
    with SqliteStore(path) as store:
        store.append("a", [b"1"])
    ask(path, "PRAGMA user_version = 1")
    content = path.read_bytes()
    with pytest.raises(StoreError, match=r"store\.sqlite is a store of format 1.*format 2"):
        SqliteStore(path)
    assert path.read_bytes() == content
    ask(path, "PRAGMA user_version = 2")
    with SqliteStore(path) as store:
        assert store.read("a")[0] == [b"1"]


@pytest.mark.parametrize(
    ("file", "said"),
    [("nowhere/store.sqlite", "there is no folder .*nowhere"), (".", "cannot be used as a store")],
)
def test_a_folder_that_is_not_there_is_named_and_a_folder_is_no_store(tmp_path, file, said):
    with pytest.raises(StoreError, match=said):
        SqliteStore(tmp_path / file)


def test_a_damaged_file_is_an_error_that_names_it_or_keeps_what_is_whole(path):
    blobs = [bytes([i]) * 3000 for i in range(100)]
    with SqliteStore(path) as store:
        store.append("a", blobs)
    content = bytearray(path.read_bytes())
    content[4096 * 3 : 4096 * 20] = b"\xff" * (4096 * 17)
    path.write_bytes(content)
    with pytest.raises(StoreError, match=r"store\.sqlite is damaged"), SqliteStore(path) as store:
        store.read("a")


def test_a_file_that_stays_locked_is_an_error_that_says_so(path, monkeypatch):
    monkeypatch.setattr(sqlite, "SECONDS", 0.1)
    with SqliteStore(path) as store, closing(sqlite3.connect(path)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"store\.sqlite is kept busy"):
            store.append("a", [b"1"])
        assert store.read("a") == ([], 0)  # readers do not wait for writers
        other.rollback()
        store.append("a", [b"1"])
        assert store.read("a")[0] == [b"1"]
