"""Exact inference along a chain: Viterbi's algorithm of first, second and third order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from rote.errors import UnsupportedSpace
from rote.inference.engine import Engine
from rote.inference.exact.tables import Refusal, active_tables, runs_of
from rote.inference.problem import Context, Problem
from rote.inference.solutions import FoundBy, Solutions
from rote.kernels.bundles import ChainPlan
from rote.kernels.dp.chains import best_chains, chain_max_marginals
from rote.settings import optional, whole
from rote.space.network import ALL_ONE, NUMBERS
from rote.space.space import Space
from rote.types import AnyArray, FloatArray, offsets_from_counts, readonly

HIGHEST_ORDER = 3
MAX_NUMBERS = 1 << 24  # kept for one input, beyond as many as the space's tables have


@dataclass(frozen=True)
class Chain(Engine):
    """Exact for factors and rules over at most ``order + 1`` consecutive variables.

    Optimises max_y Σ_t scores_t(y_t) + Σ_t W_t(y_{t-order}, …, y_t), with W_t = -inf
    where a rule is broken. ``order=None`` takes whatever order the space has, up to 3.
    """

    order: int | None = None

    checks: ClassVar = {"order": optional(whole(1, HIGHEST_ORDER))}
    one_pass = True

    def refuses(self, space: Space) -> str | None:
        program = space.once(_program, self._most)
        if isinstance(program, ChainPlan):
            return None
        return (
            f"Chain takes factors and rules over at most {self._most + 1} consecutive variables, "
            f"but {program.described(space)}; use Exact"
        )

    def chain(self, space: Space) -> ChainPlan | None:
        program = space.once(_program, self._most)
        return program if isinstance(program, ChainPlan) else None

    def answer(self, problem: Problem, context: Context) -> Solutions:
        space = problem.space
        labels = best_chains(problem.questions, self.windows(space))
        return Solutions.of(problem, labels, FoundBy.CHAIN)

    def max_marginals(self, space: Space, problem: Problem | AnyArray) -> FloatArray:
        """Of shape (m, labels): the value of the best output with this label, -inf without one."""
        problem = Problem.of(space, problem)
        return chain_max_marginals(problem.questions, self.windows(space))

    @property
    def _most(self) -> int:
        return HIGHEST_ORDER if self.order is None else self.order

    def windows(self, space: Space) -> ChainPlan:
        """The space as kernels take it."""
        program = space.once(_program, self._most)
        if isinstance(program, Refusal):
            raise UnsupportedSpace(str(self.refuses(space)))
        return program


def _program(space: Space, order: int) -> ChainPlan | Refusal:
    network = space.network
    if len(network.rows):
        return Refusal(None, "joins too many labels for a table")
    tables = active_tables(network)
    for _, scope in tables:
        if max(scope) - min(scope) > order:
            return Refusal(scope, f"spans {max(scope) - min(scope) + 1}")
    n = network.variables
    low = list(range(n + 1))
    for _, scope in tables:
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
    layout = runs_of(network)
    tables.sort(key=lambda table: max(table[1]))
    span = max((max(scope) - min(scope) for _, scope in tables), default=0)
    steps = np.zeros((len(tables), span + 2), dtype=np.int64)
    direct = np.full(n, -1, dtype=np.int64)
    ends = np.zeros(n, dtype=np.int64)
    strides, scope_ptr = network.strides.tolist(), network.scope_ptr.tolist()
    table_ptr, contiguous = network.table_ptr.tolist(), layout.contiguous.tolist()
    for k, (b, scope) in enumerate(tables):
        last = max(scope)
        for j, stride in zip(scope, strides[scope_ptr[b] : scope_ptr[b + 1]], strict=True):
            steps[k, last - j] = stride
        ends[last] += 1
        first, end = table_ptr[b], table_ptr[b + 1]
        steps[k, -1] = as_it_is = scope == tuple(range(low[last], last + 1))
        allowed = network.is_plain or network.allowed[first:end].all()
        if as_it_is and contiguous[b] and allowed:
            direct[last] = first + layout.moves[b]
    direct[ends != 1] = -1
    tabled = np.diff(network.table_ptr).tolist()
    room = [max(counts, default=1) for counts in (states, windows, tabled, sizes)]
    before = readonly(np.array(low, dtype=np.int64))  # often as many tables have ended as well
    return ChainPlan(
        network.sizes,
        network.offsets,
        before,
        readonly(np.array(states, dtype=np.int64)),
        ALL_ONE.instead_of(np.array(kept, dtype=np.int64))[0],
        readonly(offsets_from_counts(ahead)),
        readonly(direct),
        before
        if (offsets_from_counts(ends) == before).all()
        else readonly(offsets_from_counts(ends)),
        NUMBERS.instead_of(np.array([b for b, _ in tables], dtype=np.int64))[0],
        readonly(steps),
        layout.starts,
        layout.moves,
        layout.contiguous,
        network.allowed,
        network.gather_ptr,
        network.gather,
        readonly(np.array(room, dtype=np.int64)),
    )
