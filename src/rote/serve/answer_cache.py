"""Best outputs by the input itself, so that asking again costs neither features nor a search.

Under one model an input has one best output, so what was proved optimal can be said again without
a proof. Answers are kept as bytes up to a limit, beyond which those not asked for longest go. With
a store they outlive the process and are shared, on a shelf whose name has a digest of the model:

    key (a digest of the input's JSON), JSON [output, value, bound], digest of both and of the shelf

Bytes that are damaged, or of another shelf, are passed over.
"""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from rote.inference.stores import SERVED, Store

FORMAT = 1
LIMIT = 1 << 26  # bytes in memory
KEY, DIGEST = 20, 16


class AnswerCache:
    """Answers of one model.

    >>> remembered = AnswerCache("a model")
    >>> remembered.put({key_of("the dog"): (["D", "N"], 2.5, 2.5)})
    >>> remembered.get(key_of("the dog"))
    (['D', 'N'], 2.5, 2.5)
    """

    def __init__(self, model: str, store: Store | None = None, limit: int = LIMIT) -> None:
        self.shelf = f"{SERVED}{FORMAT}-{model}"
        self.store = store
        self.limit = limit
        self._bodies: OrderedDict[bytes, bytes] = OrderedDict()
        self._size = 0
        self._mark = 0

    def __len__(self) -> int:
        return len(self._bodies)

    def get(self, key: bytes) -> tuple[Any, float, float] | None:
        """Output, value and bound of the input with this key."""
        body = self._bodies.get(key)
        if body is None:
            return None
        self._bodies.move_to_end(key)
        output, value, bound = json.loads(body)
        return output, value, bound

    def put(self, answers: Mapping[bytes, tuple[Any, float, float]]) -> None:
        """Remember answers, here and in the store."""
        bodies = {
            key: json.dumps(answer, separators=(",", ":")).encode("ascii")
            for key, answer in answers.items()
        }
        for key, body in bodies.items():
            self._keep(key, body)
        if self.store is not None and bodies:
            packs = [key + body for key, body in bodies.items()]
            self.store.add(self.shelf, [pack + self._digest(pack) for pack in packs])

    def fetch(self) -> None:
        """Take from the store what came since the last time."""
        if self.store is None:
            return
        packs, self._mark = self.store.read(self.shelf, self._mark)
        for pack in packs:
            whole, digest = pack[:-DIGEST], pack[-DIGEST:]
            if self._digest(whole) == digest:
                self._keep(whole[:KEY], whole[KEY:])

    def _keep(self, key: bytes, body: bytes) -> None:
        old = self._bodies.pop(key, None)
        self._bodies[key] = body
        self._size += _size(body) - (0 if old is None else _size(old))
        while self._size > self.limit:
            _, gone = self._bodies.popitem(last=False)
            self._size -= _size(gone)

    def _digest(self, content: bytes) -> bytes:
        name = blake2b(self.shelf.encode("utf-8")).digest()
        return blake2b(content, digest_size=DIGEST, key=name).digest()


def key_of(value: Any) -> bytes:
    """A digest of JSON; the order of keys in objects makes no difference."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode("utf-8"), digest_size=KEY).digest()


def _size(body: bytes) -> int:
    return KEY + len(body)
