"""A store in one SQLite file, which threads and processes of one machine share.

The file has a write-ahead log, and every add is one transaction: a process that is killed at any
moment leaves all of an add or nothing of it. A file is ours by its application id, and of this
format by its user version; any other file is refused and left as it is.

A connection is used by one thread. None is open while the process forks, because SQLite would
take the parent's locks for the child's own: whoever forks waits until no connection is in use
and closes them, and both sides open new ones when they need them.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from threading import Lock, RLock, local
from typing import TYPE_CHECKING
from weakref import WeakSet

from rote.errors import StoreError, positive
from rote.inference.stores.base import (
    LIMIT,
    ShelfSize,
    Store,
    decoded,
    encoded,
    first_mark,
    fitting,
)

if TYPE_CHECKING:
    import sqlite3

OURS = 0x726F7465  # the application id: "rote"
FORMAT = 1
SECONDS = 30.0  # how long to wait for another process that writes

TABLES = (
    """CREATE TABLE shelves (
        id INTEGER PRIMARY KEY,
        name BLOB NOT NULL UNIQUE,
        packs INTEGER NOT NULL,
        size INTEGER NOT NULL
    )""",
    # With AUTOINCREMENT the mark of a pack that is gone is never given to another.
    """CREATE TABLE packs (
        mark INTEGER PRIMARY KEY AUTOINCREMENT,
        shelf INTEGER NOT NULL,
        pack BLOB NOT NULL
    )""",
    "CREATE INDEX packs_by_shelf ON packs (shelf, mark)",
    "CREATE TABLE held (size INTEGER NOT NULL)",
    "INSERT INTO held VALUES (0)",
)


class SqliteStore(Store):
    """Packs in a file on a local disk, first in, first out.

    When the packs of all shelves together are above ``max_bytes``, the oldest go first,
    whatever shelf they lie on. A pack that is larger by itself is not taken. None is no limit.
    The limit is that of whoever adds; the file is somewhat larger than its packs. A copy that is
    sent to another process opens the same file.
    """

    def __init__(self, path: str | Path, max_bytes: int | None = LIMIT) -> None:
        positive("max_bytes", max_bytes)
        self.path = Path(path).absolute()
        self.max_bytes = max_bytes
        self._mine = local()
        self._sessions: WeakSet[_Session] = WeakSet()
        with self._connected():
            pass  # a file that cannot be a store is refused here, not at the first add

    def __repr__(self) -> str:
        return f"SqliteStore({str(self.path)!r}, max_bytes={self.max_bytes})"

    def __reduce__(self) -> tuple[type[SqliteStore], tuple[Path, int | None]]:
        return SqliteStore, (self.path, self.max_bytes)

    def add(self, shelf: str, packs: Sequence[bytes]) -> None:
        taken = fitting(packs, self.max_bytes)
        if not taken:
            return
        size = sum(map(len, taken))
        with self._writing() as connection:
            name = encoded(shelf)
            connection.execute(
                "INSERT INTO shelves (name, packs, size) VALUES (?, ?, ?) ON CONFLICT (name) "
                "DO UPDATE SET packs = packs + excluded.packs, size = size + excluded.size",
                (name, len(taken), size),
            )
            connection.executemany(
                "INSERT INTO packs (shelf, pack) SELECT id, ? FROM shelves WHERE name = ?",
                ((pack, name) for pack in taken),
            )
            connection.execute("UPDATE held SET size = size + ?", (size,))
            if self.max_bytes is not None:
                _drop_oldest(connection, self.max_bytes)

    def read(self, shelf: str, after: int = 0) -> tuple[list[bytes], int]:
        with self._connected() as connection:
            found = connection.execute(
                "SELECT mark, pack FROM packs "
                "WHERE shelf = (SELECT id FROM shelves WHERE name = ?) AND mark > ? ORDER BY mark",
                (encoded(shelf), after),
            ).fetchall()
        return [pack for _, pack in found], found[-1][0] if found else after

    def info(self) -> dict[str, ShelfSize]:
        with self._connected() as connection:
            found = connection.execute("SELECT name, packs, size FROM shelves ORDER BY id")
            return {decoded(name): ShelfSize(packs, size) for name, packs, size in found.fetchall()}

    def clear(self, shelf: str | None = None) -> None:
        with self._writing() as connection:
            if shelf is None:
                connection.execute("DELETE FROM packs")
                connection.execute("DELETE FROM shelves")
            else:
                name = (encoded(shelf),)
                connection.execute(
                    "DELETE FROM packs WHERE shelf = (SELECT id FROM shelves WHERE name = ?)", name
                )
                connection.execute("DELETE FROM shelves WHERE name = ?", name)
            connection.execute(
                "UPDATE held SET size = (SELECT coalesce(sum(size), 0) FROM shelves)"
            )
        with self._connected() as connection:
            # Frees a page a step, and only a script is stepped through to its end.
            connection.executescript("PRAGMA incremental_vacuum")

    def close(self) -> None:
        with _REGISTRY:
            sessions = list(self._sessions)
        for session in sessions:
            session.close()

    @contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        """The connection of this thread, with SQLite's errors as ours."""
        session: _Session | None = getattr(self._mine, "session", None)
        if session is None:
            session = self._mine.session = _Session(self._sessions)
        with session.lock, _sentences_about(self.path):
            if session.connection is None:
                session.connection = _connect(self.path)
            yield session.connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._connected() as connection, _transaction(connection):
            yield connection


class _Session:
    """One thread's connection. Whoever uses it or closes it holds the lock."""

    def __init__(self, siblings: WeakSet[_Session]) -> None:
        self.lock = RLock()
        self.connection: sqlite3.Connection | None = None
        with _REGISTRY:
            siblings.add(self)
            _SESSIONS.add(self)

    def close(self) -> None:
        with self.lock:
            if self.connection is not None:
                self.connection.close()
                self.connection = None

    def __del__(self) -> None:
        if self.connection is not None:
            self.connection.close()


_REGISTRY = Lock()
_SESSIONS: WeakSet[_Session] = WeakSet()
_STOPPED: list[_Session] = []  # while the process forks


def _stop_for_fork() -> None:
    _REGISTRY.acquire()
    for session in list(_SESSIONS):
        session.lock.acquire()
        _STOPPED.append(session)
        session.close()


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
    with _transaction(connection, "DEFERRED"):
        there = _is_there(connection, path)
    connection.execute("PRAGMA journal_mode = WAL").fetchall()
    connection.execute("PRAGMA synchronous = NORMAL")
    if there:
        return
    with _transaction(connection):
        if _is_there(connection, path):
            return  # another process was faster
        for statement in TABLES:
            connection.execute(statement)
        connection.execute("INSERT INTO sqlite_sequence VALUES ('packs', ?)", (first_mark(),))
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


@contextmanager
def _transaction(connection: sqlite3.Connection, kind: str = "IMMEDIATE") -> Iterator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _drop_oldest(connection: sqlite3.Connection, limit: int) -> None:
    """Drop the oldest packs until the others are within the limit."""
    (held,) = connection.execute("SELECT size FROM held").fetchone()
    last, packs, sizes = 0, Counter[int](), Counter[int]()
    oldest = connection.execute("SELECT mark, shelf, length(pack) FROM packs ORDER BY mark")
    with closing(oldest):
        for mark, shelf, size in oldest:
            if held <= limit:
                break
            last = mark
            packs[shelf] += 1
            sizes[shelf] += size
            held -= size
    if not last:
        return
    connection.execute("DELETE FROM packs WHERE mark <= ?", (last,))
    for shelf, count in packs.items():
        connection.execute(
            "UPDATE shelves SET packs = packs - ?, size = size - ? WHERE id = ?",
            (count, sizes[shelf], shelf),
        )
        connection.execute("DELETE FROM shelves WHERE id = ? AND packs = 0", (shelf,))
    connection.execute("UPDATE held SET size = ?", (held,))


def _is_busy(error: BaseException) -> bool:
    import sqlite3

    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _code(error: BaseException) -> int:
    """SQLite's number for what went wrong, without its finer distinctions."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


@contextmanager
def _sentences_about(path: Path) -> Iterator[None]:
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
