"""Best outputs by the input itself, so that asking again costs neither features nor a search.

Under one model an input has one best output, so what was proved optimal can be said again without
a proof. Answers are kept as bytes up to a limit, beyond which those not asked for longest go. With
a store they outlive the process and are shared, in a log whose name has a digest of the model; the
contents of a blob are a key (a digest of the input's JSON) and JSON [output, value, bound]. A store
that fails is logged, and costs no answer.
"""

from __future__ import annotations

import json
import logging
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from typing import Any

from rote.errors import StoreError
from rote.inference.stores.base import Log, Store

LOG = logging.getLogger(__name__)
LOG_PREFIX = "answers-2-"  # with the number of the format
MAX_BYTES = 1 << 26  # in memory
KEY = 20


class AnswerCache:
    """Answers of one model.

    >>> cache = AnswerCache("a model")
    >>> cache.put({key_of("the dog"): (["D", "N"], 2.5, 2.5)})
    >>> cache.get(key_of("the dog"))
    (['D', 'N'], 2.5, 2.5)
    """

    def __init__(self, model: str, store: Store | None = None, max_bytes: int = MAX_BYTES) -> None:
        self.log = None if store is None else Log(store, LOG_PREFIX + model)
        self.max_bytes = max_bytes
        self._kept: OrderedDict[bytes, bytes] = OrderedDict()
        self._size = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: bytes) -> tuple[Any, float, float] | None:
        """Output, value and bound of the input with this key."""
        contents = self._kept.get(key)
        if contents is None:
            return None
        self._kept.move_to_end(key)
        output, value, bound = json.loads(contents[KEY:])
        return output, value, bound

    def put(self, answers: Mapping[bytes, tuple[Any, float, float]]) -> None:
        """Remember answers, here and in the store."""
        new = [
            key + json.dumps(answer, separators=(",", ":")).encode("ascii")
            for key, answer in answers.items()
        ]
        for contents in new:
            self._keep(contents)
        if self.log is not None:
            with _survived("answers cannot be kept beyond this process"):
                self.log.append(new)

    def fetch(self) -> None:
        """Take from the store what others have put there since the last time."""
        if self.log is not None:
            with _survived("what others have remembered cannot be read"):
                for contents in self.log.news():
                    self._keep(contents)

    def _keep(self, contents: bytes) -> None:
        key = contents[:KEY]
        self._size += len(contents) - len(self._kept.pop(key, b""))
        self._kept[key] = contents
        while self._size > self.max_bytes:
            self._size -= len(self._kept.popitem(last=False)[1])


@contextmanager
def _survived(said: str) -> Iterator[None]:
    """Log that a store has failed, and go on without it."""
    try:
        yield
    except StoreError:
        LOG.warning(said, exc_info=True)


def key_of(value: Any) -> bytes:
    """A digest of JSON; the order of keys in objects makes no difference."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return blake2b(text.encode("utf-8"), digest_size=KEY).digest()
