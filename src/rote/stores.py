"""Stores: where solved problems are kept beyond a process, and shared."""

from rote.inference.stores import (
    MAX_BYTES,
    LogSize,
    MemoryStore,
    RedisStore,
    SqliteStore,
    Store,
    open_store,
)

__all__ = [
    "MAX_BYTES",
    "LogSize",
    "MemoryStore",
    "RedisStore",
    "SqliteStore",
    "Store",
    "open_store",
]
