"""Plans of variable elimination, compiled once per space.

Eliminating variable v replaces the tables that mention it by one over their other
variables: out(s) = max_a Σ_tables table(s, a). What the rules allow is known when
the space is compiled, so hard tables cost nothing at run time: a step lists, for
each entry of its output, only the candidates that no rule forbids. An
entity-relation sentence becomes a few hundred additions.

Where tables would grow too large, only *cheap* variables are eliminated, those
whose output fits inside a table that is there anyway or couples at most two
variables (the relation between two entities), and the rest is left over as a
smaller network for branch and bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import NamedTuple

import numpy as np

from rote.inference.exact.tables import int_array, once_per_space, strides_of
from rote.kernels.bundles import EliminationPlan, Reduced
from rote.space.lowering import Rows
from rote.space.network import Network, Table, assemble, merged, spread
from rote.space.space import Space
from rote.types import IntArray, joined, offsets_from_counts, readonly

MAX_CANDIDATES = 1 << 16  # of a full elimination; about a tenth of a millisecond per input
MAX_CHEAP_ENTRIES = 1 << 10


@dataclass(frozen=True, eq=False)
class Core:
    """What a partial elimination leaves: a network, and which variables it is about."""

    network: Network
    variables: IntArray


@dataclass(frozen=True, eq=False)
class Plan:
    steps: EliminationPlan
    core: Core

    def reduced(self, space: Space) -> Reduced:
        """All of it, for kernels."""
        core = self.core
        return Reduced(self.steps, core.network.graph, core.variables, len(space.variables))


@once_per_space
def full_plan(space: Space, max_candidates: int = MAX_CANDIDATES) -> Plan | None:
    """A plan that eliminates every variable, or None where that takes too much."""
    if len(space.network.rows):
        return None
    compiler = _Compiler(space)
    while compiler.left:
        v = compiler.cheapest()
        if compiler.clique_size(v) > max_candidates - compiler.candidates:
            return None
        compiler.eliminate(v)
    return Plan(compiler.compiled(), compiler.core(space.network))


@once_per_space
def partial_plan(space: Space) -> Plan:
    """A plan that eliminates the cheap variables and leaves a core."""
    compiler = _Compiler(space)
    compiler.held = {int(compiler.owner[c]) for c in space.network.rows.indices}
    compiler.held.update(range(space.network.own, space.network.variables))
    while (v := compiler.cheap()) is not None:
        compiler.eliminate(v)
    return Plan(compiler.compiled(), compiler.core(space.network))


@once_per_space
def no_plan(space: Space) -> Plan:
    """A plan that eliminates nothing: its core is the whole network."""
    network = space.network
    return Plan(_Compiler(space).compiled(), Core(network, int_array(range(network.variables))))


class _Step(NamedTuple):
    """The elimination of one variable; see `EliminationPlan`."""

    variable: int
    scope: tuple[int, ...]  # of its output
    counts: IntArray  # candidates of each entry
    labels: IntArray  # of each candidate
    gather: IntArray  # where the scores of each candidate are


class _Compiler:
    """Live tables and the steps written so far."""

    def __init__(self, space: Space) -> None:
        network = space.network
        self.sizes = network.sizes
        self.owner = network.label_variable
        self.parts = space.parts
        self.left = set(range(network.variables))
        self.held: set[int] = set()
        self.tables: dict[int, Table] = {}
        self.at: dict[int, set[int]] = {j: set() for j in self.left}
        self.near: dict[int, set[int]] = {j: set() for j in self.left}
        self.roots: list[int] = []
        self.entries = self.candidates = 0
        self.steps: list[_Step] = []
        self.named = 0
        self.labels: list[int] = network.sizes.tolist()
        # What choosing a variable goes by; of all others than these it is as it was.
        self.keys: dict[int, tuple[float, ...]] = {}
        self.stale = set(self.left)
        for j in range(network.variables):
            start, stop = int(network.offsets[j]), int(network.offsets[j + 1])
            scored = int(network.gather_ptr[stop]) > int(network.gather_ptr[start])
            sources = (np.arange(start, stop, dtype=np.int64),) if scored else ()
            self.add(Table((j,), network.allowed[start:stop], sources))
        for table in network.tables():
            self.add(table)

    def add(self, table: Table) -> None:
        self.tables[self.named] = table
        for j in table.scope:
            self.at[j].add(self.named)
            self.near[j].update(k for k in table.scope if k != j)
        self.named += 1

    def clique_size(self, v: int) -> float:
        return prod([float(self.labels[j]) for j in self.near[v]], start=float(self.labels[v]))

    def cheapest(self) -> int:
        """The variable whose elimination couples the least: weighted min-fill."""
        for v in self.stale & self.left:
            self.keys[v] = self.fill(v), self.clique_size(v), v
        self.stale.clear()
        return min(self.left, key=self.keys.__getitem__)

    def fill(self, v: int) -> int:
        near = sorted(self.near[v])
        return sum(
            self.labels[a] * self.labels[b]
            for k, a in enumerate(near)
            for b in near[k + 1 :]
            if b not in self.near[a]
        )

    def cheap(self) -> int | None:
        """A variable whose elimination makes no table larger than what is there, if any."""
        around = self.stale.union(*(self.near[j] for j in self.stale))
        for v in around & self.left - self.held:
            self.keys.pop(v, None)
            if self.is_cheap(v):
                self.keys[v] = self.clique_size(v), v
        self.stale.clear()
        return min(self.keys, key=self.keys.__getitem__, default=None)

    def is_cheap(self, v: int) -> bool:
        near = self.near[v]
        size = self.clique_size(v)
        if size / self.labels[v] > MAX_CHEAP_ENTRIES:
            return False
        if len(near) <= 2:
            return True
        some = next(iter(near))
        return any(near <= set(self.tables[t].scope) for t in self.at[some] - self.at[v])

    def eliminate(self, v: int) -> None:
        inputs = [self.tables[t] for t in sorted(self.at[v])]
        scope = tuple(sorted(self.near[v]))
        shape = tuple(self.sizes[[*scope, v]].tolist())
        open_ = np.ones(shape, dtype=np.bool_)
        sources = []
        for table in inputs:
            open_ &= spread(table.allowed, table.scope, (*scope, v))
            for source in table.sources:
                sources.append(np.broadcast_to(spread(source, table.scope, (*scope, v)), shape))
        # What the other tables forbid of the output need not be computed.
        for t in {t for j in scope for t in self.at[j]} - self.at[v]:
            other = self.tables[t]
            shared = tuple(j for j in other.scope if j in scope)
            rest = tuple(k for k, j in enumerate(other.scope) if j not in scope)
            if len(shared) > 1 and not other.allowed.all():
                open_ &= spread(np.asarray(other.allowed.any(axis=rest)), shared, (*scope, v))
        flat = open_.reshape(-1, shape[-1])
        entry, label = np.nonzero(flat)
        # The space's own variables have scores; auxiliary ones are held by their rows.
        gather = np.stack([s.reshape(flat.shape)[entry, label] for s in sources], axis=1)
        counts = np.bincount(entry, minlength=len(flat))
        self.steps.append(_Step(v, scope, counts, label, gather))
        self.candidates += len(label)
        first = self.parts + self.entries
        self.entries += len(flat)
        for t in list(self.at[v]):
            for j in self.tables[t].scope:
                self.at[j].discard(t)
            del self.tables[t]
        for j in scope:
            self.near[j].discard(v)
        self.stale.update(scope)
        for a, b in combinations(scope, 2):
            if b not in self.near[a]:
                self.stale |= self.near[a] & self.near[b]  # the two will be coupled
        self.left.discard(v)
        self.keys.pop(v, None)
        places = first + np.arange(len(flat), dtype=np.int64).reshape(shape[:-1])
        if scope:
            self.add(Table(scope, flat.any(axis=1).reshape(shape[:-1]), (places,)))
        else:
            self.roots.append(first)

    def compiled(self) -> EliminationPlan:
        steps = self.steps
        scopes = [step.scope for step in steps]
        return EliminationPlan(
            self.parts,
            readonly(offsets_from_counts([len(step.counts) for step in steps])),
            readonly(offsets_from_counts(joined(step.counts for step in steps))),
            readonly(joined(step.labels for step in steps)),
            readonly(offsets_from_counts([step.gather.size for step in steps])),
            readonly(joined(step.gather.ravel() for step in steps)),
            int_array([step.gather.shape[1] for step in steps]),
            int_array([step.variable for step in steps]),
            readonly(offsets_from_counts([*map(len, scopes)])),
            int_array([j for scope in scopes for j in scope]),
            strides_of(scopes, self.sizes),
            int_array(self.roots),
        )

    def core(self, network: Network) -> Core:
        """The variables and tables that are left, numbered anew."""
        kept = sorted(self.left)
        place = {j: k for k, j in enumerate(kept)}
        unary = [
            [self.tables[t] for t in sorted(self.at[j]) if len(self.tables[t].scope) == 1]
            for j in kept
        ]
        domains = [np.logical_and.reduce([t.allowed for t in own]) for own in unary]
        sources = [[s for t in own for s in t.sources] for own in unary]
        larger = [t for t in self.tables.values() if len(t.scope) > 1]
        tables = merged(
            [Table(tuple(place[j] for j in t.scope), t.allowed, t.sources) for t in larger]
        )
        rows = network.rows
        starts = np.zeros(network.variables, dtype=np.int64)
        sizes = self.sizes[kept]
        starts[kept] = offsets_from_counts(sizes)[:-1]
        owner = self.owner[rows.indices]
        columns = starts[owner] + rows.indices - network.offsets[owner]
        moved = Rows(
            rows.indptr, readonly(columns), rows.data, rows.lower, rows.upper, int(sizes.sum()), 0
        )
        own = sum(j < network.own for j in kept)
        return Core(assemble(sizes, own, domains, sources, tables, moved), int_array(kept))
