"""A store in one SQLite file, which threads and processes of one machine share.

The file has a write-ahead log, and every append is one transaction: a process that is killed at any
moment leaves all of an append or nothing of it. A file is ours by its application id, and of this
format by its user version; any other file is refused and left as it is.

A store has one connection, and whoever uses it holds its lock. None is open while the process
forks, because SQLite would take the parent's locks for the child's own: whoever forks waits until
no connection is in use and closes them, and both sides open new ones when they need them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, RLock
from typing import TYPE_CHECKING
from weakref import WeakSet

from rote.errors import StoreError
from rote.inference.stores.base import (
    MAX_BYTES,
    BoundedStore,
    LogSize,
    decoded,
    encoded,
    first_sequence,
)

if TYPE_CHECKING:
    import sqlite3

OURS = 0x726F7465  # the application id: "rote"
FORMAT = 2
SECONDS = 30.0  # how long to wait for another process that writes

TABLES = (
    # With AUTOINCREMENT the number of a blob that is gone is never given to another.
    """CREATE TABLE blobs (
        sequence INTEGER PRIMARY KEY AUTOINCREMENT,
        log BLOB NOT NULL,
        size INTEGER NOT NULL,
        blob BLOB NOT NULL
    )""",
    "CREATE INDEX blobs_by_log ON blobs (log, sequence, size)",
    "CREATE TABLE held (size INTEGER NOT NULL)",  # the bytes of all blobs
    "INSERT INTO held VALUES (0)",
    """CREATE TRIGGER appended AFTER INSERT ON blobs
        BEGIN UPDATE held SET size = size + new.size; END""",
    """CREATE TRIGGER dropped AFTER DELETE ON blobs
        BEGIN UPDATE held SET size = size - old.size; END""",
)
# Up to the first blob with which enough are gone.
DROP_OLDEST = """DELETE FROM blobs WHERE sequence <= (
    SELECT sequence
    FROM (SELECT sequence, sum(size) OVER (ORDER BY sequence) AS gone FROM blobs)
    WHERE gone >= (SELECT size FROM held) - :most LIMIT 1
) AND (SELECT size FROM held) > :most"""


@dataclass(eq=False)
class SqliteStore(BoundedStore):
    """Blobs in a file on a local disk, first in, first out.

    A copy that is sent to another process opens the same file.

    Parameters
    ----------
    path
        The file, which is made where there is none; it is somewhat larger than its blobs.
    max_bytes
        When the blobs of all logs together are above it, the oldest go first, whatever log they
        are in. A blob that is larger by itself is not taken. None is no limit. The limit is that
        of whoever appends.
    """

    path: str | Path
    max_bytes: int | None = MAX_BYTES

    def __post_init__(self) -> None:
        super().__post_init__()
        self.path = Path(self.path).absolute()
        self.lock = RLock()
        self._connection: sqlite3.Connection | None = None
        with _REGISTRY:
            _STORES.add(self)
        with self._connected() as connection:  # refuses here what cannot be a store
            connection.execute("SELECT 1")

    def _append(self, log: str, blobs: Sequence[bytes]) -> None:
        name = encoded(log)
        with self._connected() as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(
                "INSERT INTO blobs (log, size, blob) VALUES (?, ?, ?)",
                ((name, len(blob), blob) for blob in blobs),
            )
            if self.max_bytes is not None:
                connection.execute(DROP_OLDEST, {"most": self.max_bytes})

    def read(self, log: str, after: int = 0) -> tuple[list[bytes], int]:
        with self._connected() as connection:
            found = connection.execute(
                "SELECT sequence, blob FROM blobs WHERE log = ? AND sequence > ? ORDER BY sequence",
                (encoded(log), after),
            ).fetchall()
        return [blob for _, blob in found], found[-1][0] if found else after

    def info(self) -> dict[str, LogSize]:
        with self._connected() as connection:
            found = connection.execute("SELECT log, count(*), sum(size) FROM blobs GROUP BY log")
            return {decoded(log): LogSize(blobs, size) for log, blobs, size in found.fetchall()}

    def clear(self, log: str | None = None) -> None:
        with self._connected() as connection:
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                if log is None:
                    connection.execute("DELETE FROM blobs")
                else:
                    connection.execute("DELETE FROM blobs WHERE log = ?", (encoded(log),))
            # Frees a page a step, and only a script is stepped through to its end.
            connection.executescript("PRAGMA incremental_vacuum")

    def close(self) -> None:
        with self.lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def __del__(self) -> None:
        if getattr(self, "_connection", None) is not None:
            self.close()

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """The connection, held by this thread, with SQLite's errors as ours."""
        with self.lock, _sentences_about(self.path):
            if self._connection is None:
                self._connection = _connect(Path(self.path))
            yield self._connection


_REGISTRY = Lock()
_STORES: WeakSet[SqliteStore] = WeakSet()
_STOPPED: list[SqliteStore] = []  # while the process forks


def _stop_for_fork() -> None:
    _REGISTRY.acquire()
    for store in list(_STORES):
        store.lock.acquire()
        _STOPPED.append(store)
        store.close()


def _go_on_after_fork() -> None:
    while _STOPPED:
        _STOPPED.pop().lock.release()
    _REGISTRY.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_stop_for_fork,
        after_in_parent=_go_on_after_fork,
        after_in_child=_go_on_after_fork,
    )


def _connect(path: Path) -> sqlite3.Connection:
    """A connection to a store of ours, made where nothing is yet."""
    import sqlite3

    if not path.parent.is_dir():
        raise StoreError(f"{path}: there is no folder {path.parent} to make the store in")
    until = time.monotonic() + SECONDS
    while True:
        connection = sqlite3.connect(
            path, timeout=SECONDS, isolation_level=None, check_same_thread=False
        )
        try:
            _prepare(connection, path)
        except BaseException as error:
            connection.close()
            # Entering the write-ahead log does not wait for others by itself.
            if not _is_busy(error) or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return connection


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    if path.stat().st_size == 0:
        # Gives the disk back what was cleared. Too late once anything was read or written.
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    with connection:
        connection.execute("BEGIN")
        there = _is_there(connection, path)
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA synchronous = NORMAL")
    if there:
        return
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        if _is_there(connection, path):
            return  # another process was faster
        for statement in TABLES:
            connection.execute(statement)
        connection.execute("INSERT INTO sqlite_sequence VALUES ('blobs', ?)", (first_sequence(),))
        connection.execute(f"PRAGMA application_id = {OURS}")
        connection.execute(f"PRAGMA user_version = {FORMAT}")


def _is_there(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether the tables are there; raises if they are not ours."""
    (owner,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if owner == version == tables == 0:
        return False
    if owner != OURS:
        raise StoreError(
            f"{path} is an SQLite file of another program; expected a store of rote; "
            "it was left as it is, name another file"
        )
    if version != FORMAT:
        raise StoreError(
            f"{path} is a store of format {version}, and this release of rote reads format "
            f"{FORMAT}; it was left as it is, name another file or use the release that wrote it"
        )
    return True


def _is_busy(error: BaseException) -> bool:
    import sqlite3

    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _code(error: BaseException) -> int:
    """SQLite's number for what went wrong, without its finer distinctions."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


@contextmanager
def _sentences_about(path: str | Path) -> Iterator[None]:
    """Turn what SQLite raises into a `StoreError` that names the file."""
    import sqlite3

    try:
        yield
    except sqlite3.Error as error:
        if _is_busy(error):
            said = f"is kept busy by other processes for over {SECONDS:.0f} seconds; try again"
        elif _code(error) == sqlite3.SQLITE_NOTADB:
            said = "is no SQLite file, so it is no store; it was left as it is, name another file"
        elif _code(error) == sqlite3.SQLITE_CORRUPT:
            said = f"is damaged ({error}); move it away, and a new store is made in its place"
        else:
            said = f"cannot be used as a store: {error}"
        raise StoreError(f"{path} {said}") from error
