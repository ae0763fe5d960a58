"""A store of one's own, made of promised names alone."""

from __future__ import annotations

import numpy as np

from rote import Amortized, Exact, SpaceBuilder, at_most
from rote.stores import ShelfSize, Store


class Lists(Store):
    """Keeps everything in lists."""

    def __init__(self) -> None:
        self.kept: dict[str, list[tuple[int, bytes]]] = {}
        self.last = 0

    def add(self, shelf, packs):
        for pack in packs:
            self.last += 1
            self.kept.setdefault(shelf, []).append((self.last, pack))

    def read(self, shelf, after=0):
        return [pack for mark, pack in self.kept.get(shelf, []) if mark > after], self.last

    def info(self):
        return {
            shelf: ShelfSize(len(kept), sum(len(pack) for _, pack in kept))
            for shelf, kept in self.kept.items()
        }

    def clear(self, shelf=None):
        for name in [shelf] if shelf is not None else list(self.kept):
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
    first = Amortized(Exact(), store, certificate="condition", thrifty=False)
    found = first.solve(space, scores)
    assert sum(size.packs for size in store.info().values()) > 0
    second = Amortized(Exact(), store, certificate="condition", thrifty=False)
    assert (second.solve(space, scores).labels == found.labels).all()
    assert second.counters.solver_calls == 0
    store.clear()
    assert store.info() == {}
