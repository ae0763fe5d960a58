"""A space as a factor graph in arrays: variables, tables over a few of them, rows over many.

A factor is a table of scores. A rule whose variables have few joint labellings
becomes a *hard table*: a mask of what it allows, merged into a factor or another
rule's table where the variables fit inside. Any other rule stays as linear rows
(`rote.space.lowering`), whose auxiliary columns become two-valued variables after
the space's own, so that engines see labels, tables and rows and nothing else.
Labels that no table supports are taken out of the domains.

Scores reach a network by *gathering*: the score of a label or of a table entry is
the sum of some positions of a source vector, which is the part scores for the
network of a space, and the working memory of an elimination for what it left over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from weakref import ref

import numpy as np

from rote.kernels.bundles import FoundBy, Graph, Masks, RowGroups, SparseRows
from rote.kernels.presolve.linking import grouped_rows, linked
from rote.space.language import Rule
from rote.space.lowering import Rows, lower
from rote.types import AnyArray, BoolArray, IntArray, joined, offsets_from_counts, readonly

MAX_ENTRIES = 1 << 18  # of a hard table over two variables
MAX_ENTRIES_OF_MORE = 1 << 14  # over three or four
MAX_ENTRIES_OF_MANY = 1 << 8  # over five and more; beyond this, rows are cheaper


class Prefixes:
    """Prefixes of one long array, which all who ask share, and which goes with the last of them."""

    def __init__(self, make: Callable[[int], AnyArray]) -> None:
        self._make = make
        self._whole: Callable[[], AnyArray | None] = lambda: None

    def __call__(self, count: int) -> AnyArray:
        whole = self._whole()
        if whole is None or len(whole) < count:
            whole = self._make(1 << max(16, count.bit_length()))
            self._whole = ref(whole)
        return readonly(whole[:count])

    def instead_of(self, array: AnyArray) -> tuple[AnyArray, bool]:
        """The prefix that is equal to an array, or the array; and whether there is one."""
        prefix = self(len(array))
        return (prefix, True) if (array == prefix).all() else (readonly(array), False)


NUMBERS = Prefixes(lambda count: np.arange(count, dtype=np.int64))
ALL_ZERO = Prefixes(lambda count: np.zeros(count, dtype=np.int64))
ALL_ONE = Prefixes(lambda count: np.ones(count, dtype=np.int64))
ALL_TRUE = Prefixes(lambda count: np.ones(count, dtype=np.bool_))


@dataclass(frozen=True, eq=False)
class Table:
    """A mask over the joint labels of ``scope``, and where its scores come from."""

    scope: tuple[int, ...]
    allowed: BoolArray  # shape: the sizes of the scope
    sources: tuple[IntArray, ...] = ()  # each of the same shape, positions in the source vector


@dataclass(frozen=True, eq=False)
class Network:
    """Flat arrays for kernels; see the module's docstring.

    Entries are numbered: all labels first (``offsets``), then all tables
    (``table_ptr``, which starts at the number of labels).
    """

    sizes: IntArray
    offsets: IntArray
    own: int  # how many variables are the space's own; the rest are auxiliary
    scope_ptr: IntArray
    scope: IntArray
    strides: IntArray
    table_ptr: IntArray
    allowed: BoolArray  # per entry
    gather_ptr: IntArray  # per entry
    gather: IntArray
    rows: Rows  # over the labels of this network; no auxiliary columns
    is_plain: bool  # entries are the parts of the space, in their order, and all are allowed
    apart: tuple[Table, ...] = field(default=(), repr=False)  # the tables before they were merged

    @property
    def variables(self) -> int:
        return len(self.sizes)

    @property
    def labels(self) -> int:
        return int(self.offsets[-1])

    @property
    def blocks(self) -> int:
        return len(self.table_ptr) - 1

    @cached_property
    def label_variable(self) -> IntArray:
        """Which variable each label belongs to."""
        return readonly(np.repeat(np.arange(self.variables, dtype=np.int64), self.sizes))

    @cached_property
    def graph(self) -> Graph:
        """All of it, and how it hangs together, for kernels."""
        return linked(
            self.sizes,
            self.offsets,
            self.scope_ptr,
            self.scope,
            self.strides,
            self.table_ptr,
            FoundBy(self.allowed, self.gather_ptr, self.gather),
            sparse(self.rows),
        )

    @cached_property
    def masks(self) -> Masks:
        """What domains and tables allow, for kernels that ask for nothing else."""
        return Masks(self.offsets, self.graph.tables, self.allowed)

    @cached_property
    def per_factor_tables(self) -> Network:
        """The same with a table for each factor and each rule: smaller ones, and more of them."""
        if len(self.apart) <= self.blocks:
            return self
        sources: list[list[IntArray]] = [
            [np.arange(self.offsets[j], self.offsets[j + 1])] if j < self.own else []
            for j in range(self.variables)
        ]
        domains = np.split(self.allowed[: self.labels], self.offsets[1:-1])
        return assemble(self.sizes, self.own, domains, sources, self.apart, self.rows)

    @property
    def message_ptr(self) -> IntArray:
        """Where the messages of each place of each scope start: one number per label."""
        return self.graph.flow.message_ptr

    def tables(self) -> list[Table]:
        """The tables as shaped arrays."""
        found = []
        for b in range(self.blocks):
            scope = tuple(self.scope[self.scope_ptr[b] : self.scope_ptr[b + 1]].tolist())
            shape = tuple(self.sizes[list(scope)].tolist())
            span = slice(int(self.table_ptr[b]), int(self.table_ptr[b + 1]))
            counts = np.diff(self.gather_ptr[span.start : span.stop + 1])
            starts = self.gather_ptr[span]
            sources = tuple(
                self.gather[starts + k].reshape(shape) for k in range(int(counts.max(initial=0)))
            )
            found.append(Table(scope, self.allowed[span].reshape(shape), sources))
        return found


def build_network(
    sizes: IntArray, factors: Sequence[tuple[tuple[int, ...], int]], rules: Sequence[Rule]
) -> Network:
    """The network of a space; a factor is its variables and its first part."""
    sets = {frozenset(scope) for scope, _ in factors}
    if not rules and len(sets) == len(factors) and len(set(map(len, sets))) < 2:
        return _plain(sizes, [scope for scope, _ in factors])
    domains = [np.ones(int(size), dtype=np.bool_) for size in sizes]
    offsets = offsets_from_counts(sizes)
    shapes = [tuple(sizes[list(scope)].tolist()) for scope, _ in factors]
    count = int(offsets[-1]) + sum(map(prod, shapes))
    parts, open_ = NUMBERS(count), ALL_TRUE(count)
    tables = []
    for (scope, first), shape in zip(factors, shapes, strict=True):
        own = slice(first, first + prod(shape))
        tables.append(Table(scope, open_[own].reshape(shape), (parts[own].reshape(shape),)))
    masks: dict[tuple[int, ...], BoolArray] = {}
    evaluated: dict[object, BoolArray] = {}
    tabled, long_rules = split(sizes, rules)
    for rule in tabled:
        scope = tuple(v.index for v in rule.variables)
        shape = tuple(sizes[list(scope)].tolist())
        mask = _mask(rule, scope, shape, evaluated)
        if len(scope) == 1:
            domains[scope[0]] &= mask
        else:
            masks[scope] = masks.get(scope, True) & mask
    rows = lower(sizes.tolist(), long_rules)
    all_sizes = np.concatenate([sizes, np.full(rows.auxiliary, 2, dtype=np.int64)])
    domains += [np.ones(2, dtype=np.bool_) for _ in range(rows.auxiliary)]
    apart = (*tables, *(Table(scope, mask) for scope, mask in masks.items()))
    tables = merged(apart)
    _make_consistent(domains, tables)
    sources = [[offsets[j] + np.arange(sizes[j])] for j in range(len(sizes))]
    sources += [[] for _ in range(rows.auxiliary)]
    network = assemble(all_sizes, len(sizes), domains, sources, tables, two_valued(rows, all_sizes))
    return replace(network, apart=apart)


def _plain(sizes: IntArray, scopes: Sequence[tuple[int, ...]]) -> Network:
    """The network of a space without rules, none of whose factors is inside another one."""
    scope = np.array(scopes, dtype=np.int64).reshape(len(scopes), -1 if scopes else 0)
    shapes = sizes[scope]
    strides = np.ones_like(scope)
    for k in range(scope.shape[1] - 1, 0, -1):
        strides[:, k - 1] = strides[:, k] * shapes[:, k]
    table_ptr = int(sizes.sum()) + offsets_from_counts(shapes.prod(axis=1))
    entries = int(table_ptr[-1])
    return Network(
        readonly(sizes),
        readonly(offsets_from_counts(sizes)),
        len(sizes),
        readonly(offsets_from_counts(np.full(len(scopes), scope.shape[1]))),
        readonly(scope.ravel()),
        readonly(strides.ravel()),
        readonly(table_ptr),
        ALL_TRUE(entries),
        NUMBERS(entries + 1),
        NUMBERS(entries),
        two_valued(lower(sizes.tolist(), []), sizes),
        True,
    )


def assemble(
    sizes: IntArray,
    own: int,
    domains: Sequence[BoolArray],
    sources: Sequence[Sequence[IntArray]],
    tables: Sequence[Table],
    rows: Rows,
) -> Network:
    """Lay domains and tables out flat; ``sources`` are the gathers of each variable's labels."""
    offsets = offsets_from_counts(sizes)
    scope_ptr = offsets_from_counts([len(t.scope) for t in tables])
    scope = np.array([j for t in tables for j in t.scope], dtype=np.int64)
    strides = [np.cumprod((1, *t.allowed.shape[:0:-1]))[::-1] for t in tables if t.scope]
    table_ptr = int(offsets[-1]) + offsets_from_counts([t.allowed.size for t in tables])
    shaped = [(domain, tuple(source)) for domain, source in zip(domains, sources, strict=True)]
    shaped += [(table.allowed, table.sources) for table in tables]
    allowed = [mask.ravel() for mask, _ in shaped]
    gathers = [
        np.stack([s.ravel() for s in found], axis=1).ravel()
        if found
        else np.empty(0, dtype=np.int64)
        for _, found in shaped
    ]
    counts = [np.full(mask.size, len(found), dtype=np.int64) for mask, found in shaped]
    gather_ptr, once_each = NUMBERS.instead_of(offsets_from_counts(joined(counts)))
    gather, in_order = NUMBERS.instead_of(joined(gathers))
    entries, all_allowed = ALL_TRUE.instead_of(joined(allowed).astype(np.bool_))
    return Network(
        readonly(sizes.astype(np.int64)),
        readonly(offsets),
        own,
        readonly(scope_ptr),
        readonly(scope),
        readonly(joined(strides)),
        readonly(table_ptr),
        entries,
        gather_ptr,
        gather,
        rows,
        all_allowed and once_each and in_order,
    )


def split(sizes: IntArray, rules: Sequence[Rule]) -> tuple[list[Rule], list[Rule]]:
    """The rules that become hard tables, and those that stay rows."""
    found: tuple[list[Rule], list[Rule]] = [], []
    for rule in rules:
        shape = sizes[[v.index for v in rule.variables]]
        most = MAX_ENTRIES
        if len(shape) > 2:
            most = MAX_ENTRIES_OF_MORE if len(shape) <= 4 else MAX_ENTRIES_OF_MANY
        found[float(np.prod(shape.astype(np.float64))) > most].append(rule)
    return found


def _mask(
    rule: Rule, scope: tuple[int, ...], shape: tuple[int, ...], evaluated: dict[object, BoolArray]
) -> BoolArray:
    """What the rule allows; rules of the same form over other variables are worked out once."""
    local = {j: k for k, j in enumerate(scope)}
    key = (shape, rule.form(local))
    if key not in evaluated:
        evaluated[key] = holds_everywhere(rule, scope, shape)
    return evaluated[key]


def holds_everywhere(rule: Rule, scope: Sequence[int], shape: Sequence[int]) -> BoolArray:
    """Whether a rule holds for each of the joint labels of its variables, which are ``scope``."""
    grid = np.indices(shape).reshape(len(shape), -1)
    return rule.holds(dict(zip(scope, grid, strict=True))).reshape(shape)


def merged(tables: Sequence[Table]) -> list[Table]:
    """The same tables, each put inside the first other one that covers its variables."""
    at = defaultdict[int, list[int]](list)
    found: list[Table] = []
    for table in sorted(tables, key=lambda t: -len(t.scope)):
        scope = set(table.scope)
        near = at[table.scope[0]] if table.scope else []
        home = next((t for t in near if scope <= set(found[t].scope)), None)
        if home is None:
            for j in table.scope:
                at[j].append(len(found))
            found.append(table)
            continue
        over, shape = found[home].scope, found[home].allowed.shape
        allowed = found[home].allowed & spread(table.allowed, table.scope, over)
        moved = (np.broadcast_to(spread(s, table.scope, over), shape) for s in table.sources)
        found[home] = Table(over, allowed, (*found[home].sources, *moved))
    return found


def spread(array: AnyArray, scope: tuple[int, ...], over: tuple[int, ...]) -> AnyArray:
    """An array over ``scope``, its axes put where the larger ``over`` has them."""
    order = sorted(range(len(scope)), key=lambda k: over.index(scope[k]))
    shape = [array.shape[scope.index(j)] if j in scope else 1 for j in over]
    return array.transpose(order).reshape(shape)


def _make_consistent(domains: list[BoolArray], tables: Sequence[Table]) -> None:
    """Take labels out of the domains that some table cannot extend, until none is left."""
    at = defaultdict[int, dict[int, None]](dict)
    queue = {t: None for t, table in enumerate(tables) if not table.allowed.all()}
    for t in queue:
        for j in tables[t].scope:
            at[j][t] = None
    while queue:
        t = next(iter(queue))
        del queue[t]
        scope, open_entries = tables[t].scope, tables[t].allowed
        for j in scope:
            open_entries = open_entries & spread(domains[j], (j,), scope)
        for axis, j in enumerate(scope):
            others = tuple(k for k in range(len(scope)) if k != axis)
            kept = domains[j] & open_entries.any(axis=others)
            if (kept != domains[j]).any():
                domains[j] = kept
                queue |= {other: None for other in at[j] if other != t}


def group_rows(rows: Rows, sizes: IntArray) -> RowGroups:
    """Rows over the labels of variables of these sizes, for kernels."""
    return grouped_rows(sizes, readonly(offsets_from_counts(sizes)), sparse(rows))


def sparse(rows: Rows) -> SparseRows:
    """Rows as kernels take them."""
    return SparseRows(rows.indptr, rows.indices, rows.data, rows.lower, rows.upper, rows.labels, 0)


def two_valued(rows: Rows, sizes: IntArray) -> Rows:
    """The same rows with each auxiliary column as the second label of a variable."""
    behind = np.maximum(0, rows.indices - rows.labels + 1)
    indices = readonly(rows.indices + behind)
    return replace(rows, indices=indices, labels=int(sizes.sum()), auxiliary=0)
