"""What a store remembers, as JSON lines for other programs: one entry per line.

A line has the name of its shelf and the entry's labels, scores, messages, multipliers and
margin. JSON has no infinite numbers: they become null. Shelves of a service hold answers and no
entries, and are left out.
"""

from __future__ import annotations

import json
import math
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rote.errors import DataError
from rote.inference.stores.base import SERVED, Store
from rote.inference.wrappers.amortized.blobs import Entry, unpack
from rote.types import FloatArray


class Exported(NamedTuple):
    """How many entries were written, and how many packs were damaged and left out."""

    entries: int
    damaged: int


def export(store: Store, path: str | Path) -> Exported:
    """Write every entry of a store to a file, whole or not at all."""
    path = Path(path)
    own = getattr(store, "path", None)
    if own is not None and path.exists() and path.samefile(own):
        raise DataError(f"{path}: is the store itself, and is left as it is; name another file")
    try:
        if path.exists() and not path.is_file():
            return _write(store, path)  # a pipe or a device, which must not be replaced by a file
        beside = path.resolve().with_name(f".{path.name}.{secrets.token_hex(4)}")
        try:
            written = _write(store, beside)
            beside.replace(path.resolve())
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from None
    return written


def _write(store: Store, path: Path) -> Exported:
    entries = damaged = 0
    with path.open("w", encoding="utf-8") as file:
        for shelf, entry in _entries(store):
            if entry is None:
                damaged += 1
            else:
                file.write(_line(shelf, entry) + "\n")
                entries += 1
    return Exported(entries, damaged)


def _entries(store: Store) -> Iterator[tuple[str, Entry | None]]:
    for shelf in sorted(store.info()):
        if shelf.startswith(SERVED):
            continue
        for pack in store.read(shelf)[0]:
            yield shelf, unpack(pack, shelf)


def _line(shelf: str, entry: Entry) -> str:
    return json.dumps(
        {
            "shelf": shelf,
            "labels": entry.labels.tolist(),
            "scores": _numbers(entry.scores),
            "messages": _numbers(entry.messages),
            "multipliers": _numbers(entry.multipliers),
            "margin": _number(entry.margin),
        },
        allow_nan=False,
    )


def _numbers(array: FloatArray) -> list[float | None]:
    return [_number(number) for number in array.tolist()]


def _number(number: float) -> float | None:
    return number if math.isfinite(number) else None
