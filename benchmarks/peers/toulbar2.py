"""toulbar2 on cost functions: unary costs, factors as cost tables, rules as hard tables.

Costs are what a score lacks of the best one of its table, so that none is negative; they are
kept to 11 decimal digits. Rules enter as the tables of their rows, which are over two variables
for entity-relation problems: r=Kill, Live_In or Work_For needs e=Peop.

Two rows. Fresh: a network per problem, with all of toulbar2's preprocessing; building it is
part of the time, since a network can be solved only once. Reused: the hard tables stay loaded,
and each problem's unary costs are added on top and taken back, as toulbar2's interface for
incremental solving allows; it does not preprocess then. Where there are factors every table
changes from problem to problem, and nothing is left to reuse.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from math import ceil
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.peers.base import Answer, Unfit
from rote import Space
from rote.types import AnyArray, BoolArray, FloatArray, IntArray

DIGITS = 11
LARGEST_TOTAL = 1e5  # with this many digits, toulbar2's whole numbers hold it
MAX_VARIABLES = 3  # of a table that can be passed as an array


@dataclass(frozen=True)
class Toulbar2:
    """A `Peer`."""

    reuse: bool
    package: str = "pytoulbar2"

    @property
    def name(self) -> str:
        return "toulbar2, reused" if self.reuse else "toulbar2, fresh"

    def open(self, space: Space) -> Toulbar2Session:
        if self.reuse and space.factors:
            raise Unfit("nothing to reuse: every table changes")
        return Toulbar2Session(space, reuse=self.reuse)

    def close(self) -> None:
        """Sessions hold everything."""


class Toulbar2Session:
    """A `Session`."""

    def __init__(self, space: Space, *, reuse: bool) -> None:
        self._variables = len(space.variables)
        self._blocks = [(size, len(list(run))) for size, run in groupby(space.sizes.tolist())]
        self._soft = _soft_tables(space)
        self._hard = _by_shape(
            [(scope, np.where(mask, 0.0, np.inf)) for scope, mask in _hard_tables(space).items()]
        )
        self._network: Any = None
        if reuse:
            self._network = self._built()
            self._network.NoPreprocessing()
            # Without costs, the first solution would close the problem: this cost, of a
            # variable of its own, keeps the upper bound open.
            at = self._network.AddVariable("open", range(2))
            self._network.AddFunction([at], [0.0, LARGEST_TOTAL])
            self._network.SolveFirst()

    def solve(self, scores: FloatArray, limit: float) -> Answer:
        start = perf_counter()
        costs = [(scopes, _lacking(scores[parts])) for scopes, parts in self._soft]
        total = float(sum(table.reshape(len(table), -1).max(axis=1).sum() for _, table in costs))
        if total >= LARGEST_TOTAL:
            raise Unfit(f"costs add up to {total:.0f}, too much for {DIGITS} digits")
        seconds = max(1, ceil(limit))
        if self._network is None:
            network = self._built()
            for scopes, table in costs:
                network.AddFunctions(scopes, table)
            found = network.Solve(timeLimit=seconds)
        else:
            network = self._network
            depth = network.Depth()
            network.Store()
            network.SetUB(total + 1.0)
            for scopes, table in costs:
                network.AddFunctions(scopes, table, incremental=True)
            found = network.SolveNext(timeLimit=seconds)
            network.Restore(depth)
        labels = None if found is None else np.array(found[0][: self._variables], dtype=np.int64)
        taken = perf_counter() - start
        return Answer(labels, taken, found is not None and taken < limit)

    def close(self) -> None:
        """The next network takes this one's place."""

    def _built(self) -> Any:
        import pytoulbar2

        network = pytoulbar2.CFN(resolution=DIGITS)
        for block, (size, count) in enumerate(self._blocks):
            network.AddVariables(count, f"x{block}_", 0, size - 1)
        for scopes, table in self._hard:
            network.AddFunctions(scopes, table)
        return network


def _soft_tables(space: Space) -> list[tuple[IntArray, IntArray]]:
    """Where the scores of labels and label tuples stand, tables of one shape together."""
    tables: list[tuple[tuple[int, ...], AnyArray]] = []
    for j, size in enumerate(space.sizes.tolist()):
        tables.append(((j,), space.offsets[j] + np.arange(size)))
    for f, factor in enumerate(space.factors):
        shape = space.sizes[list(factor.variables)]
        parts = space.factor_offsets[f] + np.arange(int(np.prod(shape)))
        tables.append((factor.variables, parts.reshape(shape)))
    # Tables over one variable are told apart by a list of variables instead of scopes.
    return [
        (scopes[:, 0] if scopes.shape[1] == 1 else scopes, parts)
        for scopes, parts in _by_shape(tables)
    ]


def _hard_tables(space: Space) -> dict[tuple[int, ...], BoolArray]:
    """What the rows of the rules allow, by the variables they are over."""
    rows, sizes = space.rows, space.sizes.tolist()
    if rows.auxiliary:
        raise Unfit("rules with auxiliary columns are no tables")
    owner = np.repeat(np.arange(len(sizes)), sizes)
    tables: dict[tuple[int, ...], BoolArray] = {}
    for r in range(len(rows)):
        span = slice(int(rows.indptr[r]), int(rows.indptr[r + 1]))
        columns = rows.indices[span]
        scope = tuple(np.unique(owner[columns]).tolist())
        if len(scope) > MAX_VARIABLES:
            raise Unfit(f"a rule is over {len(scope)} variables, too many for a table")
        total = np.zeros([sizes[j] for j in scope])
        for column, weight in zip(columns.tolist(), rows.data[span].tolist(), strict=True):
            axis = scope.index(owner[column])
            total[(slice(None),) * axis + (column - space.offsets[owner[column]],)] += weight
        allowed = (total >= rows.lower[r]) & (total <= rows.upper[r])
        tables[scope] = tables.get(scope, np.True_) & allowed
    return tables


def _by_shape(
    tables: Sequence[tuple[tuple[int, ...], AnyArray]],
) -> list[tuple[IntArray, AnyArray]]:
    shapes = dict.fromkeys(table.shape for _, table in tables)
    if any(len(shape) > MAX_VARIABLES for shape in shapes):
        raise Unfit("a factor is over too many variables")
    groups = [[pair for pair in tables if pair[1].shape == shape] for shape in shapes]
    return [
        (np.array([scope for scope, _ in group]), np.stack([table for _, table in group]))
        for group in groups
    ]


def _lacking(scores: FloatArray) -> FloatArray:
    """How much less than the best of its table each score is."""
    axes = tuple(range(1, scores.ndim))
    return np.asarray(scores.max(axis=axes, keepdims=True) - scores)
