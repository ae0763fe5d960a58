"""What a store remembers, as JSON lines for other programs: one solved problem per line.

A line has the name of its log and the entry's labels, scores, messages, multipliers and margin.
JSON has no infinite numbers: they become null. Other logs, such as a service's answers, are left
out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rote.errors import DataError
from rote.inference.stores.base import Store, unsealed
from rote.inference.wrappers.amortized.entries import Entry
from rote.inference.wrappers.amortized.solution_cache import SolutionCache
from rote.inference.wrappers.amortized.warm_starts import WarmStarts
from rote.io.atomic import write_whole


class Exported(NamedTuple):
    """How many entries were written, and how many blobs were damaged and left out."""

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
        prefixes = SolutionCache.prefix, WarmStarts.prefix
        for log in sorted(log for log in store.info() if log.startswith(prefixes)):
            for blob in store.read(log)[0]:
                entry = Entry.decoded(unsealed(blob, log))
                found[entry is not None] += 1
                if entry is not None:
                    numbers = {name: _listed(value) for name, value in entry._asdict().items()}
                    yield f"{json.dumps({'log': log, **numbers}, allow_nan=False)}\n".encode()

    try:
        write_whole(path, lines())
    except OSError as error:
        raise DataError(f"{path}: cannot be written: {error.strerror}") from None
    return Exported(found[True], found[False])


def _listed(value: Any) -> Any:
    numbers = np.asarray(value).astype(object)
    numbers[~np.isfinite(np.asarray(value))] = None
    return numbers.tolist()
