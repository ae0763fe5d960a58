"""A store on a Redis server, which processes and machines share.

Under a prefix and the number of this format lie

    PREFIX:2:log:NAME     a stream: the blobs of a log, by sequence number
    PREFIX:2:sizes        a hash: the bytes of the blobs in each log
    PREFIX:2:heads        a sorted set: the oldest sequence number in each log
    PREFIX:2:state        a hash: the last sequence number, and the bytes of all blobs

Whatever touches more than one of them is a script, which the server runs as one step. The keys
never expire. A server that drops keys when its memory is full must be told to spare them
(``maxmemory-policy`` noeviction or volatile-…), or the store's own limit is not kept until
the store is cleared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from rote.errors import MissingDependency, SettingError, StoreError
from rote.inference.stores.base import MAX_BYTES, BoundedStore, LogSize, decoded, encoded

FORMAT = 2
SECONDS = 10.0  # how long to wait for the server
# The server does nothing else during a script, so one call carries at most so many blobs and,
# unless a single blob is larger, so many bytes.
CALL_BLOBS = 1000
CALL_BYTES = 2**22

# All keys begin with KEYS[1]. Numbers are exact up to 2^53, which microseconds reach in the year
# 2255; %.0f writes them in full, and 0 - n has no negative zero.
COMMON = """
local logs = KEYS[1] .. 'log:'
local sizes, heads, state = KEYS[1] .. 'sizes', KEYS[1] .. 'heads', KEYS[1] .. 'state'
local function forget(log)
    local size = redis.call('HGET', sizes, log) or 0
    redis.call('HINCRBY', state, 'size', 0 - size)
    redis.call('HDEL', sizes, log)
    redis.call('ZREM', heads, log)
    redis.call('UNLINK', logs .. log)
end
"""

APPEND = """
local limit, log = tonumber(ARGV[1]), ARGV[2]
local now = redis.call('TIME')
local last = tonumber(redis.call('HGET', state, 'sequence') or 0)
local sequence = math.max(last, now[1] * 1000000 + now[2])
local added = 0
for i = 3, #ARGV do
    sequence = sequence + 1
    local exact = string.format('%.0f', sequence)
    redis.call('XADD', logs .. log, exact .. '-0', 'blob', ARGV[i])
    redis.call('ZADD', heads, 'NX', exact, log)
    added = added + #ARGV[i]
end
redis.call('HSET', state, 'sequence', string.format('%.0f', sequence))
redis.call('HINCRBY', sizes, log, added)
local held = redis.call('HINCRBY', state, 'size', added)
while limit >= 0 and held > limit do
    local oldest = redis.call('ZRANGE', heads, 0, 0)[1]
    if not oldest then break end
    local stream = logs .. oldest
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
for _, log in ipairs(redis.call('ZRANGE', heads, 0, -1)) do
    local size = tonumber(redis.call('HGET', sizes, log) or 0)
    found[#found + 1] = {log, redis.call('XLEN', logs .. log), size}
end
return found
"""

CLEAR = """
if ARGV[1] then
    forget(ARGV[1])
else
    for _, names in ipairs({redis.call('HKEYS', sizes), redis.call('ZRANGE', heads, 0, -1)}) do
        for _, log in ipairs(names) do forget(log) end
    end
    redis.call('HSET', state, 'size', 0)
end
"""


@dataclass(eq=False)
class RedisStore(BoundedStore):
    """Blobs on a Redis server (5 or newer), first in, first out.

    A copy that is sent to another process connects to the same server.

    Parameters
    ----------
    url
        The address of the server.
    prefix
        How the names of its keys begin; stores with other prefixes do not see each other.
    max_bytes
        When the blobs of all logs together are above it, the oldest go first, whatever log they
        are in. A blob that is larger by itself is not taken. None is no limit. The limit is that
        of whoever appends.
    """

    url: str = "redis://localhost:6379/0"
    prefix: str = "rote"
    max_bytes: int | None = MAX_BYTES

    def __post_init__(self) -> None:
        super().__post_init__()
        self._client = _client(self.url)
        self._root = encoded(f"{self.prefix}:{FORMAT}:")
        self._append_script, self._info, self._clear = (
            self._client.register_script(COMMON + script) for script in (APPEND, INFO, CLEAR)
        )

    def __repr__(self) -> str:
        return (
            f"RedisStore({_shown(self.url)!r}, prefix={self.prefix!r}, max_bytes={self.max_bytes})"
        )

    def _append(self, log: str, blobs: Sequence[bytes]) -> None:
        limit = -1 if self.max_bytes is None else self.max_bytes
        with _sentences_about(self.url):
            for some in _portions(blobs):
                self._append_script([self._root], [limit, encoded(log), *some])

    def read(self, log: str, after: int = 0) -> tuple[list[bytes], int]:
        stream = self._root + b"log:" + encoded(log)
        blobs: list[bytes] = []
        with _sentences_about(self.url):
            while True:
                # Blobs have the second number 0, so this is the first that comes after.
                found = self._client.xrange(stream, min=f"{after}-1", count=CALL_BLOBS)
                blobs += [fields[b"blob"] for _, fields in found]
                if found:
                    after = int(found[-1][0].split(b"-")[0])
                if len(found) < CALL_BLOBS:
                    return blobs, after

    def info(self) -> dict[str, LogSize]:
        with _sentences_about(self.url):
            found = self._info([self._root])
        return {decoded(name): LogSize(blobs, size) for name, blobs, size in found}

    def clear(self, log: str | None = None) -> None:
        with _sentences_about(self.url):
            self._clear([self._root], [] if log is None else [encoded(log)])

    def close(self) -> None:
        self._client.close()


def _portions(blobs: Sequence[bytes]) -> Iterator[list[bytes]]:
    """The blobs in order, in portions that the server takes in one step."""
    portion: list[bytes] = []
    size = 0
    for blob in blobs:
        if portion and (len(portion) == CALL_BLOBS or size + len(blob) > CALL_BYTES):
            yield portion
            portion, size = [], 0
        portion.append(blob)
        size += len(blob)
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
