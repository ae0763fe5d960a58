"""What a store remembers, as JSON lines for other programs: one entry per line.

A line has the name of its shelf and the entry's labels, scores, messages, multipliers and
margin. JSON has no infinite numbers: they become null. Shelves of a service hold answers and no
entries, and are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

from rote.errors import DataError
from rote.inference.stores.base import SERVED, Store
from rote.inference.wrappers.amortized.blobs import Entry, unpack
from rote.io.atomic import write_whole


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
    found = {True: 0, False: 0}

    def lines() -> Iterator[bytes]:
        for shelf in sorted(shelf for shelf in store.info() if not shelf.startswith(SERVED)):
            for pack in store.read(shelf)[0]:
                entry = unpack(pack, shelf)
                found[entry is not None] += 1
                if entry is not None:
                    yield _line(shelf, entry)

    try:
        write_whole(path, lines())
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from None
    return Exported(found[True], found[False])


def _line(shelf: str, entry: Entry) -> bytes:
    record: dict[str, object] = {"shelf": shelf}
    for name, value in entry._asdict().items():
        numbers = np.asarray(value).astype(object)
        numbers[~np.isfinite(np.asarray(value))] = None
        record[name] = numbers.tolist()
    return f"{json.dumps(record, allow_nan=False)}\n".encode()
