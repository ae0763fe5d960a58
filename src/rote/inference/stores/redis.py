"""A store on a Redis server, which processes and machines share.

Under a prefix and the number of this format lie

    PREFIX:1:shelf:NAME   a stream: the packs of a shelf, by mark
    PREFIX:1:sizes        a hash: the bytes of the packs on each shelf
    PREFIX:1:heads        a sorted set: the oldest mark on each shelf
    PREFIX:1:state        a hash: the last mark, and the bytes of all packs

Whatever touches more than one of them is a script, which the server runs as one step. The keys
never expire. A server that drops keys when its memory is full must be told to spare them
(``maxmemory-policy`` noeviction or volatile-…), or the store's own limit is not kept until
the store is cleared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

from rote.errors import MissingDependency, SettingError, StoreError, positive
from rote.inference.stores.base import (
    LIMIT,
    ShelfSize,
    Store,
    decoded,
    encoded,
    fitting,
)

FORMAT = 1
SECONDS = 10.0  # how long to wait for the server
# The server does nothing else during a script, so one call carries at most so many packs and,
# unless a single pack is larger, so many bytes.
MAX_PACKS = 1000
MAX_BYTES = 2**22

# All keys begin with KEYS[1]. Numbers are exact up to 2^53, which microseconds reach in the year
# 2255; %.0f writes them in full, and 0 - n has no negative zero.
COMMON = """
local shelves = KEYS[1] .. 'shelf:'
local sizes, heads, state = KEYS[1] .. 'sizes', KEYS[1] .. 'heads', KEYS[1] .. 'state'
local function forget(shelf)
    local size = redis.call('HGET', sizes, shelf) or 0
    redis.call('HINCRBY', state, 'size', 0 - size)
    redis.call('HDEL', sizes, shelf)
    redis.call('ZREM', heads, shelf)
    redis.call('UNLINK', shelves .. shelf)
end
"""

ADD = """
local limit, shelf = tonumber(ARGV[1]), ARGV[2]
local now = redis.call('TIME')
local last = tonumber(redis.call('HGET', state, 'mark') or 0)
local mark = math.max(last, now[1] * 1000000 + now[2])
local added = 0
for i = 3, #ARGV do
    mark = mark + 1
    local exact = string.format('%.0f', mark)
    redis.call('XADD', shelves .. shelf, exact .. '-0', 'pack', ARGV[i])
    redis.call('ZADD', heads, 'NX', exact, shelf)
    added = added + #ARGV[i]
end
redis.call('HSET', state, 'mark', string.format('%.0f', mark))
redis.call('HINCRBY', sizes, shelf, added)
local held = redis.call('HINCRBY', state, 'size', added)
while limit >= 0 and held > limit do
    local oldest = redis.call('ZRANGE', heads, 0, 0)[1]
    if not oldest then break end
    local stream = shelves .. oldest
    local two = redis.call('XRANGE', stream, '-', '+', 'COUNT', 2)
    if two[2] then
        local size = #two[1][2][2]
        redis.call('XDEL', stream, two[1][1])
        redis.call('ZADD', heads, string.match(two[2][1], '^%d+'), oldest)
        redis.call('HINCRBY', sizes, oldest, 0 - size)
        held = redis.call('HINCRBY', state, 'size', 0 - size)
    else
        forget(oldest)
        held = tonumber(redis.call('HGET', state, 'size'))
    end
end
"""

INFO = """
local found = {}
for _, shelf in ipairs(redis.call('ZRANGE', heads, 0, -1)) do
    local size = tonumber(redis.call('HGET', sizes, shelf) or 0)
    found[#found + 1] = {shelf, redis.call('XLEN', shelves .. shelf), size}
end
return found
"""

CLEAR = """
if ARGV[1] then
    forget(ARGV[1])
else
    for _, names in ipairs({redis.call('HKEYS', sizes), redis.call('ZRANGE', heads, 0, -1)}) do
        for _, shelf in ipairs(names) do forget(shelf) end
    end
    redis.call('HSET', state, 'size', 0)
end
"""


class RedisStore(Store):
    """Packs on a Redis server (5 or newer), first in, first out.

    When the packs of all shelves together are above ``max_bytes``, the oldest go first,
    whatever shelf they lie on. A pack that is larger by itself is not taken. None is no limit.
    The limit is that of whoever adds. Stores with other prefixes do not see each other. A copy
    that is sent to another process connects to the same server.
    """

    def __init__(
        self,
        url: str = "redis://localhost:6379/0",
        prefix: str = "rote",
        max_bytes: int | None = LIMIT,
    ) -> None:
        positive("max_bytes", max_bytes)
        self.url = url
        self.prefix = prefix
        self.max_bytes = max_bytes
        self._client = _client(url)
        self._root = encoded(f"{prefix}:{FORMAT}:")
        self._add, self._info, self._clear = (
            self._client.register_script(COMMON + script) for script in (ADD, INFO, CLEAR)
        )

    def __repr__(self) -> str:
        return (
            f"RedisStore({_shown(self.url)!r}, prefix={self.prefix!r}, max_bytes={self.max_bytes})"
        )

    def __reduce__(self) -> tuple[type[RedisStore], tuple[str, str, int | None]]:
        return RedisStore, (self.url, self.prefix, self.max_bytes)

    def add(self, shelf: str, packs: Sequence[bytes]) -> None:
        limit = -1 if self.max_bytes is None else self.max_bytes
        with _sentences_about(self.url):
            for some in _portions(fitting(packs, self.max_bytes)):
                self._add([self._root], [limit, encoded(shelf), *some])

    def read(self, shelf: str, after: int = 0) -> tuple[list[bytes], int]:
        stream = self._root + b"shelf:" + encoded(shelf)
        packs: list[bytes] = []
        with _sentences_about(self.url):
            while True:
                # Packs have the second number 0, so this is the first that comes after the mark.
                found = self._client.xrange(stream, min=f"{after}-1", count=MAX_PACKS)
                packs += [fields[b"pack"] for _, fields in found]
                if found:
                    after = int(found[-1][0].split(b"-")[0])
                if len(found) < MAX_PACKS:
                    return packs, after

    def info(self) -> dict[str, ShelfSize]:
        with _sentences_about(self.url):
            found = self._info([self._root])
        return {decoded(name): ShelfSize(packs, size) for name, packs, size in found}

    def clear(self, shelf: str | None = None) -> None:
        with _sentences_about(self.url):
            self._clear([self._root], [] if shelf is None else [encoded(shelf)])

    def close(self) -> None:
        self._client.close()


def _portions(packs: Sequence[bytes]) -> Iterator[list[bytes]]:
    """The packs in order, in portions that the server takes in one step."""
    portion: list[bytes] = []
    size = 0
    for pack in packs:
        if portion and (len(portion) == MAX_PACKS or size + len(pack) > MAX_BYTES):
            yield portion
            portion, size = [], 0
        portion.append(pack)
        size += len(pack)
    if portion:
        yield portion


def _client(url: str) -> Any:
    try:
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ImportError as error:
        raise MissingDependency(
            "RedisStore needs the package redis, which is not installed; "
            "run: pip install '.[redis]' in a checkout of rote, or keep the store in a file with "
            "SqliteStore"
        ) from error
    try:
        client = redis.Redis.from_url(
            url,
            decode_responses=False,
            socket_timeout=SECONDS,
            socket_connect_timeout=SECONDS,
            # A server that was started anew leaves dead connections behind: each is tried twice.
            retry=Retry(NoBackoff(), 1),
        )
        pool = client.connection_pool
        pool.connection_class(**pool.connection_kwargs)  # notices options that there are not
    except (TypeError, ValueError):
        # The address is not shown: it may have a password in it, where nobody can tell.
        raise SettingError(
            "expected the address of a Redis server, such as redis://localhost:6379/0, "
            "and cannot read the one that came"
        ) from None
    return client


def _shown(url: str) -> str:
    """An address without the user, the password and the options in it."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


@contextmanager
def _sentences_about(url: str) -> Iterator[None]:
    """Turn what the client raises into a `StoreError` that names the server."""
    import redis

    try:
        yield
    except (redis.ConnectionError, redis.TimeoutError) as error:
        raise StoreError(
            f"the Redis server at {_shown(url)} cannot be reached: {error}; "
            "start it, or name another store"
        ) from error
    except redis.RedisError as error:
        raise StoreError(f"the Redis server at {_shown(url)} refused: {error}") from error
