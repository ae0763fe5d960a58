"""Exact inference along a chain: Viterbi's algorithm of first, second and third order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from rote.errors import SettingError, UnsupportedSpace
from rote.inference.answers import answered
from rote.inference.base import Objective, Solutions, Source, as_objective
from rote.inference.exact.tables import Obstacle, runs_of, tables_at_work
from rote.kernels.bundles import Windows
from rote.kernels.dp.chains import best_chains, chain_max_marginals
from rote.space.space import Space
from rote.types import AnyArray, FloatArray, frozen, running

HIGHEST_ORDER = 3
MOST_NUMBERS = 1 << 24  # kept for one input, beyond as many as the space's tables have


@dataclass(frozen=True)
class Chain:
    """Exact for factors and rules over at most ``order + 1`` consecutive variables.

    Optimises max_y Σ_t scores_t(y_t) + Σ_t W_t(y_{t-order}, …, y_t), with W_t = -inf
    where a rule is broken. ``order=None`` takes whatever order the space has, up to 3.
    """

    order: int | None = None

    def __post_init__(self) -> None:
        if self.order not in (None, 1, 2, 3):
            raise SettingError(f"the order of a chain is 1, 2, 3 or None, got {self.order!r}")

    def accepts(self, space: Space) -> bool:
        return isinstance(_program(space, self._most), Windows)

    def solve(self, space: Space, objective: Objective | AnyArray) -> Solutions:
        objective = as_objective(space, objective)
        labels = best_chains(objective.questions, self.windows(space))
        return answered(space, objective, labels, Source.CHAIN)

    def max_marginals(self, space: Space, objective: Objective | AnyArray) -> FloatArray:
        """Of shape (m, labels): the value of the best output with this label, -inf without one."""
        objective = as_objective(space, objective)
        return chain_max_marginals(objective.questions, self.windows(space))

    @property
    def _most(self) -> int:
        return HIGHEST_ORDER if self.order is None else self.order

    def windows(self, space: Space) -> Windows:
        """The space as kernels take it."""
        program = _program(space, self._most)
        if isinstance(program, Obstacle):
            raise UnsupportedSpace(
                f"Chain takes factors and rules over at most {self._most + 1} consecutive "
                f"variables, but {program.described(space)}; use Exact"
            )
        return program


@lru_cache(maxsize=256)
def _program(space: Space, order: int) -> Windows | Obstacle:
    network = space.network
    if len(network.rows):
        return Obstacle(None, "joins too many labels for a table")
    tables = tables_at_work(network)
    for _, scope in tables:
        if max(scope) - min(scope) > order:
            return Obstacle(scope, f"spans {max(scope) - min(scope) + 1}")
    n = network.variables
    low = np.arange(n + 1, dtype=np.int64)
    for _, scope in tables:
        span = slice(min(scope) + 1, max(scope) + 1)
        low[span] = np.minimum(low[span], min(scope))
    sizes = [int(size) for size in network.sizes]
    states = [math.prod(sizes[low[t] : t]) for t in range(n)]
    kept = [math.prod(sizes[low[t + 1] : t]) for t in range(n)]
    ahead = [many * size for many, size in zip(kept, sizes, strict=True)]
    windows = [many * size for many, size in zip(states, sizes, strict=True)]
    numbers = sum(ahead) + max(windows, default=0)
    if tables and numbers > MOST_NUMBERS + network.table_ptr[-1]:
        _, widest = max(tables, key=lambda table: windows[max(table[1])])
        return Obstacle(widest, f"leads to {numbers} numbers to keep, which is too many")
    layout = runs_of(network)
    tables.sort(key=lambda table: max(table[1]))
    steps = np.zeros((len(tables), HIGHEST_ORDER + 2), dtype=np.int64)
    direct = np.full(n, -1, dtype=np.int64)
    ends = np.zeros(n, dtype=np.int64)
    for k, (b, scope) in enumerate(tables):
        last = max(scope)
        strides = network.strides[network.scope_ptr[b] : network.scope_ptr[b + 1]]
        for j, stride in zip(scope, strides, strict=True):
            steps[k, last - j] = stride
        ends[last] += 1
        first, end = int(network.table_ptr[b]), int(network.table_ptr[b + 1])
        steps[k, -1] = scope == tuple(range(int(low[last]), last + 1))
        if steps[k, -1] and layout.contiguous[b] and network.allowed[first:end].all():
            direct[last] = first + layout.moves[b]
    direct[ends != 1] = -1
    tabled = np.diff(network.table_ptr).tolist()
    room = [max(counts, default=1) for counts in (states, windows, tabled, sizes)]
    return Windows(
        network.sizes,
        network.offsets,
        frozen(low),
        frozen(np.array(states, dtype=np.int64)),
        frozen(np.array(kept, dtype=np.int64)),
        frozen(running(ahead)),
        frozen(direct),
        frozen(running(ends)),
        frozen(np.array([b for b, _ in tables], dtype=np.int64)),
        frozen(steps),
        layout.starts,
        layout.moves,
        layout.contiguous,
        network.allowed,
        network.gather_ptr,
        network.gather,
        frozen(np.array(room, dtype=np.int64)),
    )
