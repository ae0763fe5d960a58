"""A Redis server of our own on a socket file, for tests; they are skipped where there is none."""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def running_redis(*options: str) -> Iterator[str]:
    """The address of a server that runs until the block is left."""
    # A socket's path has at most about 100 characters, which pytest's own folders may exceed.
    with tempfile.TemporaryDirectory(prefix="rote") as folder, redis_in(folder, *options) as url:
        yield url


@contextmanager
def redis_in(folder: str, *options: str) -> Iterator[str]:
    """The same with its socket in a folder; the next server there has the same address."""
    pytest.importorskip("redis", reason="the package redis is not installed")
    program = shutil.which("redis-server")
    if program is None:
        pytest.skip("redis-server is not installed")
    socket = Path(folder, "redis.sock")
    settings = ("--port", "0", "--unixsocket", str(socket), "--dir", folder, "--save", "")
    server = subprocess.Popen([program, *settings, *options], stdout=subprocess.DEVNULL)
    try:
        _wait_for(socket, server)
        yield f"unix://{socket}"
    finally:
        server.kill()
        server.wait()


def _wait_for(socket: Path, server: subprocess.Popen[bytes]) -> None:
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry

    until = time.monotonic() + 20
    with redis.Redis(unix_socket_path=str(socket), retry=Retry(NoBackoff(), 0)) as client:
        while True:
            try:
                client.ping()
            except redis.AuthenticationError:
                return  # it wants a password, so it answers
            except redis.ConnectionError:
                assert server.poll() is None, "redis-server stopped by itself"
                assert time.monotonic() < until, "redis-server does not answer"
                time.sleep(0.02)
            else:
                return
