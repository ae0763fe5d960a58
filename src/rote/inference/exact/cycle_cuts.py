"""Cuts for `acyclic`: rows against the cycles that an answer closes, found when it is there.

Engines that know no rows for paths solve a space without its rules against cycles. What comes out
may close one; then the row Σ arcs of the cycle <= their number - 1 is added to what the engine has,
which is asked again. A relaxation is cut as well: a cycle is violated where Σ (1 - z) over its arcs
is below 1, which a shortest path finds.

Where nodes have one arc at most that ends there, as a functional relation says, or one at most that
starts there, a stronger row holds: of all arcs between the nodes of a set S, at most |S| - 1 are
taken. Sets are those of violated cycles and what is joined in both directions by large shares.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from heapq import heappop, heappush
from itertools import pairwise

import numpy as np

from rote.inference.exact.tables import once_per_space
from rote.space.language import Acyclic, Rule
from rote.space.lowering import Rows, stacked
from rote.space.network import split
from rote.space.space import Space
from rote.types import FloatArray, IntArray, offsets_from_counts, readonly

VIOLATED = 1e-4  # by how much at least
LEAST_SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)  # of arcs that join nodes
PER_ARC = 1e-9  # of two cycles that are violated as much, the shorter one


@once_per_space
def cut_rules(space: Space) -> tuple[Acyclic, ...]:
    """The rules against cycles that are too long for a table."""
    rules = [named.rule for named in space.rules if isinstance(named.rule, Acyclic)]
    return tuple(rule for rule in split(space.sizes, rules)[1] if isinstance(rule, Acyclic))


@once_per_space
def without_cuts(space: Space) -> Space:
    """The space without these rules."""
    return without(space, cut_rules(space))


def without(space: Space, rules: Collection[Rule]) -> Space:
    """The space without some of its rules."""
    if not rules:
        return space
    gone = set(map(id, rules))
    rest = tuple(named for named in space.each_rule if id(named.rule) not in gone)
    return Space(space.variables, space.factors, rest)


def violated_rows(space: Space, shares: FloatArray) -> Rows | None:
    """Rows that a relaxation or an output violates, given the share of each label; else None."""
    found = None
    for rule, single in zip(cut_rules(space), _single(space), strict=True):
        column = _columns(rule, space)
        own = shares[column]
        cycles = violated_cycles(rule, own)
        sets = [set(rule.ends[0, cycle].tolist()) for cycle in cycles]
        sets += [one for one in _components(rule, own) if one not in sets]
        rows = []
        for k, nodes in enumerate(sets):
            inside = np.isin(rule.ends, list(nodes)).all(axis=0)
            if any(nodes <= each for each in single):
                if own[inside].sum() > len(nodes) - 1 + VIOLATED:
                    rows.append((np.unique(column[inside]), len(nodes) - 1))
            elif k < len(cycles):
                labels = np.unique(column[cycles[k]])
                rows.append((labels, len(labels) - 1))
        if rows:
            more = _at_most(rows, space.labels)
            found = more if found is None else stacked(found, more)
    return found


def _columns(rule: Acyclic, space: Space) -> IntArray:
    """The label of each arc, by its position among those of the space."""
    found = [space.offsets[arc.variable.index] + arc.label for arc in rule.arcs]
    return np.array(found, dtype=np.int64)


@once_per_space
def _single(space: Space) -> tuple[tuple[set[int], set[int]], ...]:
    """For each rule the nodes of which an output takes one arc at most: that ends or starts there.

    These are labels of one variable, or some row says so.
    """
    rows = without_cuts(space).rows
    spans = zip(rows.indptr[:-1].tolist(), rows.indptr[1:].tolist(), strict=True)
    said = [
        set(rows.indices[first:last].tolist())
        for (first, last), up in zip(spans, rows.upper.tolist(), strict=True)
        if up == 1.0 and (rows.data[first:last] == 1.0).all()
    ]
    said += [set(range(a, b)) for a, b in pairwise(space.offsets.tolist())]
    holding = defaultdict[int, set[int]](set)
    for number, labels in enumerate(said):
        for label in labels:
            holding[label].add(number)
    found = []
    for rule in cut_rules(space):
        column = _columns(rule, space)
        sides = []
        for ends in rule.ends[::-1]:  # where arcs end, and then where they start
            own = [column[ends == node].tolist() for node in range(int(rule.ends.max()) + 1)]
            one = [n for n, c in enumerate(own) if c and set.intersection(*(holding[k] for k in c))]
            sides.append(set(one))
        found.append((sides[0], sides[1]))
    return tuple(found)


def _components(rule: Acyclic, shares: FloatArray) -> list[set[int]]:
    """Sets of nodes that arcs of large shares join in both directions."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if ((shares < VIOLATED) | (shares > 1.0 - VIOLATED)).all():
        return []  # cycles say all there is to say of an output
    count = int(rule.ends.max()) + 1
    found: list[set[int]] = []
    for least in LEAST_SHARES:
        arcs = rule.ends[:, shares > least]
        graph = coo_array((np.ones(arcs.shape[1]), arcs), shape=(count, count))
        parts, part = connected_components(graph, connection="strong")
        for p in np.flatnonzero(np.bincount(part, minlength=parts) > 1).tolist():
            nodes = set(np.flatnonzero(part == p).tolist())
            if nodes not in found:
                found.append(nodes)
    return found


def violated_cycles(rule: Acyclic, shares: FloatArray) -> list[list[int]]:
    """Cycles that share no arc and are violated, each by its arcs."""
    leaving = dict[int, list[tuple[float, int]]]()
    order = np.argsort(-shares, kind="stable").tolist()
    for arc in order:
        if shares[arc] > VIOLATED:
            cost = max(0.0, 1.0 - float(shares[arc])) + PER_ARC
            leaving.setdefault(rule.nodes[arc][0], []).append((cost, arc))
    found: list[list[int]] = []
    used = set[int]()
    for arc in order:
        limit = float(shares[arc]) - VIOLATED
        if limit <= 0.0:
            break
        if arc in used:
            continue
        first, last = rule.nodes[arc]
        back = _path(rule, leaving, last, first, limit, used)
        if back is not None:
            found.append([arc, *back])
            used.update(found[-1])
    return found


def _path(
    rule: Acyclic,
    leaving: dict[int, list[tuple[float, int]]],
    start: int,
    end: int,
    limit: float,
    used: set[int],
) -> list[int] | None:
    """The arcs of a cheapest path between two nodes, if it costs less than a limit."""
    came = dict[int, int | None]()
    heap: list[tuple[float, int, int | None]] = [(0.0, start, None)]
    while heap:
        cost, node, by = heappop(heap)
        if node in came:
            continue
        came[node] = by
        if node == end:
            path: list[int] = []
            while (arc := came[node]) is not None:
                path.append(arc)
                node = rule.nodes[arc][0]
            return path
        for more, arc in leaving.get(node, ()):
            ahead = rule.nodes[arc][1]
            if cost + more < limit and arc not in used and ahead not in came:
                heappush(heap, (cost + more, ahead, arc))
    return None


def _at_most(rows: Sequence[tuple[IntArray, int]], labels: int) -> Rows:
    """At most so many of some labels are taken, for each of some rows."""
    counts = [len(column) for column, _ in rows]
    return Rows(
        readonly(offsets_from_counts(counts)),
        readonly(np.concatenate([column for column, _ in rows])),
        readonly(np.ones(sum(counts))),
        readonly(np.full(len(rows), -np.inf)),
        readonly(np.array([most for _, most in rows], dtype=np.float64)),
        labels,
        0,
    )
