"""Exact inference along a chain: Viterbi's algorithm of first, second and third order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rote.inference.exact.tables import (
    LONG_RULE,
    Planned,
    Refusal,
    active_tables,
    int_array,
    runs_of,
)
from rote.inference.problem import Problem
from rote.inference.solutions import FoundBy
from rote.kernels.bundles import ChainPlan
from rote.kernels.dp.chains import best_chains, chain_max_marginals
from rote.settings import optional, whole
from rote.space.network import ALL_ONE, NUMBERS
from rote.space.space import Space
from rote.types import AnyArray, FloatArray, IntArray, offsets_from_counts, readonly

HIGHEST_ORDER = 3
MAX_NUMBERS = 1 << 24  # kept for one input, beyond as many as the space's tables have


@dataclass(frozen=True)
class Chain(Planned):
    """Exact for factors and rules over at most ``order + 1`` consecutive variables.

    Optimises max_y Σ_t scores_t(y_t) + Σ_t W_t(y_{t-order}, …, y_t), with W_t = -inf
    where a rule is broken.

    Parameters
    ----------
    order
        How far back factors and rules reach, from 1 to 3; None takes what the space has. Time and
        memory grow with the number of labels to the power of ``order + 1``.
    """

    order: int | None = None

    checks: ClassVar = {"order": optional(whole(1, HIGHEST_ORDER))}
    one_pass = True
    source = FoundBy.CHAIN

    @property
    def takes(self) -> str:  # type: ignore[override]
        return f"takes factors and rules over at most {self._most + 1} consecutive variables"

    def plan(self, space: Space) -> ChainPlan | Refusal:
        return space.once(_plan, self._most)

    def chain(self, space: Space) -> ChainPlan | None:
        plan = self.plan(space)
        return plan if isinstance(plan, ChainPlan) else None

    def best(self, problem: Problem, plan: ChainPlan) -> IntArray:
        return best_chains(problem.questions, plan)

    def max_marginals(self, space: Space, problem: Problem | AnyArray) -> FloatArray:
        """Of shape (m, labels): the value of the best output with this label, -inf without one."""
        problem = Problem.of(space, problem)
        values = chain_max_marginals(problem.questions, self.required(space))
        return problem.above_floor(values)

    @property
    def _most(self) -> int:
        return HIGHEST_ORDER if self.order is None else self.order


def _plan(space: Space, order: int) -> ChainPlan | Refusal:
    network = space.network
    if len(network.rows):
        return LONG_RULE
    tables = active_tables(network)
    n = network.variables
    low = list(range(n + 1))
    for _, scope in tables:
        if max(scope) - min(scope) > order:
            return Refusal(scope, f"spans {max(scope) - min(scope) + 1}")
        for j in range(min(scope) + 1, max(scope) + 1):
            low[j] = min(low[j], *scope)
    sizes: list[int] = network.sizes.tolist()
    states = [math.prod(sizes[low[t] : t]) for t in range(n)]
    kept = [math.prod(sizes[low[t + 1] : t]) for t in range(n)]
    ahead = [many * size for many, size in zip(kept, sizes, strict=True)]
    windows = [many * size for many, size in zip(states, sizes, strict=True)]
    numbers = sum(ahead) + max(windows, default=0)
    if tables and numbers > MAX_NUMBERS + network.table_ptr[-1]:
        _, widest = max(tables, key=lambda table: windows[max(table[1])])
        return Refusal(widest, f"leads to {numbers} numbers to keep, which is too many")
    runs = runs_of(network)
    tables.sort(key=lambda table: max(table[1]))
    span = max((max(scope) - min(scope) for _, scope in tables), default=0)
    steps = np.zeros((len(tables), span + 2), dtype=np.int64)
    direct = np.full(n, -1, dtype=np.int64)
    ends = np.zeros(n, dtype=np.int64)
    strides, scope_ptr = network.strides.tolist(), network.scope_ptr.tolist()
    table_ptr, contiguous = network.table_ptr.tolist(), runs.contiguous.tolist()
    for k, (b, scope) in enumerate(tables):
        last = max(scope)
        for j, stride in zip(scope, strides[scope_ptr[b] : scope_ptr[b + 1]], strict=True):
            steps[k, last - j] = stride
        ends[last] += 1
        first, end = table_ptr[b], table_ptr[b + 1]
        steps[k, -1] = as_it_is = scope == tuple(range(low[last], last + 1))
        allowed = network.is_plain or network.allowed[first:end].all()
        if as_it_is and contiguous[b] and allowed:
            direct[last] = first + runs.moves[b]
    direct[ends != 1] = -1
    tabled = np.diff(network.table_ptr).tolist()
    room = [max(counts, default=1) for counts in (states, windows, tabled, sizes)]
    before, ended = int_array(low), readonly(offsets_from_counts(ends))
    return ChainPlan(
        network.sizes,
        network.offsets,
        before,
        int_array(states),
        ALL_ONE.instead_of(np.array(kept, dtype=np.int64))[0],
        readonly(offsets_from_counts(ahead)),
        readonly(direct),
        before if (ended == before).all() else ended,  # one array where they are equal
        NUMBERS.instead_of(np.array([b for b, _ in tables], dtype=np.int64))[0],
        readonly(steps),
        runs,
        int_array(room),
    )
