"""Stores: where solved problems are kept beyond a process, and shared."""

from rote.inference.stores import (
    LIMIT,
    MemoryStore,
    RedisStore,
    ShelfSize,
    SqliteStore,
    Store,
    open_store,
)

__all__ = [
    "LIMIT",
    "MemoryStore",
    "RedisStore",
    "ShelfSize",
    "SqliteStore",
    "Store",
    "open_store",
]
