"""The candidates of a structural SVM: arrays that grow, shrink, and can be saved."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rote.errors import DataError
from rote.kernels.learning.working_set import ATOM_FIELDS, WORK_FIELDS, Candidates, compact
from rote.learning.base import half_norm
from rote.types import AnyArray, FloatArray, IntArray

# The fields of `Candidates` by what they have one entry for.
PER_CANDIDATE = ("example", "dual", "loss", "rank", "previous")
PER_ATOM = ("atom", "work")
POINTERS = ("atom_ptr", "product_ptr")
PER_EXAMPLE = ("last", "last_atom", "size", "total")
EVERY = (*PER_CANDIDATE, *PER_ATOM, *POINTERS, *PER_EXAMPLE, "atoms", "products")
REALS = ("dual", "loss", "products", "work", "total")
FIELDS = {"atom": (ATOM_FIELDS,), "work": (WORK_FIELDS,)}  # of those with several per entry


class WorkingSet:
    """``arrays`` may be longer than the ``count`` candidates and ``atoms`` in them."""

    def __init__(self, examples: int, weights: int) -> None:
        self.count = 0
        self.atoms = 0
        self.scratch = np.zeros(weights)
        self._idle = np.zeros(0, dtype=np.int64)  # iterations for which a dual has been 0
        lengths = dict.fromkeys(PER_EXAMPLE, examples) | dict.fromkeys(POINTERS, 1)
        arrays: dict[str, AnyArray] = {
            name: np.zeros(
                (lengths.get(name, 0), *FIELDS.get(name, ())),
                np.float64 if name in REALS else np.int64,
            )
            for name in EVERY
        }
        arrays["last"][:] = arrays["last_atom"][:] = -1
        self.hold(arrays)

    def hold(self, arrays: dict[str, AnyArray]) -> None:
        """Take these arrays, which kernels see as ``candidates``."""
        self.arrays, self.candidates = arrays, Candidates(**arrays)

    def make_room(self, members: IntArray, differences: int) -> None:
        """Room for one more candidate of each of these examples, with so many atoms in all."""
        arrays = self.arrays
        products = int((arrays["size"][members] + 1).sum())
        needed = self._lengths(len(members), differences, products)
        short = {n: length for n, length in needed.items() if length > len(arrays[n])}
        if short:
            grown = {n: _longer(arrays[n], 2 * length) for n, length in short.items()}
            self.hold({**arrays, **grown})
            self._idle = _longer(self._idle, len(self.arrays["example"]))

    def dual(self, weights: FloatArray, costs: FloatArray, *, squared: bool) -> float:
        """-D(α), given the weights w = Σ α φ."""
        own = self.arrays["dual"][: self.count]
        value = float((own * self.arrays["loss"][: self.count]).sum()) - half_norm(weights)
        if squared:
            used = costs > 0
            value -= float((self.arrays["total"][used] ** 2 / (4.0 * costs[used])).sum())
        return value

    def prune(self, patience: int) -> None:
        """Drop candidates whose dual has been 0 for that many iterations."""
        idle = self._idle[: self.count]
        idle[:] = np.where(self.arrays["dual"][: self.count] == 0.0, idle + 1, 0)
        kept = idle < patience
        if not kept.all():
            left = idle[kept]
            self.count, self.atoms = compact(self.candidates, self.count, self.atoms, kept)
            self._idle[: self.count] = left
            self._idle[self.count :] = 0

    def saved(self) -> dict[str, AnyArray]:
        """Copies of all that is needed to go on."""
        lengths = {**self._lengths(), **dict.fromkeys(PER_EXAMPLE, len(self.arrays["total"]))}
        saved = {n: self.arrays[n][:k].copy() for n, k in lengths.items()}
        return {**saved, "idle": self._idle[: self.count].copy()}

    @staticmethod
    def restored(saved: Mapping[str, AnyArray], examples: int, weights: int) -> WorkingSet:
        """A working set as it was saved."""
        missing = [n for n in (*EVERY, "idle") if n not in saved]
        if missing or len(saved["total"]) != examples:
            raise DataError(
                "the state to resume from is not that of a structural SVM on these examples; "
                "begin anew, or give the examples it was made with"
            )
        working = WorkingSet(examples, weights)
        working.hold({name: saved[name].copy() for name in EVERY})
        working._idle = saved["idle"].copy()
        working.count, working.atoms = len(saved["example"]), len(saved["atom"])
        return working

    def _lengths(self, candidates: int = 0, atoms: int = 0, products: int = 0) -> dict[str, int]:
        """How long arrays are in use, but for those per example, with so many more of each."""
        return {
            **dict.fromkeys(PER_CANDIDATE, self.count + candidates),
            **dict.fromkeys(POINTERS, self.count + candidates + 1),
            **dict.fromkeys(PER_ATOM, self.atoms + atoms),
            "atoms": int(self.arrays["atom_ptr"][self.count]) + atoms,
            "products": int(self.arrays["product_ptr"][self.count]) + products,
        }


def _longer(array: AnyArray, size: int) -> AnyArray:
    grown = np.zeros((size, *array.shape[1:]), dtype=array.dtype)
    grown[: len(array)] = array
    return grown
