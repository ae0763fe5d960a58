"""Where blobs are kept, and opening a store by its address."""

from os import PathLike, fspath
from pathlib import Path

from rote.errors import SettingError, StoreError
from rote.inference.stores.base import MAX_BYTES, LogSize, Store, log_named
from rote.inference.stores.memory import MemoryStore
from rote.inference.stores.redis import RedisStore
from rote.inference.stores.sqlite import SqliteStore

__all__ = [
    "MAX_BYTES",
    "LogSize",
    "MemoryStore",
    "RedisStore",
    "SqliteStore",
    "Store",
    "log_named",
    "open_store",
]

FILES = (".sqlite", ".sqlite3", ".db")
SERVERS = ("redis://", "rediss://", "unix://")


def open_store(address: str | PathLike[str], *, existing: bool = False) -> Store:
    """The store at an address.

    Parameters
    ----------
    address
        ``memory``, ``sqlite:PATH``, a path that ends in .sqlite, .sqlite3 or .db, or the address of
        a Redis server, ``redis://…``. A `pathlib.Path` is a path, whatever its ending.
    existing
        Refuse a store that could not hold anything yet, instead of making it.

    >>> open_store("memory")
    MemoryStore(max_bytes=268435456)
    """
    if isinstance(address, PathLike):
        address = f"sqlite:{fspath(address)}"
    if not isinstance(address, str):
        raise SettingError(f"the address of a store is a string or a path, got {address!r}")
    if address == "memory":
        if existing:
            raise SettingError(
                "a store in memory lives and ends with its process, and this one has just begun; "
                "name a file or a server"
            )
        return MemoryStore()
    if address.startswith(SERVERS):
        return RedisStore(address)
    path = address.removeprefix("sqlite:")
    if not path or not (path != address or address.endswith(FILES)):
        raise SettingError(
            f"a store is memory, sqlite:PATH, a path that ends in {', '.join(FILES)}, "
            f"or the address of a Redis server such as redis://localhost:6379/0; got {address!r}"
        )
    if existing and not Path(path).exists():
        raise StoreError(f"{path}: there is no such file, so nothing is remembered there")
    return SqliteStore(path)
