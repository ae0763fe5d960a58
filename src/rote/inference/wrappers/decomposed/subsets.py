"""DecL-k: all sets of k variables, or a few of them drawn afresh for every question."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rote.errors import check_whole
from rote.inference.problem import Problem
from rote.inference.wrappers.decomposed.sets import EVERY, NeighbourhoodSets, no_input
from rote.kernels.bundles import VariableSets
from rote.kernels.local_search.hash_random import draw_subsets
from rote.types import IntArray, readonly


@dataclass(frozen=True)
class HammingBall:
    """All outputs that differ from the gold one in at most ``k`` variables.

    With a ``sample``, so many sets of k variables are drawn, uniformly, for every input. The draw
    is a function of ``seed``, the scores and the gold output: other weights draw other sets, and
    the same question has the same answer.
    """

    k: int
    sample: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        check_whole("k", self.k, least=1)
        if self.sample is not None:
            check_whole("sample", self.sample, least=1)
        check_whole("seed", self.seed, least=0, most=(1 << 63) - 1)

    def split(self, problem: Problem, gold: IntArray) -> NeighbourhoodSets:
        (m, n), whole = gold.shape, no_input(gold)
        k = min(self.k, n)
        if self.sample is None or k == n:
            everything = readonly(np.arange(n, dtype=np.int64))
            begin, end = np.zeros(m, dtype=np.int64), np.ones(m, dtype=np.int64)
            ptr = readonly(np.array([0, n], dtype=np.int64))
            return NeighbourhoodSets(
                (VariableSets(readonly(begin), readonly(end), ptr, everything, k),), whole
            )
        members = draw_subsets(problem.scores, gold, k, self.sample, self.seed)
        begin = np.arange(m, dtype=np.int64) * self.sample
        ptr = readonly(np.arange(m * self.sample + 1, dtype=np.int64) * k)
        around = VariableSets(
            readonly(begin), readonly(begin + self.sample), ptr, readonly(members), EVERY
        )
        return NeighbourhoodSets((around,), whole)
