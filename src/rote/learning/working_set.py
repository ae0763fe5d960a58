"""The candidates of a structural SVM: arrays that grow, shrink, and can be saved."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rote.kernels.candidates import Candidates
from rote.types import AnyArray, FloatArray

PER_CANDIDATE = ("example", "digest", "dual", "loss", "norm")
PER_DIFFERENCE = ("vector", "right", "wrong", "stride")


class WorkingSet:
    """``arrays`` may be longer than the ``count`` candidates in them."""

    def __init__(self, examples: int, weights: int) -> None:
        self.count = 0
        self.scratch = np.zeros(weights)
        self._idle = np.zeros(64, dtype=np.int64)  # iterations for which a dual has been 0
        self.arrays = Candidates(
            example=np.zeros(64, dtype=np.int64),
            digest=np.zeros(64, dtype=np.int64),
            dual=np.zeros(64),
            loss=np.zeros(64),
            norm=np.zeros(64),
            previous=np.full(64, -1, dtype=np.int64),
            ptr=np.zeros(65, dtype=np.int64),
            vector=np.zeros(1024, dtype=np.int64),
            right=np.zeros(1024, dtype=np.int64),
            wrong=np.zeros(1024, dtype=np.int64),
            stride=np.zeros(1024, dtype=np.int64),
            last=np.full(examples, -1, dtype=np.int64),
            total=np.zeros(examples),
        )

    def make_room(self, candidates: int, differences: int) -> None:
        """Room for so many more candidates with so many differences in all."""
        arrays = self.arrays
        needed = self.count + candidates
        if needed > len(arrays.example):
            size = max(needed, 2 * len(arrays.example))
            grown = {name: _longer(getattr(arrays, name), size) for name in PER_CANDIDATE}
            grown["previous"] = _longer(arrays.previous, size)
            grown["ptr"] = _longer(arrays.ptr, size + 1)
            arrays = arrays._replace(**grown)
            self._idle = _longer(self._idle, size)
        needed = int(arrays.ptr[self.count]) + differences
        if needed > len(arrays.vector):
            size = max(needed, 2 * len(arrays.vector))
            grown = {name: _longer(getattr(arrays, name), size) for name in PER_DIFFERENCE}
            arrays = arrays._replace(**grown)
        self.arrays = arrays

    def dual(self, weights: FloatArray, costs: FloatArray, *, squared: bool) -> float:
        """-D(α), given the weights w = Σ α φ."""
        own = self.arrays.dual[: self.count]
        value = float(own @ self.arrays.loss[: self.count]) - 0.5 * float(weights @ weights)
        if squared:
            used = costs > 0
            value -= float((self.arrays.total[used] ** 2 / (4.0 * costs[used])).sum())
        return value

    def let_go(self, patience: int) -> None:
        """Drop candidates whose dual has been 0 for that many iterations."""
        idle = self._idle[: self.count]
        idle[:] = np.where(self.arrays.dual[: self.count] == 0.0, idle + 1, 0)
        gone = idle >= patience
        if gone.any():
            self._keep(np.flatnonzero(~gone))

    def saved(self) -> dict[str, AnyArray]:
        """Copies of all that is needed to go on."""
        arrays = self.arrays
        saved = {name: getattr(arrays, name)[: self.count].copy() for name in PER_CANDIDATE}
        saved["ptr"] = arrays.ptr[: self.count + 1].copy()
        end = int(arrays.ptr[self.count])
        saved |= {name: getattr(arrays, name)[:end].copy() for name in PER_DIFFERENCE}
        saved["idle"] = self._idle[: self.count].copy()
        saved["total"] = arrays.total.copy()
        return saved

    @staticmethod
    def restored(saved: Mapping[str, AnyArray], weights: int) -> WorkingSet:
        """A working set as it was saved."""
        working = WorkingSet(len(saved["total"]), weights)
        count = len(saved["example"])
        working.make_room(count, len(saved["vector"]))
        for name in (*PER_CANDIDATE, *PER_DIFFERENCE):
            getattr(working.arrays, name)[: len(saved[name])] = saved[name]
        working.arrays.ptr[: count + 1] = saved["ptr"]
        working.arrays.total[:] = saved["total"]
        working._idle[:count] = saved["idle"]
        working.count = count
        working._link()
        return working

    def _keep(self, kept: AnyArray) -> None:
        arrays = self.arrays
        lengths = np.diff(arrays.ptr[: self.count + 1])[kept]
        starts = arrays.ptr[kept]
        ends = np.cumsum(lengths)
        chosen = np.repeat(starts - (ends - lengths), lengths) + np.arange(int(lengths.sum()))
        for name in PER_DIFFERENCE:
            array = getattr(arrays, name)
            array[: len(chosen)] = array[chosen]
        for name in PER_CANDIDATE:
            array = getattr(arrays, name)
            array[: len(kept)] = array[kept]
        self._idle[: len(kept)] = self._idle[kept]
        arrays.ptr[1 : len(kept) + 1] = ends
        self.count = len(kept)
        self._link()

    def _link(self) -> None:
        """Chain the candidates of each example, the latest first."""
        example = self.arrays.example[: self.count]
        self.arrays.last[:] = -1
        order = np.argsort(example, kind="stable")
        grouped = example[order]
        same = np.flatnonzero(grouped[1:] == grouped[:-1])
        self.arrays.previous[: self.count] = -1
        self.arrays.previous[order[same + 1]] = order[same]
        self.arrays.last[example] = np.arange(self.count)


def _longer(array: AnyArray, size: int) -> AnyArray:
    grown = np.zeros(size, dtype=array.dtype)
    grown[: len(array)] = array
    return grown
