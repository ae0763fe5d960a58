"""Files written whole or not at all: at every moment one is there as it was, or as it will be."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from pathlib import Path


def write_whole(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file beside its place and then put it there; a link stays a link."""
    if path.exists() and not path.is_file():
        with path.open("wb") as file:  # a pipe or a device, which must not be replaced by a file
            file.writelines(_pieces(content))
        return
    path = path.resolve()
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        write_new(beside, content)
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def write_new(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Write a file that is not there yet, and wait until it is on the disk."""
    with path.open("xb") as file:
        file.writelines(_pieces(content))
        file.flush()
        os.fsync(file.fileno())


def _pieces(content: bytes | Iterable[bytes]) -> Iterable[bytes]:
    return [content] if isinstance(content, bytes) else content
