"""A store of one's own, made of promised names alone."""

import numpy as np

from rote import Amortized, Exact, SpaceBuilder, at_most
from rote.stores import LogSize, Store


class Lists(Store):
    """Keeps everything in lists."""

    def __init__(self) -> None:
        self.kept: dict[str, list[tuple[int, bytes]]] = {}
        self.last = 0

    def append(self, log, blobs):
        for blob in blobs:
            self.last += 1
            self.kept.setdefault(log, []).append((self.last, blob))

    def read(self, log, after=0):
        return [blob for sequence, blob in self.kept.get(log, []) if sequence > after], self.last

    def info(self):
        return {
            log: LogSize(len(kept), sum(len(blob) for _, blob in kept))
            for log, kept in self.kept.items()
        }

    def clear(self, log=None):
        for name in [log] if log is not None else list(self.kept):
            self.kept.pop(name, None)

    def close(self):
        pass


def test_what_one_engine_solved_another_one_need_not_solve():
    builder = SpaceBuilder()
    variables = [builder.variable(f"x{i}", "abc") for i in range(5)]
    builder.require(at_most(2, [variable["a"] for variable in variables]))
    space = builder.build()
    scores = np.random.default_rng(1).normal(size=(12, space.parts))
    store = Lists()
    first = Amortized(Exact(), store, certificate="condition", admission="always")
    found = first.solve(space, scores)
    assert sum(size.blobs for size in store.info().values()) > 0
    second = Amortized(Exact(), store, certificate="condition", admission="always")
    assert (second.solve(space, scores).labels == found.labels).all()
    assert second.counters.solver_calls == 0
    store.clear()
    assert store.info() == {}
