"""An entry: one solved problem, and the bytes it is kept as.

A pack is a head (magic, format, four lengths, the margin), the numbers of the entry one after the
other, and a digest of all that and of the shelf's name. Bytes that are cut off, changed, of another
format or from another shelf are no entry: they are passed over, and the problem is solved again.
"""

from __future__ import annotations

import struct
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from rote.space.space import Space
from rote.types import FloatArray, IntArray

FORMAT = 1
MAGIC = b"rote"
HEAD = struct.Struct("<4sIIIIId")
DIGEST = 16


class Entry(NamedTuple):
    """The best output ``labels`` of a problem with these ``scores``.

    ``messages`` and ``multipliers`` are duals of what `partial_plan` leaves of the space. Every
    other output is worth less by ``margin`` at least; where this is not above 0, nothing is known.
    """

    labels: IntArray
    scores: FloatArray
    messages: FloatArray
    multipliers: FloatArray
    margin: float


def shelf_name(space: Space) -> str:
    """Under which a store keeps the entries of a space."""
    return f"{FORMAT}-{space.fingerprint}"


def pack(entry: Entry, shelf: str) -> bytes:
    """An entry as bytes, to lie on this shelf and no other."""
    arrays = (entry.labels, entry.scores, entry.messages, entry.multipliers)
    head = HEAD.pack(MAGIC, FORMAT, *map(len, arrays), entry.margin)
    body = b"".join(
        [
            head,
            np.ascontiguousarray(entry.labels, dtype="<i8").tobytes(),
            *(np.ascontiguousarray(array, dtype="<f8").tobytes() for array in arrays[1:]),
        ]
    )
    return body + _digest(body, shelf)


def unpack(packed: bytes, shelf: str) -> Entry | None:
    """The entry that bytes hold, or None if they are not whole, or not of this shelf."""
    body, digest = packed[:-DIGEST], packed[-DIGEST:]
    if len(body) < HEAD.size or _digest(body, shelf) != digest:
        return None
    magic, version, *lengths, margin = HEAD.unpack_from(body)
    if magic != MAGIC or version != FORMAT or len(body) != HEAD.size + 8 * sum(lengths):
        return None
    ends = np.cumsum(lengths).tolist()
    numbers = np.frombuffer(body, dtype="<f8", offset=HEAD.size)
    labels = np.frombuffer(body, dtype="<i8", offset=HEAD.size, count=lengths[0])
    scores, messages, multipliers = np.split(numbers[ends[0] :], np.subtract(ends[1:3], ends[0]))
    return Entry(labels.astype(np.int64), scores, messages, multipliers, margin)


def _digest(body: bytes, shelf: str) -> bytes:
    name = blake2b(shelf.encode("utf-8", "surrogatepass")).digest()
    return blake2b(body, digest_size=DIGEST, key=name).digest()
