"""A service behind a port, until it is told to stop."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec

from rote.errors import MissingDependency, SettingError
from rote.serve.service import Service
from rote.settings import check, whole

PACKAGES = ("fastapi", "uvicorn")
PORT = whole(0, (1 << 16) - 1)
WAITING = 2048  # connections that were not accepted yet


def check_extra() -> None:
    """Refuse to go on without the packages that serving needs."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise MissingDependency(
            f"a service needs the packages {' and '.join(PACKAGES)}; not installed: "
            f"{', '.join(missing)}; run: pip install '.[serve]' in a checkout of rote"
        )


def serve(
    service: Service,
    host: str = "127.0.0.1",
    port: int = 8000,
    ready: Callable[[str], None] | None = None,
) -> None:
    """Serve until the process is interrupted or terminated; then answer what was taken and close.

    The first answer takes no longer than others: the service has answered an input of its own
    before. ``ready`` is told the address. Port 0 is any that is free.
    """
    with service:
        check_extra()
        import uvicorn

        from rote.serve.app import create_app

        config = uvicorn.Config(create_app(service), log_level="warning", access_log=False)
        with bound(host, port) as listening, suppress(KeyboardInterrupt):
            service.warm_up()  # who asks meanwhile is connected, and waits
            if ready is not None:
                name = f"[{host}]" if ":" in host else host
                ready(f"http://{name}:{listening.getsockname()[1]}/")
            uvicorn.Server(config).run(sockets=[listening])


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens there."""
    check("port", port, PORT)
    try:
        family, *_, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.create_server(address[:2], family=family, backlog=WAITING)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            said = "is taken by another program; name another port, or 0 for any that is free"
        else:
            said = f"cannot be listened on: {error.strerror}"
        raise SettingError(f"port {port} of {host} {said}") from None
    # Without its protocol named, asyncio would leave Nagle's algorithm on, and every answer
    # on a connection that stays open would wait 40 ms for a delayed acknowledgement.
    return socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP, fileno=listening.detach())
